// Builds OpenVDB grids from leaf pools.
#ifndef MENISCUS_VDB_BUILD_H
#define MENISCUS_VDB_BUILD_H

#include "shim.h"

#include <openvdb/Grid.h>
#include <openvdb/Types.h>
#include <openvdb/math/Transform.h>
#include <openvdb/tools/Prune.h>
#include <openvdb/tools/SignedFloodFill.h>
#include <openvdb/tree/Tree.h>

#include <tbb/parallel_for.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <type_traits>
#include <vector>

namespace meniscus {

using FloatGrid = openvdb::Grid<openvdb::tree::Tree4<float, 5, 4, 3>::Type>;
using Vec3fGrid = openvdb::Grid<openvdb::tree::Tree4<openvdb::Vec3f, 5, 4, 3>::Type>;
using Int32Grid = openvdb::Grid<openvdb::tree::Tree4<int32_t, 5, 4, 3>::Type>;

constexpr size_t LEAF_SIZE = 512;
constexpr size_t MASK_WORDS = 8;

inline openvdb::GridClass grid_class(int32_t c)
{
    switch (c) {
    case MV_LEVEL_SET: return openvdb::GRID_LEVEL_SET;
    case MV_FOG_VOLUME: return openvdb::GRID_FOG_VOLUME;
    case MV_STAGGERED: return openvdb::GRID_STAGGERED;
    default: return openvdb::GRID_UNKNOWN;
    }
}

// A value from three numbers (tiles, backgrounds).
inline void assign(const double v[3], float& out) { out = float(v[0]); }
inline void assign(const double v[3], int32_t& out) { out = int32_t(v[0]); }
inline void assign(const double v[3], openvdb::Vec3f& out)
{
    out = openvdb::Vec3f(float(v[0]), float(v[1]), float(v[2]));
}

inline void copy_leaf(const mv_grid& in, size_t leaf, float* out)
{
    const float* src = static_cast<const float*>(in.values[0]) + leaf * LEAF_SIZE * in.stride;
    if (in.stride == 1) {
        std::memcpy(out, src, LEAF_SIZE * sizeof(float));
    } else {
        for (size_t n = 0; n < LEAF_SIZE; ++n) out[n] = src[n * in.stride];
    }
}

inline void copy_leaf(const mv_grid& in, size_t leaf, int32_t* out)
{
    const int32_t* src = static_cast<const int32_t*>(in.values[0]) + leaf * LEAF_SIZE * in.stride;
    for (size_t n = 0; n < LEAF_SIZE; ++n) out[n] = src[n * in.stride];
}

inline void copy_leaf(const mv_grid& in, size_t leaf, openvdb::Vec3f* out)
{
    const float* src[3];
    for (int c = 0; c < 3; ++c) {
        src[c] = static_cast<const float*>(in.values[c]) + leaf * LEAF_SIZE * in.stride;
    }
    for (size_t n = 0; n < LEAF_SIZE; ++n) {
        const size_t i = n * in.stride;
        out[n] = openvdb::Vec3f(src[0][i], src[1][i], src[2][i]);
    }
}

// The narrow band of a level set leaf: active where |value| < background; elsewhere +-background.
inline void narrow_band(float* values, float background, uint64_t* mask)
{
    for (size_t n = 0; n < LEAF_SIZE; ++n) {
        // The negated form keeps a NaN active, so that it is written and can be found.
        if (!(std::abs(values[n]) >= background)) {
            mask[n >> 6] |= uint64_t(1) << (n & 63);
        } else {
            values[n] = std::copysign(background, values[n]);
        }
    }
}

template<typename TreeT>
void set_sides(TreeT& tree, std::true_type)
{
    openvdb::tools::signedFloodFill(tree);
    openvdb::tools::pruneLevelSet(tree);
}

template<typename TreeT>
void set_sides(TreeT&, std::false_type) {}

inline openvdb::math::Transform::Ptr transform_of(const mv_grid& in)
{
    const double* m = in.transform;
    return openvdb::math::Transform::createLinearTransform(openvdb::math::Mat4d(
        m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8], m[9], m[10], m[11], m[12], m[13], m[14], m[15]));
}

template<typename GridT>
typename GridT::Ptr build_grid(const mv_grid& in)
{
    using TreeT = typename GridT::TreeType;
    using LeafT = typename TreeT::LeafNodeType;
    using ValueT = typename TreeT::ValueType;
    constexpr bool is_float = std::is_same<ValueT, float>::value;

    ValueT background;
    assign(in.background, background);
    auto grid = GridT::create(background);
    if (in.name) grid->setName(in.name);
    grid->setGridClass(grid_class(in.grid_class));
    grid->setSaveFloatAsHalf(in.half != 0);
    grid->setTransform(transform_of(in));

    TreeT& tree = grid->tree();
    for (size_t t = 0; t < in.tile_count; ++t) {
        const mv_tile& tile = in.tiles[t];
        ValueT value;
        assign(tile.value, value);
        const openvdb::Coord origin(tile.origin[0], tile.origin[1], tile.origin[2]);
        if (tile.level < 1 || tile.level > 3) OPENVDB_THROW(openvdb::ValueError, "tile level must be 1, 2 or 3");
        tree.addTile(openvdb::Index(tile.level), origin, value, tile.active != 0);
    }

    std::vector<std::unique_ptr<LeafT>> leaves(in.leaves);
    tbb::parallel_for(size_t(0), in.leaves, [&](size_t l) {
        const int32_t* o = in.origins + 3 * l;
        auto leaf = std::make_unique<LeafT>(openvdb::Coord(o[0], o[1], o[2]), background);
        ValueT* data = leaf->buffer().data();
        copy_leaf(in, l, data);
        uint64_t mask[MASK_WORDS];
        if (in.masks) {
            std::memcpy(mask, in.masks + l * MASK_WORDS, sizeof mask);
        } else if (is_float && in.grid_class == MV_LEVEL_SET) {
            std::memset(mask, 0, sizeof mask);
            narrow_band(reinterpret_cast<float*>(data), float(in.background[0]), mask);
        } else {
            std::memset(mask, 0xff, sizeof mask);
        }
        typename LeafT::NodeMaskType value_mask;
        for (size_t w = 0; w < MASK_WORDS; ++w) value_mask.template getWord<uint64_t>(openvdb::Index(w)) = mask[w];
        leaf->setValueMask(value_mask);
        leaves[l] = std::move(leaf);
    });
    openvdb::tree::ValueAccessor<TreeT> accessor(tree);
    for (auto& leaf : leaves) accessor.addLeaf(leaf.release());

    if (in.flood) set_sides(tree, std::integral_constant<bool, is_float>());
    return grid;
}

} // namespace meniscus
#endif
