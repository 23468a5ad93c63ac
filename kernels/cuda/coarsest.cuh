// The coarsest level, directly: the twin of `Coarsest` in src/multigrid/mod.rs.
#pragma once
#include "transfer.cuh"

/// x = L⁻ᵀ L⁻¹ b; cells without any neighbour (tied to attached masses at most) get b / d. Grid: 1; block: LONE_THREADS.
extern "C" __global__ void solve_coarsest(Level level, Work work, Coarsest dense, const State* state) {
    if (state->phase != RUN) {
        return;
    }
    __shared__ double given[DIRECT_UNKNOWNS];
    __shared__ double forward[DIRECT_UNKNOWNS];
    unsigned t = threadIdx.x, n = dense.size;
    for (unsigned i = t; i < 2 * (level.leaves + 1) * ROWS; i += LONE_THREADS) {
        Row<float> b = work.b[i], d = level.diagonal[i], x;
#pragma unroll
        for (unsigned k = 0; k < LANES; ++k) {
            x.lane[k] = b.lane[k] / d.lane[k];
        }
        work.x[i] = x;
    }
    for (unsigned i = t; i < n; i += LONE_THREADS) {
        bool cell = i < dense.cells;
        given[i] = cell ? double(value_at(work.b, level.leaves, dense.cell[i])) : work.b_super[i - dense.cells];
    }
    __syncthreads();
    for (unsigned i = t; i < n; i += LONE_THREADS) {
        double sum = 0.0;
        for (unsigned j = 0; j <= i; ++j) {
            sum += dense.by_column[size_t(j) * n + i] * given[j];
        }
        forward[i] = sum;
    }
    __syncthreads();
    for (unsigned i = t; i < n; i += LONE_THREADS) {
        double sum = 0.0;
        for (unsigned j = i; j < n; ++j) {
            sum += dense.by_row[size_t(j) * n + i] * forward[j];
        }
        if (i < dense.cells) {
            value_at(work.x, level.leaves, dense.cell[i]) = float(sum);
        } else {
            work.x_super[i - dense.cells] = sum;
        }
    }
}
