// The operator, matrix-free, with the attached masses: the twin of src/conjugate_gradients/operator.rs.
#pragma once
#include "sums.cuh"

/// Whether a kernel's turn has come: the operator acts on the search direction while iterating (RUN), and on x when
/// the residual is computed anew (REPLACE).
__device__ inline bool wanted(const State* state, unsigned phase) {
    return state->phase == phase;
}

/// Cᵀ x of one column of the attached masses.
template <class T>
__device__ inline void dot_column(const Level& level, const LowRank& masses, const Vector<T>& x) {
    unsigned column = blockIdx.x;
    unsigned first = masses.first_entry[column], count = masses.first_entry[column + 1] - first;
    double cells = sum_of<RUN_THREADS>(count, [&](unsigned i) {
        return masses.entry_weight[first + i] * double(value_at(x.cells, level.leaves, masses.entry_cell[first + i]));
    });
    first = masses.first_super[column], count = masses.first_super[column + 1] - first;
    double supers = sum_of<RUN_THREADS>(count, [&](unsigned i) {
        return masses.super_weight[first + i] * x.supers[masses.super_number[first + i]];
    });
    if (threadIdx.x == 0) {
        masses.moved[column] = cells + supers;
    }
}

/// Grid: columns; block: RUN_THREADS.
extern "C" __global__ void dot_columns_single(
    Level level, LowRank masses, Vector<float> x, unsigned phase, const State* state) {
    if (wanted(state, phase)) {
        dot_column(level, masses, x);
    }
}

/// Grid: columns; block: RUN_THREADS.
extern "C" __global__ void dot_columns_double(
    Level level, LowRank masses, Vector<double> x, unsigned phase, const State* state) {
    if (wanted(state, phase)) {
        dot_column(level, masses, x);
    }
}

/// W Cᵀ x. Grid: 1; block: LONE_THREADS.
extern "C" __global__ void weigh_columns(LowRank masses, unsigned phase, const State* state) {
    if (!wanted(state, phase)) {
        return;
    }
    for (unsigned i = threadIdx.x; i < masses.columns; i += LONE_THREADS) {
        double sum = 0.0;
        for (unsigned j = 0; j < masses.body_columns[i]; ++j) {
            sum += masses.weight[masses.weight_first[i] + j] * masses.moved[masses.body_first[i] + j];
        }
        masses.weighed[i] = sum;
    }
    const Factor& f = masses.factor;
    if (f.size == 0) {
        return;
    }
    __syncthreads();
    solve_factor(f, masses.moved, masses.weighed);
}

/// Row of A x: Σ w (x_i − x_j) + Σ c (x_i − λ) + the masses' share. Adds Σ (Σ_f w_f x_i)² to `magnitude`.
template <class T>
__device__ inline Row<T> operator_row(
    const Level& level, const LowRank& masses, const Vector<T>& x, unsigned leaf, unsigned colour, unsigned r,
    double& magnitude) {
    Row<T> own = half(x.cells, level, colour, leaf)[r];
    Beside<T> v = values_beside<T>(level, x.cells, leaf, colour, r);
    Stencil s = stencil(level, leaf, colour, r);
    Row<T> y;
#pragma unroll
    for (unsigned k = 0; k < LANES; ++k) {
        T t = T(0);
        float sum = 0.0f;
#pragma unroll
        for (unsigned f = 0; f < 6; ++f) {
            t += T(s.weight.side[f].lane[k]) * (own.lane[k] - v.side[f].lane[k]);
            sum += s.weight.side[f].lane[k];
        }
        y.lane[k] = t;
        float size = float(own.lane[k]) * sum;
        magnitude += double(size * size);
    }
    for_entries(level.bubbles, leaf, colour, r, [&](const Entry<float>& e) {
        add(y, e.lane, T(double(e.weight) * (double(pick(own, e.lane)) - x.supers[e.target])));
    });
    for_entries(level.zeros, leaf, colour, r, [&](const Entry<float>& e) {
        add(y, e.lane, T(double(e.weight) * double(pick(own, e.lane))));
    });
    for_entries(masses.cells, leaf, colour, r, [&](const Entry<double>& e) {
        add(y, e.lane, T(e.weight * masses.weighed[e.target]));
    });
    return y;
}

/// y = A x of the cells, and per leaf Σ x A x; returns this row's Σ (Σ_f w_f x_i)².
template <class T>
__device__ inline double apply(
    const Level& level, const LowRank& masses, const Vector<T>& x, const Vector<T>& y, double* partials) {
    unsigned leaf = blockIdx.x, colour = threadIdx.x / ROWS, r = threadIdx.x % ROWS;
    double magnitude = 0.0;
    Row<T> row = operator_row(level, masses, x, leaf, colour, r, magnitude);
    half(y.cells, level, colour, leaf)[r] = row;
    double sum = sum_over_block<LEAF_THREADS>(dot_row(half(x.cells, level, colour, leaf)[r], row));
    if (threadIdx.x == 0) {
        partials[leaf] = sum;
    }
    return magnitude;
}

/// Writes as well, per leaf, what rounding it makes is in proportion to. Grid: leaves; block: LEAF_THREADS.
extern "C" __global__ void apply_single(
    Level level, LowRank masses, Vector<float> x, Vector<float> y, double* partials, double* magnitudes,
    const State* state) {
    if (state->phase == RUN) {
        double magnitude = sum_over_block<LEAF_THREADS>(apply(level, masses, x, y, partials));
        if (threadIdx.x == 0) {
            magnitudes[blockIdx.x] = magnitude;
        }
    }
}

/// Grid: leaves; block: LEAF_THREADS.
extern "C" __global__ void apply_double(
    Level level, LowRank masses, Vector<double> x, Vector<double> y, double* partials, const State* state) {
    if (state->phase == RUN) {
        apply(level, masses, x, y, partials);
    }
}

/// Σ c (λ − x) over a run of a super-cell's contacts.
template <class T>
__device__ inline void gather_run(const Level& level, const Vector<T>& x, double* flow) {
    const Supers& s = level.supers;
    unsigned first = s.run_first[blockIdx.x], count = s.run_first[blockIdx.x + 1] - first;
    double pressure = x.supers[s.run_owner[blockIdx.x]];
    double sum = sum_of<RUN_THREADS>(count, [&](unsigned i) {
        double cell = value_at(x.cells, level.leaves, s.contact_cell[first + i]);
        return double(s.contact_weight[first + i]) * (pressure - cell);
    });
    if (threadIdx.x == 0) {
        flow[blockIdx.x] = sum;
    }
}

/// Grid: runs; block: RUN_THREADS.
extern "C" __global__ void gather_flow_single(
    Level level, Vector<float> x, double* flow, unsigned phase, const State* state) {
    if (wanted(state, phase)) {
        gather_run(level, x, flow);
    }
}

/// Grid: runs; block: RUN_THREADS.
extern "C" __global__ void gather_flow_double(
    Level level, Vector<double> x, double* flow, unsigned phase, const State* state) {
    if (wanted(state, phase)) {
        gather_run(level, x, flow);
    }
}

/// y_b = Σ c (λ_b − x_i) + Σ w (λ_b − λ_o) + (compliance + fixed) λ_b, and the masses' share; by a lone block.
__device__ inline void super_rows(
    const Level& level, const LowRank& masses, const double* x, const double* flow, double* y) {
    const Supers& s = level.supers;
    collect_runs(s, flow, y);
    for (unsigned b = threadIdx.x; b < s.count; b += LONE_THREADS) {
        double pressure = x[b], sum = y[b];
        for (unsigned i = s.first_neighbour[b]; i < s.first_neighbour[b + 1]; ++i) {
            sum += s.neighbour_weight[i] * (pressure - x[s.neighbour[i]]);
        }
        sum += s.tied[b] * pressure;
        if (masses.columns > 0) {
            for (unsigned i = masses.first_of_super[b]; i < masses.first_of_super[b + 1]; ++i) {
                sum += masses.weight_of_super[i] * masses.weighed[masses.column_of_super[i]];
            }
        }
        y[b] = sum;
    }
    __syncthreads();
}

/// The super-cells' rows of A x. Grid: 1; block: LONE_THREADS.
extern "C" __global__ void apply_supers(
    Level level, LowRank masses, const double* x, const double* flow, double* y, const State* state) {
    if (state->phase == RUN) {
        super_rows(level, masses, x, flow, y);
    }
}

/// r = scale (b − A x) in f64, rounded to what r stores, and per leaf Σ (b − A x)².
template <class T>
__device__ inline void residual(
    const Level& level, const LowRank& masses, const Vector<double>& b, const Vector<double>& x, Row<T>* out,
    double* partials, double scale) {
    unsigned leaf = blockIdx.x, colour = threadIdx.x / ROWS, r = threadIdx.x % ROWS;
    Row<double> rest = half(b.cells, level, colour, leaf)[r];
    double magnitude = 0.0;
    Row<double> image = operator_row(level, masses, x, leaf, colour, r, magnitude);
    Row<T> scaled;
#pragma unroll
    for (unsigned k = 0; k < LANES; ++k) {
        rest.lane[k] -= image.lane[k];
        scaled.lane[k] = T(scale * rest.lane[k]);
    }
    half(out, level, colour, leaf)[r] = scaled;
    double sum = sum_over_block<LEAF_THREADS>(dot_row(rest, rest));
    if (threadIdx.x == 0) {
        partials[leaf] = sum;
    }
}

/// (b − A x) / ‖b‖, as the cycle's right side. Grid: leaves; block: LEAF_THREADS.
extern "C" __global__ void residual_single(
    Level level, LowRank masses, Vector<double> b, Vector<double> x, Vector<float> out, double* partials,
    const State* state) {
    if (state->phase == REPLACE) {
        residual(level, masses, b, x, out.cells, partials, 1.0 / state->norm);
    }
}

/// b − A x. Grid: leaves; block: LEAF_THREADS.
extern "C" __global__ void residual_double(
    Level level, LowRank masses, Vector<double> b, Vector<double> x, Vector<double> out, double* partials,
    const State* state) {
    if (state->phase == REPLACE) {
        residual(level, masses, b, x, out.cells, partials, 1.0);
    }
}

/// The same of the super-cells, divided by ‖b‖ if `relative`. Grid: 1; block: LONE_THREADS.
extern "C" __global__ void residual_supers(
    Level level, LowRank masses, const double* b, const double* x, const double* flow, double* out,
    unsigned relative, State* state) {
    if (state->phase != REPLACE) {
        return;
    }
    super_rows(level, masses, x, flow, out);
    double scale = relative ? 1.0 / state->norm : 1.0;
    double square = sum_of<LONE_THREADS>(level.supers.count, [&](unsigned i) {
        double rest = b[i] - out[i];
        out[i] = scale * rest;
        return rest * rest;
    });
    if (threadIdx.x == 0) {
        state->super_square = square;
    }
}
