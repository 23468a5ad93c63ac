/* Forces that put a grid `push` together on an object, each with a number of its own. */
#include "meniscus.h"

#define PUSH(owner_, merge_, stage_) \
    {.size = sizeof(mns_port_t), .carries = MNS_GRID, .name = "push", .owner = owner_, .components = 1, .merge = merge_, \
     .access = {[stage_] = MNS_WRITE}}

static const mns_param_t value[] = {{.size = sizeof(mns_param_t), .type = MNS_FLOAT, .name = "value"}};
static const mns_port_t made[] = {PUSH(MNS_OF_OBJECT, MNS_REPLACE, MNS_INIT)};
static const mns_port_t added[] = {PUSH(MNS_OF_OBJECT, MNS_ADD, MNS_PREDICT)};
static const mns_port_t least[] = {PUSH(MNS_OF_OBJECT, MNS_MIN, MNS_PREDICT)};
static const mns_port_t replaced[] = {PUSH(MNS_OF_OBJECT, MNS_REPLACE, MNS_PREDICT)};
static const mns_port_t changed[] = {
    {.size = sizeof(mns_port_t), .carries = MNS_GRID, .name = "push", .owner = MNS_OF_OBJECT, .components = 1,
     .access = {[MNS_PREDICT] = MNS_READ_WRITE}},
};

#define NODE(id_, kind_, ports_, stages_, ...) \
    {.size = sizeof(mns_node_t), .version = 1, .id = id_, .label = id_, .kind = kind_, .ports = ports_, .port_count = 1, \
     .stages = MNS_BIT(stages_), .params = value, .param_count = 1, __VA_ARGS__}
static const mns_node_t nodes[] = {
    NODE("test.thing", MNS_NODE_OBJECT, made, MNS_INIT, .medium = "thing"),
    NODE("test.adds", MNS_NODE_FORCE, added, MNS_PREDICT),
    NODE("test.least", MNS_NODE_FORCE, least, MNS_PREDICT),
    NODE("test.replaces", MNS_NODE_FORCE, replaced, MNS_PREDICT),
    NODE("test.doubles", MNS_NODE_FORCE, changed, MNS_PREDICT),
    NODE("test.mover", MNS_NODE_SOLVER, made, MNS_PREDICT, .medium = "thing", .port_count = 0,
         .accepts = MNS_BIT(MNS_NODE_OBJECT) | MNS_BIT(MNS_NODE_FORCE), .min_inputs = 1),
};

static mns_status_t create(mns_context_t *ctx, uint32_t node, mns_instance_t **out) {
    (void)ctx;
    *out = (mns_instance_t *)(uintptr_t)&nodes[node];
    return MNS_OK;
}

static void destroy(mns_instance_t *instance) { (void)instance; }

static mns_status_t run(mns_instance_t *self, mns_context_t *ctx) {
    const mns_node_t *node = (const mns_node_t *)(const void *)self;
    if (!node->port_count) return MNS_OK;
    static const int32_t origin[3] = {0, 0, 0};
    const mns_grid_t shape = {.size = sizeof shape, .element = MNS_F32, .components = 1, .leaf_count = 1, .origins = origin,
                              .index_to_world = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}};
    const mns_grid_t *grid = node->ports == changed ? ctx->edit_grid(ctx, 0, 0) : ctx->shape_grid(ctx, 0, 0, &shape);
    for (uint32_t i = 0; grid && i < MNS_LEAF_SIZE; ++i) {
        float *to = (float *)grid->writable[0] + i;
        *to = node->ports == changed ? 2.0f * *to : (float)ctx->params[0].number[0];
    }
    return grid ? MNS_OK : MNS_FAILED;
}

MNS_EXPORT const mns_plugin_t mns_plugin = {
    .size = sizeof(mns_plugin_t), .abi_major = MNS_ABI_MAJOR, .abi_minor = MNS_ABI_MINOR,
    .node_count = sizeof nodes / sizeof *nodes, .layout_hash = MNS_LAYOUT_HASH, .name = "pushes", .version = "1",
    .nodes = nodes, .create = create, .destroy = destroy, .run = run,
};
