// The pressure engine's device module: conjugate gradients under a multigrid cycle, one block a leaf, every scalar on
// the device. The kernels do nothing once `State::phase` says so; the host may launch iterations ahead without
// changing a bit of the result.
#include "layout.cuh"
#include "rows.cuh"
#include "sums.cuh"
#include "smoother.cuh"
#include "bodies.cuh"
#include "transfer.cuh"
#include "coarsest.cuh"
#include "operator.cuh"
#include "vectors.cuh"
#include "scalars.cuh"
