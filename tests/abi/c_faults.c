/* Nodes that go wrong, each in one way: forces on an object with `particles` (wire them into a solver).
 *
 * Built with -DWRONG_MAJOR, -DWRONG_LAYOUT, -DTRUNCATED or -DNO_CREATE the plugin itself is one to refuse; with
 * -DCONSTRUCTOR=... it runs that statement when it is opened.
 */
#define _POSIX_C_SOURCE 200809L
#include "meniscus.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const mns_port_t ports[] = {
    {.size = sizeof(mns_port_t), .carries = MNS_GEOMETRY, .name = "particles", .owner = MNS_OF_OBJECT,
     .required = 1, .access = {[MNS_PREDICT] = MNS_READ_WRITE}},
};

static const mns_port_t input_ports[] = {
    {.size = sizeof(mns_port_t), .carries = MNS_GEOMETRY, .name = "shape", .owner = MNS_OF_INPUT,
     .access = {[MNS_PREDICT] = MNS_READ}},
};

static const mns_port_t surface_ports[] = {
    {.size = sizeof(mns_port_t), .carries = MNS_GRID, .name = "surface", .owner = MNS_OF_OBJECT,
     .element = MNS_F32, .components = 1, .grid_class = MNS_LEVEL_SET, .drawn = MNS_DRAWN_AS_LIQUID, .unit = "m",
     .access = {[MNS_PREDICT] = MNS_READ_WRITE}},
};

static const mns_param_t params[] = {
    {.size = sizeof(mns_param_t), .type = MNS_FLOAT, .name = "dt", .label = "Time Step", .unit = "s",
     .help = "The longest time step this node takes.", .default_number = {0.01}, .range = {0.0, 1.0},
     .flags = MNS_HARD_MIN},
};

enum { FAILS, FAILS_SILENTLY, FAILS_LATE, WRITES_NAN, SUGGESTS_DT, REJECTS_DT, CANCELS, CREATE_FAILS,
       CRASHES, ABORTS, CRASHES_IN_A_THREAD, EXITS, EXITS_AT_ONCE, EXITS_IN_A_THREAD, EXITS_IN_CREATE, EXITS_IN_DESTROY,
       CRASHES_IN_DESTROY, EXITS_IN_SUGGEST_DT, IS_KILLED, HANGS, CHANGES_CONST, CHANGES_INPUT, WISHES,
       FAILS_AND_SAYS_OK, FAILS_WITHOUT_WORDS, SAYS_IT_WAS_CANCELLED, REPORTS_NAN, PLACES_FLAT, NODES };

#define FORCE(id_, help_)                                                                                    \
    {.size = sizeof(mns_node_t), .version = 1, .id = id_, .label = id_, .help = help_,                       \
     .kind = MNS_NODE_FORCE, .stages = MNS_BIT(MNS_PREDICT), .port_count = 1, .ports = ports,                \
     .param_count = 1, .params = params}

static const mns_node_t nodes[NODES] = {
    [FAILS] = FORCE("test.fails", "Returns an error and says why."),
    [FAILS_SILENTLY] = FORCE("test.fails_silently", "Returns an error and does not say why."),
    [FAILS_AND_SAYS_OK] = FORCE("test.fails_and_says_ok", "Says why it failed, and returns ok."),
    [FAILS_WITHOUT_WORDS] = FORCE("test.fails_without_words", "Tells of an error with no sentence."),
    [SAYS_IT_WAS_CANCELLED] = FORCE("test.says_it_was_cancelled", "Returns MNS_CANCELLED, and nobody has asked for it."),
    [REPORTS_NAN] = FORCE("test.reports_nan", "Reports a solve whose residual is NaN."),
    [PLACES_FLAT] = {.size = sizeof(mns_node_t), .version = 1, .id = "test.places_flat", .label = "Places Flat",
                     .help = "Places a grid so that its voxels have no height.", .kind = MNS_NODE_FORCE,
                     .stages = MNS_BIT(MNS_PREDICT), .port_count = 1, .ports = surface_ports, .param_count = 1,
                     .params = params},
    [FAILS_LATE] = FORCE("test.fails_late", "Overwrites all velocities, then returns an error: the velocities must be as before."),
    [WRITES_NAN] = FORCE("test.writes_nan", "Writes a NaN and returns ok."),
    [SUGGESTS_DT] = FORCE("test.suggests_dt", "Suggests its dt for the next substep."),
    [REJECTS_DT] = FORCE("test.rejects_dt", "Rejects a dt longer than its own, after adding 1 m/s."),
    [CANCELS] = FORCE("test.cancels", "Asks whether to go on until it is told to stop."),
    [CREATE_FAILS] = FORCE("test.create_fails", "Cannot be created."),
    [CRASHES] = FORCE("test.crashes", "Writes to address 8."),
    [ABORTS] = FORCE("test.aborts", "Ends the process, as a failed assertion would."),
    [CRASHES_IN_A_THREAD] = FORCE("test.crashes_in_a_thread", "Writes to address 8 from a thread of its own."),
    [EXITS] = FORCE("test.exits", "Calls exit(0)."),
    [EXITS_AT_ONCE] = FORCE("test.exits_at_once", "Calls _exit(0)."),
    [EXITS_IN_A_THREAD] = FORCE("test.exits_in_a_thread", "Calls _exit(0) from a thread of its own."),
    [EXITS_IN_CREATE] = FORCE("test.exits_in_create", "Calls exit(0) when it is made."),
    [EXITS_IN_DESTROY] = FORCE("test.exits_in_destroy", "Calls exit(0) when it is destroyed."),
    [CRASHES_IN_DESTROY] = FORCE("test.crashes_in_destroy", "Writes to address 8 when it is destroyed."),
    [EXITS_IN_SUGGEST_DT] = FORCE("test.exits_in_suggest_dt", "Calls exit(0) when it is asked for a time step."),
    [IS_KILLED] = FORCE("test.is_killed", "Is killed, as the system does where memory runs out."),
    [HANGS] = FORCE("test.hangs", "Says so, and never returns."),
    [CHANGES_CONST] = FORCE("test.changes_const", "Moves a particle it may only read."),
    [CHANGES_INPUT] = {.size = sizeof(mns_node_t), .version = 1, .id = "test.changes_input", .label = "Changes Input",
                       .help = "Turns a triangle of its input around.", .kind = MNS_NODE_FORCE,
                       .stages = MNS_BIT(MNS_PREDICT), .accepts = MNS_BIT(MNS_NODE_GEOMETRY), .min_inputs = 1,
                       .port_count = 1, .ports = input_ports, .param_count = 1, .params = params},
    [WISHES] = FORCE("test.wishes", "Answers with its dt when it is asked for a time step."),
};

/* Adds to the y velocity of every particle, by way of what forces add. */
static mns_status_t push(mns_context_t *ctx, float speed) {
    const mns_attribute_t shape = {.size = sizeof shape, .on = MNS_ON_POINTS, .name = "dv", .element = MNS_F32,
                                   .components = 3, .meaning = MNS_VECTOR};
    const mns_attribute_t *v = ctx->edit_attribute(ctx, 0, 0, &shape);
    if (!v) return MNS_FAILED;
    for (uint64_t i = 0; i < v->count; ++i) ((float *)(void *)((char *)v->writable + i * v->stride))[1] += speed;
    return MNS_OK;
}

#if !defined(NO_CREATE)
static mns_status_t create(mns_context_t *ctx, uint32_t node, mns_instance_t **instance) {
    if (node == EXITS_IN_CREATE) exit(0);
    if (node == CREATE_FAILS) return ctx->fail(ctx, MNS_UNSUPPORTED, -1, "this machine has no such thing");
    *instance = (mns_instance_t *)(uintptr_t)&nodes[node];
    return MNS_OK;
}
#endif

/* Where nothing is; volatile, or the compiler sees what is coming. */
static int *volatile nowhere = (int *)8;

static void *crash(void *unused) {
    (void)unused;
    *nowhere = 1;
    return NULL;
}

static void *leave(void *unused) {
    (void)unused;
    _exit(0);
}

static void destroy(mns_instance_t *instance) {
    switch ((const mns_node_t *)(const void *)instance - nodes) {
    case EXITS_IN_DESTROY: exit(0);
    case CRASHES_IN_DESTROY: crash(NULL);
    }
}

static mns_status_t suggest_dt(mns_instance_t *instance, mns_context_t *ctx, double *dt) {
    switch ((const mns_node_t *)(const void *)instance - nodes) {
    case EXITS_IN_SUGGEST_DT: exit(0);
    case WISHES: *dt = ctx->params[0].number[0];
    }
    return MNS_OK;
}

/* Writes to what it was shown to read. */
static mns_status_t change_const(mns_context_t *ctx) {
    const mns_geometry_t *g = ctx->geometry(ctx, 0, 0);
    if (!g) return MNS_FAILED;
    for (uint32_t i = 0; i < g->attribute_count; ++i)
        if (!strcmp(g->attributes[i].name, "P")) *(float *)(uintptr_t)g->attributes[i].values += 1e-3f;
    return MNS_OK;
}

static mns_status_t change_input(mns_context_t *ctx) {
    const mns_geometry_t *g = ctx->geometry(ctx, 0, 0);
    if (!g || !g->vertex_count) return MNS_FAILED;
    uint32_t *v = (uint32_t *)(uintptr_t)g->vertices, first = v[0];
    v[0] = v[1];
    v[1] = first;
    return MNS_OK;
}

static mns_status_t in_a_thread(void *(*work)(void *)) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, NULL)) return MNS_FAILED;
    pthread_join(thread, NULL);
    return MNS_OK;
}

static mns_status_t run(mns_instance_t *instance, mns_context_t *ctx) {
    const double longest = ctx->params[0].number[0];
    mns_status_t status = MNS_OK;
    switch ((const mns_node_t *)(const void *)instance - nodes) {
    case FAILS: return ctx->fail(ctx, MNS_FAILED, 0, "the particles are not to its liking");
    case FAILS_AND_SAYS_OK: ctx->fail(ctx, MNS_FAILED, 0, "it returns ok all the same"); return MNS_OK;
    case FAILS_SILENTLY: return MNS_FAILED;
    case FAILS_WITHOUT_WORDS: return ctx->fail(ctx, MNS_UNSUPPORTED, 0, NULL);
    case SAYS_IT_WAS_CANCELLED: return MNS_CANCELLED;
    case REPORTS_NAN:
        ctx->solved(ctx, &(mns_solve_t){.size = sizeof(mns_solve_t), .name = "wild", .iterations = 3, .residual = NAN});
        return MNS_OK;
    case PLACES_FLAT: return ctx->place_grid(ctx, 0, 0, (const double[16]){0.1, 0, 0, 0, 0, 0.1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
    case FAILS_LATE:
        status = push(ctx, 1.0e6f);
        return status ? status : ctx->fail(ctx, MNS_FAILED, 0, "it failed after it had written");
    case WRITES_NAN: return push(ctx, NAN);
    case SUGGESTS_DT: ctx->suggest_dt(ctx, longest); return MNS_OK;
    case REJECTS_DT:
        status = push(ctx, 1.0f);
        return status || ctx->dt <= longest * (1.0 + 1e-9) ? status : ctx->reject_dt(ctx, longest);
    case CANCELS:
        for (int i = 0; i < 1000000; ++i)
            if (ctx->progress(ctx, -1.0)) return MNS_CANCELLED;
        return MNS_OK;
    case CRASHES: crash(NULL); return MNS_OK;
    case ABORTS: abort();
    case CRASHES_IN_A_THREAD: return in_a_thread(crash);
    case EXITS: exit(0);
    case EXITS_AT_ONCE: _exit(0);
    case EXITS_IN_A_THREAD: return in_a_thread(leave);
    case EXITS_IN_DESTROY:
    case CRASHES_IN_DESTROY:
    case WISHES: return MNS_OK;
    case IS_KILLED: raise(SIGKILL); return MNS_OK;
    case HANGS:
        ctx->log(ctx, MNS_LOG_WARNING, "hangs from now on");
        for (;;) pause();
    case CHANGES_CONST: return change_const(ctx);
    case CHANGES_INPUT: return change_input(ctx);
    default: return MNS_BAD_ARGUMENT;
    }
}

#if defined(CONSTRUCTOR)
__attribute__((constructor)) static void constructor(void) { CONSTRUCTOR; }
#endif

#if defined(WRONG_MAJOR)
#define MAJOR (MNS_ABI_MAJOR + 41u)
#else
#define MAJOR MNS_ABI_MAJOR
#endif
#if defined(WRONG_LAYOUT)
#define LAYOUT (MNS_LAYOUT_HASH ^ 1u)
#else
#define LAYOUT MNS_LAYOUT_HASH
#endif
#if defined(TRUNCATED)
#define SIZE 16u
#else
#define SIZE sizeof(mns_plugin_t)
#endif

MNS_EXPORT const mns_plugin_t mns_plugin = {
    .size = SIZE, .abi_major = MAJOR, .abi_minor = MNS_ABI_MINOR, .node_count = NODES,
    .layout_hash = LAYOUT, .name = "test faults", .version = "1", .vendor = "Meniscus tests",
    .nodes = nodes,
#if !defined(NO_CREATE)
    .create = create,
#endif
    .destroy = destroy, .run = run, .suggest_dt = suggest_dt,
};
