// Files to leaf pools and facts about them.

#include "build.h"
#include "guard.h"

#include <openvdb/io/File.h>
#include <openvdb/openvdb.h>

#include <algorithm>
#include <limits>
#include <string>

namespace {

struct Entry {
    std::string key, type, value;
};

std::vector<Entry> entries_of(const openvdb::MetaMap& map)
{
    std::vector<Entry> list; // MetaMap is a std::map: sorted by name.
    for (auto it = map.beginMeta(); it != map.endMeta(); ++it) {
        list.push_back({it->first, it->second->typeName(), it->second->str()});
    }
    return list;
}

} // namespace

struct mv_file {
    std::vector<openvdb::GridBase::Ptr> grids;
    std::vector<std::string> names, types;
    std::vector<std::vector<Entry>> grid_meta;
    std::vector<Entry> file_meta;
};

namespace meniscus {
namespace {

template<typename F>
void visit(openvdb::GridBase& grid, F&& f)
{
    if (auto* g = dynamic_cast<FloatGrid*>(&grid)) {
        f(*g);
    } else if (auto* g = dynamic_cast<Vec3fGrid*>(&grid)) {
        f(*g);
    } else if (auto* g = dynamic_cast<Int32Grid*>(&grid)) {
        f(*g);
    } else {
        OPENVDB_THROW(openvdb::TypeError, "grid type " + grid.valueType() + " is not one this tool reads");
    }
}

int32_t type_of(const openvdb::GridBase& grid)
{
    if (grid.isType<FloatGrid>()) return MV_FLOAT;
    if (grid.isType<Vec3fGrid>()) return MV_VEC3F;
    if (grid.isType<Int32Grid>()) return MV_INT32;
    return MV_OTHER;
}

int32_t class_of(const openvdb::GridBase& grid)
{
    switch (grid.getGridClass()) {
    case openvdb::GRID_LEVEL_SET: return MV_LEVEL_SET;
    case openvdb::GRID_FOG_VOLUME: return MV_FOG_VOLUME;
    case openvdb::GRID_STAGGERED: return MV_STAGGERED;
    default: return MV_UNKNOWN;
    }
}

void spread(float v, double out[3]) { out[0] = v, out[1] = out[2] = 0.0; }
void spread(int32_t v, double out[3]) { out[0] = v, out[1] = out[2] = 0.0; }
void spread(const openvdb::Vec3f& v, double out[3])
{
    for (int c = 0; c < 3; ++c) out[c] = v[c];
}

// Every tile that says more than "inactive background".
template<typename GridT>
auto bounded_tiles(const GridT& grid)
{
    struct Tile {
        openvdb::Coord origin;
        int level;
        typename GridT::ValueType value;
        bool active;
    };
    std::vector<Tile> tiles;
    const auto& tree = grid.tree();
    auto it = tree.cbeginValueAll();
    it.setMaxDepth(openvdb::Index(GridT::TreeType::DEPTH) - 2); // stop above the voxels
    for (; it; ++it) {
        if (!it.isValueOn() && it.getValue() == tree.background()) continue;
        tiles.push_back({it.getBoundingBox().min(), int(it.getLevel()), it.getValue(), it.isValueOn()});
    }
    return tiles;
}

bool finite(float v) { return std::isfinite(v); }
bool finite(int32_t) { return true; }
bool finite(const openvdb::Vec3f& v) { return v.isFinite(); }
double size_of(float v) { return v; }
double size_of(int32_t v) { return v; }
double size_of(const openvdb::Vec3f& v) { return double(v.length()); }

template<typename GridT>
void value_stats(const GridT& grid, mv_stats& out)
{
    double lo = std::numeric_limits<double>::infinity(), hi = -lo;
    auto see = [&](const auto& v, bool active) {
        if (!finite(v)) {
            ++out.non_finite;
        } else if (active) {
            lo = std::min(lo, size_of(v));
            hi = std::max(hi, size_of(v));
        }
    };
    for (auto leaf = grid.tree().cbeginLeaf(); leaf; ++leaf) {
        for (openvdb::Index n = 0; n < LEAF_SIZE; ++n) see(leaf->getValue(n), leaf->isValueOn(n));
    }
    auto tile = grid.tree().cbeginValueOn();
    tile.setMaxDepth(decltype(tile)::LEAF_DEPTH - 1);
    for (; tile; ++tile) see(tile.getValue(), true);
    out.minimum = lo <= hi ? lo : 0.0;
    out.maximum = lo <= hi ? hi : 0.0;
}

const openvdb::Coord NEIGHBOURS[6] = {{-1, 0, 0}, {1, 0, 0}, {0, -1, 0}, {0, 1, 0}, {0, 0, -1}, {0, 0, 1}};

void level_set_stats(const FloatGrid& grid, mv_stats& out)
{
    const double h = grid.voxelSize()[0];
    const float background = grid.background();
    auto accessor = grid.getConstAccessor();
    double sum = 0.0;
    out.gradient_min = std::numeric_limits<double>::infinity();
    for (auto leaf = grid.tree().cbeginLeaf(); leaf; ++leaf) {
        for (auto it = leaf->cbeginValueOn(); it; ++it) {
            const float phi = *it;
            const openvdb::Coord ijk = it.getCoord();
            if (std::abs(phi) > background) ++out.beyond_band;
            float around[6];
            bool band = true;
            for (int s = 0; s < 6; ++s) {
                if (!accessor.probeValue(ijk + NEIGHBOURS[s], around[s])) {
                    band = false;
                    if ((around[s] < 0) != (phi < 0)) ++out.wrong_sign;
                }
            }
            if (!band || !(std::abs(phi) < h)) continue;
            double square = 0.0;
            for (int c = 0; c < 3; ++c) {
                const double d = (double(around[2 * c + 1]) - around[2 * c]) / (2.0 * h);
                square += d * d;
            }
            const double gradient = std::sqrt(square);
            ++out.gradient_samples;
            sum += gradient;
            out.gradient_min = std::min(out.gradient_min, gradient);
            out.gradient_max = std::max(out.gradient_max, gradient);
        }
    }
    if (out.gradient_samples == 0) out.gradient_min = 0.0;
    out.gradient_mean = out.gradient_samples ? sum / double(out.gradient_samples) : 0.0;
}

void fill_info(openvdb::GridBase& grid, mv_info& out)
{
    out.type = type_of(grid);
    out.grid_class = class_of(grid);
    out.half = grid.saveFloatAsHalf();
    const auto m = grid.transform().baseMap()->getAffineMap()->getMat4();
    for (int r = 0; r < 4; ++r) {
        for (int c = 0; c < 4; ++c) out.transform[4 * r + c] = m(r, c);
    }
    out.active_voxels = grid.activeVoxelCount();
    out.memory_bytes = grid.memUsage();
    const openvdb::CoordBBox box = grid.evalActiveVoxelBoundingBox();
    out.has_bounds = !box.empty();
    for (int c = 0; c < 3 && out.has_bounds; ++c) {
        out.bounds[c] = box.min()[c];
        out.bounds[3 + c] = box.max()[c];
    }
    if (out.type == MV_OTHER) return;
    visit(grid, [&](auto& g) {
        spread(g.background(), out.background);
        out.leaves = g.tree().leafCount();
        out.tiles = bounded_tiles(g).size();
    });
}

} // namespace
} // namespace meniscus

extern "C" int mv_open(const char* path, mv_file** out, mv_error* error)
{
    return meniscus::guarded(error, [&] {
        openvdb::initialize();
        openvdb::io::File archive(path);
        archive.open(/*delayLoad=*/false);
        auto file = std::make_unique<mv_file>();
        const auto grids = archive.getGrids();
        for (const auto& grid : *grids) {
            file->grids.push_back(grid);
            file->names.push_back(grid->getName());
            file->types.push_back(grid->valueType());
            file->grid_meta.push_back(entries_of(*grid));
        }
        file->file_meta = entries_of(*archive.getMetadata());
        archive.close();
        *out = file.release();
    });
}

extern "C" void mv_close(mv_file* file) { delete file; }

extern "C" size_t mv_grid_count(const mv_file* file) { return file->grids.size(); }

extern "C" int mv_grid_info(mv_file* file, size_t grid, mv_info* out, mv_error* error)
{
    return meniscus::guarded(error, [&] {
        *out = mv_info{};
        out->name = file->names.at(grid).c_str();
        out->value_type = file->types.at(grid).c_str();
        meniscus::fill_info(*file->grids.at(grid), *out);
    });
}

extern "C" size_t mv_meta_count(mv_file* file, size_t grid)
{
    return grid < file->grid_meta.size() ? file->grid_meta[grid].size() : file->file_meta.size();
}

extern "C" int mv_meta_at(mv_file* file, size_t grid, size_t entry, const char** key, const char** type_name,
                          const char** value)
{
    const auto& list = grid < file->grid_meta.size() ? file->grid_meta[grid] : file->file_meta;
    if (entry >= list.size()) return 1;
    *key = list[entry].key.c_str();
    *type_name = list[entry].type.c_str();
    *value = list[entry].value.c_str();
    return 0;
}

extern "C" int mv_read_leaves(mv_file* file, size_t grid, int32_t* origins, uint64_t* masks, void* values,
                              mv_error* error)
{
    return meniscus::guarded(error, [&] {
        meniscus::visit(*file->grids.at(grid), [&](auto& g) {
            using ValueT = typename std::decay_t<decltype(g)>::ValueType;
            auto* out = static_cast<ValueT*>(values);
            for (auto leaf = g.tree().cbeginLeaf(); leaf; ++leaf) {
                for (int c = 0; c < 3; ++c) *origins++ = leaf->origin()[c];
                for (openvdb::Index w = 0; w < meniscus::MASK_WORDS; ++w) {
                    *masks++ = leaf->valueMask().template getWord<uint64_t>(w);
                }
                for (openvdb::Index n = 0; n < meniscus::LEAF_SIZE; ++n) *out++ = leaf->getValue(n);
            }
        });
    });
}

extern "C" int mv_read_tiles(mv_file* file, size_t grid, mv_tile* tiles, mv_error* error)
{
    return meniscus::guarded(error, [&] {
        meniscus::visit(*file->grids.at(grid), [&](auto& g) {
            for (const auto& tile : meniscus::bounded_tiles(g)) {
                mv_tile& out = *tiles++;
                for (int c = 0; c < 3; ++c) out.origin[c] = tile.origin[c];
                out.level = tile.level;
                out.active = tile.active;
                meniscus::spread(tile.value, out.value);
            }
        });
    });
}

extern "C" int mv_grid_stats(mv_file* file, size_t grid, mv_stats* out, mv_error* error)
{
    return meniscus::guarded(error, [&] {
        *out = mv_stats{};
        openvdb::GridBase& base = *file->grids.at(grid);
        meniscus::visit(base, [&](auto& g) { meniscus::value_stats(g, *out); });
        const auto* levels = dynamic_cast<const meniscus::FloatGrid*>(&base);
        if (levels && base.getGridClass() == openvdb::GRID_LEVEL_SET) {
            meniscus::level_set_stats(*levels, *out);
        }
    });
}
