/* Couplings and a solver that contribute what belongs to no object: `own`, kept for the node itself. The outermost
 * coupling answers each in `answer`: 10 times what it wrote, plus its place among the items. */
#include "meniscus_find.h"

#include <stdio.h>

#define PORT(carries_, name_, owner_, ...) \
    {.size = sizeof(mns_port_t), .carries = carries_, .name = name_, .owner = owner_, __VA_ARGS__}

static const mns_param_t frames[] = {
    {.size = sizeof(mns_param_t), .type = MNS_INT, .name = "first", .means = MNS_MEANS_FIRST_FRAME},
    {.size = sizeof(mns_param_t), .type = MNS_INT, .name = "last", .means = MNS_MEANS_LAST_FRAME},
};

/* ---- Ports --------------------------------------------------------------------------------------------- */

enum { OWN, ANSWER };
static const mns_port_t givers[] = {
    PORT(MNS_TABLE, "own", MNS_OF_NODE, .access = {[MNS_CONTRIBUTE] = MNS_WRITE}),
    PORT(MNS_TABLE, "answer", MNS_OF_NODE, .access = {[MNS_PREDICT] = MNS_READ, [MNS_CORRECT] = MNS_READ}),
};
static const mns_port_t object_ports[] = {PORT(MNS_TABLE, "mass", MNS_OF_OBJECT, .access = {[MNS_INIT] = MNS_WRITE})};
static const mns_port_t plain_ports[] = {PORT(MNS_TABLE, "mass", MNS_OF_OBJECT, .access = {[MNS_PREDICT] = MNS_READ})};

#define TAKES(role_, ...) PORT(MNS_TABLE, "own", MNS_OF_MEMBER, .role = role_, .access = {[MNS_SOLVE] = MNS_READ}, __VA_ARGS__)
#define ANSWERS(role_, ...) PORT(MNS_TABLE, "answer", MNS_OF_MEMBER, .role = role_, .access = {[MNS_SOLVE] = MNS_WRITE}, __VA_ARGS__)
enum { SOFT = 1 };
static const mns_port_t takers[] = {TAKES(SOFT, .required = 1), ANSWERS(SOFT, .required = 0)};
static const mns_port_t takers_of_all[] = {TAKES(MNS_ROLE_ANY, .required = 0), ANSWERS(MNS_ROLE_ANY, .required = 0)};
static const mns_port_t forgetful[] = {
    TAKES(MNS_ROLE_ANY, .required = 0),
    PORT(MNS_TABLE, "own", MNS_OF_MEMBER, .role = 0, .lifetime = MNS_SUBSTEP, .access = {[MNS_SOLVE] = MNS_WRITE}),
};
static const mns_port_t confused[] = {
    PORT(MNS_GRID, "own", MNS_OF_MEMBER, .role = MNS_ROLE_ANY, .components = 1, .access = {[MNS_SOLVE] = MNS_READ}),
};
static const mns_port_t early[] = {
    TAKES(MNS_ROLE_ANY, .required = 0),
    PORT(MNS_TABLE, "answer", MNS_OF_MEMBER, .role = SOFT, .required = 1, .access = {[MNS_SOLVE] = MNS_READ}),
};
static const mns_port_t late[] = {
    PORT(MNS_TABLE, "own", MNS_OF_MEMBER, .role = MNS_ROLE_ANY, .access = {[MNS_CORRECT] = MNS_READ}),
};
static const mns_port_t grasping[] = {
    PORT(MNS_TABLE, "own", MNS_OF_MEMBER, .role = MNS_ROLE_ANY, .access = {[MNS_PREDICT] = MNS_READ}),
};

static const mns_role_t roles[] = {{.size = sizeof(mns_role_t), .name = "hard", .medium = "hard"},
                                   {.size = sizeof(mns_role_t), .name = "soft", .medium = "soft"}};

/* ---- Nodes --------------------------------------------------------------------------------------------- */

#define TAKES_OBJECTS .accepts = MNS_BIT(MNS_NODE_OBJECT) | MNS_BIT(MNS_NODE_FORCE), .min_inputs = 1
#define TAKES_SOLVERS .accepts = MNS_BIT(MNS_NODE_SOLVER) | MNS_BIT(MNS_NODE_COUPLING), .min_inputs = 1
#define OUTER .roles = roles, .role_count = 2, .stages = MNS_BIT(MNS_SOLVE), TAKES_SOLVERS
#define GIVES .stages = MNS_BIT(MNS_PREDICT) | MNS_BIT(MNS_CONTRIBUTE) | MNS_BIT(MNS_CORRECT)
#define NODE(id_, kind_, ports_, ...) \
    {.size = sizeof(mns_node_t), .version = 1, .id = id_, .label = id_, .kind = kind_, .ports = ports_, \
     .port_count = sizeof ports_ / sizeof *ports_, .params = frames, .param_count = 2, __VA_ARGS__}

static const mns_node_t nodes[] = {
    NODE("test.soft", MNS_NODE_OBJECT, object_ports, .medium = "soft", .stages = MNS_BIT(MNS_INIT)),
    NODE("test.hard", MNS_NODE_OBJECT, object_ports, .medium = "hard", .stages = MNS_BIT(MNS_INIT)),
    NODE("test.plain", MNS_NODE_SOLVER, plain_ports, .medium = "soft", .stages = MNS_BIT(MNS_PREDICT), TAKES_OBJECTS),
    NODE("test.solid", MNS_NODE_SOLVER, plain_ports, .medium = "hard", .stages = MNS_BIT(MNS_PREDICT), TAKES_OBJECTS),
    NODE("test.bound", MNS_NODE_SOLVER, givers, .medium = "hard", GIVES, TAKES_OBJECTS),
    NODE("test.giver", MNS_NODE_COUPLING, givers, .roles = roles, .role_count = 2, GIVES, TAKES_SOLVERS),
    NODE("test.taker", MNS_NODE_COUPLING, takers, OUTER),
    NODE("test.taker_of_all", MNS_NODE_COUPLING, takers_of_all, OUTER),
    NODE("test.forgetful", MNS_NODE_COUPLING, forgetful, OUTER),
    NODE("test.confused", MNS_NODE_COUPLING, confused, OUTER),
    NODE("test.early", MNS_NODE_COUPLING, early, OUTER),
    NODE("test.late", MNS_NODE_COUPLING, late, .roles = roles, .role_count = 2,
         .stages = MNS_BIT(MNS_SOLVE) | MNS_BIT(MNS_CORRECT), TAKES_SOLVERS),
    NODE("test.deaf", MNS_NODE_COUPLING, object_ports, OUTER),
    NODE("test.grasping", MNS_NODE_FORCE, grasping, .stages = MNS_BIT(MNS_PREDICT)),
};
enum { COUNT = sizeof nodes / sizeof *nodes };

/* ---- What they do -------------------------------------------------------------------------------------- */

static mns_status_t create(mns_context_t *ctx, uint32_t node, mns_instance_t **out) {
    (void)ctx;
    *out = (mns_instance_t *)(uintptr_t)&nodes[node];
    return MNS_OK;
}

static void destroy(mns_instance_t *instance) { (void)instance; }

static mns_status_t say(mns_context_t *ctx, const char *what, double value) {
    char line[128];
    snprintf(line, sizeof line, "%s %g", what, value);
    ctx->log(ctx, MNS_LOG_INFO, line);
    return MNS_OK;
}

/* The own data is a number: the frame. */
static mns_status_t give(mns_context_t *ctx) {
    const mns_table_t *answered = ctx->stage == MNS_CONTRIBUTE ? NULL : ctx->table(ctx, ANSWER, 0);
    const double *answer = mns_find_numbers(answered, "value", 1);
    if (ctx->stage == MNS_PREDICT) return say(ctx, "heard", answer ? *answer : -1.0);
    if (ctx->stage == MNS_CORRECT) return say(ctx, "hears", answer ? *answer : -1.0);
    const double frame = ctx->frame;
    return mns_new_table(ctx, OWN, 0) && mns_put_numbers(ctx, OWN, 0, "value", 1, 1, &frame) ? MNS_OK : MNS_FAILED;
}

static mns_status_t take(mns_context_t *ctx) {
    char line[256];
    int n = snprintf(line, sizeof line, "solve:");
    for (uint32_t i = 0; i < ctx->items(ctx, OWN); ++i)
        n += snprintf(line + n, sizeof line - (size_t)n, " %s", ctx->item_name(ctx, OWN, i));
    ctx->log(ctx, MNS_LOG_INFO, line);
    for (uint32_t i = 0; i < ctx->items(ctx, OWN); ++i) {
        const double *own = mns_find_numbers(ctx->table(ctx, OWN, i), "value", 1);
        if (!own) return ctx->fail(ctx, MNS_BAD_INPUT, OWN, "has no value");
        const double answer = 10.0 * *own + i;
        if (!mns_new_table(ctx, ANSWER, i) || !mns_put_numbers(ctx, ANSWER, i, "value", 1, 1, &answer)) return MNS_FAILED;
    }
    return MNS_OK;
}

static mns_status_t run(mns_instance_t *self, mns_context_t *ctx) {
    const mns_node_t *node = (const mns_node_t *)(const void *)self;
    if (ctx->stage == MNS_INIT) return mns_new_table(ctx, 0, 0) ? MNS_OK : MNS_FAILED;
    if (node->ports == givers) return give(ctx);
    if (ctx->stage == MNS_SOLVE && node->ports != late) return take(ctx);
    return MNS_OK;
}

MNS_EXPORT const mns_plugin_t mns_plugin = {
    .size = sizeof(mns_plugin_t), .abi_major = MNS_ABI_MAJOR, .abi_minor = MNS_ABI_MINOR, .node_count = COUNT,
    .layout_hash = MNS_LAYOUT_HASH, .name = "members", .version = "1", .nodes = nodes, .create = create,
    .destroy = destroy, .run = run,
};
