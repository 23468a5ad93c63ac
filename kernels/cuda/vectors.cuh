// What an iteration does with whole vectors: the twins of `turn`, `update` and `fold` in src/conjugate_gradients.
// The super-cells' part is done by one more block.
#pragma once
#include "sums.cuh"

/// Σ a b of a leaf.
template <class A, class B>
__device__ inline void dot_leaf(const Level& level, const Row<A>* a, const Row<B>* b, double* partials) {
    unsigned leaf = blockIdx.x, colour = threadIdx.x / ROWS, r = threadIdx.x % ROWS;
    double sum = dot_row(half(a, level, colour, leaf)[r], half(b, level, colour, leaf)[r]);
    sum = sum_over_block<LEAF_THREADS>(sum);
    if (threadIdx.x == 0) {
        partials[leaf] = sum;
    }
}

/// Per leaf Σ b². Grid: leaves; block: LEAF_THREADS.
extern "C" __global__ void square_right_side(Level level, Vector<double> b, double* partials) {
    dot_leaf(level, b.cells, b.cells, partials);
}

/// Per leaf Σ r z. Grid: leaves; block: LEAF_THREADS.
extern "C" __global__ void dot_single(Level level, Work work, double* partials, const State* state) {
    if (state->phase == RUN) {
        dot_leaf<float, float>(level, work.b, work.x, partials);
    }
}

/// Per leaf Σ r z. Grid: leaves; block: LEAF_THREADS.
extern "C" __global__ void dot_double(
    Level level, Vector<double> r, Work work, double* partials, const State* state) {
    if (state->phase == RUN) {
        dot_leaf<double, float>(level, r.cells, work.x, partials);
    }
}

/// p = z + β p. Grid: leaves + 1; block: LEAF_THREADS.
extern "C" __global__ void turn_single(Level level, Work z, Vector<float> p, const State* state) {
    if (state->phase != RUN) {
        return;
    }
    if (blockIdx.x == level.leaves) {
        for (unsigned b = threadIdx.x; b < level.supers.count; b += LEAF_THREADS) {
            p.supers[b] = z.x_super[b] + state->beta * p.supers[b];
        }
        return;
    }
    unsigned colour = threadIdx.x / ROWS, r = threadIdx.x % ROWS;
    float beta = float(state->beta);
    Row<float> from = half(z.x, level, colour, blockIdx.x)[r];
    Row<float>* to = half(p.cells, level, colour, blockIdx.x) + r;
    Row<float> row = *to;
#pragma unroll
    for (unsigned k = 0; k < LANES; ++k) {
        row.lane[k] = from.lane[k] + beta * row.lane[k];
    }
    *to = row;
}

/// p = scale z + β p. Grid: leaves + 1; block: LEAF_THREADS.
extern "C" __global__ void turn_double(Level level, Work z, Vector<double> p, const State* state) {
    if (state->phase != RUN) {
        return;
    }
    double scale = state->scale, beta = state->beta;
    if (blockIdx.x == level.leaves) {
        for (unsigned b = threadIdx.x; b < level.supers.count; b += LEAF_THREADS) {
            p.supers[b] = scale * z.x_super[b] + beta * p.supers[b];
        }
        return;
    }
    unsigned colour = threadIdx.x / ROWS, r = threadIdx.x % ROWS;
    Row<float> from = half(z.x, level, colour, blockIdx.x)[r];
    Row<double>* to = half(p.cells, level, colour, blockIdx.x) + r;
    Row<double> row = *to;
#pragma unroll
    for (unsigned k = 0; k < LANES; ++k) {
        row.lane[k] = scale * double(from.lane[k]) + beta * row.lane[k];
    }
    *to = row;
}

/// gained += step · p, r −= step · A p, and per leaf Σ r²; of super-cells x += ‖b‖ step · p. Grid: leaves + 1; block:
/// LEAF_THREADS.
extern "C" __global__ void update_single(
    Level level, Vector<float> p, Vector<float> q, Row<float>* gained, Work work, Vector<double> x, double* partials,
    const State* state) {
    if (state->phase != RUN) {
        return;
    }
    if (blockIdx.x == level.leaves) {
        for (unsigned b = threadIdx.x; b < level.supers.count; b += LEAF_THREADS) {
            x.supers[b] += state->norm * state->step * p.supers[b];
            work.b_super[b] -= state->step * q.supers[b];
        }
        return;
    }
    unsigned colour = threadIdx.x / ROWS, i = threadIdx.x % ROWS;
    float step = float(state->step);
    Row<float> direction = half(p.cells, level, colour, blockIdx.x)[i];
    Row<float> image = half(q.cells, level, colour, blockIdx.x)[i];
    Row<float> d = half(gained, level, colour, blockIdx.x)[i];
    Row<float> r = half(work.b, level, colour, blockIdx.x)[i];
#pragma unroll
    for (unsigned k = 0; k < LANES; ++k) {
        d.lane[k] += step * direction.lane[k];
        r.lane[k] -= step * image.lane[k];
    }
    half(gained, level, colour, blockIdx.x)[i] = d;
    half(work.b, level, colour, blockIdx.x)[i] = r;
    double sum = sum_over_block<LEAF_THREADS>(dot_row(r, r));
    if (threadIdx.x == 0) {
        partials[blockIdx.x] = sum;
    }
}

/// x += step · p, r −= step · A p, the cycle's input b = r / scaled, and per leaf Σ r². Grid: leaves + 1; block:
/// LEAF_THREADS.
extern "C" __global__ void update_double(
    Level level, Vector<double> p, Vector<double> q, Vector<double> r, Work work, Vector<double> x, double* partials,
    const State* state) {
    if (state->phase != RUN) {
        return;
    }
    double step = state->step, scale = 1.0 / state->scaled;
    if (blockIdx.x == level.leaves) {
        for (unsigned b = threadIdx.x; b < level.supers.count; b += LEAF_THREADS) {
            x.supers[b] += step * p.supers[b];
            r.supers[b] -= step * q.supers[b];
            work.b_super[b] = r.supers[b] * scale;
        }
        return;
    }
    unsigned colour = threadIdx.x / ROWS, i = threadIdx.x % ROWS;
    Row<double> direction = half(p.cells, level, colour, blockIdx.x)[i];
    Row<double> image = half(q.cells, level, colour, blockIdx.x)[i];
    Row<double> solution = half(x.cells, level, colour, blockIdx.x)[i];
    Row<double> rest = half(r.cells, level, colour, blockIdx.x)[i];
    Row<float> input;
#pragma unroll
    for (unsigned k = 0; k < LANES; ++k) {
        solution.lane[k] += step * direction.lane[k];
        rest.lane[k] -= step * image.lane[k];
        input.lane[k] = float(rest.lane[k] * scale);
    }
    half(x.cells, level, colour, blockIdx.x)[i] = solution;
    half(r.cells, level, colour, blockIdx.x)[i] = rest;
    half(work.b, level, colour, blockIdx.x)[i] = input;
    double sum = sum_over_block<LEAF_THREADS>(dot_row(rest, rest));
    if (threadIdx.x == 0) {
        partials[blockIdx.x] = sum;
    }
}

/// x += ‖b‖ gained, gained = 0. Grid: leaves; block: LEAF_THREADS.
extern "C" __global__ void fold(Level level, Row<float>* gained, Vector<double> x, const State* state) {
    if (state->phase != REPLACE) {
        return;
    }
    unsigned colour = threadIdx.x / ROWS, r = threadIdx.x % ROWS;
    Row<float>* from = half(gained, level, colour, blockIdx.x) + r;
    Row<double>* to = half(x.cells, level, colour, blockIdx.x) + r;
    Row<double> row = *to;
#pragma unroll
    for (unsigned k = 0; k < LANES; ++k) {
        row.lane[k] += state->norm * double(from->lane[k]);
    }
    *to = row;
    *from = Row<float>{{0.0f, 0.0f, 0.0f, 0.0f}};
}

/// The cycle's input b = r / scaled from the true residual, and no direction yet. Grid: leaves + 1; block: LEAF_THREADS.
extern "C" __global__ void restart(
    Level level, Vector<double> r, Vector<double> p, Work work, const State* state) {
    if (state->phase != RESTART) {
        return;
    }
    double scale = 1.0 / state->scaled;
    if (blockIdx.x == level.leaves) {
        for (unsigned b = threadIdx.x; b < level.supers.count; b += LEAF_THREADS) {
            p.supers[b] = 0.0;
            work.b_super[b] = r.supers[b] * scale;
        }
        return;
    }
    unsigned colour = threadIdx.x / ROWS, i = threadIdx.x % ROWS;
    Row<double> rest = half(r.cells, level, colour, blockIdx.x)[i];
    Row<float> input;
#pragma unroll
    for (unsigned k = 0; k < LANES; ++k) {
        input.lane[k] = float(rest.lane[k] * scale);
    }
    half(work.b, level, colour, blockIdx.x)[i] = input;
    half(p.cells, level, colour, blockIdx.x)[i] = Row<double>{{0.0, 0.0, 0.0, 0.0}};
}
