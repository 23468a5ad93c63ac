/* A toy in place of the rigid solver, in plain C: it moves the one body of each rigid object straight up and down, without
 * contacts, joints or turns. Wired into a coupling, its body has one degree of freedom. It speaks to the host and to the other
 * plugin's objects by ports alone. */
#include "meniscus.h"
#include "meniscus_find.h"
#include <string.h>

#define PORT(carries_, name_, help_, ...) \
    {.size = sizeof(mns_port_t), .carries = carries_, .name = name_, .owner = MNS_OF_OBJECT, .help = help_, __VA_ARGS__}
#define ON(predict_, contribute_, correct_) \
    .access = {[MNS_PREDICT] = predict_, [MNS_CONTRIBUTE] = contribute_, [MNS_CORRECT] = correct_}

/* A solver may have its share ready when it has predicted, and then needs no stage for it. */
#ifdef EARLY
#define SHARED_AHEAD MNS_READ_WRITE
#define CONTRIBUTES 0
#else
#define SHARED_AHEAD 0
#define CONTRIBUTES MNS_BIT(MNS_CONTRIBUTE)
#endif

enum { BODIES, RIGID, MOTION, DYNAMICS, MOVED, CONSTRAINTS, PORTS };
static const mns_port_t ports[PORTS] = {
    PORT(MNS_GEOMETRY, "bodies", "One point: P, v, and dv, what forces add.", .flags = MNS_MOVABLE | MNS_RESULT, .drawn = MNS_DRAWN_AS_SOLID,
         ON(MNS_READ_WRITE, 0, MNS_READ_WRITE)),
    PORT(MNS_TABLE, "rigid", "position, velocity (m, m/s), mass (kg).", ON(MNS_READ_WRITE, MNS_READ, MNS_READ_WRITE)),
    PORT(MNS_TABLE, "motion", "Where the solid is, and its velocity.", ON(MNS_READ_WRITE, 0, 0)),
    PORT(MNS_TABLE, "dynamics", "Its share of a pressure solve.", ON(SHARED_AHEAD, MNS_READ_WRITE, 0)),
    PORT(MNS_TABLE, "moved", "What a coupling's solve gives to it.", .lifetime = MNS_SUBSTEP, ON(0, 0, MNS_READ)),
    PORT(MNS_TABLE, "constraints", "Rows that couplings keep.", .lifetime = MNS_SUBSTEP, ON(SHARED_AHEAD, MNS_READ_WRITE, 0)),
};

static const mns_node_t node = {
    .size = sizeof(mns_node_t), .version = 1, .id = "test.toy_rigid", .label = "Toy Rigid Solver", .medium = "rigid",
    .help = "Moves a rigid object up and down.", .kind = MNS_NODE_SOLVER,
    .stages = MNS_BIT(MNS_PREDICT) | CONTRIBUTES | MNS_BIT(MNS_CORRECT), .rank = MNS_RANK_SOLID,
    .accepts = MNS_BIT(MNS_NODE_OBJECT) | MNS_BIT(MNS_NODE_FORCE), .min_inputs = 1, .port_count = PORTS, .ports = ports,
};

static float *point_vector(mns_context_t *ctx, const char *name, int32_t meaning) {
    const mns_attribute_t shape = {.size = sizeof shape, .on = MNS_ON_POINTS, .name = name, .element = MNS_F32,
                                   .components = 3, .meaning = meaning};
    const mns_attribute_t *attribute = ctx->edit_attribute(ctx, BODIES, 0, &shape);
    return attribute ? (float *)mns_place_of(attribute, 0) : NULL;
}

/* It drifts with the velocity of the last solve; then forces act. `velocity[1]` is that before them. */
static mns_status_t predict(mns_context_t *ctx, double position[3], double velocity[2]) {
    float *kick = point_vector(ctx, "dv", MNS_VECTOR), *place = point_vector(ctx, "P", MNS_POSITION);
    if (!kick || !place) return MNS_FAILED;
    position[1] += ctx->dt * velocity[0];
    velocity[1] = velocity[0];
    velocity[0] += kick[1];
    for (int c = 0; c < 3; ++c) kick[c] = 0.0f, place[c] = (float)position[c];
    const double placement[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, position[0], position[1], position[2], 1};
    const double now[3] = {0, velocity[1], 0}, next[3] = {0, velocity[0], 0}, still[3] = {0};
    const int told = mns_put_numbers(ctx, MOTION, 0, "placement", 16, 1, placement) &&
                     mns_put_numbers(ctx, MOTION, 0, "pivot", 3, 1, position) &&
                     mns_put_numbers(ctx, MOTION, 0, "linear", 3, 1, now) &&
                     mns_put_numbers(ctx, MOTION, 0, "angular", 3, 1, still) &&
                     mns_put_numbers(ctx, MOTION, 0, "linear_next", 3, 1, next) &&
                     mns_put_numbers(ctx, MOTION, 0, "angular_next", 3, 1, still);
    return told ? MNS_OK : MNS_FAILED;
}

#if defined TIED || defined LIFTS
static int put(mns_context_t *ctx, const char *name, int32_t element, uint64_t count, const void *values, size_t bytes) {
    const mns_array_t shape = {.size = sizeof shape, .name = name, .element = element, .components = 1, .count = count};
    const mns_array_t *array = ctx->edit_array(ctx, CONSTRAINTS, 0, &shape);
    if (!array) return 0;
    memcpy(array->writable, values, bytes);
    return 1;
}

#ifdef TIED
/* A row that ties its body to one of another solver: both rise at one speed. */
static int row(mns_context_t *ctx) {
    static const char names[] = "lead\0wood";
    const int64_t start[2] = {0, 2}, object[2] = {0, 1}, freedom[2] = {0, 1};
    const double value[2] = {1, -1}, wanted[1] = {0};
#else
/* A row that lifts the body of another solver at 0.3 m/s. The entry of 0 makes both rows as long. */
static int row(mns_context_t *ctx) {
    static const char names[] = "wood";
    const int64_t start[2] = {0, 2}, object[2] = {0, 0}, freedom[2] = {1, 0};
    const double value[2] = {1, 0}, wanted[1] = {0.3};
#endif
    const int32_t kind[1] = {0};
    return mns_new_table(ctx, CONSTRAINTS, 0) && put(ctx, "objects", MNS_U8, sizeof names, names, sizeof names) &&
           put(ctx, "start", MNS_I64, 2, start, sizeof start) && put(ctx, "object", MNS_I64, 2, object, sizeof object) &&
           put(ctx, "freedom", MNS_I64, 2, freedom, sizeof freedom) && put(ctx, "value", MNS_F64, 2, value, sizeof value) &&
           put(ctx, "wanted", MNS_F64, 1, wanted, sizeof wanted) && put(ctx, "kind", MNS_I32, 1, kind, sizeof kind);
}
#endif

static mns_status_t contribute(mns_context_t *ctx, const double position[3], const double velocity[2], double mass) {
    const double upwards[6] = {0, 1, 0, 0, 0, 0};
#ifdef LIFTS /* nothing of its own that could move */
    if (!mns_new_table(ctx, DYNAMICS, 0) || !mns_put_numbers(ctx, DYNAMICS, 0, "velocity", 0, 1, velocity)) return MNS_FAILED;
    return row(ctx) ? MNS_OK : MNS_FAILED;
#endif
#ifdef INVERTED
    mass = -mass; /* a coupling must refuse it */
#elif defined HEAVY
    mass = 1e200; /* and that, too */
#endif
    const int told = mns_new_table(ctx, DYNAMICS, 0) && mns_put_numbers(ctx, DYNAMICS, 0, "velocity", 1, 1, velocity) &&
                     mns_put_numbers(ctx, DYNAMICS, 0, "before", 1, 1, velocity + 1) &&
                     mns_put_numbers(ctx, DYNAMICS, 0, "mass", 1, 1, &mass) &&
                     mns_put_numbers(ctx, DYNAMICS, 0, "pivot", 3, 1, position) &&
                     mns_put_numbers(ctx, DYNAMICS, 0, "basis", 6, 1, upwards);
#if defined TIED || defined LIFTS
    if (told && !row(ctx)) return MNS_FAILED;
#endif
    return told ? MNS_OK : MNS_FAILED;
}

static mns_status_t correct(mns_context_t *ctx, double velocity[2]) {
    const double *solved = mns_find_numbers(ctx->table(ctx, MOVED, 0), "velocity", 1);
    float *v = point_vector(ctx, "v", MNS_VECTOR);
    if (!v) return MNS_FAILED;
    if (solved) velocity[0] = *solved;
    v[1] = (float)velocity[0];
    return MNS_OK;
}

static mns_status_t run(mns_instance_t *instance, mns_context_t *ctx) {
    (void)instance;
    const mns_table_t *table = ctx->table(ctx, RIGID, 0);
    const double *at = mns_find_numbers(table, "position", 3), *speed = mns_find_numbers(table, "velocity", 3);
    const double *mass = mns_find_numbers(table, "mass", 1), *told = mns_find_numbers(table, "before", 1);
    if (!at || !speed || !mass) return ctx->fail(ctx, MNS_BAD_INPUT, RIGID, "the rigid object has no state");
    double position[3] = {at[0], at[1], at[2]}, velocity[2] = {speed[1], told ? *told : speed[1]};
    if (ctx->stage == MNS_CONTRIBUTE) return contribute(ctx, position, velocity, *mass);
    const mns_status_t done = ctx->stage == MNS_PREDICT ? predict(ctx, position, velocity) : correct(ctx, velocity);
#ifdef EARLY
    if (done == MNS_OK && ctx->stage == MNS_PREDICT && contribute(ctx, position, velocity, *mass) != MNS_OK) return MNS_FAILED;
#endif
    const double moved[3] = {0, velocity[0], 0};
    const int kept = done == MNS_OK && mns_put_numbers(ctx, RIGID, 0, "position", 3, 1, position) &&
                     mns_put_numbers(ctx, RIGID, 0, "velocity", 3, 1, moved) &&
                     mns_put_numbers(ctx, RIGID, 0, "before", 1, 1, velocity + 1);
    return kept ? MNS_OK : MNS_FAILED;
}

static mns_status_t create(mns_context_t *ctx, uint32_t which, mns_instance_t **instance) {
    (void)ctx, (void)which;
    *instance = (mns_instance_t *)(uintptr_t)&node; /* nothing to keep between calls */
    return MNS_OK;
}

static void destroy(mns_instance_t *instance) { (void)instance; }

MNS_EXPORT const mns_plugin_t mns_plugin = {
    .size = sizeof(mns_plugin_t), .abi_major = MNS_ABI_MAJOR, .abi_minor = MNS_ABI_MINOR, .node_count = 1,
    .layout_hash = MNS_LAYOUT_HASH, .name = "toy_rigid", .version = "1.0.0", .vendor = "Meniscus tests",
    .nodes = &node, .create = create, .destroy = destroy, .run = run,
};
