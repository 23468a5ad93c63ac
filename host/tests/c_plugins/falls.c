/* Drops that fall freely, moved one by one, all at once, or by a coupling: the same velocities in any case. */
#include "meniscus_find.h"

#define PORT(owner_, ...) \
    {.size = sizeof(mns_port_t), .carries = MNS_TABLE, .name = "fall", .owner = owner_, .access = {__VA_ARGS__}}

static const mns_param_t first[] = {
    {.size = sizeof(mns_param_t), .type = MNS_INT, .name = "first", .means = MNS_MEANS_FIRST_FRAME},
};
static const mns_port_t drop_ports[] = {PORT(MNS_OF_OBJECT, [MNS_INIT] = MNS_WRITE)};
static const mns_port_t one_ports[] = {PORT(MNS_OF_OBJECT, [MNS_PREDICT] = MNS_READ_WRITE)};
static const mns_port_t all_ports[] = {PORT(MNS_OF_SOLVED, [MNS_PREDICT] = MNS_READ_WRITE)};
static const mns_port_t held_ports[] = {PORT(MNS_OF_PARTICIPANT, [MNS_SOLVE] = MNS_READ_WRITE)};
static const mns_role_t roles[] = {{.size = sizeof(mns_role_t), .name = "drops"}};

#define NODE(id_, kind_, ports_, stage_, ...) \
    {.size = sizeof(mns_node_t), .version = 1, .id = id_, .label = id_, .medium = "drop", .kind = kind_, .ports = ports_, \
     .port_count = 1, .stages = MNS_BIT(stage_), __VA_ARGS__}
#define TAKES(kind_) .accepts = MNS_BIT(kind_), .min_inputs = 1
static const mns_node_t nodes[] = {
    NODE("test.drop", MNS_NODE_OBJECT, drop_ports, MNS_INIT, .params = first, .param_count = 1),
    NODE("test.by_one", MNS_NODE_SOLVER, one_ports, MNS_PREDICT, TAKES(MNS_NODE_OBJECT)),
    NODE("test.by_all", MNS_NODE_SOLVER, all_ports, MNS_PREDICT, TAKES(MNS_NODE_OBJECT)),
    NODE("test.idle", MNS_NODE_SOLVER, NULL, MNS_CORRECT, TAKES(MNS_NODE_OBJECT), .port_count = 0),
    NODE("test.held", MNS_NODE_COUPLING, held_ports, MNS_SOLVE, TAKES(MNS_NODE_SOLVER), .roles = roles, .role_count = 1),
};

static mns_status_t create(mns_context_t *ctx, uint32_t node, mns_instance_t **out) {
    (void)ctx;
    *out = (mns_instance_t *)(uintptr_t)&nodes[node];
    return MNS_OK;
}

static void destroy(mns_instance_t *instance) { (void)instance; }

/* First the place, with the velocity of the middle of this substep; then the velocity, to the middle of the next. */
static mns_status_t fall(mns_context_t *ctx, uint32_t item) {
    const mns_table_t *table = ctx->table(ctx, 0, item);
    const double g = 10.0, kick = ctx->item_kick(ctx, 0, item);
    const double v = *mns_find_numbers(table, "v", 1), x = *mns_find_numbers(table, "x", 1) + v * ctx->dt, next = v + g * kick;
    ctx->measure_item(ctx, 0, item, "kick", 1, &kick);
    ctx->measure(ctx, "longest", 1, &ctx->dt_kick);
    const int done = mns_put_numbers(ctx, 0, item, "x", 1, 1, &x) && mns_put_numbers(ctx, 0, item, "v", 1, 1, &next);
    return done ? MNS_OK : MNS_FAILED;
}

static mns_status_t run(mns_instance_t *self, mns_context_t *ctx) {
    const mns_node_t *node = (const mns_node_t *)(const void *)self;
    const double zero = 0.0;
    if (ctx->stage == MNS_INIT)
        return mns_new_table(ctx, 0, 0) && mns_put_numbers(ctx, 0, 0, "v", 1, 1, &zero) &&
                       mns_put_numbers(ctx, 0, 0, "x", 1, 1, &zero) && ctx->item_kick(ctx, 0, 0) == 0.0
                   ? MNS_OK
                   : MNS_FAILED;
    for (uint32_t i = 0; node->port_count && i < ctx->items(ctx, 0); ++i)
        if (fall(ctx, i) != MNS_OK) return MNS_FAILED;
    return MNS_OK;
}

MNS_EXPORT const mns_plugin_t mns_plugin = {
    .size = sizeof(mns_plugin_t), .abi_major = MNS_ABI_MAJOR, .abi_minor = MNS_ABI_MINOR,
    .node_count = sizeof nodes / sizeof *nodes, .layout_hash = MNS_LAYOUT_HASH, .name = "falls", .version = "1",
    .nodes = nodes, .create = create, .destroy = destroy, .run = run,
};
