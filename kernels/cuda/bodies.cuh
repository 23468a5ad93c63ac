// Bodies in the smoother: the twin of src/multigrid/settle.rs.
#pragma once
#include "sums.cuh"

/// What is done with what pushes the bodies: they answer, it is only measured, or they answer for black, too (opposed.rs).
enum : unsigned { ANSWER = 0, MEASURE = 1, ANSWER_FOR_BOTH = 2 };

/// What a colour and the super-cells push a block of bodies by, Cᵀ x, and its answer y.
/// `from_zero`: everything else is 0. Grid: blocks of bodies; block: RUN_THREADS.
extern "C" __global__ void settle_bodies(
    Level level, Work work, unsigned place, unsigned from_zero, unsigned how, const State* state) {
    if (state->phase != RUN) {
        return;
    }
    const Bodies& b = level.bodies;
    unsigned begin = b.first[blockIdx.x], n = b.first[blockIdx.x + 1] - begin, t = threadIdx.x;
    double* moved = b.moved + size_t(place) * b.degrees + begin;
    const double* one = b.moved + size_t(place == 0 ? 1 : 0) * b.degrees + begin;
    const double* two = b.moved + size_t(place == 2 ? 1 : 2) * b.degrees + begin;
    if (from_zero) {
        for (unsigned i = t; i < 3 * n; i += RUN_THREADS) {
            b.moved[size_t(i / n) * b.degrees + begin + i % n] = 0.0;
        }
        __syncthreads();
    }
    for (unsigned i = 0; i < n; ++i) {
        unsigned first = b.first_entry[size_t(place) * b.degrees + begin + i];
        unsigned count = b.first_entry[size_t(place) * b.degrees + begin + i + 1] - first;
        double sum = sum_of<RUN_THREADS>(count, [&](unsigned e) {
            unsigned at = b.entry_cell[first + e];
            double x = place < 2 ? double(value_at(work.x, level.leaves, at)) : work.x_super[at];
            return b.entry_weight[first + e] * x;
        });
        if (t == 0) {
            b.pushed[begin + i] = sum;
        }
    }
    __syncthreads();
    if (how == MEASURE) {
        for (unsigned i = t; i < n; i += RUN_THREADS) {
            moved[i] = b.pushed[begin + i];
        }
        return;
    }
    const double* matrices = b.carry + b.first_matrix[blockIdx.x];
    const double* carry = matrices + size_t(place) * n * n;
    const double* weight = b.weight + b.first_matrix[blockIdx.x] / MATRICES;
    for (unsigned i = t; i < n; i += RUN_THREADS) {
        double sum = 0.0;
        for (unsigned j = 0; j < n; ++j) {
            sum += carry[size_t(i) * n + j] * (b.pushed[begin + j] + (one[j] + two[j]));
        }
        b.impulse[begin + i] = sum;
    }
    __syncthreads();
    if (how == ANSWER_FOR_BOTH) {
        const double* answer = matrices + size_t(3) * n * n;
        const double* push = matrices + size_t(4) * n * n;
        for (unsigned i = t; i < n; i += RUN_THREADS) {
            b.pushed[begin + i] = b.impulse[begin + i] - (one[i] + two[i]) - moved[i];
        }
        __syncthreads();
        for (unsigned i = t; i < n; i += RUN_THREADS) {
            double held = 0.0, less = 0.0;
            for (unsigned j = 0; j < n; ++j) {
                held += weight[size_t(i) * n + j] * b.impulse[begin + j];
                less += answer[size_t(i) * n + j] * b.pushed[begin + j];
            }
            moved[i] = held - less;
        }
        __syncthreads();
        for (unsigned i = t; i < n; i += RUN_THREADS) {
            double more = 0.0;
            for (unsigned j = 0; j < n; ++j) {
                more += push[size_t(i) * n + j] * b.pushed[begin + j];
            }
            double total = b.impulse[begin + i] + more;
            b.impulse[begin + i] = moved[i];
            moved[i] = total - (one[i] + two[i]);
        }
        return;
    }
    for (unsigned i = t; i < n; i += RUN_THREADS) {
        double sum = 0.0;
        for (unsigned j = 0; j < n; ++j) {
            sum += weight[size_t(i) * n + j] * b.impulse[begin + j];
        }
        moved[i] = b.impulse[begin + i] - (one[i] + two[i]);
        b.pushed[begin + i] = sum;
    }
    __syncthreads();
    for (unsigned i = t; i < n; i += RUN_THREADS) {
        b.impulse[begin + i] = b.pushed[begin + i];
    }
}

/// What a colour and the super-cells push the sheets by, Cᵀ x, and their answer y, for one colour in any case.
/// `from_zero`: everything else is 0. The twin of src/multigrid/sheets.rs. Grid: 1; block: LONE_THREADS.
extern "C" __global__ void settle_sheets(
    Level level, Work work, unsigned place, unsigned from_zero, unsigned how, const State* state) {
    if (state->phase != RUN) {
        return;
    }
    const Bodies& b = level.bodies;
    const Sheets& s = b.sheets;
    double* moved = b.moved + size_t(place) * b.degrees;
    double* one = b.moved + size_t(place == 0 ? 1 : 0) * b.degrees;
    double* two = b.moved + size_t(place == 2 ? 1 : 2) * b.degrees;
    for (unsigned i = s.begin + threadIdx.x; i < b.degrees; i += LONE_THREADS) {
        if (from_zero) {
            one[i] = 0.0;
            two[i] = 0.0;
        }
        size_t list = size_t(place) * b.degrees + i;
        double sum = 0.0;
        for (unsigned e = b.first_entry[list]; e < b.first_entry[list + 1]; ++e) {
            unsigned at = b.entry_cell[e];
            double x = place < 2 ? double(value_at(work.x, level.leaves, at)) : work.x_super[at];
            sum += b.entry_weight[e] * x;
        }
        moved[i] = sum;
        b.pushed[i] = sum + (one[i] + two[i]);
    }
    if (how == MEASURE) {
        return;
    }
    __syncthreads();
    solve_factor(s.carry[place], b.pushed, b.impulse);
    for (unsigned i = threadIdx.x; i < s.degrees; i += LONE_THREADS) {
        double sum = -(one[s.begin + i] + two[s.begin + i]);
        for (unsigned e = s.mass_first[i]; e < s.mass_first[i + 1]; ++e) {
            sum += s.mass_value[e] * b.impulse[s.mass_at[e]];
        }
        moved[s.begin + i] = sum;
    }
}

/// x −= D⁻¹ C y of a colour. Grid: leaves; block: ROWS.
extern "C" __global__ void answer_cells(Level level, Work work, unsigned colour, const State* state) {
    if (state->phase != RUN) {
        return;
    }
    unsigned leaf = blockIdx.x, r = threadIdx.x;
    Row<double> held = {{0.0, 0.0, 0.0, 0.0}};
    bool any = false;
    for_entries(level.bodies.cells, leaf, colour, r, [&](const Entry<double>& e) {
        add(held, e.lane, e.weight * level.bodies.impulse[e.target]);
        any = true;
    });
    if (any) {
        Row<float> diagonal = half(level.diagonal, level, colour, leaf)[r];
        Row<float>& x = half(work.x, level, colour, leaf)[r];
#pragma unroll
        for (unsigned k = 0; k < LANES; ++k) {
            x.lane[k] -= float(held.lane[k]) / diagonal.lane[k];
        }
    }
}

/// What the bodies' answer holds back of super-cell b.
__device__ inline double held_super(const Bodies& bodies, unsigned b) {
    double sum = 0.0;
    if (bodies.degrees > 0) {
        for (unsigned i = bodies.first_of_super[b]; i < bodies.first_of_super[b + 1]; ++i) {
            sum += bodies.weight_of_super[i] * bodies.impulse[bodies.degree_of_super[i]];
        }
    }
    return sum;
}

/// The same of the super-cells. Grid: 1; block: LONE_THREADS.
extern "C" __global__ void answer_supers(Level level, Work work, const State* state) {
    if (state->phase != RUN) {
        return;
    }
    for (unsigned b = threadIdx.x; b < level.supers.count; b += LONE_THREADS) {
        work.x_super[b] -= held_super(level.bodies, b) / level.supers.diagonal[b];
    }
}

/// y = W Cᵀ x, for the residual. Grid: blocks of bodies; block: RUN_THREADS.
extern "C" __global__ void hold_bodies(Level level, const State* state) {
    if (state->phase != RUN) {
        return;
    }
    const Bodies& b = level.bodies;
    unsigned begin = b.first[blockIdx.x], n = b.first[blockIdx.x + 1] - begin;
    const double* weight = b.weight + b.first_matrix[blockIdx.x] / MATRICES;
    const double* moved = b.moved + begin;
    for (unsigned i = threadIdx.x; i < n; i += RUN_THREADS) {
        double sum = 0.0;
        for (unsigned j = 0; j < n; ++j) {
            double total = (moved[j] + moved[b.degrees + j]) + moved[2 * size_t(b.degrees) + j];
            sum += weight[size_t(i) * n + j] * total;
        }
        b.impulse[begin + i] = sum;
    }
}
