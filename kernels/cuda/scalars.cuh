// The scalars of the iteration, kept on the device: the twins of the control flow in src/conjugate_gradients. Every
// kernel here is one block; its sums run over per-leaf partial sums in an order fixed by their number.
#pragma once
#include "sums.cuh"

/// Residual reduction after which f32 is not trusted any longer and the true residual is computed.
constexpr double TRUSTED_REDUCTION = 1e-3;
/// Iterations after which it is computed even so: a recurrence that diverges never gets there, nor is its rounding large
/// beside its residual.
constexpr unsigned PATIENCE = 20;
/// Unit roundoff of f32.
constexpr double ROUNDOFF = 1.0 / 16777216.0;
/// A true residual that shrank less than this between two of its computations: f32 gains nothing here.
constexpr double LEAST_GAIN = 0.25;
/// The same of the f64 stage.
constexpr double TRUSTED_REDUCTION_DOUBLE = 1e-9;
constexpr double LEAST_GAIN_DOUBLE = 0.5;

/// Σ partials + Σ a b over the super-cells, by a lone block.
__device__ inline double sum_with_supers(
    const double* partials, unsigned leaves, const double* a, const double* b, unsigned supers) {
    double cells = sum_of<LONE_THREADS>(leaves, [&](unsigned l) { return partials[l]; });
    double rest = sum_of<LONE_THREADS>(supers, [&](unsigned i) { return a[i] * b[i]; });
    return cells + rest;
}

__device__ inline bool goes_on(const State& state) {
    return state.residual > state.tolerance && state.iterations < state.max_iterations;
}

/// ‖b‖. Nothing is left to do where it is 0. Grid: 1; block: LONE_THREADS.
extern "C" __global__ void measure_right_side(
    Level level, const double* partials, const double* b_super, State* state) {
    double square = sum_with_supers(partials, level.leaves, b_super, b_super, level.supers.count);
    if (threadIdx.x == 0) {
        state->norm = sqrt(square);
        state->phase = state->norm == 0.0 ? DONE : REPLACE;
    }
}

/// r·z gives β (r and z divided by `scale`, which is 1 in the f32 stage). Grid: 1; block: LONE_THREADS.
extern "C" __global__ void choose_direction(
    Level level, const double* partials, const double* r_super, const double* z_super, State* state) {
    if (state->phase != RUN) {
        return;
    }
    double sum = sum_with_supers(partials, level.leaves, r_super, z_super, level.supers.count);
    if (threadIdx.x == 0) {
        double next = state->scale * sum;
        state->beta = state->energy > 0.0 ? next / state->energy : 0.0;
        state->energy = next;
    }
}

/// p·A p gives the step. A step that is no descent is not taken. Grid: 1; block: LONE_THREADS.
extern "C" __global__ void choose_step(
    Level level, const double* partials, const double* p_super, const double* q_super, State* state) {
    if (state->phase != RUN) {
        return;
    }
    double curvature = sum_with_supers(partials, level.leaves, p_super, q_super, level.supers.count);
    if (threadIdx.x == 0) {
        state->step = state->energy / curvature;
        if (!isfinite(state->step) || state->step <= 0.0) {
            state->broken = 1;
            state->phase = REPLACE;
        }
    }
}

/// Counts the iteration.
__device__ inline void count_iteration(State& state, double residual) {
    state.residual = residual;
    state.history[state.iterations % HISTORY] = residual;
    state.iterations += 1;
}

/// ‖r‖ of the recurrence, and whether f32 is trusted further. Where it has lost track, the direction is worth nothing
/// either [van der Vorst and Ye 2000, Eq. 2.4]. Grid: 1; block: LONE_THREADS.
extern "C" __global__ void measure_single(
    Level level, const double* partials, const double* r_super, const double* magnitudes, State* state) {
    if (state->phase != RUN) {
        return;
    }
    double square = sum_with_supers(partials, level.leaves, r_super, r_super, level.supers.count);
    double magnitude = sum_of<LONE_THREADS>(level.leaves, [&](unsigned l) { return magnitudes[l]; });
    if (threadIdx.x == 0) {
        count_iteration(*state, sqrt(square));
        state->rounding += ROUNDOFF * (state->step * sqrt(magnitude) + state->residual);
        bool lost = state->rounding >= state->residual;
        bool overdue = state->iterations - state->since >= PATIENCE;
        if (lost) {
            state->energy = 0.0;
        }
        if (lost || overdue || !goes_on(*state) || state->residual < TRUSTED_REDUCTION * state->trusted) {
            state->phase = REPLACE;
        }
    }
}

/// The same in the f64 stage. Grid: 1; block: LONE_THREADS.
extern "C" __global__ void measure_double(
    Level level, const double* partials, const double* r_super, State* state) {
    if (state->phase != RUN) {
        return;
    }
    double square = sum_with_supers(partials, level.leaves, r_super, r_super, level.supers.count);
    if (threadIdx.x == 0) {
        double length = sqrt(square), reached = TRUSTED_REDUCTION_DOUBLE * state->trusted;
        double target = state->tolerance > reached ? state->tolerance : reached;
        count_iteration(*state, length / state->norm);
        bool last = length <= target * state->norm || !isfinite(length);
        if (last || state->iterations >= state->max_iterations) {
            state->phase = REPLACE;
        }
        state->scale = state->scaled;
        state->scaled = length;
    }
}

/// The true residual, and whether f32 still gains. Grid: 1; block: LONE_THREADS.
extern "C" __global__ void judge_single(Level level, const double* partials, State* state) {
    if (state->phase != REPLACE) {
        return;
    }
    double square = sum_of<LONE_THREADS>(level.leaves, [&](unsigned l) { return partials[l]; });
    if (threadIdx.x == 0) {
        state->residual = sqrt(square + state->super_square) / state->norm;
        bool gains = !state->broken && !(state->residual > LEAST_GAIN * state->trusted);
        state->phase = gains && goes_on(*state) ? RUN : DONE;
        state->trusted = state->residual;
        state->since = state->iterations;
        state->rounding = 0.0;
    }
}

/// The same in the f64 stage, which starts its recurrence anew. Grid: 1; block: LONE_THREADS.
extern "C" __global__ void judge_double(Level level, const double* partials, State* state) {
    if (state->phase != REPLACE) {
        return;
    }
    double square = sum_of<LONE_THREADS>(level.leaves, [&](unsigned l) { return partials[l]; });
    if (threadIdx.x == 0) {
        double length = sqrt(square + state->super_square);
        state->residual = length / state->norm;
        bool gains = !(state->residual > LEAST_GAIN_DOUBLE * state->trusted);
        state->phase = gains && goes_on(*state) ? RESTART : DONE;
        state->trusted = state->residual;
        state->scale = length;
        state->scaled = length;
        state->energy = 0.0;
        state->broken = 0;
    }
}

/// After `restart`. Grid: 1; block: 1.
extern "C" __global__ void resume(State* state) {
    if (state->phase == RESTART) {
        state->phase = RUN;
    }
}
