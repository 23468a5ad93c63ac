// The 8×8×8 leaf and what lives on leaves: the twins of src/leaf.rs and of core's topology and grids. Every struct
// has its twin in src/cuda/layout.rs.
#pragma once

/// Voxels of a leaf, and leaves of a neighbourhood.
constexpr unsigned LEAF = 512, NEIGHBOURS = 27;
/// No page, no leaf.
constexpr unsigned ABSENT = 0xffffffffu;

/// A sorted set of active leaves.
struct Leaves {
    unsigned count;
    unsigned padding;
    /// [leaf][3], multiples of 8, sorted by x, y, z.
    const int* origins;
    /// [leaf][27]: ABSENT where there is none.
    const unsigned* neighbours;
};

/// A staggered field on leaves: component c of a voxel sits on the voxel's lower face across axis c.
struct Faces {
    /// Per axis, [leaf][512].
    const float* values[3];
    /// The value outside every leaf.
    float background;
    unsigned padding;
};

struct Vec {
    float x, y, z;
};

struct Cell {
    int x, y, z;
};

__device__ inline Vec operator+(Vec a, Vec b) { return Vec{a.x + b.x, a.y + b.y, a.z + b.z}; }
__device__ inline Vec operator-(Vec a, Vec b) { return Vec{a.x - b.x, a.y - b.y, a.z - b.z}; }
__device__ inline Vec operator*(float s, Vec a) { return Vec{s * a.x, s * a.y, s * a.z}; }
__device__ inline float dot(Vec a, Vec b) { return (a.x * b.x + a.y * b.y) + a.z * b.z; }

__device__ inline Vec vec_at(const float* values, size_t n) {
    return Vec{values[3 * n], values[3 * n + 1], values[3 * n + 2]};
}

__device__ inline void put_vec(float* values, size_t n, Vec v) {
    values[3 * n] = v.x, values[3 * n + 1] = v.y, values[3 * n + 2] = v.z;
}

/// The floor, by truncation as on the processor.
__device__ inline int floor_of(float x) {
    int whole = int(x);
    return whole - int(float(whole) > x);
}

__device__ inline Cell floor_of(Vec x) { return Cell{floor_of(x.x), floor_of(x.y), floor_of(x.z)}; }

/// Offset of a voxel in its leaf; only the low three bits of each coordinate count.
__device__ inline unsigned offset_of(int x, int y, int z) {
    return unsigned((x & 7) << 6 | (y & 7) << 3 | (z & 7));
}

/// Where the voxel at coordinates local to leaf l, each in −8..16, stands in a channel; false where no leaf is.
__device__ inline bool reach(const Leaves& leaves, unsigned l, Cell at, size_t* place) {
    unsigned s = unsigned(((at.x >> 3) + 1) * 9 + ((at.y >> 3) + 1) * 3 + ((at.z >> 3) + 1));
    unsigned m = leaves.neighbours[size_t(l) * NEIGHBOURS + s];
    *place = size_t(m) * LEAF + offset_of(at.x, at.y, at.z);
    return m != ABSENT;
}

/// Number of the leaf that holds a voxel, or ABSENT: a binary search among the origins.
__device__ inline unsigned leaf_of(const Leaves& leaves, Cell at) {
    int x = at.x & ~7, y = at.y & ~7, z = at.z & ~7;
    unsigned low = 0, high = leaves.count;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        const int* o = leaves.origins + 3 * size_t(middle);
        bool before = o[0] < x || (o[0] == x && (o[1] < y || (o[1] == y && o[2] < z)));
        if (before) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == leaves.count) {
        return ABSENT;
    }
    const int* o = leaves.origins + 3 * size_t(low);
    return o[0] == x && o[1] == y && o[2] == z ? low : ABSENT;
}

/// Look-ups of voxels that lie near each other: the last leaf is remembered.
struct LookUp {
    const Leaves& leaves;
    Cell origin;
    unsigned leaf;
    bool known;

    __device__ explicit LookUp(const Leaves& leaves) : leaves(leaves), origin{0, 0, 0}, leaf(ABSENT), known(false) {}

    /// Where a voxel stands in a channel; false where no leaf is.
    __device__ bool place(Cell at, size_t* place) {
        Cell o{at.x & ~7, at.y & ~7, at.z & ~7};
        if (!known || o.x != origin.x || o.y != origin.y || o.z != origin.z) {
            origin = o, leaf = leaf_of(leaves, at), known = true;
        }
        *place = size_t(leaf) * LEAF + offset_of(at.x, at.y, at.z);
        return leaf != ABSENT;
    }
};

/// Trilinear interpolation in a cube of eight values, x fastest: the twin of core's `trilinear`.
__device__ inline float trilinear(const float (&v)[8], Vec t) {
    auto lerp = [](float a, float b, float t) { return a * (1.0f - t) + b * t; };
    float y0 = lerp(lerp(v[0], v[1], t.x), lerp(v[2], v[3], t.x), t.y);
    float y1 = lerp(lerp(v[4], v[5], t.x), lerp(v[6], v[7], t.x), t.y);
    return lerp(y0, y1, t.z);
}
