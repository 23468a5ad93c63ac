// Polygons of level sets, and level sets of polygons.
#include "build.h"
#include "guard.h"

#include <openvdb/openvdb.h>
#include <openvdb/tools/MeshToVolume.h>
#include <openvdb/tools/VolumeToMesh.h>

#include <tbb/task_arena.h>

#include <algorithm>

struct mv_mesh {
    std::vector<openvdb::Vec3s> points;
    std::vector<openvdb::Vec4I> quads;
};

struct mv_leaves {
    std::vector<openvdb::Coord> origins;
    std::vector<float> values;
};

static_assert(sizeof(openvdb::Coord) == 3 * sizeof(int32_t), "origins lie one behind the other");
static_assert(sizeof(openvdb::Vec3s) == 3 * sizeof(float), "points lie one behind the other");
static_assert(sizeof(openvdb::Vec4I) == 4 * sizeof(uint32_t), "corners lie one behind the other");

extern "C" int mv_polygons(const mv_grid* grid, int32_t threads, mv_mesh** out, mv_error* error)
{
    return meniscus::guarded(error, [&] {
        openvdb::initialize();
        auto mesh = std::make_unique<mv_mesh>();
        tbb::task_arena(std::min(threads, tbb::this_task_arena::max_concurrency())).execute([&] {
            const auto level_set = meniscus::build_grid<meniscus::FloatGrid>(*grid);
            openvdb::tools::volumeToMesh(*level_set, mesh->points, mesh->quads);
        });
        *out = mesh.release();
    });
}

extern "C" size_t mv_mesh_points(const mv_mesh* mesh, const float** xyz)
{
    *xyz = reinterpret_cast<const float*>(mesh->points.data());
    return mesh->points.size();
}

extern "C" size_t mv_mesh_quads(const mv_mesh* mesh, const uint32_t** corners)
{
    *corners = reinterpret_cast<const uint32_t*>(mesh->quads.data());
    return mesh->quads.size();
}

extern "C" void mv_mesh_free(mv_mesh* mesh) { delete mesh; }

extern "C" int mv_level_set(const float* xyz, size_t points, const uint32_t* corners, size_t triangles, double voxel,
                            int32_t threads, mv_leaves** out, mv_error* error)
{
    return meniscus::guarded(error, [&] {
        openvdb::initialize();
        constexpr float BAND = 3.0f; // voxels
        std::vector<openvdb::Vec3s> places(points);
        for (size_t n = 0; n < points; ++n) {
            for (int c = 0; c < 3; ++c) places[n][c] = xyz[3 * n + c];
        }
        std::vector<openvdb::Vec3I> faces(triangles);
        for (size_t n = 0; n < triangles; ++n) faces[n] = openvdb::Vec3I(corners + 3 * n);
        auto made = std::make_unique<mv_leaves>();
        tbb::task_arena(std::min(threads, tbb::this_task_arena::max_concurrency())).execute([&] {
            const auto transform = openvdb::math::Transform::createLinearTransform(voxel);
            const auto grid = openvdb::tools::meshToLevelSet<meniscus::FloatGrid>(*transform, places, faces, BAND);
            for (auto leaf = grid->tree().cbeginLeaf(); leaf; ++leaf) {
                made->origins.push_back(leaf->origin());
                const float* values = leaf->buffer().data();
                made->values.insert(made->values.end(), values, values + meniscus::LEAF_SIZE);
            }
        });
        *out = made.release();
    });
}

extern "C" size_t mv_leaves_data(const mv_leaves* leaves, const int32_t** origins, const float** values)
{
    *origins = reinterpret_cast<const int32_t*>(leaves->origins.data());
    *values = leaves->values.data();
    return leaves->origins.size();
}

extern "C" void mv_leaves_free(mv_leaves* leaves) { delete leaves; }
