// As much of CUDA C++ as the kernels use, for a host compiler: the very same source then runs where no GPU is.
#pragma once
#include <cmath>
#include <cstddef>

#define __global__
#define __device__
/// Blocks run one after the other on the calling thread, so a block's shared memory may stay where it is.
#define __shared__ static thread_local

struct float2 {
    float x, y;
};

struct Index {
    unsigned x;
};

extern thread_local Index threadIdx;
extern thread_local Index blockIdx;

/// Waits until every thread of the block has come here.
void __syncthreads();

using std::isfinite;
using std::sqrt;
