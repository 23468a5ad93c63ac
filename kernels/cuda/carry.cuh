// Velocity between particles and faces: the twin of core/src/fluid/transfer.rs.
#pragma once
#include "particles.cuh"

/// What the faces get: per axis the weighted mean and the sum of the weights, [leaf][512] each.
struct Carried {
    float* value[3];
    float* weight[3];
};

/// Σ m w value and Σ m w per axis.
struct Sums {
    float value[3], weight[3];
};

/// Adds what a particle gives to the faces of the voxel at `at`, in coordinates of the particle's leaf. Corners are
/// weighted in the order of the processor's scatter.
__device__ inline void add_particle(
    Sums& sums, Cell at, const Particles& p, const Frame& frame, Vec shift, size_t n) {
    Staggered place(local_of(frame, vec_at(p.position, n)) - shift);
#pragma unroll
    for (unsigned axis = 0; axis < 3; ++axis) {
        const Split &x = place.on(axis, 0), &y = place.on(axis, 1), &z = place.on(axis, 2);
        unsigned i = unsigned(at.x - x.base), j = unsigned(at.y - y.base), k = unsigned(at.z - z.base);
        if (i > 1 || j > 1 || k > 1) {
            continue;
        }
        float mass = p.density ? p.density[n] : 1.0f;
        Vec g = p.affine[axis] ? frame.h * vec_at(p.affine[axis], n) : Vec{0.0f, 0.0f, 0.0f};
        float at_corner = p.velocity[3 * n + axis] - dot(g, Vec{x.fraction, y.fraction, z.fraction});
        float wx = mass * (i == 0 ? 1.0f - x.fraction : x.fraction);
        float wxy = wx * (j == 0 ? 1.0f - y.fraction : y.fraction);
        float w = wxy * (k == 0 ? 1.0f - z.fraction : z.fraction);
        float v0 = at_corner + g.x * float(i) + g.y * float(j);
        sums.value[axis] += w * (k == 0 ? v0 : v0 + g.z);
        sums.weight[axis] += w;
    }
}

/// What the particles of leaf m give to the faces of the voxel at `at` (coordinates of m, each in −1..=8), in the
/// order of the particles: they are sorted by cell, and those that reach a face are in the 27 cells around.
__device__ inline Sums sum_of_leaf(
    const Leaves& leaves, const unsigned* start, const Particles& p, const Frame& frame, unsigned m, Cell at) {
    Sums sums = {{0.0f, 0.0f, 0.0f}, {0.0f, 0.0f, 0.0f}};
    const unsigned* cells = start + size_t(m) * LEAF;
    Vec shift = shift_of(leaves, frame, m);
    auto low = [](int c) { return c > 0 ? c - 1 : 0; };
    auto high = [](int c) { return c < 7 ? c + 1 : 7; };
    for (int x = low(at.x); x <= high(at.x); ++x) {
        for (int y = low(at.y); y <= high(at.y); ++y) {
            // Cells of a z-row are neighbours in memory, and so are their particles.
            unsigned end = cells[offset_of(x, y, high(at.z)) + 1];
            for (unsigned n = cells[offset_of(x, y, low(at.z))]; n < end; ++n) {
                add_particle(sums, at, p, frame, shift, n);
            }
        }
    }
    return sums;
}

/// The leaves whose particles reach a voxel, along one axis: displacements first..=last.
__device__ inline int first_leaf(int c) { return c == 0 ? -1 : 0; }
__device__ inline int last_leaf(int c) { return c == 7 ? 1 : 0; }

/// Momentum-weighted mean velocity of the faces, m/s. Every face adds up what it gets leaf by leaf, in the order of
/// the neighbour slots, as on the processor: no atomics, and the same bits in every run.
/// `start`: [leaf · 512 + 1], first particle of each cell. Grid: leaves; block: PARTICLE_THREADS.
extern "C" __global__ void particles_to_faces(
    Leaves leaves, const unsigned* start, Particles p, Frame frame, Carried out) {
    const unsigned* neighbours = leaves.neighbours + size_t(blockIdx.x) * NEIGHBOURS;
    for (unsigned n = threadIdx.x; n < LEAF; n += PARTICLE_THREADS) {
        int x = int(n >> 6), y = int(n >> 3 & 7), z = int(n & 7);
        Sums total = {{0.0f, 0.0f, 0.0f}, {0.0f, 0.0f, 0.0f}};
        for (int dx = first_leaf(x); dx <= last_leaf(x); ++dx) {
            for (int dy = first_leaf(y); dy <= last_leaf(y); ++dy) {
                for (int dz = first_leaf(z); dz <= last_leaf(z); ++dz) {
                    unsigned m = neighbours[(dx + 1) * 9 + (dy + 1) * 3 + (dz + 1)];
                    if (m == ABSENT || start[size_t(m) * LEAF] == start[size_t(m + 1) * LEAF]) {
                        continue;
                    }
                    Sums part = sum_of_leaf(leaves, start, p, frame, m, Cell{x - 8 * dx, y - 8 * dy, z - 8 * dz});
                    for (unsigned axis = 0; axis < 3; ++axis) {
                        total.value[axis] += part.value[axis];
                        total.weight[axis] += part.weight[axis];
                    }
                }
            }
        }
        size_t place = size_t(blockIdx.x) * LEAF + n;
        for (unsigned axis = 0; axis < 3; ++axis) {
            float w = total.weight[axis];
            out.value[axis][place] = w > 0.0f ? total.value[axis] / w : total.value[axis];
            out.weight[axis][place] = w;
        }
    }
}

/// Voxels along an edge of a leaf with its shell of one voxel, and in all of it.
constexpr int HALO = 10;
constexpr unsigned HALO_SIZE = 1000;

/// Face values of a leaf and its shell, for all threads of a block.
__device__ inline void load_halo(float (&block)[3][HALO_SIZE], const Leaves& leaves, const Faces& faces, unsigned l) {
    for (unsigned n = threadIdx.x; n < HALO_SIZE; n += PARTICLE_THREADS) {
        size_t place;
        bool there = reach(leaves, l, Cell{int(n / 100) - 1, int(n / 10 % 10) - 1, int(n % 10) - 1}, &place);
        for (unsigned axis = 0; axis < 3; ++axis) {
            block[axis][n] = there ? faces.values[axis][place] : faces.background;
        }
    }
}

/// Velocity and the gradient (per voxel) of each component.
struct Gathered {
    float u[3];
    Vec gradient[3];
};

__device__ inline float blend(float t, float a, float b) { return a + t * (b - a); }

/// What the faces of a leaf and its shell say at a leaf-local position.
__device__ inline Gathered gather(const float (&block)[3][HALO_SIZE], Vec at) {
    Staggered place(at);
    Gathered out;
#pragma unroll
    for (unsigned axis = 0; axis < 3; ++axis) {
        const Split &x = place.on(axis, 0), &y = place.on(axis, 1), &z = place.on(axis, 2);
        const float* first = block[axis] + ((x.base + 1) * HALO + (y.base + 1)) * HALO + (z.base + 1);
        float v[2][2], d[2][2];
        for (int i = 0; i < 2; ++i) {
            for (int j = 0; j < 2; ++j) {
                const float* row = first + (i * HALO + j) * HALO;
                v[i][j] = row[0] + z.fraction * (row[1] - row[0]);
                d[i][j] = row[1] - row[0];
            }
        }
        float v0 = blend(y.fraction, v[0][0], v[0][1]), v1 = blend(y.fraction, v[1][0], v[1][1]);
        out.u[axis] = blend(x.fraction, v0, v1);
        out.gradient[axis] = Vec{
            v1 - v0, blend(x.fraction, v[0][1] - v[0][0], v[1][1] - v[1][0]),
            blend(x.fraction, blend(y.fraction, d[0][0], d[0][1]), blend(y.fraction, d[1][0], d[1][1]))};
    }
    return out;
}

/// Particles take velocity from the faces: with `affine` not 0 the velocity itself and its gradient (APIC), else
/// `flip` parts of its change since `before` and 1 − flip parts of itself. Grid: leaves; block: PARTICLE_THREADS.
extern "C" __global__ void faces_to_particles(
    Leaves leaves, const unsigned* start, Particles p, Frame frame, Faces after, Faces before, float flip,
    unsigned affine) {
    __shared__ float now[3][HALO_SIZE];
    __shared__ float then[3][HALO_SIZE];
    unsigned l = blockIdx.x;
    unsigned first = start[size_t(l) * LEAF], end = start[size_t(l + 1) * LEAF];
    if (first == end) {
        return;
    }
    load_halo(now, leaves, after, l);
    if (affine == 0) {
        load_halo(then, leaves, before, l);
    }
    __syncthreads();
    Vec shift = shift_of(leaves, frame, l);
    for (unsigned n = first + threadIdx.x; n < end; n += PARTICLE_THREADS) {
        Vec x = local_of(frame, vec_at(p.position, n)) - shift;
        Gathered got = gather(now, x);
        if (affine == 0) {
            Gathered had = gather(then, x);
            for (unsigned axis = 0; axis < 3; ++axis) {
                got.u[axis] += flip * (p.velocity[3 * size_t(n) + axis] - had.u[axis]);
                got.gradient[axis] = Vec{0.0f, 0.0f, 0.0f};
            }
        }
        put_vec(p.velocity, n, Vec{got.u[0], got.u[1], got.u[2]});
        for (unsigned axis = 0; axis < 3; ++axis) {
            put_vec(p.affine[axis], n, frame.per_metre * got.gradient[axis]);
        }
    }
}

static_assert(sizeof(Carried) == 48, "twins");
