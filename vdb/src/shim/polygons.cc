// Polygons of level sets.
#include "build.h"
#include "guard.h"

#include <openvdb/openvdb.h>
#include <openvdb/tools/VolumeToMesh.h>

#include <tbb/task_arena.h>

#include <algorithm>

struct mv_mesh {
    std::vector<openvdb::Vec3s> points;
    std::vector<openvdb::Vec4I> quads;
};

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
