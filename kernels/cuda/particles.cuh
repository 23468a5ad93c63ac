// The particles of a liquid as the kernels see them. Every struct has its twin in src/cuda/layout.rs.
#pragma once
#include "leaf.cuh"

/// Threads of a block that works on the faces or on the particles of one leaf, or on as many particles.
constexpr unsigned PARTICLE_THREADS = 256;

/// Structure of arrays; vectors are [particle][3].
struct Particles {
    /// m, relative to the object's origin.
    const float* position;
    /// m/s.
    float* velocity;
    /// Per component its gradient, 1/s; null where particles carry none.
    float* affine[3];
    /// kg/m³; null where all have the same.
    const float* density;
};

/// Maps positions to index space: index = base + position · per_metre + offset.
struct Frame {
    int base[3];
    float offset[3];
    float per_metre;
    float h;
};

/// Index position relative to the frame's base.
__device__ inline Vec local_of(const Frame& frame, Vec position) {
    return Vec{
        position.x * frame.per_metre + frame.offset[0], position.y * frame.per_metre + frame.offset[1],
        position.z * frame.per_metre + frame.offset[2]};
}

/// Position of a leaf's origin in the local coordinates of a frame.
__device__ inline Vec shift_of(const Leaves& leaves, const Frame& frame, unsigned l) {
    const int* o = leaves.origins + 3 * size_t(l);
    return Vec{float(o[0] - frame.base[0]), float(o[1] - frame.base[1]), float(o[2] - frame.base[2])};
}

/// Whole part and fraction along one axis, the whole part kept in −1..=7: a particle on a leaf's border may be
/// rounded across it.
struct Split {
    int base;
    float fraction;
};

__device__ inline Split split(float q) {
    float above = q + 1.0f;
    int base = int(above > 0.0f ? (above < 8.0f ? above : 8.0f) : 0.0f) - 1;
    return Split{base, q - float(base)};
}

/// Where a leaf-local position stands on the lattice of cells and, half a voxel further, on that of faces; axis a's
/// staggered lattice takes the second along a and the first along the others.
struct Staggered {
    Split centre[3], face[3];

    __device__ explicit Staggered(Vec x)
        : centre{split(x.x), split(x.y), split(x.z)}, face{split(x.x + 0.5f), split(x.y + 0.5f), split(x.z + 0.5f)} {}

    __device__ const Split& on(unsigned axis, unsigned direction) const {
        return axis == direction ? face[direction] : centre[direction];
    }
};

static_assert(sizeof(Leaves) == 24 && sizeof(Faces) == 32 && sizeof(Particles) == 48 && sizeof(Frame) == 32, "twins");
