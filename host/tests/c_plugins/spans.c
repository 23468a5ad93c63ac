/* An object with a first and a last frame, and a solver that counts its steps. */
#include "meniscus.h"

static const mns_param_t params[] = {
    {.size = sizeof(mns_param_t), .type = MNS_INT, .name = "start_frame", .label = "Start Frame", .flags = MNS_NOT_ANIMATED, .means = MNS_MEANS_FIRST_FRAME},
    {.size = sizeof(mns_param_t), .type = MNS_INT, .name = "end_frame", .label = "End Frame", .flags = MNS_NOT_ANIMATED, .means = MNS_MEANS_LAST_FRAME},
    {.size = sizeof(mns_param_t), .type = MNS_FLOAT, .name = "dt", .label = "Time Step", .unit = "s",
     .help = "The longest time step of the object; 0: any."},
};

static const mns_port_t object_ports[] = {
    {.size = sizeof(mns_port_t), .carries = MNS_TABLE, .name = "count", .owner = MNS_OF_OBJECT,
     .access = {[MNS_INIT] = MNS_WRITE}},
};

static const mns_port_t solver_ports[] = {
    {.size = sizeof(mns_port_t), .carries = MNS_TABLE, .name = "count", .owner = MNS_OF_OBJECT, .required = 1,
     .access = {[MNS_PREDICT] = MNS_READ_WRITE}},
};

enum { OBJECT, SOLVER };
static const mns_node_t nodes[] = {
    [OBJECT] = {.size = sizeof(mns_node_t), .version = 1, .id = "test.spanned", .label = "Spanned", .medium = "span",
                .kind = MNS_NODE_OBJECT, .stages = MNS_BIT(MNS_INIT), .port_count = 1, .ports = object_ports,
                .param_count = 3, .params = params},
    [SOLVER] = {.size = sizeof(mns_node_t), .version = 1, .id = "test.span_solver", .label = "Span Solver", .medium = "span",
                .kind = MNS_NODE_SOLVER, .stages = MNS_BIT(MNS_PREDICT), .min_inputs = 1,
                .accepts = MNS_BIT(MNS_NODE_OBJECT) | MNS_BIT(MNS_NODE_FORCE), .port_count = 1, .ports = solver_ports},
};

static mns_status_t create(mns_context_t *ctx, uint32_t node, mns_instance_t **instance) {
    (void)ctx;
    *instance = (mns_instance_t *)(uintptr_t)&nodes[node];
    return MNS_OK;
}

static void destroy(mns_instance_t *instance) { (void)instance; }

static mns_status_t run(mns_instance_t *instance, mns_context_t *ctx) {
    (void)instance;
    const mns_array_t shape = {.size = sizeof shape, .element = MNS_F64, .name = "steps", .components = 1, .count = 1};
    const mns_array_t *steps = ctx->edit_array(ctx, 0, 0, &shape);
    if (!steps) return MNS_FAILED;
    if (ctx->stage == MNS_PREDICT) *(double *)steps->writable += 1.0;
    ctx->measure(ctx, "steps", 1, (const double *)steps->writable);
    return MNS_OK;
}

static mns_status_t suggest_dt(mns_instance_t *instance, mns_context_t *ctx, double *dt) {
    if ((const mns_node_t *)(const void *)instance != &nodes[OBJECT]) return MNS_OK;
    if (ctx->params[2].number[0] > 0.0) *dt = ctx->params[2].number[0];
    return MNS_OK;
}

MNS_EXPORT const mns_plugin_t mns_plugin = {
    .size = sizeof(mns_plugin_t), .abi_major = MNS_ABI_MAJOR, .abi_minor = MNS_ABI_MINOR, .node_count = 2,
    .layout_hash = MNS_LAYOUT_HASH, .name = "spans", .version = "1", .nodes = nodes, .create = create,
    .destroy = destroy, .run = run, .suggest_dt = suggest_dt,
};
