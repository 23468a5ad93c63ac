/* A sheet in plain C that takes part in a pressure solve: three degrees of freedom at each of its points, and a sparse
 * mass M + dt^2 K of lumped masses and springs. It lies across a shaft and stays flat, so it moves as a piston that
 * weighs as much. `fault` makes it write tables that a coupling must refuse.
 */
#include "meniscus.h"
#include "meniscus_find.h"

#include <math.h>

enum { ACROSS = 8, DEEP = 4, POINTS = ACROSS * DEEP, FREEDOMS = 3 * POINTS, TRIANGLES = 2 * (ACROSS - 1) * (DEEP - 1),
       SPRINGS = (ACROSS - 1) * DEEP + ACROSS * (DEEP - 1), ENTRIES = FREEDOMS + 9 * SPRINGS + 2 };

#define PORT(carries_, name_, owner_, ...) \
    {.size = sizeof(mns_port_t), .carries = carries_, .name = name_, .owner = owner_, __VA_ARGS__}
#define NUMBER(name_, label_, help_, ...) \
    {.size = sizeof(mns_param_t), .name = name_, .label = label_, .help = help_, .type = MNS_FLOAT, __VA_ARGS__}

/* ---- What they are ------------------------------------------------------------------------------------- */

enum { HEIGHT, THICKNESS, MASS, SPRING, VOXEL, FAULT };
static const mns_param_t sheet_params[] = {
    NUMBER("height", "Height", "Height of its middle in the first frame.", .unit = "m"),
    NUMBER("thickness", "Thickness", "How thick it is.", .unit = "m", .default_number = {0.05}, .range = {0.01, 1.0}),
    NUMBER("mass", "Mass", "Its mass.", .unit = "kg", .default_number = {1.0}, .range = {1e-6, 1e6}),
    NUMBER("spring", "Spring", "Stiffness of the springs between its points.", .unit = "N/m", .range = {0.0, 1e9}),
    NUMBER("division_size", "Division Size", "Voxel size of its collision field.", .unit = "m", .default_number = {0.01},
           .range = {0.001, 1.0}, .means = MNS_MEANS_VOXEL),
    {.size = sizeof(mns_param_t), .type = MNS_INT, .name = "fault", .label = "Fault", .help = "What is wrong with its table.",
     .range = {0.0, 9.0}},
};

enum { COLLISION, MOTION, DYNAMICS, BODY, STATE, MOVED };
#define COMMON(init_, predict_, contribute_, correct_) \
    .access = {[MNS_INIT] = init_, [MNS_PREDICT] = predict_, [MNS_CONTRIBUTE] = contribute_, [MNS_CORRECT] = correct_}
#define SHEET_PORTS(i, p, c, a) \
    PORT(MNS_GRID, "collision", MNS_OF_OBJECT, .unit = "m", .components = 1, .grid_class = MNS_LEVEL_SET, \
         .drawn = MNS_DRAWN_AS_SOLID, .help = "Signed distance to the sheet.", COMMON(i, p, 0, 0)), \
    PORT(MNS_TABLE, "motion", MNS_OF_OBJECT, .help = "Its velocity, now and in the next substep.", COMMON(i, p, 0, 0)), \
    PORT(MNS_TABLE, "dynamics", MNS_OF_OBJECT, .help = "Its share of a pressure solve.", COMMON(i, 0, c, 0)), \
    PORT(MNS_GEOMETRY, "body", MNS_OF_OBJECT, .flags = MNS_MOVABLE | MNS_RESULT, .help = "Its points.", \
         .report = "bodies name=@object position=P v=v", COMMON(i, p, 0, a)), \
    PORT(MNS_TABLE, "sheet", MNS_OF_OBJECT, .help = "Its state: mass, spring, fault; x, v, v without the solve of each point.", \
         COMMON(i, p, c, a))
static const mns_port_t sheet_ports[] = {SHEET_PORTS(MNS_WRITE, 0, 0, 0)};
static const mns_port_t solver_ports[] = {
    SHEET_PORTS(0, MNS_READ_WRITE, MNS_READ_WRITE, MNS_READ_WRITE),
    PORT(MNS_TABLE, "moved", MNS_OF_OBJECT, .lifetime = MNS_SUBSTEP, .help = "What a coupling's solve gives to it.",
         COMMON(0, 0, 0, MNS_READ)),
};

static const mns_node_t nodes[] = {
    {.size = sizeof(mns_node_t), .version = 1, .id = "test.sheet", .label = "Sheet", .medium = "sheet",
     .help = "A sheet across a shaft.", .kind = MNS_NODE_OBJECT, .stages = MNS_BIT(MNS_INIT),
     .port_count = 5, .ports = sheet_ports, .param_count = 6, .params = sheet_params},
    {.size = sizeof(mns_node_t), .version = 1, .id = "test.sheet_solver", .label = "Sheet Solver", .medium = "sheet",
     .help = "Moves sheets.", .kind = MNS_NODE_SOLVER,
     .stages = MNS_BIT(MNS_PREDICT) | MNS_BIT(MNS_CONTRIBUTE) | MNS_BIT(MNS_CORRECT), .rank = MNS_RANK_SOLID,
     .accepts = MNS_BIT(MNS_NODE_OBJECT) | MNS_BIT(MNS_NODE_FORCE), .min_inputs = 1, .port_count = 6, .ports = solver_ports},
};

/* ---- Its share of the solve ---------------------------------------------------------------------------- */

typedef struct {
    double place[POINTS][3], velocity[POINTS][3], coming[POINTS][3];
} points_t;

typedef struct {
    int64_t row[ENTRIES], column[ENTRIES];
    double value[ENTRIES];
    uint64_t count;
} mass_t;

static void add(mass_t *m, int64_t row, int64_t column, double value) {
    m->row[m->count] = row, m->column[m->count] = column, m->value[m->count++] = value;
}

static void join(mass_t *m, int p, int q, double stiffness) {
    for (int c = 0; c < 3; ++c) {
        add(m, 3 * p + c, 3 * p + c, stiffness), add(m, 3 * q + c, 3 * q + c, stiffness);
        add(m, 3 * q + c, 3 * p + c, -stiffness);
    }
}

static int tell(mns_context_t *ctx, const double settings[3], const points_t *points) {
    static mass_t mass; /* one sheet at a time: a test */
    int64_t triangles[TRIANGLES][3];
    uint64_t count = 0, freedoms = FREEDOMS, corners = POINTS;
    const int fault = (int)settings[2];
    mass.count = 0;
    /* Whatever holds its rim is as good as immovable: it moves along the shaft alone. */
    for (int dof = 0; dof < FREEDOMS; ++dof) add(&mass, dof, dof, settings[0] / POINTS * (dof % 3 == 1 ? 1.0 : 1e6));
    for (int i = 0; i < ACROSS; ++i)
        for (int j = 0; j < DEEP; ++j) {
            const int p = DEEP * i + j;
            const double stiffness = ctx->dt * ctx->dt * settings[1];
            if (j + 1 < DEEP) join(&mass, p, p + 1, stiffness);
            if (i + 1 < ACROSS) join(&mass, p, p + DEEP, stiffness);
            if (i + 1 == ACROSS || j + 1 == DEEP) continue;
            const int64_t low[3] = {p, p + 1, p + DEEP}, high[3] = {p + 1, p + DEEP + 1, p + DEEP};
            memcpy(triangles[count++], low, sizeof low), memcpy(triangles[count++], high, sizeof high);
        }
    const double one = 1.0, nothing[6] = {0};
    switch (fault) {
    case 1: add(&mass, 0, 3, 1.0), add(&mass, 3, 0, 2.0); break;
    case 2: mass.row[5] = FREEDOMS; break;
    case 3: mass.value[7] = -1.0; break;
    case 4: add(&mass, 9, 3, 1e6); break;
    case 5: corners -= 1; break;
    case 6: triangles[2][1] = POINTS; break;
    case 7: if (!mns_put_numbers(ctx, DYNAMICS, 0, "mass", 1, 1, &one)) return 0; break;
    case 8: if (!mns_put_numbers(ctx, DYNAMICS, 0, "basis", 6, 1, nothing)) return 0; break;
    default: break;
    }
    return mns_put_numbers(ctx, DYNAMICS, 0, "velocity", 1, freedoms, &points->coming[0][0]) &&
           mns_put_whole_numbers(ctx, DYNAMICS, 0, "mass_rows", 1, mass.count, mass.row) &&
           mns_put_whole_numbers(ctx, DYNAMICS, 0, "mass_columns", 1, mass.count - (fault == 9), mass.column) &&
           mns_put_numbers(ctx, DYNAMICS, 0, "mass_values", 1, mass.count, mass.value) &&
           mns_put_numbers(ctx, DYNAMICS, 0, "points", 3, corners, &points->place[0][0]) &&
           mns_put_whole_numbers(ctx, DYNAMICS, 0, "triangles", 3, count, &triangles[0][0]);
}

/* ---- The sheet ----------------------------------------------------------------------------------------- */

/* Signed distance to a slab, its voxel 0 in its middle. */
static int make_collision(mns_context_t *ctx, double height, double half, double h) {
    enum { MOST = 4096 };
    int32_t origins[MOST][3];
    const double reach[3] = {0.1, half, 0.1};
    int32_t leaves[3];
    for (int c = 0; c < 3; ++c) leaves[c] = ((int32_t)(reach[c] / h) + 4) / 8 + 1;
    uint64_t count = 0;
    for (int32_t x = -leaves[0]; x < leaves[0]; ++x)
        for (int32_t y = -leaves[1]; y < leaves[1]; ++y)
            for (int32_t z = -leaves[2]; z < leaves[2]; ++z) {
                if (count == MOST) return ctx->fail(ctx, MNS_BAD_PARAMETER, -1, "division_size: too small"), 0;
                origins[count][0] = 8 * x, origins[count][1] = 8 * y, origins[count++][2] = 8 * z;
            }
    mns_grid_t shape = {.size = sizeof shape, .element = MNS_F32, .components = 1, .leaf_count = count, .origins = &origins[0][0]};
    shape.background[0] = 4.0 * h;
    for (int c = 0; c < 3; ++c) shape.index_to_world[5 * c] = h;
    shape.index_to_world[13] = height, shape.index_to_world[15] = 1.0;
    const mns_grid_t *grid = ctx->shape_grid(ctx, COLLISION, 0, &shape);
    for (uint64_t i = 0; grid && i < count * MNS_LEAF_SIZE; ++i) {
        const uint64_t n = i % MNS_LEAF_SIZE;
        const int32_t *o = origins[i / MNS_LEAF_SIZE];
        const double off[3] = {fabs(h * (o[0] + (int)(n >> 6))) - reach[0], fabs(h * (o[1] + (int)(n >> 3 & 7))) - half,
                               fabs(h * (o[2] + (int)(n & 7))) - reach[2]};
        double outside = 0.0, inside = -1e30;
        for (int c = 0; c < 3; ++c) {
            if (off[c] > 0.0) outside += off[c] * off[c];
            if (off[c] > inside) inside = off[c];
        }
        const double d = outside > 0.0 ? sqrt(outside) : inside, far = 4.0 * h;
        ((float *)grid->writable[0])[i] = (float)(d > far ? far : d < -far ? -far : d);
    }
    return grid != NULL;
}

static mns_status_t begin(mns_context_t *ctx) {
    const double height = ctx->params[HEIGHT].number[0], h = ctx->params[VOXEL].number[0];
    const mns_attribute_t attributes[] = {
        {.size = sizeof(mns_attribute_t), .on = MNS_ON_POINTS, .name = "P", .element = MNS_F32, .components = 3, .meaning = MNS_POSITION},
        {.size = sizeof(mns_attribute_t), .on = MNS_ON_POINTS, .name = "v", .element = MNS_F32, .components = 3, .meaning = MNS_VECTOR},
        {.size = sizeof(mns_attribute_t), .on = MNS_ON_POINTS, .name = "dv", .element = MNS_F32, .components = 3, .meaning = MNS_VECTOR},
    };
    const mns_geometry_t shape = {.size = sizeof shape, .primitive = MNS_POINTS, .point_count = POINTS, .attributes = attributes,
                                  .attribute_count = 3};
    const mns_geometry_t *body = ctx->shape_geometry(ctx, BODY, 0, &shape);
    if (!body || !make_collision(ctx, height, 0.5 * ctx->params[THICKNESS].number[0], h)) return MNS_FAILED;
    points_t points;
    memset(&points, 0, sizeof points);
    for (int p = 0; p < POINTS; ++p) {
        points.place[p][0] = h * (p / DEEP - 0.5 * (ACROSS - 1)), points.place[p][2] = h * (p % DEEP - 0.5 * (DEEP - 1));
        points.place[p][1] = height;
        float *at = (float *)(void *)((char *)body->attributes[0].writable + (uint64_t)p * body->attributes[0].stride);
        for (int c = 0; c < 3; ++c) at[c] = (float)points.place[p][c];
    }
    const double settings[3] = {ctx->params[MASS].number[0], ctx->params[SPRING].number[0], ctx->params[FAULT].number[0]};
    const double still[3] = {0}, pivot[3] = {0.0, height, 0.0};
    const int made = mns_new_table(ctx, STATE, 0) && mns_put_numbers(ctx, STATE, 0, "settings", 3, 1, settings) &&
                     mns_put_numbers(ctx, STATE, 0, "points", 9, POINTS, (const double *)&points) && mns_new_table(ctx, MOTION, 0) &&
                     mns_put_numbers(ctx, MOTION, 0, "linear", 3, 1, still) && mns_put_numbers(ctx, MOTION, 0, "angular", 3, 1, still) &&
                     mns_put_numbers(ctx, MOTION, 0, "pivot", 3, 1, pivot) && mns_new_table(ctx, DYNAMICS, 0) &&
                     tell(ctx, settings, &points);
    return made ? MNS_OK : MNS_FAILED;
}

/* ---- Its solver ---------------------------------------------------------------------------------------- */

static const mns_attribute_t *edit(mns_context_t *ctx, const char *name, int32_t meaning) {
    mns_attribute_t shape;
    memset(&shape, 0, sizeof shape);
    shape.size = sizeof shape, shape.on = MNS_ON_POINTS, shape.name = name, shape.element = MNS_F32, shape.components = 3;
    shape.meaning = meaning;
    return ctx->edit_attribute(ctx, BODY, 0, &shape);
}

/* It drifts with the velocity of the last solve, then forces act. */
static mns_status_t predict(mns_context_t *ctx, points_t *points) {
    const mns_attribute_t *kick = edit(ctx, "dv", MNS_VECTOR), *place = edit(ctx, "P", MNS_POSITION);
    const mns_grid_t *grid = ctx->grid(ctx, COLLISION, 0);
    if (!kick || !place || !grid) return MNS_FAILED;
    double now[3] = {0}, next[3] = {0}, pivot[3] = {0}, matrix[16];
    const double still[3] = {0};
    for (int p = 0; p < POINTS; ++p) {
        float *dv = (float *)mns_place_of(kick, (uint64_t)p), *at = (float *)mns_place_of(place, (uint64_t)p);
        for (int c = 0; c < 3; ++c) {
            points->place[p][c] += ctx->dt * points->velocity[p][c];
            points->coming[p][c] = points->velocity[p][c] + dv[c];
            at[c] = (float)points->place[p][c], dv[c] = 0.0f;
        }
        now[1] += points->velocity[p][1] / POINTS, next[1] += points->coming[p][1] / POINTS;
        pivot[1] += points->place[p][1] / POINTS;
    }
    memcpy(matrix, grid->index_to_world, sizeof matrix);
    memcpy(matrix + 12, pivot, sizeof pivot);
    if (ctx->place_grid(ctx, COLLISION, 0, matrix) != MNS_OK) return MNS_FAILED;
    const int told = mns_put_numbers(ctx, MOTION, 0, "linear", 3, 1, now) && mns_put_numbers(ctx, MOTION, 0, "linear_next", 3, 1, next) &&
                     mns_put_numbers(ctx, MOTION, 0, "angular_next", 3, 1, still) && mns_put_numbers(ctx, MOTION, 0, "pivot", 3, 1, pivot);
    return told ? MNS_OK : MNS_FAILED;
}

static mns_status_t correct(mns_context_t *ctx, points_t *points) {
    const double *solved = mns_find_numbers(ctx->table(ctx, MOVED, 0), "velocity", FREEDOMS);
    const mns_attribute_t *v = edit(ctx, "v", MNS_VECTOR);
    if (!v) return MNS_FAILED;
    memcpy(points->velocity, solved ? solved : &points->coming[0][0], sizeof points->velocity);
    for (int p = 0; p < POINTS; ++p)
        for (int c = 0; c < 3; ++c) ((float *)mns_place_of(v, (uint64_t)p))[c] = (float)points->velocity[p][c];
    return MNS_OK;
}

static mns_status_t step(mns_context_t *ctx) {
    const mns_table_t *table = ctx->table(ctx, STATE, 0);
    const double *kept = mns_find_numbers(table, "points", 9 * POINTS), *settings = mns_find_numbers(table, "settings", 3);
    if (!kept || !settings) return ctx->fail(ctx, MNS_BAD_INPUT, STATE, "the sheet has no state");
    points_t points;
    memcpy(&points, kept, sizeof points);
    if (ctx->stage == MNS_CONTRIBUTE) return tell(ctx, settings, &points) ? MNS_OK : MNS_FAILED;
    const mns_status_t done = ctx->stage == MNS_PREDICT ? predict(ctx, &points) : correct(ctx, &points);
    return done == MNS_OK && !mns_put_numbers(ctx, STATE, 0, "points", 9, POINTS, (const double *)&points) ? MNS_FAILED : done;
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
    .layout_hash = MNS_LAYOUT_HASH, .name = "sheet", .version = "1.0.0", .vendor = "Meniscus tests",
    .nodes = nodes, .create = create, .destroy = destroy, .run = run,
};
