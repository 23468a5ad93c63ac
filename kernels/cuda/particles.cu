// The device module of a liquid's particles: velocity to the faces and back, and the way through it. One block a leaf
// where particles are sorted by cell, one thread a particle where their order does not matter; no atomics, and the
// order of every sum is the processor's.
#include "particles.cuh"
#include "carry.cuh"
#include "advect.cuh"
