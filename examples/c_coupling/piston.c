/* A Meniscus plugin in plain C whose body takes part in a pressure solve: a piston that slides along an axis.
 *
 *   cc -std=c99 -shared -fPIC -I../../plugin/include piston.c -o libpiston.so -lm
 *   MENISCUS_PLUGIN_PATH=. meniscus cook u_tube.meniscus.json
 *
 * A `piston` is a box; a `piston_solver` moves it. The solver is wired into the liquid's coupling beside the liquid's
 * solver, and the piston into that solver, too, so that the liquid meets it as a solid. The piston has one degree of freedom, so
 * its share of the system is two numbers and a direction; the coupling finds its faces and solves. */
#include "meniscus.h"
#include "meniscus_find.h"

#include <math.h>

#define PORT(carries_, name_, owner_, ...) \
    {.size = sizeof(mns_port_t), .carries = carries_, .name = name_, .owner = owner_, __VA_ARGS__}
#define NUMBER(name_, label_, unit_, help_, ...) \
    {.size = sizeof(mns_param_t), .name = name_, .label = label_, .unit = unit_, .help = help_, \
     .flags = MNS_NOT_ANIMATED, __VA_ARGS__}

/* ---- What they are ------------------------------------------------------------------------------------- */

enum { SIZE, CENTER, AXIS, MASS, SPEED, VOXEL };
static const mns_menu_item_t axes[] = {{"x", "X"}, {"y", "Y"}, {"z", "Z"}};
static const mns_param_t piston_params[] = {
    NUMBER("size", "Size", "m", "Size of the piston. Let it reach into the walls that guide it.", .type = MNS_VECTOR3,
           .default_number = {1.0, 0.1, 1.0}),
    NUMBER("center", "Center", "m", "Middle of the piston in the first frame.", .type = MNS_VECTOR3),
    NUMBER("axis", "Axis", NULL, "The axis along which it slides.", .type = MNS_MENU, .default_number = {1.0},
           .menu_count = 3, .menu = axes),
    NUMBER("mass", "Mass", "kg", "Higher: it moves more slowly, and presses harder on what it lies on.", .type = MNS_FLOAT,
           .default_number = {1.0}, .range = {1e-6, 1e6}),
    NUMBER("speed", "Speed", "m/s", "Speed along the axis in the first frame.", .type = MNS_FLOAT),
    NUMBER("division_size", "Division Size", "m", "Voxel size of its collision field.", .type = MNS_FLOAT,
           .default_number = {0.02}, .range = {0.0005, 1.0}, .means = MNS_MEANS_VOXEL),
};

enum { COLLISION, MOTION, DYNAMICS, BODY, STATE, MOVED };
#define COMMON(init_, predict_, contribute_, correct_) \
    .access = {[MNS_INIT] = init_, [MNS_PREDICT] = predict_, [MNS_CONTRIBUTE] = contribute_, [MNS_CORRECT] = correct_}
#define PISTON_PORTS(i, p, c, a) \
    PORT(MNS_GRID, "collision", MNS_OF_OBJECT, .unit = "m", .components = 1, .grid_class = MNS_LEVEL_SET, \
         .drawn = MNS_DRAWN_AS_SOLID, .help = "Signed distance to the piston.", COMMON(i, p, 0, 0)), \
    PORT(MNS_TABLE, "motion", MNS_OF_OBJECT, .help = "Its velocity, now and in the next substep.", COMMON(i, p, 0, 0)), \
    PORT(MNS_TABLE, "dynamics", MNS_OF_OBJECT, .help = "Its share of a pressure solve.", COMMON(i, 0, c, 0)), \
    PORT(MNS_GEOMETRY, "body", MNS_OF_OBJECT, .flags = MNS_MOVABLE | MNS_RESULT, .help = "A point in its middle.", \
         .report = "bodies name=@object position=P v=v", COMMON(i, p, 0, a)), \
    PORT(MNS_TABLE, "piston", MNS_OF_OBJECT, .help = "place, velocity, coming (m, m/s): its state.", COMMON(i, p, c, a))
static const mns_port_t piston_ports[] = {PISTON_PORTS(MNS_WRITE, 0, 0, 0)};
static const mns_port_t solver_ports[] = {
    PISTON_PORTS(0, MNS_READ_WRITE, MNS_READ_WRITE, MNS_READ_WRITE),
    PORT(MNS_TABLE, "moved", MNS_OF_OBJECT, .lifetime = MNS_SUBSTEP, .help = "What a coupling's solve gives to it.",
         COMMON(0, 0, 0, MNS_READ)),
};

static const mns_node_t nodes[] = {
    {.size = sizeof(mns_node_t), .version = 1, .id = "example.piston", .label = "Piston", .medium = "piston",
     .help = "A box that slides along an axis.", .kind = MNS_NODE_OBJECT, .stages = MNS_BIT(MNS_INIT),
     .port_count = 5, .ports = piston_ports, .param_count = 6, .params = piston_params},
    {.size = sizeof(mns_node_t), .version = 1, .id = "example.piston_solver", .label = "Piston Solver", .medium = "piston",
     .help = "Moves pistons. Wire it into the coupling of the liquid that pushes them.", .kind = MNS_NODE_SOLVER,
     .stages = MNS_BIT(MNS_PREDICT) | MNS_BIT(MNS_CONTRIBUTE) | MNS_BIT(MNS_CORRECT), .rank = MNS_RANK_SOLID,
     .accepts = MNS_BIT(MNS_NODE_OBJECT) | MNS_BIT(MNS_NODE_FORCE), .min_inputs = 1, .port_count = 6, .ports = solver_ports},
};

/* ---- The piston ---------------------------------------------------------------------------------------- */

static float distance_to_box(const double p[3], const double half[3]) {
    double outside = 0.0, inside = -1e30;
    for (int c = 0; c < 3; ++c) {
        const double d = fabs(p[c]) - half[c];
        if (d > 0.0) outside += d * d;
        if (d > inside) inside = d;
    }
    return (float)(outside > 0.0 ? sqrt(outside) : inside);
}

/* Its signed distance, its voxel 0 in its middle. */
static int make_collision(mns_context_t *ctx, const double half[3], double h) {
    enum { MOST = 16384 };
    int32_t origins[MOST][3];
    int32_t reach[3];
    for (int c = 0; c < 3; ++c) reach[c] = ((int32_t)(half[c] / h) + 4) / 8 + 1;
    uint64_t count = 0;
    for (int32_t x = -reach[0]; x < reach[0]; ++x)
        for (int32_t y = -reach[1]; y < reach[1]; ++y)
            for (int32_t z = -reach[2]; z < reach[2]; ++z) {
                if (count == MOST) return ctx->fail(ctx, MNS_BAD_PARAMETER, -1, "division_size: too small for this piston"), 0;
                origins[count][0] = 8 * x, origins[count][1] = 8 * y, origins[count++][2] = 8 * z;
            }
    mns_grid_t shape = {.size = sizeof shape, .element = MNS_F32, .components = 1, .leaf_count = count, .origins = &origins[0][0]};
    shape.background[0] = 4.0 * h;
    for (int c = 0; c < 3; ++c) shape.index_to_world[5 * c] = h, shape.index_to_world[12 + c] = ctx->params[CENTER].number[c];
    shape.index_to_world[15] = 1.0;
    const mns_grid_t *grid = ctx->shape_grid(ctx, COLLISION, 0, &shape);
    for (uint64_t i = 0; grid && i < count * MNS_LEAF_SIZE; ++i) {
        const uint64_t n = i % MNS_LEAF_SIZE;
        const int32_t *o = origins[i / MNS_LEAF_SIZE];
        const double p[3] = {h * (o[0] + (int)(n >> 6)), h * (o[1] + (int)(n >> 3 & 7)), h * (o[2] + (int)(n & 7))};
        const float far = (float)(4.0 * h), d = distance_to_box(p, half);
        ((float *)grid->writable[0])[i] = d > far ? far : d < -far ? -far : d;
    }
    return grid != NULL;
}

static mns_status_t begin(mns_context_t *ctx) {
    const double h = ctx->params[VOXEL].number[0], mass = ctx->params[MASS].number[0], speed = ctx->params[SPEED].number[0];
    const double *size = ctx->params[SIZE].number, *center = ctx->params[CENTER].number;
    const int axis = (int)ctx->params[AXIS].number[0];
    const double half[3] = {0.5 * size[0], 0.5 * size[1], 0.5 * size[2]};
    double direction[6] = {0}, velocity[3] = {0};
    direction[axis] = 1.0, velocity[axis] = speed;
    if (!(h > 0.0 && mass > 0.0 && half[0] > 0.0 && half[1] > 0.0 && half[2] > 0.0))
        return ctx->fail(ctx, MNS_BAD_PARAMETER, -1, "mass, size and division_size must be above 0");
    const mns_attribute_t attributes[] = {
        {.size = sizeof(mns_attribute_t), .on = MNS_ON_POINTS, .name = "P", .element = MNS_F32, .components = 3, .meaning = MNS_POSITION},
        {.size = sizeof(mns_attribute_t), .on = MNS_ON_POINTS, .name = "v", .element = MNS_F32, .components = 3, .meaning = MNS_VECTOR},
        {.size = sizeof(mns_attribute_t), .on = MNS_ON_POINTS, .name = "dv", .element = MNS_F32, .components = 3, .meaning = MNS_VECTOR},
    };
    const mns_geometry_t shape = {.size = sizeof shape, .primitive = MNS_POINTS, .point_count = 1, .attributes = attributes,
                                  .attribute_count = 3, .origin = {center[0], center[1], center[2]}};
    const double state[] = {0.0, speed, speed}, still[3] = {0};
    const int made = make_collision(ctx, half, h) && ctx->shape_geometry(ctx, BODY, 0, &shape) && mns_new_table(ctx, STATE, 0) &&
                     mns_put_numbers(ctx, STATE, 0, "state", 3, 1, state) &&
                     mns_put_numbers(ctx, STATE, 0, "center", 3, 1, center) &&
                     mns_put_numbers(ctx, STATE, 0, "direction", 3, 1, direction) && mns_new_table(ctx, MOTION, 0) &&
                     mns_put_numbers(ctx, MOTION, 0, "linear", 3, 1, velocity) &&
                     mns_put_numbers(ctx, MOTION, 0, "angular", 3, 1, still) &&
                     mns_put_numbers(ctx, MOTION, 0, "pivot", 3, 1, center) && mns_new_table(ctx, DYNAMICS, 0) &&
                     mns_put_numbers(ctx, DYNAMICS, 0, "velocity", 1, 1, &speed) &&
                     mns_put_numbers(ctx, DYNAMICS, 0, "mass", 1, 1, &mass) &&
                     mns_put_numbers(ctx, DYNAMICS, 0, "pivot", 3, 1, center) &&
                     mns_put_numbers(ctx, DYNAMICS, 0, "basis", 6, 1, direction);
    return made ? MNS_OK : MNS_FAILED;
}

/* ---- Its solver ---------------------------------------------------------------------------------------- */

/* It drifts with the velocity of the last solve, then forces act. */
static mns_status_t predict(mns_context_t *ctx, double state[3], const double *center, int axis) {
    const mns_attribute_t shape = {.size = sizeof shape, .on = MNS_ON_POINTS, .name = "dv", .element = MNS_F32,
                                   .components = 3, .meaning = MNS_VECTOR};
    const mns_attribute_t position = {.size = sizeof position, .on = MNS_ON_POINTS, .name = "P", .element = MNS_F32,
                                      .components = 3, .meaning = MNS_POSITION};
    const mns_attribute_t *kick = ctx->edit_attribute(ctx, BODY, 0, &shape);
    const mns_attribute_t *place = ctx->edit_attribute(ctx, BODY, 0, &position);
    const mns_grid_t *grid = ctx->grid(ctx, COLLISION, 0);
    if (!kick || !place || !grid) return MNS_FAILED;
    float *dv = (float *)mns_place_of(kick, 0);
    state[0] += ctx->dt * state[1];
    state[2] = state[1] + dv[axis];
    dv[0] = dv[1] = dv[2] = 0.0f;
    ((float *)mns_place_of(place, 0))[axis] = (float)state[0];
    double matrix[16], now[3] = {0}, next[3] = {0}, pivot[3] = {center[0], center[1], center[2]};
    memcpy(matrix, grid->index_to_world, sizeof matrix);
    now[axis] = state[1], next[axis] = state[2], pivot[axis] += state[0];
    memcpy(matrix + 12, pivot, sizeof pivot);
    const double still[3] = {0};
    if (ctx->place_grid(ctx, COLLISION, 0, matrix) != MNS_OK) return MNS_FAILED;
    const int told = mns_put_numbers(ctx, MOTION, 0, "linear", 3, 1, now) && mns_put_numbers(ctx, MOTION, 0, "linear_next", 3, 1, next) &&
                     mns_put_numbers(ctx, MOTION, 0, "angular_next", 3, 1, still) && mns_put_numbers(ctx, MOTION, 0, "pivot", 3, 1, pivot);
    return told ? MNS_OK : MNS_FAILED;
}

static mns_status_t correct(mns_context_t *ctx, double state[3], int axis) {
    const double *solved = mns_find_numbers(ctx->table(ctx, MOVED, 0), "velocity", 1);
    const mns_attribute_t shape = {.size = sizeof shape, .on = MNS_ON_POINTS, .name = "v", .element = MNS_F32,
                                   .components = 3, .meaning = MNS_VECTOR};
    const mns_attribute_t *v = ctx->edit_attribute(ctx, BODY, 0, &shape);
    if (!v) return MNS_FAILED;
    state[1] = solved ? *solved : state[2]; /* without a coupling nothing holds it */
    ((float *)mns_place_of(v, 0))[axis] = (float)state[1];
    return MNS_OK;
}

static mns_status_t step(mns_context_t *ctx) {
    const mns_table_t *table = ctx->table(ctx, STATE, 0);
    const double *kept = mns_find_numbers(table, "state", 3), *center = mns_find_numbers(table, "center", 3);
    const double *direction = mns_find_numbers(table, "direction", 3);
    if (!kept || !center || !direction) return ctx->fail(ctx, MNS_BAD_INPUT, STATE, "the piston has no state");
    double state[3] = {kept[0], kept[1], kept[2]}, pivot[3];
    const int axis = direction[2] != 0.0 ? 2 : direction[1] != 0.0;
    if (ctx->stage == MNS_CONTRIBUTE) {
        for (int c = 0; c < 3; ++c) pivot[c] = center[c] + direction[c] * state[0];
        const int told = mns_put_numbers(ctx, DYNAMICS, 0, "velocity", 1, 1, &state[2]) &&
                         mns_put_numbers(ctx, DYNAMICS, 0, "pivot", 3, 1, pivot);
        return told ? MNS_OK : MNS_FAILED;
    }
    const mns_status_t done = ctx->stage == MNS_PREDICT ? predict(ctx, state, center, axis) : correct(ctx, state, axis);
    return done == MNS_OK && !mns_put_numbers(ctx, STATE, 0, "state", 3, 1, state) ? MNS_FAILED : done;
}

static mns_status_t create(mns_context_t *ctx, uint32_t node, mns_instance_t **instance) {
    (void)ctx;
    *instance = (mns_instance_t *)(uintptr_t)&nodes[node]; /* nothing to keep between calls */
    return MNS_OK;
}

static void destroy(mns_instance_t *instance) { (void)instance; }

static mns_status_t run(mns_instance_t *instance, mns_context_t *ctx) {
    return (const mns_node_t *)(const void *)instance == &nodes[0] ? begin(ctx) : step(ctx);
}

MNS_EXPORT const mns_plugin_t mns_plugin = {
    .size = sizeof(mns_plugin_t), .abi_major = MNS_ABI_MAJOR, .abi_minor = MNS_ABI_MINOR, .node_count = 2,
    .layout_hash = MNS_LAYOUT_HASH, .name = "piston", .version = "1.0.0", .vendor = "Meniscus examples",
    .nodes = nodes, .create = create, .destroy = destroy, .run = run,
};
