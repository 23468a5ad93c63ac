// Between a level and the next: the twin of src/multigrid/transfer.rs.
#pragma once
#include "bodies.cuh"
#include "smoother.cuh"

/// Colour, row and first lane of the coarse cells that fine rows (2x, 2y), …, (2x + 1, 2y + 1) of an octant aggregate to.
struct CoarseRow {
    unsigned colour, row, lane;
};

__device__ inline CoarseRow coarse_row(unsigned octant, unsigned x, unsigned y) {
    unsigned cx = (octant >> 2) * 4 + x, cy = (octant >> 1 & 1) * 4 + y;
    return CoarseRow{(cx + cy) & 1, cx * 8 + cy, (octant & 1) * 2};
}

/// The red residual of a row: b + Σ w v − d x + Σ c λ. (Black rows are solved exactly by the last sweep.)
__device__ inline Row<float> red_residual(const Level& level, const Work& work, unsigned leaf, unsigned r) {
    Stencil s = stencil(level, leaf, 0, r);
    Beside<float> v = values_beside<float>(level, work.x, leaf, 0, r);
    Row<float> x = half(work.x, level, 0, leaf)[r];
    Row<float> t = half(work.b, level, 0, leaf)[r];
#pragma unroll
    for (unsigned k = 0; k < LANES; ++k) {
#pragma unroll
        for (unsigned f = 0; f < 6; ++f) {
            t.lane[k] += s.weight.side[f].lane[k] * v.side[f].lane[k];
        }
        t.lane[k] = t.lane[k] - s.diagonal.lane[k] * x.lane[k];
    }
    for_entries(level.bubbles, leaf, 0, r, [&](const Entry<float>& e) {
        float inflow = e.weight * float(work.x_super[e.target]);
        add(t, e.lane, inflow);
    });
    for_entries(level.bodies.cells, leaf, 0, r, [&](const Entry<double>& e) {
        add(t, e.lane, -float(e.weight * level.bodies.impulse[e.target]));
    });
    return t;
}

/// Coarse right side = sums of the fine residual. Grid: coarse leaves; block: LEAF_THREADS, 16 an octant.
extern "C" __global__ void restrict_cells(
    Level fine, Work work, Aggregation map, Work coarse, const State* state) {
    if (state->phase != RUN) {
        return;
    }
    unsigned octant = threadIdx.x >> 4, x = threadIdx.x >> 2 & 3, y = threadIdx.x & 3;
    unsigned child = map.children[8 * size_t(blockIdx.x) + octant];
    Row<float> sum = {{0.0f, 0.0f, 0.0f, 0.0f}};
    if (child < fine.leaves) {
        unsigned r = 16 * x + 2 * y;
        Row<float> low = red_residual(fine, work, child, r);
        Row<float> next = red_residual(fine, work, child, r + 1);
        Row<float> above = red_residual(fine, work, child, r + 8);
        Row<float> last = red_residual(fine, work, child, r + 9);
#pragma unroll
        for (unsigned k = 0; k < LANES; ++k) {
            sum.lane[k] = (low.lane[k] + next.lane[k]) + (above.lane[k] + last.lane[k]);
        }
    }
    CoarseRow at = coarse_row(octant, x, y);
    size_t leaf = size_t(blockIdx.x) * ROWS, colours = size_t(map.coarse_leaves + 1) * ROWS;
    float* even = coarse.b[at.colour * colours + leaf + at.row].lane + at.lane;
    float* odd = coarse.b[(1 - at.colour) * colours + leaf + at.row].lane + at.lane;
    even[0] = sum.lane[0], even[1] = sum.lane[2];
    odd[0] = sum.lane[1], odd[1] = sum.lane[3];
}

/// The super-cells' share of the coarse right side, after `restrict_cells` and `gather_inflow`. Grid: 1; block:
/// LONE_THREADS.
extern "C" __global__ void restrict_supers(
    Level fine, Work work, double* totals, Aggregation map, Work coarse, const State* state) {
    if (state->phase != RUN) {
        return;
    }
    const Supers& s = fine.supers;
    collect_runs(s, work.inflow, totals);
    for (unsigned b = threadIdx.x; b < s.count; b += LONE_THREADS) {
        double inflow = totals[b] + neighbour_inflow(s, b, work.x_super);
        totals[b] = work.b_super[b] + inflow - s.diagonal[b] * work.x_super[b];
        totals[b] -= held_super(fine.bodies, b);
        if (map.super_parent[b] >> 31 == 0) {
            coarse.b_super[map.super_parent[b]] = totals[b];
        }
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < map.cells; i += LONE_THREADS) {
        for (unsigned j = map.first_shrunk[i]; j < map.first_shrunk[i + 1]; ++j) {
            value_at(coarse.b, map.coarse_leaves, map.cell[i]) += float(totals[map.shrunk[j]]);
        }
    }
}

/// Adds the coarse correction to the red cells and, in a block of their own, to the super-cells; black cells are
/// solved anew by the next sweep. Grid: fine leaves + 1; block: ROWS.
extern "C" __global__ void prolong(Level fine, Work work, Aggregation map, Work coarse, const State* state) {
    if (state->phase != RUN) {
        return;
    }
    if (blockIdx.x == fine.leaves) {
        for (unsigned b = threadIdx.x; b < fine.supers.count; b += ROWS) {
            unsigned parent = map.super_parent[b];
            work.x_super[b] += parent >> 31 == 0
                ? coarse.x_super[parent]
                : double(value_at(coarse.x, map.coarse_leaves, map.cell[parent & 0x7fffffffu]));
        }
        return;
    }
    unsigned r = threadIdx.x, parent = map.parents[blockIdx.x];
    CoarseRow at = coarse_row(parent & 7, r >> 4, (r & 7) >> 1);
    size_t leaf = size_t(parent >> 3) * ROWS, colours = size_t(map.coarse_leaves + 1) * ROWS;
    const float* even = coarse.x[at.colour * colours + leaf + at.row].lane + at.lane;
    const float* odd = coarse.x[(1 - at.colour) * colours + leaf + at.row].lane + at.lane;
    Row<float>& x = half(work.x, fine, 0, blockIdx.x)[r];
    x.lane[0] += even[0], x.lane[1] += odd[0];
    x.lane[2] += even[1], x.lane[3] += odd[1];
}
