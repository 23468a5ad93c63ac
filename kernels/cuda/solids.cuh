// How far the solids are: the twin of core's `SolidProbe::distance` and of the first looks of `Sweep::land`. What
// touches a solid lands on the processor.
#pragma once
#include "leaf.cuh"

/// A solid's signed distance on a lattice of its own.
struct Collider {
    Leaves leaves;
    /// [leaf][512], m, at cell centres.
    const float* values;
    /// Leafless tiles inside, in runs along z: [runs][4] of x, y, first z, end z in leaves, sorted.
    const int* inside;
    unsigned runs;
    /// Half width of the band, m.
    float background;
    /// World → index: columns of the linear part, applied after `translation` is taken off.
    double to_index[9];
    double translation[3];
};

/// All solids, and the sides of the domain.
struct Solids {
    const Collider* collider;
    unsigned colliders;
    /// Bits of the closed sides, and of those beyond which liquid is removed: −x +x −y +y −z +z.
    unsigned closed;
    unsigned kills;
    /// Not 0 while some solid moves.
    unsigned moving;
    /// Planes of the sides, m.
    double side[6];
    /// Distance that particles keep, m.
    double separation;
    /// The farthest that a solid's surface moves in the substep, m.
    double swept;
};

/// Farther than any solid, m.
constexpr double NOWHERE = 1e300;

struct World {
    double x, y, z;
};

__device__ inline World operator+(World a, World b) { return World{a.x + b.x, a.y + b.y, a.z + b.z}; }
__device__ inline World operator-(World a, World b) { return World{a.x - b.x, a.y - b.y, a.z - b.z}; }
__device__ inline double length(World a) { return sqrt((a.x * a.x + a.y * a.y) + a.z * a.z); }

/// Distance, m, to a side's plane; positive on the domain's side of it.
__device__ inline double side_distance(const Solids& s, unsigned side, World at) {
    double c = side < 2 ? at.x : side < 4 ? at.y : at.z;
    return side % 2 == 0 ? c - s.side[side] : s.side[side] - c;
}

/// Whether a position lies beyond a side that removes liquid.
__device__ inline bool killed(const Solids& s, World at) {
    bool gone = false;
    for (unsigned side = 0; side < 6; ++side) {
        gone = gone || ((s.kills >> side & 1) != 0 && side_distance(s, side, at) < 0.0);
    }
    return gone;
}

/// The value of a voxel without a leaf.
__device__ inline float beyond_band(const Collider& c, Cell at) {
    int x = at.x >> 3, y = at.y >> 3, z = at.z >> 3;
    unsigned low = 0, high = c.runs;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        const int* r = c.inside + 4 * size_t(middle);
        bool not_after = r[0] < x || (r[0] == x && (r[1] < y || (r[1] == y && r[2] <= z)));
        if (not_after) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == 0) {
        return c.background;
    }
    const int* r = c.inside + 4 * size_t(low - 1);
    return r[0] == x && r[1] == y && z < r[3] ? -c.background : c.background;
}

__device__ inline int floor_of(double x) {
    int whole = int(x);
    return whole - int(double(whole) > x);
}

/// Signed distance of a collider, m.
__device__ inline double distance_to(const Collider& c, World at) {
    double x = at.x - c.translation[0], y = at.y - c.translation[1], z = at.z - c.translation[2];
    const double* m = c.to_index;
    double i = (m[0] * x + m[3] * y) + m[6] * z;
    double j = (m[1] * x + m[4] * y) + m[7] * z;
    double k = (m[2] * x + m[5] * y) + m[8] * z;
    Cell base{floor_of(i), floor_of(j), floor_of(k)};
    Vec fraction{float(i - double(base.x)), float(j - double(base.y)), float(k - double(base.z))};
    LookUp look(c.leaves);
    float v[8];
#pragma unroll 1
    for (int n = 0; n < 8; ++n) {
        Cell corner{base.x + (n & 1), base.y + (n >> 1 & 1), base.z + (n >> 2)};
        size_t place;
        v[n] = look.place(corner, &place) ? c.values[place] : beyond_band(c, corner);
    }
    return double(trilinear(v, fraction));
}

/// Signed distance to the union of the solids, m.
__device__ inline double distance_to(const Solids& s, World at) {
    double nearest = NOWHERE;
    for (unsigned side = 0; side < 6; ++side) {
        double d = side_distance(s, side, at);
        if ((s.closed >> side & 1) != 0 && d < nearest) {
            nearest = d;
        }
    }
#pragma unroll 1
    for (unsigned n = 0; n < s.colliders; ++n) {
        double d = distance_to(s.collider[n], at);
        nearest = d < nearest ? d : nearest;
    }
    return nearest;
}

/// Whether a solid may stand in the way between two positions: where it surely does not, the processor would leave
/// the particle's way alone as well.
__device__ inline bool meets_solid(const Solids& s, World from, World to) {
    if (s.colliders == 0 && s.closed == 0) {
        return false;
    }
    double way = length(to - from), there = distance_to(s, to);
    if (there > way + s.swept + s.separation) {
        return false;
    }
    if (s.moving != 0) {
        return true;
    }
    double here = distance_to(s, from);
    return !(here + there - way > 2.0 * s.separation && there >= s.separation);
}

static_assert(sizeof(Collider) == 144 && sizeof(Solids) == 88, "twins");
