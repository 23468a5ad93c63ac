/* A force that marks particles with an attribute of its own: 1 left of x = 0, 2 right of it, in the shot's first
 * substep only. What comes later must have been copied. */
#include "meniscus.h"

#include <string.h>

static const mns_port_t ports[] = {
    {.size = sizeof(mns_port_t), .carries = MNS_GEOMETRY, .name = "particles", .owner = MNS_OF_OBJECT,
     .required = 1, .access = {[MNS_PREDICT] = MNS_READ_WRITE}},
};

static const mns_node_t nodes[] = {
    {.size = sizeof(mns_node_t), .version = 1, .id = "test.tag", .label = "Tag", .help = "Marks particles by their side.",
     .kind = MNS_NODE_FORCE, .stages = MNS_BIT(MNS_PREDICT), .port_count = 1, .ports = ports},
};

static mns_status_t create(mns_context_t *ctx, uint32_t node, mns_instance_t **instance) {
    (void)ctx;
    *instance = (mns_instance_t *)(uintptr_t)&nodes[node];
    return MNS_OK;
}

static void destroy(mns_instance_t *instance) { (void)instance; }

static mns_status_t run(mns_instance_t *instance, mns_context_t *ctx) {
    (void)instance;
    if (ctx->time > 0.0) return MNS_OK;
    const mns_attribute_t shape = {.size = sizeof shape, .on = MNS_ON_POINTS, .name = "tag", .element = MNS_I32,
                                   .components = 1};
    const mns_attribute_t *tag = ctx->edit_attribute(ctx, 0, 0, &shape);
    const mns_geometry_t *points = ctx->geometry(ctx, 0, 0);
    if (!tag || !points) return MNS_FAILED;
    for (uint32_t a = 0; a < points->attribute_count; ++a) {
        const mns_attribute_t *p = (const mns_attribute_t *)(const void *)((const char *)points->attributes + a * points->attributes->size);
        if (strcmp(p->name, "P") != 0) continue;
        for (uint64_t i = 0; i < tag->count; ++i) {
            const float *x = (const float *)(const void *)((const char *)p->values + i * p->stride);
            *(int32_t *)(void *)((char *)tag->writable + i * tag->stride) = x[0] < 0.0f ? 1 : 2;
        }
    }
    return MNS_OK;
}

MNS_EXPORT const mns_plugin_t mns_plugin = {
    .size = sizeof(mns_plugin_t), .abi_major = MNS_ABI_MAJOR, .abi_minor = MNS_ABI_MINOR, .node_count = 1,
    .layout_hash = MNS_LAYOUT_HASH, .name = "test tag", .version = "1", .vendor = "Meniscus tests",
    .nodes = nodes, .create = create, .destroy = destroy, .run = run,
};
