/* Media that contribute to couplings, inner and outer. Every call says what it is and whom it sees, so that a test reads
 * a substep's order from the log: "stage of object" or "stage: objects at its first port". */
#include "meniscus.h"

#include <stdio.h>
#include <string.h>

#define PORT(carries_, name_, owner_, ...) \
    {.size = sizeof(mns_port_t), .carries = carries_, .name = name_, .owner = owner_, __VA_ARGS__}

/* ---- Objects: a table `share`, and points `dots` that forces move ------------------------------------- */

static const mns_port_t object_ports[] = {
    PORT(MNS_TABLE, "share", MNS_OF_OBJECT, .access = {[MNS_INIT] = MNS_WRITE}),
    PORT(MNS_GEOMETRY, "dots", MNS_OF_OBJECT, .flags = MNS_MOVABLE | MNS_RESULT, .report = "dots at=P quick=v?",
         .access = {[MNS_INIT] = MNS_WRITE}),
};

static const mns_param_t object_params[] = {
    {.size = sizeof(mns_param_t), .type = MNS_INT, .name = "first", .means = MNS_MEANS_FIRST_FRAME},
    {.size = sizeof(mns_param_t), .type = MNS_FLOAT, .name = "grain"},
};

/* ---- Solvers: predict and correct once an object, contribute once for all ----------------------------- */

static const mns_port_t solver_ports[] = {
    PORT(MNS_TABLE, "share", MNS_OF_SOLVED, .access = {[MNS_CONTRIBUTE] = MNS_READ_WRITE}),
    PORT(MNS_TABLE, "share", MNS_OF_OBJECT, .access = {[MNS_PREDICT] = MNS_READ}),
};
static const mns_port_t mixed_ports[] = {
    PORT(MNS_TABLE, "share", MNS_OF_SOLVED, .access = {[MNS_PREDICT] = MNS_READ}),
    PORT(MNS_TABLE, "share", MNS_OF_OBJECT, .access = {[MNS_PREDICT] = MNS_READ}),
};
static const mns_port_t fog_ports[] = {
    PORT(MNS_TABLE, "share", MNS_OF_OBJECT, .lifetime = MNS_SUBSTEP, .access = {[MNS_PREDICT] = MNS_WRITE}),
};

/* What no coupling reads. */
static const mns_port_t bystander_ports[] = {
    PORT(MNS_TABLE, "own", MNS_OF_NODE, .access = {[MNS_PREDICT] = MNS_WRITE}),
};

/* ---- Couplings ---------------------------------------------------------------------------------------- */

#define SHARES(role_) PORT(MNS_TABLE, "share", MNS_OF_PARTICIPANT, .role = role_, \
                           .access = {[MNS_INIT] = MNS_READ, [MNS_SOLVE] = MNS_READ, [MNS_CONTRIBUTE] = MNS_READ})
static const mns_port_t inner_ports[] = {SHARES(0)};
static const mns_port_t outer_ports[] = {SHARES(0), SHARES(1)};
static const mns_role_t inner_roles[] = {{.size = sizeof(mns_role_t), .name = "soft", .medium = "soft"}};
static const mns_role_t outer_roles[] = {{.size = sizeof(mns_role_t), .name = "hard", .medium = "hard"},
                                         {.size = sizeof(mns_role_t), .name = "soft", .medium = "soft"}};
static const mns_role_t any_roles[] = {{.size = sizeof(mns_role_t), .name = "rest"},
                                       {.size = sizeof(mns_role_t), .name = "soft", .medium = "soft"}};
static const mns_role_t few[] = {{.size = sizeof(mns_role_t), .name = "rest"},
                                 {.size = sizeof(mns_role_t), .name = "soft", .medium = "soft", .max_count = 1}};
static const mns_role_t lone[] = {{.size = sizeof(mns_role_t), .name = "rest", .max_count = 2},
                                  {.size = sizeof(mns_role_t), .name = "soft", .medium = "soft", .max_objects = 1}};

/* ---- A force on whatever moves ------------------------------------------------------------------------- */

static const mns_port_t push_ports[] = {
    PORT(MNS_GEOMETRY, NULL, MNS_OF_OBJECT, .flags = MNS_MOVABLE, .required = 1,
         .access = {[MNS_PREDICT] = MNS_READ_WRITE}),
};
static const mns_port_t eraser_ports[] = {
    PORT(MNS_TABLE, "share", MNS_OF_OBJECT, .access = {[MNS_PREDICT] = MNS_READ_WRITE}),
};

static const mns_port_t grasping_ports[] = {
    PORT(MNS_TABLE, "share", MNS_OF_PARTICIPANT, .access = {[MNS_PREDICT] = MNS_READ}),
};

/* A solver that contributes two things, a coupling that passes on one of them and takes the other in its solve, and one that takes what
 * is passed on. */
static const mns_port_t double_ports[] = {
    PORT(MNS_TABLE, "share", MNS_OF_OBJECT, .access = {[MNS_CONTRIBUTE] = MNS_READ_WRITE}),
    PORT(MNS_TABLE, "tag", MNS_OF_OBJECT, .access = {[MNS_CONTRIBUTE] = MNS_WRITE}),
};
static const mns_port_t passing_ports[] = {
    PORT(MNS_TABLE, "share", MNS_OF_PARTICIPANT, .role = 0, .access = {[MNS_SOLVE] = MNS_READ}),
    PORT(MNS_TABLE, "tag", MNS_OF_PARTICIPANT, .role = 0, .access = {[MNS_SOLVE] = MNS_READ, [MNS_CONTRIBUTE] = MNS_READ}),
    PORT(MNS_TABLE, "passed", MNS_OF_NODE, .access = {[MNS_CONTRIBUTE] = MNS_WRITE}),
};
static const mns_port_t taking_ports[] = {
    PORT(MNS_TABLE, "passed", MNS_OF_MEMBER, .role = 0, .access = {[MNS_SOLVE] = MNS_READ}),
};

/* What no participant writes. */
static const mns_port_t hopeful_ports[] = {
    PORT(MNS_TABLE, "fog", MNS_OF_PARTICIPANT, .role = 0, .access = {[MNS_SOLVE] = MNS_READ}),
};

#define ALL (MNS_BIT(MNS_INIT) | MNS_BIT(MNS_PREDICT) | MNS_BIT(MNS_SOLVE) | MNS_BIT(MNS_CORRECT) | MNS_BIT(MNS_CONTRIBUTE))
#define TAKES_OBJECTS .accepts = MNS_BIT(MNS_NODE_OBJECT) | MNS_BIT(MNS_NODE_FORCE), .min_inputs = 1
#define TAKES_SOLVERS .accepts = MNS_BIT(MNS_NODE_SOLVER) | MNS_BIT(MNS_NODE_COUPLING), .min_inputs = 1
#define OF_GRAIN .params = object_params, .param_count = 2
#define NODE(id_, kind_, ports_, count_, ...) \
    {.size = sizeof(mns_node_t), .version = 1, .id = id_, .label = id_, .kind = kind_, .ports = ports_, \
     .port_count = count_, __VA_ARGS__}

/* Predicts twice, and corrects nobody of the second role. */
static const mns_step_t hasty_steps[] = {{0, MNS_PREDICT}, {0, MNS_PREDICT}, {1, MNS_PREDICT}, {0, MNS_CONTRIBUTE},
                                         {1, MNS_CONTRIBUTE}, {MNS_ROLE_SELF, MNS_SOLVE}, {0, MNS_CORRECT}};

static const mns_node_t nodes[] = {
    NODE("test.soft", MNS_NODE_OBJECT, object_ports, 2, OF_GRAIN, .medium = "soft", .stages = MNS_BIT(MNS_INIT)),
    NODE("test.hard", MNS_NODE_OBJECT, object_ports, 2, OF_GRAIN, .medium = "hard", .stages = MNS_BIT(MNS_INIT)),
    NODE("test.soft_solver", MNS_NODE_SOLVER, solver_ports, 2, .medium = "soft", .stages = ALL, TAKES_OBJECTS),
    NODE("test.hard_solver", MNS_NODE_SOLVER, solver_ports, 2, .medium = "hard", .stages = ALL, TAKES_OBJECTS,
         .rank = MNS_RANK_SOLID),
    NODE("test.inner", MNS_NODE_COUPLING, inner_ports, 1, .roles = inner_roles, .role_count = 1, .stages = ALL, TAKES_SOLVERS),
    NODE("test.outer", MNS_NODE_COUPLING, outer_ports, 2, .roles = outer_roles, .role_count = 2, .stages = ALL, TAKES_SOLVERS),
    NODE("test.even", MNS_NODE_COUPLING, outer_ports, 2, .roles = outer_roles, .role_count = 2, .stages = ALL, TAKES_SOLVERS),
    NODE("test.selfish", MNS_NODE_COUPLING, inner_ports, 1, .roles = inner_roles, .role_count = 1,
         .stages = MNS_BIT(MNS_SOLVE), TAKES_SOLVERS),
    NODE("test.any", MNS_NODE_COUPLING, outer_ports, 2, .roles = any_roles, .role_count = 2, .stages = ALL, TAKES_SOLVERS),
    NODE("test.deaf", MNS_NODE_COUPLING, NULL, 0, .roles = inner_roles, .role_count = 1, .stages = MNS_BIT(MNS_SOLVE),
         .steps = (const mns_step_t[]){{MNS_ROLE_SELF, MNS_SOLVE}}, .step_count = 1, TAKES_SOLVERS),
    NODE("test.hopeful", MNS_NODE_COUPLING, hopeful_ports, 1, .roles = inner_roles, .role_count = 1,
         .stages = MNS_BIT(MNS_SOLVE), .steps = (const mns_step_t[]){{MNS_ROLE_SELF, MNS_SOLVE}}, .step_count = 1, TAKES_SOLVERS),
    NODE("test.hasty", MNS_NODE_COUPLING, outer_ports, 2, .roles = outer_roles, .role_count = 2, .stages = ALL, TAKES_SOLVERS,
         .steps = hasty_steps, .step_count = 7),
    NODE("test.few", MNS_NODE_COUPLING, outer_ports, 2, .roles = few, .role_count = 2, .stages = ALL, TAKES_SOLVERS),
    NODE("test.lone", MNS_NODE_COUPLING, outer_ports, 2, .roles = lone, .role_count = 2, .stages = ALL, TAKES_SOLVERS),
    NODE("test.thin_solver", MNS_NODE_SOLVER, solver_ports, 2, .medium = "soft", .stages = ALL, TAKES_OBJECTS,
         .rank = MNS_RANK_CLOTH),
    NODE("test.smoke_solver", MNS_NODE_SOLVER, solver_ports, 2, .medium = "soft", .stages = ALL, TAKES_OBJECTS,
         .rank = MNS_RANK_SMOKE),
    NODE("test.mixed", MNS_NODE_SOLVER, mixed_ports, 2, .medium = "soft", .stages = MNS_BIT(MNS_PREDICT), TAKES_OBJECTS),
    NODE("test.forgetful", MNS_NODE_SOLVER, fog_ports, 1, .medium = "soft", .stages = MNS_BIT(MNS_PREDICT), TAKES_OBJECTS),
    NODE("test.needy", MNS_NODE_SOLVER, solver_ports, 2, .medium = "soft", .stages = MNS_BIT(MNS_PREDICT), TAKES_OBJECTS,
         .gpu = MNS_GPU_REQUIRED),
    NODE("test.idle_solver", MNS_NODE_SOLVER, solver_ports, 2, .medium = "soft", .stages = 0, TAKES_OBJECTS),
    NODE("test.bystander", MNS_NODE_SOLVER, bystander_ports, 1, .medium = "soft", .stages = MNS_BIT(MNS_PREDICT), TAKES_OBJECTS),
    NODE("test.eager_solver", MNS_NODE_SOLVER, solver_ports, 2, .medium = "soft",
         .stages = ALL | MNS_BIT(MNS_ADVANCE) | MNS_BIT(MNS_TRANSPORT), TAKES_OBJECTS),
    NODE("test.half_solver", MNS_NODE_SOLVER, solver_ports, 2, .medium = "soft", .stages = MNS_BIT(MNS_PREDICT), TAKES_OBJECTS),
    NODE("test.double_solver", MNS_NODE_SOLVER, double_ports, 2, .medium = "soft", .stages = MNS_BIT(MNS_CONTRIBUTE), TAKES_OBJECTS),
    NODE("test.passing", MNS_NODE_COUPLING, passing_ports, 3, .roles = inner_roles, .role_count = 1,
         .stages = MNS_BIT(MNS_SOLVE) | MNS_BIT(MNS_CONTRIBUTE), TAKES_SOLVERS),
    NODE("test.taking", MNS_NODE_COUPLING, taking_ports, 1, .roles = inner_roles, .role_count = 1,
         .stages = MNS_BIT(MNS_SOLVE), .steps = (const mns_step_t[]){{0, MNS_CONTRIBUTE}, {MNS_ROLE_SELF, MNS_SOLVE}}, .step_count = 2,
         TAKES_SOLVERS),
    NODE("test.push", MNS_NODE_FORCE, push_ports, 1, .stages = MNS_BIT(MNS_PREDICT)),
    NODE("test.eraser", MNS_NODE_FORCE, eraser_ports, 1, .stages = MNS_BIT(MNS_PREDICT)),
    NODE("test.grasping", MNS_NODE_FORCE, grasping_ports, 1, .stages = MNS_BIT(MNS_PREDICT), .roles = inner_roles, .role_count = 1),
};
enum { COUNT = sizeof nodes / sizeof *nodes };

/* ---- What they do -------------------------------------------------------------------------------------- */

static const char *const stages[] = {"init", "predict", "advance", "transport", "solve", "correct", "contribute"};

typedef struct {
    const mns_node_t *node;
    int calls; /* since the caches were dropped: may not matter */
} instance;
static instance made[64];
static uint32_t many;

static mns_status_t create(mns_context_t *ctx, uint32_t node, mns_instance_t **out) {
    (void)ctx;
    made[many % 64].node = &nodes[node];
    *out = (mns_instance_t *)(void *)&made[many++ % 64];
    return MNS_OK;
}

static void destroy(mns_instance_t *instance) { (void)instance; }

static void say(mns_context_t *ctx, const mns_node_t *node) {
    char line[512];
    int n = snprintf(line, sizeof line, "%s", stages[ctx->stage]);
    if (ctx->object) n += snprintf(line + n, sizeof line - (size_t)n, " of %s", ctx->object);
    else
        for (uint32_t port = 0; port < node->port_count; ++port) {
            n += snprintf(line + n, sizeof line - (size_t)n, port ? " |" : ":");
            for (uint32_t i = 0; i < ctx->items(ctx, port); ++i)
                n += snprintf(line + n, sizeof line - (size_t)n, " %s", ctx->item_name(ctx, port, i));
        }
    ctx->log(ctx, MNS_LOG_INFO, line);
}

static mns_status_t begin(mns_context_t *ctx) {
    const mns_table_t empty = {.size = sizeof empty};
    const mns_array_t column = {.size = sizeof column, .element = MNS_F64, .name = "count", .components = 1, .count = 1};
    const mns_array_t grain = {.size = sizeof grain, .element = MNS_F64, .name = "grain", .components = 1, .count = 1};
    if (!ctx->shape_table(ctx, 0, 0, &empty) || !ctx->edit_array(ctx, 0, 0, &column)) return MNS_FAILED;
    const mns_array_t *made_of = ctx->edit_array(ctx, 0, 0, &grain);
    if (!made_of) return MNS_FAILED;
    *(double *)made_of->writable = ctx->params[1].number[0];
    const mns_attribute_t attributes[] = {
        {.size = sizeof(mns_attribute_t), .on = MNS_ON_POINTS, .name = "P", .element = MNS_F32, .components = 3, .meaning = MNS_POSITION},
        {.size = sizeof(mns_attribute_t), .on = MNS_ON_POINTS, .name = "v", .element = MNS_F32, .components = 1},
    };
    const mns_geometry_t shape = {.size = sizeof shape, .primitive = MNS_POINTS, .point_count = 2, .attributes = attributes,
                                  .attribute_count = 2, .origin = {1.0, 2.0, 3.0}};
    return ctx->shape_geometry(ctx, 1, 0, &shape) ? MNS_OK : MNS_FAILED;
}

/* A coupling that takes objects of one grain only. */
static mns_status_t compare(mns_context_t *ctx, const mns_node_t *node) {
    double first = 0.0;
    const char *whose = NULL;
    for (uint32_t port = 0; port < node->port_count; ++port)
        for (uint32_t i = 0; i < ctx->items(ctx, port); ++i) {
            const mns_table_t *share = ctx->table(ctx, port, i);
            if (!share || share->array_count < 2) return MNS_FAILED;
            const double grain = *(const double *)share->arrays[1].values;
            const char *name = ctx->item_name(ctx, port, i);
            if (whose && grain != first) {
                char line[256];
                snprintf(line, sizeof line, "`%s` has a grain of %g, `%s` of %g; give both the same", whose, first, name, grain);
                return ctx->fail(ctx, MNS_BAD_INPUT, (int32_t)port, line);
            }
            first = grain;
            whose = name;
        }
    return MNS_OK;
}

static mns_status_t run(mns_instance_t *self, mns_context_t *ctx) {
    instance *me = (instance *)(void *)self;
    const mns_node_t *node = me->node;
    if (node->kind == MNS_NODE_OBJECT) return begin(ctx);
    ++me->calls;
    say(ctx, node);
    if (ctx->stage == MNS_INIT && !strcmp(node->id, "test.even")) return compare(ctx, node);
    if (node->ports == eraser_ports) return ctx->clear(ctx, 0, 0);
    if (node->ports == push_ports) {
        for (uint32_t i = 0; i < ctx->items(ctx, 0); ++i) {
            const mns_attribute_t shape = {.size = sizeof shape, .on = MNS_ON_POINTS, .name = "v", .element = MNS_F32, .components = 1};
            const mns_attribute_t *v = ctx->edit_attribute(ctx, 0, i, &shape);
            if (!v) return MNS_FAILED;
            ((float *)v->writable)[1] += 1.0f;
        }
        return MNS_OK;
    }
    if (ctx->stage == MNS_CONTRIBUTE && node->ports == solver_ports)
        for (uint32_t i = 0; i < ctx->items(ctx, 0); ++i) {
            const mns_array_t column = {.size = sizeof column, .element = MNS_F64, .name = "count", .components = 1, .count = 1};
            const mns_array_t *count = ctx->edit_array(ctx, 0, i, &column);
            if (!count) return MNS_FAILED;
            *(double *)count->writable += 1.0;
        }
    return MNS_OK;
}

static void drop_caches(mns_instance_t *self) { ((instance *)(void *)self)->calls = 0; }

static mns_status_t suggest_dt(mns_instance_t *self, mns_context_t *ctx, double *dt) {
    (void)ctx;
    (void)dt;
    /* An instance whose caches are dropped before every call never finds any. */
    if (((instance *)(void *)self)->calls > 0) ctx->log(ctx, MNS_LOG_DEBUG, "has a cache");
    return MNS_OK;
}

MNS_EXPORT const mns_plugin_t mns_plugin = {
    .size = sizeof(mns_plugin_t), .abi_major = MNS_ABI_MAJOR, .abi_minor = MNS_ABI_MINOR, .node_count = COUNT,
    .layout_hash = MNS_LAYOUT_HASH, .name = "shares", .version = "1", .nodes = nodes, .create = create,
    .destroy = destroy, .run = run, .drop_caches = drop_caches, .suggest_dt = suggest_dt,
};
