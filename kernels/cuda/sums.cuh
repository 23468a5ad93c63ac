// Sums whose order depends on nothing but the number of terms: the same bits in every run. No atomics.
#pragma once
#include "rows.cuh"

/// Sum of one value a thread over a block of `threads` (a power of two); every thread gets it.
template <unsigned threads>
__device__ inline double sum_over_block(double value) {
    __shared__ double sums[threads];
    unsigned t = threadIdx.x;
    __syncthreads();
    sums[t] = value;
    for (unsigned reach = threads / 2; reach > 0; reach /= 2) {
        __syncthreads();
        if (t < reach) {
            sums[t] += sums[t + reach];
        }
    }
    __syncthreads();
    return sums[0];
}

/// y = A⁻¹ b by a block of LONE_THREADS, in steps of rows that do not wait for each other.
__device__ inline void solve_factor(const Factor& f, const double* b, double* y) {
    for (unsigned step = 0; step < f.forward_steps; ++step) {
        for (unsigned e = f.forward_first[step] + threadIdx.x; e < f.forward_first[step + 1]; e += LONE_THREADS) {
            unsigned i = f.forward_list[e];
            double sum = b[f.column[i]];
            for (unsigned p = f.row_first[i]; p < f.row_first[i + 1]; ++p) {
                sum -= f.row_value[p] * f.solution[f.row_at[p]];
            }
            f.solution[i] = sum;
        }
        __syncthreads();
    }
    for (unsigned step = 0; step < f.backward_steps; ++step) {
        for (unsigned e = f.backward_first[step] + threadIdx.x; e < f.backward_first[step + 1]; e += LONE_THREADS) {
            unsigned j = f.backward_list[e];
            double sum = f.solution[j] * f.inverse_pivot[j];
            for (unsigned p = f.column_first[j]; p < f.column_first[j + 1]; ++p) {
                sum -= f.column_value[p] * f.solution[f.column_at[p]];
            }
            f.solution[j] = sum;
            y[f.column[j]] = sum;
        }
        __syncthreads();
    }
}

/// Sum of term(0), …, term(count − 1) by a block; every thread gets it.
template <unsigned threads, class F>
__device__ inline double sum_of(unsigned count, F term) {
    double sum = 0.0;
    for (unsigned i = threadIdx.x; i < count; i += threads) {
        sum += term(i);
    }
    return sum_over_block<threads>(sum);
}

/// Σ a b of two rows.
template <class A, class B>
__device__ inline double dot_row(const Row<A>& a, const Row<B>& b) {
    double products[LANES];
#pragma unroll
    for (unsigned k = 0; k < LANES; ++k) {
        products[k] = double(a.lane[k]) * double(b.lane[k]);
    }
    return (products[0] + products[1]) + (products[2] + products[3]);
}

/// Σ over a super-cell's runs, by the 32 threads of a group; the block's other groups do the same for other
/// super-cells (`count` of them in all, visited in rounds). Writes to totals[b].
__device__ inline void collect_runs(const Supers& s, const double* runs, double* totals) {
    constexpr unsigned GROUP = 32, GROUPS = LONE_THREADS / GROUP;
    __shared__ double sums[LONE_THREADS];
    unsigned t = threadIdx.x, lane = t % GROUP;
    for (unsigned round = 0; round < s.count; round += GROUPS) {
        unsigned b = round + t / GROUP;
        double sum = 0.0;
        if (b < s.count) {
            for (unsigned i = s.first_run[b] + lane; i < s.first_run[b + 1]; i += GROUP) {
                sum += runs[i];
            }
        }
        __syncthreads();
        sums[t] = sum;
        for (unsigned reach = GROUP / 2; reach > 0; reach /= 2) {
            __syncthreads();
            if (lane < reach) {
                sums[t] += sums[t + reach];
            }
        }
        if (b < s.count && lane == 0) {
            totals[b] = sums[t];
        }
    }
    __syncthreads();
}
