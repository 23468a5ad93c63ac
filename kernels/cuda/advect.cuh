// Particles follow the face velocity: the twin of core/src/fluid/{advection,flow}.rs.
#pragma once
#include "particles.cuh"
#include "solids.cuh"

/// A substep's way.
struct Journey {
    /// World position of the particles' origin, m.
    double origin[3];
    /// Identities; null where no particle is newer than the velocity.
    const long long* id;
    /// Particles with ids from here on move with their own velocity.
    long long born_from;
    /// Voxels per m/s.
    float step;
    unsigned count;
};

/// Where particles have come to.
struct Arrivals {
    /// [particle][3], m: the new position; of a particle that meets a solid the way it would have gone.
    float* position;
    /// [particle]: a `Fate`.
    unsigned char* fate;
};

enum Fate : unsigned char {
    ARRIVED = 0,
    /// Beyond a side that removes liquid.
    GONE = 1,
    /// To be landed by the processor.
    MEETS_SOLID = 2,
};

/// Voxels around a leaf in which paths are followed by the neighbour table; beyond, by search.
constexpr int WIDTH = 3;

/// The face velocity along the path of one particle.
struct Flow {
    const Leaves& leaves;
    const Faces& velocity;
    const Frame& frame;
    /// The leaf in which the particle starts, and its origin in the local coordinates of the frame.
    unsigned leaf;
    Cell origin;

    __device__ Flow(const Leaves& leaves, const Faces& velocity, const Frame& frame, Vec x)
        : leaves(leaves), velocity(velocity), frame(frame) {
        Cell voxel = floor_of(Vec{x.x + 0.5f, x.y + 0.5f, x.z + 0.5f});
        voxel = Cell{voxel.x + frame.base[0], voxel.y + frame.base[1], voxel.z + frame.base[2]};
        leaf = leaf_of(leaves, voxel);
        origin = Cell{
            (voxel.x & ~7) - frame.base[0], (voxel.y & ~7) - frame.base[1], (voxel.z & ~7) - frame.base[2]};
    }

    /// Velocity at a local index position.
    __device__ Vec at(Vec x) const {
        Cell cell = floor_of(x);
        Vec fraction = x - Vec{float(cell.x), float(cell.y), float(cell.z)};
        Cell inside{cell.x - origin.x, cell.y - origin.y, cell.z - origin.z};
        auto in_block = [](int c) { return c >= -WIDTH && c < 9; };
        if (leaf != ABSENT && in_block(inside.x) && in_block(inside.y) && in_block(inside.z)) {
            return Vec{by_table(0, inside, fraction), by_table(1, inside, fraction), by_table(2, inside, fraction)};
        }
        cell = Cell{cell.x + frame.base[0], cell.y + frame.base[1], cell.z + frame.base[2]};
        return Vec{by_search(0, cell, fraction), by_search(1, cell, fraction), by_search(2, cell, fraction)};
    }

    /// Moves a position on to the lattice of an axis' lower faces.
    __device__ static void up_half(unsigned axis, Cell& cell, Vec& fraction) {
        float& f = axis == 0 ? fraction.x : axis == 1 ? fraction.y : fraction.z;
        int& c = axis == 0 ? cell.x : axis == 1 ? cell.y : cell.z;
        f += 0.5f;
        if (f >= 1.0f) {
            f -= 1.0f;
            c += 1;
        }
    }

    /// One component by the neighbour table.
    __device__ float by_table(unsigned axis, Cell cell, Vec f) const {
        up_half(axis, cell, f);
        float v[2][2][2];
        for (int n = 0; n < 8; ++n) {
            size_t place;
            bool there = reach(leaves, leaf, Cell{cell.x + (n >> 2), cell.y + (n >> 1 & 1), cell.z + (n & 1)}, &place);
            v[n >> 2][n >> 1 & 1][n & 1] = there ? velocity.values[axis][place] : velocity.background;
        }
        auto lerp = [](float t, float a, float b) { return a + t * (b - a); };
        auto row = [&](int i, int j) { return lerp(f.z, v[i][j][0], v[i][j][1]); };
        return lerp(f.x, lerp(f.y, row(0, 0), row(0, 1)), lerp(f.y, row(1, 0), row(1, 1)));
    }

    /// One component by search.
    __device__ float by_search(unsigned axis, Cell cell, Vec f) const {
        up_half(axis, cell, f);
        LookUp look(leaves);
        float v[8];
#pragma unroll 1
        for (int n = 0; n < 8; ++n) {
            size_t place;
            bool there = look.place(Cell{cell.x + (n & 1), cell.y + (n >> 1 & 1), cell.z + (n >> 2)}, &place);
            v[n] = there ? velocity.values[axis][place] : velocity.background;
        }
        return trilinear(v, f);
    }

    /// Where a particle that starts at x is after the step: the third-order Runge-Kutta scheme of least error
    /// [Ralston 1962].
    __device__ Vec follow(Vec x, float step) const {
        Vec u{0.0f, 0.0f, 0.0f}, sum{0.0f, 0.0f, 0.0f};
#pragma unroll 1
        for (int stage = 0; stage < 3; ++stage) {
            float share = stage == 0 ? 0.0f : stage == 1 ? 0.5f : 0.75f;
            u = at(x + (share * step) * u);
            sum = sum + float(2 + stage) * u;
        }
        return x + (step / 9.0f) * sum;
    }
};

/// Moves particles. Their order does not matter. Grid: particles by PARTICLE_THREADS; block: PARTICLE_THREADS.
extern "C" __global__ void advect(
    Leaves leaves, Faces velocity, Particles p, Frame frame, Journey journey, Solids solids, Arrivals out) {
    unsigned n = blockIdx.x * PARTICLE_THREADS + threadIdx.x;
    if (n >= journey.count) {
        return;
    }
    Vec position = vec_at(p.position, n);
    Vec start = local_of(frame, position);
    bool newborn = journey.id && journey.id[n] >= journey.born_from;
    Vec moved = newborn ? start + journey.step * vec_at(p.velocity, n)
                        : Flow(leaves, velocity, frame, start).follow(start, journey.step);
    Vec way = frame.h * (moved - start);
    World origin{journey.origin[0], journey.origin[1], journey.origin[2]};
    World from = origin + World{position.x, position.y, position.z};
    World to = from + World{way.x, way.y, way.z};
    bool meets = meets_solid(solids, from, to);
    World end = to - origin;
    put_vec(out.position, n, meets ? way : Vec{float(end.x), float(end.y), float(end.z)});
    out.fate[n] = meets ? MEETS_SOLID : killed(solids, to) ? GONE : ARRIVED;
}

static_assert(sizeof(Journey) == 48 && sizeof(Arrivals) == 16, "twins");
