// Rays through level sets.

#include "trace.h"

#include "build.h"

#include <openvdb/openvdb.h>
#include <openvdb/tools/Interpolation.h>

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <limits>
#include <map>
#include <tuple>

namespace meniscus {

using openvdb::Coord;

namespace {

// Values of a leaf and of the next voxel along each axis, so that a cell's eight corners lie together.
constexpr int BRICK_EDGE = 9;
constexpr int BRICK_X = BRICK_EDGE * BRICK_EDGE;
constexpr int BRICK_SIZE = BRICK_X * BRICK_EDGE;

} // namespace

struct Scene::Grids {
    struct Entry {
        FloatGrid::Ptr grid;
        int32_t material;
        Vec3 colour;
        std::shared_ptr<const std::vector<float>> bricks; // by the leaf's transient number
    };
    std::vector<Entry> entries, foams;
};

namespace {

using Leaf = FloatGrid::TreeType::LeafNodeType;

std::vector<Leaf*> leaves_of(FloatGrid& grid)
{
    std::vector<Leaf*> leaves;
    grid.tree().getNodes(leaves);
    return leaves;
}

std::shared_ptr<const std::vector<float>> make_bricks(FloatGrid& grid)
{
    const std::vector<Leaf*> leaves = leaves_of(grid);
    auto made = std::make_shared<std::vector<float>>(leaves.size() * BRICK_SIZE);
    std::vector<float>& bricks = *made;
    tbb::parallel_for(size_t(0), leaves.size(), [&](size_t l) {
        auto accessor = grid.getConstAccessor();
        leaves[l]->setTransientData(openvdb::Index32(l));
        const Coord origin = leaves[l]->origin();
        float* out = &bricks[l * BRICK_SIZE];
        for (int x = 0; x < BRICK_EDGE; ++x) {
            for (int y = 0; y < BRICK_EDGE; ++y) {
                for (int z = 0; z < BRICK_EDGE; ++z) *out++ = accessor.getValue(origin.offsetBy(x, y, z));
            }
        }
    });
    return made;
}

// The voxel at or below an index position; baseline x86-64 has no instruction for floor().
inline Coord below(const Vec3& p)
{
    const int x = int(p[0]), y = int(p[1]), z = int(p[2]);
    return Coord(x - (p[0] < x), y - (p[1] < y), z - (p[2] < z));
}

// How far liquid is drawn into a wall it touches, in voxels: so far that the two surfaces never fight.
constexpr double WETTING = 0.25;

// Simulated liquid reaches about a voxel into the walls, in the steps of the lattice; behind glass this would
// be seen. Cut off there, it takes the shape of the wall.
void cut(FloatGrid& liquid, const FloatGrid& solid)
{
    const std::vector<Leaf*> leaves = leaves_of(liquid);
    const double overlap = WETTING * liquid.voxelSize()[0];
    const openvdb::BBoxd reach = solid.transform().indexToWorld(solid.evalActiveVoxelBoundingBox());
    tbb::parallel_for(size_t(0), leaves.size(), [&](size_t l) {
        // Beyond its band a solid does not know how far it is.
        if (!reach.hasOverlap(liquid.transform().indexToWorld(leaves[l]->getNodeBoundingBox()))) return;
        openvdb::tools::GridSampler<FloatGrid::ConstAccessor, openvdb::tools::BoxSampler> distance(
            solid.getConstAccessor(), solid.transform());
        for (openvdb::Index n = 0; n < Leaf::SIZE; ++n) {
            const Vec3 at = liquid.indexToWorld(leaves[l]->offsetToGlobalCoord(n));
            const float from = distance.wsSample(at), wall = float(-from - overlap);
            if (from < solid.background() && leaves[l]->getValue(n) < wall) leaves[l]->setValueOnly(n, wall);
        }
    });
}

// What liquid is cut off at.
bool is_solid(int32_t material) { return material == MV_GLASS || material == MV_CLAY; }

// All that a tree is built from; where it is placed is no part of it.
using TreeKey = std::tuple<const void*, const void*, const void*, const void*, size_t, size_t, size_t, double, int32_t>;

TreeKey tree_key(const mv_grid& in)
{
    return {in.origins, in.values[0], in.masks, in.tiles, in.leaves, in.tile_count, in.stride, in.background[0], in.flood};
}

} // namespace

Scene::Scene(const mv_surface* surfaces, size_t count, int threads) : grids_(std::make_unique<Grids>())
{
    openvdb::initialize();
    auto& entries = grids_->entries;
    // Copies of a solid share a tree: its upper nodes alone take megabytes. Each liquid is cut, so it has its own.
    std::map<TreeKey, FloatGrid::Ptr> solids;
    for (size_t s = 0; s < count; ++s) {
        const mv_grid& in = surfaces[s].grid;
        const bool may_share = is_solid(surfaces[s].material) && in.leaves > 0;
        auto known = may_share ? solids.find(tree_key(in)) : solids.end();
        FloatGrid::Ptr grid;
        if (known != solids.end()) {
            grid = FloatGrid::create(known->second->treePtr());
            grid->setGridClass(known->second->getGridClass());
            grid->setTransform(transform_of(in));
        } else {
            grid = build_grid<FloatGrid>(in);
            if (may_share) solids[tree_key(in)] = grid;
        }
        if (grid->activeVoxelCount() == 0) continue; // nothing to see
        auto& kind = surfaces[s].material == MV_FOAM ? grids_->foams : entries;
        kind.push_back({grid, surfaces[s].material, Vec3(surfaces[s].colour), {}});
    }
    tbb::task_arena(std::min(threads, tbb::this_task_arena::max_concurrency())).execute([&] {
        for (auto& liquid : entries) {
            if (liquid.material != MV_LIQUID) continue;
            for (const auto& solid : entries) {
                if (is_solid(solid.material)) cut(*liquid.grid, *solid.grid);
            }
        }
        std::map<const void*, std::shared_ptr<const std::vector<float>>> made;
        for (auto& entry : entries) {
            auto& bricks = made[&entry.grid->tree()];
            if (!bricks) bricks = make_bricks(*entry.grid);
            entry.bricks = bricks;
        }
        for (auto& foam : grids_->foams) foam.bricks = make_bricks(*foam.grid);
    });
}

Scene::~Scene() = default;

// A grid that rays cross; a copy per thread, since OpenVDB's accessors are not thread-safe.
class Tracer::Field
{
public:
    Field(const FloatGrid& grid, const float* bricks)
        : grid_(&grid), bricks_(bricks), voxel_(grid.voxelSize()[0]), accessor_(grid.getConstAccessor())
    {
        const openvdb::CoordBBox box = grid.evalActiveVoxelBoundingBox();
        low_ = box.min().asVec3d() - Vec3(1.0);
        high_ = box.max().asVec3d() + Vec3(1.0);
    }

    double voxel() const { return voxel_; }
    double band() const { return grid_->background(); }

protected:
    // A ray in index space.
    struct Ray {
        Vec3 o, d;
        Vec3 at(double t) const { return o + d * t; }
    };
    Ray ray(const Vec3& origin, const Vec3& direction) const
    {
        const Vec3 o = grid_->worldToIndex(origin);
        return {o, (grid_->worldToIndex(origin + direction) - o) * voxel_};
    }

    // Cuts t..end to the bounds of the active voxels.
    bool clip(const Ray& r, double& t, double& end) const
    {
        for (int c = 0; c < 3; ++c) {
            if (std::abs(r.d[c]) < 1e-12) {
                if (r.o[c] < low_[c] || r.o[c] > high_[c]) return false;
                continue;
            }
            const double a = (low_[c] - r.o[c]) / r.d[c], b = (high_[c] - r.o[c]) / r.d[c];
            t = std::max(t, std::min(a, b));
            end = std::min(end, std::max(a, b));
        }
        return t < end;
    }

    // Ray length to the border of the leafless block that holds ijk.
    double leave_tile(const Vec3& p, const Vec3& d, const Coord& ijk)
    {
        const int depth = accessor_.getValueDepth(ijk); // of the tile: 2, 1, 0 downwards from the leaves, -1 root
        const int edge = depth == 2 ? 8 : depth == 1 ? 128 : 4096;
        double t = std::numeric_limits<double>::infinity();
        for (int c = 0; c < 3; ++c) {
            if (std::abs(d[c]) < 1e-12) continue;
            const int low = ijk[c] & ~(edge - 1);
            t = std::min(t, ((d[c] > 0.0 ? low + edge : low) - p[c]) / d[c]);
        }
        return std::max(t, 0.0);
    }

    // Trilinear interpolation at an index position; the constant of the tile where there is no leaf.
    double sample(const Vec3& p)
    {
        const Coord ijk = below(p);
        const Leaf* leaf = accessor_.probeConstLeaf(ijk);
        return leaf ? interpolate(*leaf, ijk, p) : double(accessor_.getValue(ijk));
    }

    double interpolate(const Leaf& leaf, const Coord& ijk, const Vec3& p) const
    {
        const float* b = bricks_ + size_t(leaf.transientData()) * BRICK_SIZE + (ijk[0] & 7) * BRICK_X
            + (ijk[1] & 7) * BRICK_EDGE + (ijk[2] & 7);
        const float u = float(p[0] - ijk[0]), v = float(p[1] - ijk[1]), w = float(p[2] - ijk[2]);
        const float c00 = b[0] + (b[1] - b[0]) * w;
        const float c01 = b[BRICK_EDGE] + (b[BRICK_EDGE + 1] - b[BRICK_EDGE]) * w;
        const float c10 = b[BRICK_X] + (b[BRICK_X + 1] - b[BRICK_X]) * w;
        const float c11 = b[BRICK_X + BRICK_EDGE] + (b[BRICK_X + BRICK_EDGE + 1] - b[BRICK_X + BRICK_EDGE]) * w;
        const float c0 = c00 + (c01 - c00) * v, c1 = c10 + (c11 - c10) * v;
        return double(c0 + (c1 - c0) * u);
    }

    // The gradient's direction, in the world: differences over one voxel on either side, which hide the lattice.
    Vec3 gradient(const Vec3& p)
    {
        Vec3 g;
        for (int c = 0; c < 3; ++c) {
            Vec3 step(0.0);
            step[c] = 1.0;
            g[c] = sample(p + step) - sample(p - step);
        }
        return unit(grid_->transform().baseMap()->applyJacobian(g));
    }

    const FloatGrid* grid_;
    const float* bricks_;
    double voxel_;
    FloatGrid::ConstAccessor accessor_;
    Vec3 low_, high_;
};

// One level set.
//
// OpenVDB's LevelSetRayIntersector looks at every voxel on the way; stepping by the distance that the level set
// itself promises, and over whole tiles where there is no leaf, needs a fraction of the lookups.
class Tracer::Surface : public Field
{
public:
    Surface(const FloatGrid& grid, int32_t material, const Vec3& colour, const float* bricks)
        : Field(grid, bricks), material_(material), colour_(colour)
    {
    }

    int32_t material() const { return material_; }
    const Vec3& colour() const { return colour_; }

    // Distance along the ray (unit direction) to the first crossing beyond `from`; infinity: none. `outside` says
    // on which side of the surface the ray comes from.
    double hit(const Vec3& origin, const Vec3& direction, double from, bool& outside)
    {
        const Ray r = ray(origin, direction);
        double t = from / voxel_, end = std::numeric_limits<double>::infinity();
        if (!clip(r, t, end)) return std::numeric_limits<double>::infinity();
        double step;
        Sample last{t, look(r.at(t), r.d, step)};
        outside = !std::signbit(last.value);
        for (t += step; t < end; t += step) {
            const Sample now{t, look(r.at(t), r.d, step)};
            if (std::signbit(now.value) == outside) return refine(r, last, now) * voxel_;
            last = now;
        }
        return std::numeric_limits<double>::infinity();
    }

    // Signed distance, metres; +-background beyond the band.
    double distance(const Vec3& world) { return sample(grid_->worldToIndex(world)); }

    // Unit normal, outwards.
    Vec3 normal(const Vec3& world) { return gradient(grid_->worldToIndex(world)); }

private:
    static constexpr double LEAST = 0.2; // shortest step, voxels: thinner things may be missed
    static constexpr double CAUTION = 0.9; // the field may grow a little faster than distance
    static constexpr double EXACT = 1e-3;  // a crossing is found when the field is this small, voxels

    // The field at a distance along a ray, in voxels and metres.
    struct Sample {
        double t, value;
    };

    // The field at p, and how far the ray may go from there.
    double look(const Vec3& p, const Vec3& d, double& step)
    {
        const Coord ijk = below(p);
        if (const Leaf* leaf = accessor_.probeConstLeaf(ijk)) {
            const double value = interpolate(*leaf, ijk, p);
            step = std::max(LEAST, CAUTION * std::abs(value) / voxel_);
            return value;
        }
        step = leave_tile(p, d, ijk) + 1e-3;
        return accessor_.getValue(ijk);
    }

    // The crossing between two samples of different sign, by a few steps of the Illinois method.
    double refine(const Ray& r, Sample a, Sample b)
    {
        for (int i = 0; i < 6; ++i) {
            const double t = (a.t * b.value - b.t * a.value) / (b.value - a.value);
            const Sample m{t, sample(r.at(t))};
            if (std::abs(m.value) < EXACT * voxel_) return t;
            if (std::signbit(m.value) == std::signbit(a.value)) {
                a = m, b.value *= 0.5;
            } else {
                b = m, a.value *= 0.5;
            }
        }
        return 0.5 * (a.t + b.t);
    }

    int32_t material_;
    Vec3 colour_;
};

// Foam: a fog that takes light away and scatters it.
class Tracer::Foam : public Field
{
public:
    using Field::Field;

    // Share of light that comes through between two distances along a ray; `thickest` and `normal` are those of the densest
    // foam met so far, which this may be.
    double through(const Vec3& origin, const Vec3& direction, double from, double to, double& thickest, Vec3& normal)
    {
        const Ray r = ray(origin, direction);
        double t = from / voxel_, end = to / voxel_, depth = 0.0;
        if (!clip(r, t, end)) return 1.0;
        double peak = -1.0;
        while (t < end && depth < OPAQUE) {
            const double middle = std::min(t + 0.5 * STEP, end);
            const Vec3 p = r.at(middle);
            const Coord ijk = below(p);
            const Leaf* leaf = accessor_.probeConstLeaf(ijk);
            if (!leaf) {
                t = middle + leave_tile(p, r.d, ijk) + 1e-3;
                continue;
            }
            const double density = interpolate(*leaf, ijk, p);
            depth += density * std::min(STEP, end - t) * voxel_;
            if (density > thickest) {
                thickest = density;
                peak = middle;
            }
            t += STEP;
        }
        if (peak >= 0.0) normal = -gradient(r.at(peak));
        return std::exp(-depth);
    }

private:
    static constexpr double STEP = 0.7;   // voxels
    static constexpr double OPAQUE = 6.0; // nothing is seen behind foam as thick as this
};

Tracer::Tracer(const Scene& scene, double floor) : floor_(floor)
{
    surfaces_.reserve(scene.grids_->entries.size());
    for (const auto& entry : scene.grids_->entries) {
        surfaces_.emplace_back(*entry.grid, entry.material, entry.colour, entry.bricks->data());
    }
    for (const auto& foam : scene.grids_->foams) foams_.emplace_back(*foam.grid, foam.bricks->data());
    cursors_.resize(surfaces_.size());
}

Tracer::~Tracer() = default;

void Tracer::aim(const Vec3& origin, const Vec3& direction, int left)
{
    origin_ = origin;
    direction_ = direction;
    floor_met_ = false;
    for (int s = 0; s < int(surfaces_.size()); ++s) {
        cursors_[size_t(s)] = {s == left ? 0.5 * surfaces_[size_t(s)].voxel() : 0.0, 0.0, false, true};
    }
}

double Tracer::floor_ahead() const
{
    const bool meets = !floor_met_ && direction_[1] < -1e-9 && origin_[1] > floor_;
    return meets ? (floor_ - origin_[1]) / direction_[1] : INFINITY;
}

// What is ahead of the ray at a surface.
Tracer::Cursor& Tracer::looked_ahead(int surface)
{
    Cursor& cursor = cursors_[size_t(surface)];
    if (!cursor.known) {
        cursor.known = true;
        cursor.found = surfaces_[size_t(surface)].hit(origin_, direction_, cursor.from, cursor.outside);
    }
    return cursor;
}

bool Tracer::begins_inside(int surface) { return !looked_ahead(surface).outside; }

std::optional<Hit> Tracer::next()
{
    int nearest = -1;
    double distance = floor_ahead();
    for (int s = 0; s < int(surfaces_.size()); ++s) {
        if (looked_ahead(s).found < distance) {
            nearest = s;
            distance = cursors_[size_t(s)].found;
        }
    }
    if (std::isinf(distance)) return std::nullopt;
    const Vec3 at = origin_ + direction_ * distance;
    if (nearest < 0) {
        floor_met_ = true;
        return Hit{distance, -1, MV_CLAY, 0.0, true, at, Vec3(0.0, 1.0, 0.0), Vec3(0.0)};
    }
    Surface& surface = surfaces_[size_t(nearest)];
    Cursor& cursor = cursors_[size_t(nearest)];
    const bool entering = cursor.outside;
    cursor = {distance + 0.5 * surface.voxel(), 0.0, false, true};
    return Hit{distance, nearest,  surface.material(),          surface.voxel(), entering,
               at,       shading_normal(surface, at), surface.colour()};
}

double Tracer::openness(const Vec3& origin, const Vec3& direction)
{
    double light = 1.0;
    bool outside;
    for (Surface& s : surfaces_) {
        if (!std::isinf(s.hit(origin, direction, 0.0, outside))) {
            light *= s.material() == MV_CLAY ? 0.0 : s.material() == MV_GLASS ? 0.8 : 0.6;
        }
    }
    Vec3 ignored;
    double thickest = 0.0;
    for (Foam& foam : foams_) light *= foam.through(origin, direction, 0.0, INFINITY, thickest, ignored);
    return light;
}

double Tracer::through_foam(double from, double to, Vec3& normal)
{
    double light = 1.0, thickest = 0.0;
    for (Foam& foam : foams_) light *= foam.through(origin_, direction_, from, to, thickest, normal);
    return light;
}

// Cosines of the angle between liquid's surface and a wall up to which the one runs across the other, and from which on along it.
constexpr double ACROSS = 0.3, ALONG = 0.8;

// Liquid that touches a wall takes the wall's normal, so that the ripples of a particle surface behind glass
// do not show.
Vec3 Tracer::shading_normal(Surface& surface, const Vec3& at)
{
    Vec3 normal = surface.normal(at);
    if (surface.material() != MV_LIQUID) return normal;
    for (Surface& solid : surfaces_) {
        if (solid.material() == MV_LIQUID) continue;
        // Beyond its band a solid does not know how far it is, nor where.
        const double reach = std::min(1.6 * std::max(solid.voxel(), surface.voxel()), solid.band());
        const double near = 1.0 - smooth(0.25 * reach, reach, std::abs(solid.distance(at)));
        if (near <= 0.0) continue;
        // Where it ends beside a wall, its own surface runs across the wall's.
        const Vec3 wall = -solid.normal(at);
        const double along = near * smooth(ACROSS, ALONG, normal.dot(wall));
        if (along > 0.0) normal = unit(mix(normal, wall, along));
    }
    return normal;
}

} // namespace meniscus
