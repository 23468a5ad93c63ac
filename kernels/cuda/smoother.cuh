// Red-black Gauss-Seidel in f32, super-cells in a place of their own: the twin of src/multigrid/smoother.rs.
#pragma once
#include "sums.cuh"

/// x_i = (Σ w v + b) / d + Σ c λ / d of one row; v = 0 in the first sweep from zero.
__device__ inline void relax_row(const Level& level, const Work& work, unsigned leaf, unsigned colour, bool from_zero) {
    unsigned r = threadIdx.x;
    Row<float> x = half(work.b, level, colour, leaf)[r];
    Row<float> diagonal;
    if (from_zero) {
        float2 alike = level.uniform[size_t(colour) * level.leaves + leaf];
        diagonal = alike.x > 0.0f ? Row<float>{{alike.y, alike.y, alike.y, alike.y}}
                                  : half(level.diagonal, level, colour, leaf)[r];
    } else {
        Stencil s = stencil(level, leaf, colour, r);
        Beside<float> v = values_beside<float>(level, work.x, leaf, colour, r);
#pragma unroll
        for (unsigned k = 0; k < LANES; ++k) {
#pragma unroll
            for (unsigned f = 0; f < 6; ++f) {
                x.lane[k] += s.weight.side[f].lane[k] * v.side[f].lane[k];
            }
        }
        diagonal = s.diagonal;
    }
#pragma unroll
    for (unsigned k = 0; k < LANES; ++k) {
        x.lane[k] = x.lane[k] / diagonal.lane[k];
    }
    for_entries(level.bubbles, leaf, colour, r, [&](const Entry<float>& e) {
        float inflow = e.weight * float(work.x_super[e.target]);
        add(x, e.lane, inflow / pick(diagonal, e.lane));
    });
    half(work.x, level, colour, leaf)[r] = x;
}

/// The first red sweep from a zero guess. Grid: leaves; block: ROWS.
extern "C" __global__ void start_red(Level level, Work work, const State* state) {
    if (state->phase == RUN) {
        relax_row(level, work, blockIdx.x, 0, true);
    }
}

/// Solves the rows of one colour for given values of the other. Grid: leaves; block: ROWS.
extern "C" __global__ void relax_colour(Level level, Work work, unsigned colour, const State* state) {
    if (state->phase == RUN) {
        relax_row(level, work, blockIdx.x, colour, false);
    }
}

/// Σ c x over a run of a super-cell's contacts. Grid: runs; block: RUN_THREADS.
extern "C" __global__ void gather_inflow(Level level, Work work, const State* state) {
    if (state->phase != RUN) {
        return;
    }
    const Supers& s = level.supers;
    unsigned first = s.run_first[blockIdx.x], count = s.run_first[blockIdx.x + 1] - first;
    double sum = sum_of<RUN_THREADS>(count, [&](unsigned i) {
        double x = value_at(work.x, level.leaves, s.contact_cell[first + i]);
        return double(s.contact_weight[first + i]) * x;
    });
    if (threadIdx.x == 0) {
        work.inflow[blockIdx.x] = sum;
    }
}

/// What flows into super-cell b from its neighbouring super-cells when its own pressure is 0.
__device__ inline double neighbour_inflow(const Supers& s, unsigned b, const double* x_super) {
    double sum = 0.0;
    for (unsigned i = s.first_neighbour[b]; i < s.first_neighbour[b + 1]; ++i) {
        sum += s.neighbour_weight[i] * x_super[s.neighbour[i]];
    }
    return sum;
}

/// Solves the super-cells' rows one after the other, ascending or descending. Rows that do not know each other are
/// solved side by side, the linked ones in turn. Grid: 1; block: LONE_THREADS.
extern "C" __global__ void relax_supers(
    Level level, Work work, double* totals, unsigned descending, unsigned from_zero, const State* state) {
    if (state->phase != RUN) {
        return;
    }
    const Supers& s = level.supers;
    if (from_zero) {
        for (unsigned b = threadIdx.x; b < s.count; b += LONE_THREADS) {
            totals[b] = 0.0;
            work.x_super[b] = 0.0;
        }
        __syncthreads();
    } else {
        collect_runs(s, work.inflow, totals);
    }
    for (unsigned b = threadIdx.x; b < s.count; b += LONE_THREADS) {
        if (s.first_neighbour[b] == s.first_neighbour[b + 1]) {
            work.x_super[b] = (work.b_super[b] + totals[b]) / s.diagonal[b];
        }
    }
    if (threadIdx.x == 0) {
        for (unsigned i = 0; i < s.linked; ++i) {
            unsigned b = s.linked_list[descending ? s.linked - 1 - i : i];
            double inflow = totals[b] + neighbour_inflow(s, b, work.x_super);
            work.x_super[b] = (work.b_super[b] + inflow) / s.diagonal[b];
        }
    }
}
