/* A coupling in plain C whose schedule has two solves with a transport between, and the object and solver it
 * couples: what later couplings need of a host, small enough to check by hand.
 *
 * A pile is 8 points in a column (geometry `particles`: P, v) and a table `pile` (array `load`, f64). Its
 * solver moves points (predict), shifts the loads one place down (transport) and counts (correct).
 * The coupling averages neighbouring loads in each of its two solves and keeps its own table `memory`:
 * `solves` (how many), `trail` (one byte per solve: the schedule's entry) and `sum` (of loads, by substep).
 * Nothing is kept in an instance, so a shot that is resumed has the same bytes as one that never stopped.
 */
#include "meniscus.h"

#include <stdio.h>
#include <string.h>

enum { POINTS = 8 };

/* ---- pile: the object -------------------------------------------------------------------------------- */

enum { PILE_PARTICLES, PILE_TABLE };

static const mns_port_t pile_ports[] = {
    {.size = sizeof(mns_port_t), .carries = MNS_GEOMETRY, .name = "particles", .owner = MNS_OF_OBJECT, .flags = MNS_RESULT,
     .help = "Points in a column.", .unit = "m", .access = {[MNS_INIT] = MNS_WRITE}},
    {.size = sizeof(mns_port_t), .carries = MNS_TABLE, .name = "pile", .owner = MNS_OF_OBJECT,
     .help = "Loads.", .unit = "N", .access = {[MNS_INIT] = MNS_WRITE}},
};

static const mns_param_t pile_params[] = {
    {.size = sizeof(mns_param_t), .type = MNS_FLOAT, .name = "spacing", .label = "Spacing", .unit = "m",
     .help = "Distance between points.", .default_number = {0.1}, .range = {0.001, 1.0}, .flags = MNS_HARD_MIN},
};

static mns_status_t pile_init(mns_context_t *ctx) {
    const mns_attribute_t attributes[] = {
        {.size = sizeof(mns_attribute_t), .on = MNS_ON_POINTS, .name = "P", .element = MNS_F32, .components = 3,
         .meaning = MNS_POSITION},
        {.size = sizeof(mns_attribute_t), .on = MNS_ON_POINTS, .name = "v", .element = MNS_F32, .components = 3,
         .meaning = MNS_VECTOR},
    };
    const mns_geometry_t shape = {.size = sizeof shape, .primitive = MNS_POINTS, .point_count = POINTS,
                                  .attributes = attributes, .attribute_count = 2};
    const mns_geometry_t *points = ctx->shape_geometry(ctx, PILE_PARTICLES, 0, &shape);
    if (!points) return MNS_FAILED;
    const mns_table_t empty = {.size = sizeof empty};
    if (!ctx->shape_table(ctx, PILE_TABLE, 0, &empty)) return MNS_FAILED;
    const mns_array_t load = {.size = sizeof load, .element = MNS_F64, .name = "load", .components = 1, .count = POINTS};
    const mns_array_t *loads = ctx->edit_array(ctx, PILE_TABLE, 0, &load);
    if (!loads) return MNS_FAILED;
    for (uint64_t i = 0; i < POINTS; ++i) {
        float *p = (float *)(void *)((char *)points->attributes[0].writable + i * points->attributes[0].stride);
        p[1] = (float)(ctx->params[0].number[0] * (double)i);
        ((double *)loads->writable)[i] = (double)(i * i);
    }
    return MNS_OK;
}

/* ---- pile_solver ------------------------------------------------------------------------------------- */

enum { SOLVER_PARTICLES, SOLVER_TABLE, SOLVER_MOVED };

static const mns_port_t solver_ports[] = {
    {.size = sizeof(mns_port_t), .carries = MNS_GEOMETRY, .name = "particles", .owner = MNS_OF_OBJECT,
     .unit = "m", .required = 1, .access = {[MNS_PREDICT] = MNS_READ_WRITE}},
    {.size = sizeof(mns_port_t), .carries = MNS_TABLE, .name = "pile", .owner = MNS_OF_OBJECT, .required = 1,
     .access = {[MNS_TRANSPORT] = MNS_READ_WRITE, [MNS_CORRECT] = MNS_READ_WRITE}},
    {.size = sizeof(mns_port_t), .carries = MNS_TABLE, .name = "moved", .owner = MNS_OF_OBJECT,
     .lifetime = MNS_SUBSTEP, .access = {[MNS_PREDICT] = MNS_WRITE, [MNS_TRANSPORT] = MNS_READ_WRITE}},
};

/* Writes how often this substep has transported. */
static mns_status_t write_moved(mns_context_t *ctx, int64_t count) {
    const mns_array_t shape = {.size = sizeof shape, .element = MNS_I64, .name = "count", .components = 1, .count = 1};
    const mns_array_t *moved = ctx->edit_array(ctx, SOLVER_MOVED, 0, &shape);
    if (!moved) return MNS_FAILED;
    *(int64_t *)moved->writable = count;
    return MNS_OK;
}

static mns_status_t solver_predict(mns_context_t *ctx) {
    const mns_attribute_t shape = {.size = sizeof shape, .on = MNS_ON_POINTS, .name = "P", .element = MNS_F32,
                                   .components = 3, .meaning = MNS_POSITION};
    const mns_attribute_t *position = ctx->edit_attribute(ctx, SOLVER_PARTICLES, 0, &shape);
    const mns_attribute_t vector = {.size = sizeof vector, .on = MNS_ON_POINTS, .name = "v", .element = MNS_F32,
                                    .components = 3, .meaning = MNS_VECTOR};
    mns_attribute_t kick = vector;
    kick.name = "dv";
    const mns_attribute_t *velocity = ctx->edit_attribute(ctx, SOLVER_PARTICLES, 0, &vector);
    const mns_attribute_t *forces = ctx->edit_attribute(ctx, SOLVER_PARTICLES, 0, &kick);
    if (!position || !velocity || !forces) return MNS_FAILED;
    /* What forces added is taken once. */
    for (uint64_t i = 0; i < position->count; ++i) {
        float *p = (float *)(void *)((char *)position->writable + i * position->stride);
        float *v = (float *)(void *)((char *)velocity->writable + i * velocity->stride);
        float *dv = (float *)(void *)((char *)forces->writable + i * forces->stride);
        for (int c = 0; c < 3; ++c) {
            v[c] += dv[c];
            dv[c] = 0.0f;
            p[c] = (float)(p[c] + ctx->dt * v[c]);
        }
    }
    const mns_table_t empty = {.size = sizeof empty};
    return ctx->shape_table(ctx, SOLVER_MOVED, 0, &empty) ? write_moved(ctx, 0) : MNS_FAILED;
}

static mns_status_t solver_transport(mns_context_t *ctx) {
    const mns_array_t shape = {.size = sizeof shape, .element = MNS_F64, .name = "load", .components = 1, .count = POINTS};
    const mns_array_t *loads = ctx->edit_array(ctx, SOLVER_TABLE, 0, &shape);
    if (!loads) return MNS_FAILED;
    double *load = (double *)loads->writable, first = load[0];
    for (int i = 0; i + 1 < POINTS; ++i) load[i] = load[i + 1];
    load[POINTS - 1] = first;
    return write_moved(ctx, 1);
}

static mns_status_t solver_correct(mns_context_t *ctx) {
    const mns_array_t shape = {.size = sizeof shape, .element = MNS_I64, .name = "steps", .components = 1, .count = 1};
    const mns_array_t *steps = ctx->edit_array(ctx, SOLVER_TABLE, 0, &shape);
    if (!steps) return MNS_FAILED;
    *(int64_t *)steps->writable += 1;
    return MNS_OK;
}

/* ---- two_solves: the coupling ------------------------------------------------------------------------ */

enum { COUPLING_LOADS, COUPLING_MOVED, COUPLING_MEMORY };
enum { FIRST_SOLVE = 1, SECOND_SOLVE = 3 };

static const mns_role_t coupling_roles[] = {
    {.size = sizeof(mns_role_t), .min_count = 1, .name = "pile", .medium = "pile", .help = "Piles that share loads."},
};

static const mns_step_t coupling_steps[] = {
    {0, MNS_PREDICT}, {MNS_ROLE_SELF, MNS_SOLVE}, {0, MNS_TRANSPORT}, {MNS_ROLE_SELF, MNS_SOLVE}, {0, MNS_CORRECT},
};

static const mns_port_t coupling_ports[] = {
    {.size = sizeof(mns_port_t), .carries = MNS_TABLE, .name = "pile", .owner = MNS_OF_PARTICIPANT, .role = 0,
     .required = 1, .access = {[MNS_SOLVE] = MNS_READ_WRITE}},
    {.size = sizeof(mns_port_t), .carries = MNS_TABLE, .name = "moved", .owner = MNS_OF_PARTICIPANT, .role = 0,
     .lifetime = MNS_SUBSTEP, .required = 1, .access = {[MNS_SOLVE] = MNS_READ}},
    {.size = sizeof(mns_port_t), .carries = MNS_TABLE, .name = "memory", .owner = MNS_OF_NODE,
     .access = {[MNS_SOLVE] = MNS_READ_WRITE}},
};

/* The array of a table by name, or NULL. */
static const mns_array_t *find(const mns_table_t *table, const char *name) {
    for (uint32_t a = 0; table && a < table->array_count; ++a) {
        const mns_array_t *array = (const mns_array_t *)(const void *)((const char *)table->arrays + a * table->arrays->size);
        if (strcmp(array->name, name) == 0) return array;
    }
    return NULL;
}

/* Appends the schedule's entry to the trail, and to the sums what the loads add up to. */
static mns_status_t remember(mns_context_t *ctx, double sum) {
    const mns_array_t *solves = find(ctx->table(ctx, COUPLING_MEMORY, 0), "solves");
    const int64_t done = solves ? *(const int64_t *)solves->values : 0;
    const mns_array_t *old = find(ctx->table(ctx, COUPLING_MEMORY, 0), "trail");
    const mns_array_t *old_sums = find(ctx->table(ctx, COUPLING_MEMORY, 0), "sum");
    const uint64_t kept = old ? old->count : 0;

    const mns_array_t count = {.size = sizeof count, .element = MNS_I64, .name = "solves", .components = 1, .count = 1};
    const mns_array_t longer = {.size = sizeof longer, .element = MNS_U8, .name = "trail", .components = 1, .count = kept + 1};
    const mns_array_t more = {.size = sizeof more, .element = MNS_F64, .name = "sum", .components = 1, .count = kept + 1};
    const mns_array_t *n = ctx->edit_array(ctx, COUPLING_MEMORY, 0, &count);
    const mns_array_t *trail = ctx->edit_array(ctx, COUPLING_MEMORY, 0, &longer); /* grown late: made anew */
    const mns_array_t *sums = ctx->edit_array(ctx, COUPLING_MEMORY, 0, &more);
    if (!n || !trail || !sums) return MNS_FAILED;
    *(int64_t *)n->writable = done + 1;
    if (kept) {
        memcpy(trail->writable, old->values, kept);
        memcpy(sums->writable, old_sums->values, kept * sizeof(double));
    }
    ((uint8_t *)trail->writable)[kept] = (uint8_t)ctx->step;
    ((double *)sums->writable)[kept] = sum;
    return MNS_OK;
}

static mns_status_t coupling_solve(mns_context_t *ctx) {
    if (ctx->step != FIRST_SOLVE && ctx->step != SECOND_SOLVE)
        return ctx->fail(ctx, MNS_BAD_ARGUMENT, -1, "the schedule's solves are its entries 1 and 3");
    if (!(ctx->dt_next > 0.0)) return ctx->fail(ctx, MNS_BAD_ARGUMENT, -1, "dt_next is not set");
    double sum = 0.0;
    const uint32_t piles = ctx->items(ctx, COUPLING_LOADS);
    for (uint32_t item = 0; item < piles; ++item) {
        const mns_array_t *moved = find(ctx->table(ctx, COUPLING_MOVED, item), "count");
        if (!moved || *(const int64_t *)moved->values != (ctx->step == SECOND_SOLVE))
            return ctx->fail(ctx, MNS_BAD_INPUT, COUPLING_MOVED, "a transport belongs between the two solves");
        const mns_array_t shape = {.size = sizeof shape, .element = MNS_F64, .name = "load", .components = 1, .count = POINTS};
        const mns_array_t *loads = ctx->edit_array(ctx, COUPLING_LOADS, item, &shape);
        if (!loads) return MNS_FAILED;
        double *load = (double *)loads->writable;
        for (int i = 0; i + 1 < POINTS; ++i) load[i] = 0.75 * load[i] + 0.25 * load[i + 1] + ctx->dt;
        for (int i = 0; i < POINTS; ++i) sum += load[i];
        if (ctx->progress(ctx, (item + 1.0) / piles)) return MNS_CANCELLED;
    }
    const mns_solve_t report = {.size = sizeof report, .name = "loads", .device = "cpu", .unknowns = POINTS * piles, .iterations = 1};
    ctx->solved(ctx, &report);
    ctx->measure(ctx, "load", 1, &sum);
    return remember(ctx, sum);
}

/* ---- the table --------------------------------------------------------------------------------------- */

enum { PILE, PILE_SOLVER, TWO_SOLVES };

static const mns_node_t nodes[] = {
    [PILE] = {.size = sizeof(mns_node_t), .version = 1, .id = "test.pile", .label = "Pile", .medium = "pile",
              .help = "Points in a column, each with a load.", .kind = MNS_NODE_OBJECT, .stages = MNS_BIT(MNS_INIT),
              .port_count = 2, .ports = pile_ports, .param_count = 1, .params = pile_params},
    [PILE_SOLVER] = {.size = sizeof(mns_node_t), .version = 1, .id = "test.pile_solver", .label = "Pile Solver",
                     .medium = "pile", .help = "Moves points and shifts loads.", .kind = MNS_NODE_SOLVER,
                     .stages = MNS_BIT(MNS_PREDICT) | MNS_BIT(MNS_TRANSPORT) | MNS_BIT(MNS_CORRECT),
                     .accepts = MNS_BIT(MNS_NODE_OBJECT) | MNS_BIT(MNS_NODE_FORCE), .min_inputs = 1,
                     .port_count = 3, .ports = solver_ports},
    [TWO_SOLVES] = {.size = sizeof(mns_node_t), .version = 1, .id = "test.two_solves", .label = "Two Solves",
                    .help = "Averages loads twice, with a transport between.", .kind = MNS_NODE_COUPLING,
                    .stages = MNS_BIT(MNS_SOLVE), .accepts = MNS_BIT(MNS_NODE_SOLVER), .min_inputs = 1,
                    .port_count = 3, .ports = coupling_ports, .role_count = 1,
                    .roles = coupling_roles, .step_count = 5, .steps = coupling_steps},
};

static mns_status_t create(mns_context_t *ctx, uint32_t node, mns_instance_t **instance) {
    (void)ctx;
    *instance = (mns_instance_t *)(uintptr_t)&nodes[node];
    return MNS_OK;
}

static void destroy(mns_instance_t *instance) { (void)instance; }

static mns_status_t run(mns_instance_t *instance, mns_context_t *ctx) {
    const mns_node_t *node = (const mns_node_t *)(const void *)instance;
    if (node == &nodes[PILE] && ctx->stage == MNS_INIT) return pile_init(ctx);
    if (node == &nodes[PILE_SOLVER] && ctx->stage == MNS_PREDICT) return solver_predict(ctx);
    if (node == &nodes[PILE_SOLVER] && ctx->stage == MNS_TRANSPORT) return solver_transport(ctx);
    if (node == &nodes[PILE_SOLVER] && ctx->stage == MNS_CORRECT) return solver_correct(ctx);
    if (node == &nodes[TWO_SOLVES] && ctx->stage == MNS_SOLVE) return coupling_solve(ctx);
    return ctx->fail(ctx, MNS_BAD_ARGUMENT, -1, "this node does not implement this stage");
}

static void drop_caches(mns_instance_t *instance) { (void)instance; }

MNS_EXPORT const mns_plugin_t mns_plugin = {
    .size = sizeof(mns_plugin_t), .abi_major = MNS_ABI_MAJOR, .abi_minor = MNS_ABI_MINOR, .node_count = 3,
    .layout_hash = MNS_LAYOUT_HASH, .name = "test coupling", .version = "1", .vendor = "Meniscus tests",
    .nodes = nodes, .create = create, .destroy = destroy, .run = run, .drop_caches = drop_caches,
};
