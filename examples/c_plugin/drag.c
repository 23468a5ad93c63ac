/* A Meniscus plugin in plain C: a drag force on a liquid's particles.
 *
 *   cc -std=c99 -shared -fPIC -I../../plugin/include drag.c -o libdrag.so -lm
 *   MENISCUS_PLUGIN_PATH=. meniscus nodes example.drag
 *
 * Wire a `drag` node into a flip_solver beside its objects. dv/dt = -k (v - wind), integrated exactly: v changes by
 * (wind - v) (1 - exp(-k dt_kick)), so no step makes it unstable. Forces read `v` and add to `dv`.
 */
#include "meniscus.h"

#include <math.h>
#include <string.h>

enum { DRAG_PARAM, WIND_PARAM };

static const mns_param_t params[] = {
    {.size = sizeof(mns_param_t), .type = MNS_FLOAT, .name = "drag", .label = "Drag", .unit = "1/s",
     .help = "Share of the velocity relative to the wind that is lost per second.",
     .houdini_name = "airresist", .default_number = {0.5}, .range = {0.0, 10.0}, .flags = MNS_HARD_MIN},
    {.size = sizeof(mns_param_t), .type = MNS_VECTOR3, .name = "wind", .label = "Wind", .unit = "m/s",
     .help = "Velocity of the air the particles are dragged along by."},
};

static const mns_port_t ports[] = {
    {.size = sizeof(mns_port_t), .carries = MNS_GEOMETRY, .name = "particles", .owner = MNS_OF_OBJECT,
     .help = "The liquid's particles.", .required = 1, .access = {[MNS_PREDICT] = MNS_READ_WRITE}},
};

static const mns_node_t nodes[] = {
    {.size = sizeof(mns_node_t), .version = 1, .id = "example.drag", .label = "Drag",
     .help = "Slows particles down towards the velocity of a wind.", .houdini_name = "drag",
     .kind = MNS_NODE_FORCE, .stages = MNS_BIT(MNS_PREDICT), .port_count = 1, .ports = ports,
     .param_count = 2, .params = params},
};

static mns_status_t create(mns_context_t *ctx, uint32_t node, mns_instance_t **instance) {
    (void)ctx;
    *instance = (mns_instance_t *)(uintptr_t)&nodes[node]; /* nothing to keep between calls */
    return MNS_OK;
}

static void destroy(mns_instance_t *instance) { (void)instance; }

static mns_status_t run(mns_instance_t *instance, mns_context_t *ctx) {
    (void)instance;
    const mns_attribute_t shape = {.size = sizeof shape, .on = MNS_ON_POINTS, .name = "dv", .element = MNS_F32,
                                   .components = 3, .meaning = MNS_VECTOR};
    const mns_attribute_t *change = ctx->edit_attribute(ctx, 0, 0, &shape);
    if (!change) return MNS_FAILED; /* the host has said why */
    const mns_geometry_t *points = ctx->geometry(ctx, 0, 0);
    const mns_attribute_t *velocity = NULL;
    for (uint32_t a = 0; points && a < points->attribute_count; ++a)
        if (strcmp(points->attributes[a].name, "v") == 0) velocity = &points->attributes[a];
    if (!velocity) return MNS_OK; /* nothing moves yet */
    const double keep = exp(-ctx->params[DRAG_PARAM].number[0] * ctx->dt_kick);
    for (uint64_t i = 0; i < velocity->count; ++i) {
        const float *v = (const float *)(const void *)((const char *)velocity->values + i * velocity->stride);
        float *dv = (float *)(void *)((char *)change->writable + i * change->stride);
        for (int c = 0; c < 3; ++c)
            dv[c] += (float)((ctx->params[WIND_PARAM].number[c] - v[c]) * (1.0 - keep));
    }
    return MNS_OK;
}

MNS_EXPORT const mns_plugin_t mns_plugin = {
    .size = sizeof(mns_plugin_t), .abi_major = MNS_ABI_MAJOR, .abi_minor = MNS_ABI_MINOR, .node_count = 1,
    .layout_hash = MNS_LAYOUT_HASH, .name = "drag", .version = "1.0.0", .vendor = "Meniscus examples",
    .nodes = nodes, .create = create, .destroy = destroy, .run = run,
};
