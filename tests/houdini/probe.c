/* A force that tells what it sees of two fields: dv.x is `surface` in the particle's voxel, dv.y and dv.z are the first two
 * components of `vel` there. With `fails` on it refuses, with `reshapes` on it asks for what the adapter has not. */
#include "meniscus.h"

#include <math.h>
#include <string.h>

enum { FAILS, RESHAPES };
static const mns_param_t params[] = {
    {.size = sizeof(mns_param_t), .type = MNS_TOGGLE, .name = "fails", .label = "Fails"},
    {.size = sizeof(mns_param_t), .type = MNS_TOGGLE, .name = "reshapes", .label = "Reshapes"},
};
#define FIELD(field, where, count)                                                                                                  \
    {.size = sizeof(mns_port_t), .carries = MNS_GRID, .name = field, .owner = MNS_OF_OBJECT, .sampling = where, .element = MNS_F32, \
     .components = count, .required = 1, .access = {[MNS_PREDICT] = MNS_READ}}
static const mns_port_t ports[] = {
    {.size = sizeof(mns_port_t), .carries = MNS_GEOMETRY, .name = "particles", .owner = MNS_OF_OBJECT, .required = 1,
     .access = {[MNS_PREDICT] = MNS_READ_WRITE}},
    FIELD("surface", MNS_CENTER, 1),
    FIELD("vel", MNS_FACE, 3),
};
static const mns_node_t nodes[] = {
    {.size = sizeof(mns_node_t), .version = 1, .id = "test.probe", .label = "Probe", .kind = MNS_NODE_FORCE,
     .stages = MNS_BIT(MNS_PREDICT), .port_count = 3, .ports = ports, .param_count = 2, .params = params},
};

static mns_status_t create(mns_context_t *ctx, uint32_t node, mns_instance_t **instance) {
    (void)ctx;
    *instance = (mns_instance_t *)(uintptr_t)&nodes[node];
    return MNS_OK;
}
static void destroy(mns_instance_t *instance) { (void)instance; }

static float value(const mns_grid_t *grid, const int *voxel, uint32_t component) {
    for (uint64_t leaf = 0; leaf < grid->leaf_count; ++leaf) {
        const int32_t *origin = grid->origins + 3 * leaf;
        int inside = 1;
        for (int c = 0; c < 3; ++c) inside &= voxel[c] >= origin[c] && voxel[c] < origin[c] + 8;
        if (inside)
            return ((const float *)grid->values[component])[leaf * MNS_LEAF_SIZE + (uint64_t)((voxel[0] & 7) << 6 | (voxel[1] & 7) << 3 | (voxel[2] & 7))];
    }
    return NAN;
}

static mns_status_t run(mns_instance_t *instance, mns_context_t *ctx) {
    (void)instance;
    if (ctx->progress(ctx, 0)) return MNS_CANCELLED;
    if (ctx->params[FAILS].number[0] != 0) return ctx->fail(ctx, MNS_BAD_INPUT, 1, "the probe was told to fail");
    const mns_attribute_t shape = {.size = sizeof shape, .on = MNS_ON_POINTS, .name = "dv", .element = MNS_F32, .components = 3};
    const mns_attribute_t other = {.size = sizeof other, .on = MNS_ON_POINTS, .name = "heat", .element = MNS_F32, .components = 1};
    const mns_attribute_t *dv = ctx->edit_attribute(ctx, 0, 0, ctx->params[RESHAPES].number[0] != 0 ? &other : &shape);
    if (!dv) return MNS_FAILED;
    const mns_geometry_t *points = ctx->geometry(ctx, 0, 0);
    const mns_grid_t *surface = ctx->grid(ctx, 1, 0), *vel = ctx->grid(ctx, 2, 0);
    const double *m = surface->index_to_world;
    for (uint64_t i = 0; i < points->point_count; ++i) {
        const float *at = (const float *)points->attributes[0].values + 3 * i;
        int voxel[3];
        for (int c = 0; c < 3; ++c) voxel[c] = (int)lround((at[c] - m[12 + c]) / m[5 * c]);
        float *out = (float *)dv->writable + 3 * i;
        out[0] += value(surface, voxel, 0);
        out[1] += value(vel, voxel, 0);
        out[2] += value(vel, voxel, 1);
    }
    ctx->log(ctx, MNS_LOG_INFO, "probed");
    return MNS_OK;
}

MNS_EXPORT const mns_plugin_t mns_plugin = {
    .size = sizeof(mns_plugin_t), .abi_major = MNS_ABI_MAJOR, .abi_minor = MNS_ABI_MINOR, .node_count = 1, .layout_hash = MNS_LAYOUT_HASH,
    .name = "probe", .version = "1.0.0", .vendor = "Meniscus tests", .nodes = nodes, .create = create, .destroy = destroy, .run = run,
};
