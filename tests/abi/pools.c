/* A coupling in plain C: bodies and a liquid under open air in one pressure system, made of what stands at their ports.
 *
 *     sum_f c_f (p_i - p_nb) + C dt M^-1 C^T p = -(outflow of cell i),   c_f = dt alpha h / (rho theta)
 *
 * alpha is the open share of a face, theta how far its liquid reaches, C the outflow of cells by what bodies do. Air that
 * `constraint_bubbles` contributes is one unknown for all cells of a region. It takes one liquid of one density and rigid
 * bodies of one piece; no tension, viscosity or sources. Conjugate gradients with the diagonal, on a box of cells.
 * docs/couplings.md says what else there is to read.
 */
#include "meniscus.h"
#include "meniscus_find.h"

#include <math.h>
#include <stdlib.h>

#define PORT(carries_, name_, role_, ...) \
    {.size = sizeof(mns_port_t), .carries = carries_, .name = name_, .owner = MNS_OF_PARTICIPANT, .role = role_, __VA_ARGS__}
#define FACES(name_, element_, ...) \
    PORT(MNS_GRID, name_, LIQUID, .sampling = MNS_FACE, .components = 3, .element = element_, .lifetime = MNS_SUBSTEP, __VA_ARGS__)
#define READS .access = {[MNS_SOLVE] = MNS_READ}
#define CHANGES .access = {[MNS_SOLVE] = MNS_READ_WRITE}

enum { BODY, LIQUID };
enum { DYNAMICS, MOVED, SURFACE, VEL, OPEN, WALL, OWNER, OWNERS, WATER, DIVERGENCE, PRESSURE, REGION, AIR_ROWS, PORTS };
static const mns_port_t ports[] = {
    PORT(MNS_TABLE, "dynamics", BODY, READS),
    PORT(MNS_TABLE, "moved", BODY, .lifetime = MNS_SUBSTEP, .access = {[MNS_SOLVE] = MNS_WRITE}),
    PORT(MNS_GRID, "surface", LIQUID, .element = MNS_F32, .components = 1, .required = 1, .grid_class = MNS_LEVEL_SET, READS),
    PORT(MNS_GRID, "vel_drift", LIQUID, .element = MNS_F32, .sampling = MNS_FACE, .components = 3, .required = 1, CHANGES),
    FACES("open", MNS_F32, .required = 1, READS),
    FACES("vel_solid", MNS_F32, .required = 1, CHANGES),
    FACES("owner", MNS_I32, READS),
    PORT(MNS_TABLE, "owners", LIQUID, .lifetime = MNS_SUBSTEP, READS),
    PORT(MNS_TABLE, "liquid", LIQUID, .required = 1, READS),
    PORT(MNS_GRID, "divergence", LIQUID, .element = MNS_F32, .components = 1, .lifetime = MNS_SUBSTEP, READS),
    PORT(MNS_GRID, "pressure", LIQUID, .element = MNS_F32, .components = 1, .access = {[MNS_SOLVE] = MNS_WRITE}),
    PORT(MNS_GRID, "region", LIQUID, .element = MNS_I32, .components = 1, READS),
    PORT(MNS_TABLE, "air_rows", LIQUID, .lifetime = MNS_SUBSTEP, READS),
};
static const mns_role_t roles[] = {
    {.size = sizeof(mns_role_t), .name = "body", .help = "What floats."},
    {.size = sizeof(mns_role_t), .min_count = 1, .max_objects = 1, .name = "liquid", .medium = "liquid", .help = "What it floats in."},
};
static const mns_node_t nodes[] = {
    {.size = sizeof(mns_node_t), .version = 1, .id = "test.pools", .label = "Pools", .help = "Bodies in a liquid under open air.",
     .kind = MNS_NODE_COUPLING, .stages = MNS_BIT(MNS_SOLVE), .accepts = MNS_BIT(MNS_NODE_SOLVER) | MNS_BIT(MNS_NODE_COUPLING), .min_inputs = 1,
     .port_count = PORTS, .ports = ports, .role_count = 2, .roles = roles},
};

/* ---- A box of cells, z fastest ------------------------------------------------------------------------- */

enum { FREEDOMS = 6, MOST_BODIES = 16 };

typedef struct body_t {
    double velocity[FREEDOMS], inverse[FREEDOMS][FREEDOMS], change[FREEDOMS], impulse[FREEDOMS];
    double *column[FREEDOMS]; /* outflow of each cell per unit of a degree of freedom, m^2 */
    double pivot[3], basis[FREEDOMS][6];
    int owner;
} body_t;

typedef struct pool_t {
    int32_t low[3], size[3];
    size_t count, stride[3];
    double h, dt, rho, at[3]; /* at: where the middle of cell (0, 0, 0) is, m */
    double *phi, *open[3], *vel[3], *wall[3], *owner[3], *weight[3], *diagonal, *wet, *p, *work[4];
    double *head; /* of a cell of kept air: the cell that stands for its region, counted from 1; 0: of no region */
    body_t bodies[MOST_BODIES];
    uint32_t body_count;
} pool_t;

static double value(const mns_grid_t *grid, uint32_t c, uint64_t i) {
    const void *values = grid->values[c];
    return grid->element == MNS_I32 ? ((const int32_t *)values)[i] : (double)((const float *)values)[i];
}

/* The place of a cell in the box, or SIZE_MAX. */
static size_t slot(const pool_t *pool, const int32_t o[3], uint64_t n) {
    const int32_t cell[3] = {o[0] + (int32_t)(n >> 6), o[1] + (int32_t)(n >> 3 & 7), o[2] + (int32_t)(n & 7)};
    size_t at = 0;
    for (int a = 0; a < 3; ++a) {
        const int32_t i = cell[a] - pool->low[a];
        if (i < 0 || i >= pool->size[a]) return SIZE_MAX;
        at += (size_t)i * pool->stride[a];
    }
    return at;
}

static void load(const pool_t *pool, const mns_grid_t *grid, uint32_t c, double *out) {
    for (size_t i = 0; i < pool->count; ++i) out[i] = grid->background[c];
    for (uint64_t t = 0; t < grid->tile_count; ++t) /* those of one leaf; larger ones reach beyond the box */
        for (uint64_t n = 0; grid->tiles[t].edge == 8 && n < MNS_LEAF_SIZE; ++n) {
            const size_t at = slot(pool, grid->tiles[t].origin, n);
            if (at != SIZE_MAX) out[at] = grid->tile_values[t * grid->components + c];
        }
    for (uint64_t i = 0; i < grid->leaf_count * MNS_LEAF_SIZE; ++i) {
        const size_t at = slot(pool, grid->origins + 3 * (i / MNS_LEAF_SIZE), i % MNS_LEAF_SIZE);
        if (at != SIZE_MAX) out[at] = value(grid, c, i);
    }
}

static void store(const pool_t *pool, const mns_grid_t *grid, uint32_t c, const double *from) {
    for (uint64_t i = 0; i < grid->leaf_count * MNS_LEAF_SIZE; ++i) {
        const size_t at = slot(pool, grid->origins + 3 * (i / MNS_LEAF_SIZE), i % MNS_LEAF_SIZE);
        if (at != SIZE_MAX) ((float *)grid->writable[c])[i] = (float)from[at];
    }
}

/* Whether the cell below `i` along `a` is in the box. */
static int has_below(const pool_t *pool, size_t i, int a) { return i / pool->stride[a] % (size_t)pool->size[a] > 0; }

/* ---- The system ---------------------------------------------------------------------------------------- */

/* Velocity of a body at the lower face of cell i along axis a, per unit of degree of freedom j. */
static double basis_at(const pool_t *pool, const body_t *b, size_t i, int a, int j) {
    double r[3];
    for (int c = 0; c < 3; ++c) {
        const double cell = (double)(i / pool->stride[c] % (size_t)pool->size[c]) - (c == a ? 0.5 : 0.0);
        r[c] = pool->at[c] + pool->h * cell - b->pivot[c];
    }
    const double *w = b->basis[j] + 3;
    const int u = (a + 1) % 3, v = (a + 2) % 3;
    return b->basis[j][a] + w[u] * r[v] - w[v] * r[u];
}

/* Coefficients, the right side in work[0], and the columns of the bodies. */
static void assemble(pool_t *pool, const double *divergence) {
    const double h = pool->h;
    for (size_t i = 0; i < pool->count; ++i) {
        double reach = 0.0;
        for (int a = 0; a < 3; ++a) {
            reach += pool->open[a][i];
            if (i + pool->stride[a] < pool->count) reach += pool->open[a][i + pool->stride[a]];
        }
        pool->wet[i] = pool->phi[i] < 0.0 && reach > 0.0;
        if (pool->wet[i]) pool->work[0][i] += divergence[i] * h * h * h * reach / 6.0;
    }
    for (int a = 0; a < 3; ++a)
        for (size_t i = 0; i < pool->count; ++i) {
            if (!has_below(pool, i, a)) continue;
            const size_t j = i - pool->stride[a];
            if (!pool->wet[i] && !pool->wet[j]) continue;
            const double alpha = pool->open[a][i], one = pool->phi[i], two = pool->phi[j];
            double theta = pool->wet[i] && pool->wet[j] ? 1.0 : fmin(one, two) / (fmin(one, two) - fmax(one, two));
            if (theta < 0.01) theta = 0.01;
            const double c = pool->dt * alpha * h / (pool->rho * theta);
            const double flow = h * h * (alpha * pool->vel[a][i] + (1.0 - alpha) * pool->wall[a][i]);
            pool->weight[a][i] = c;
            pool->diagonal[i] += c, pool->diagonal[j] += c;
            pool->work[0][i] += flow, pool->work[0][j] -= flow; /* minus the outflow */
            for (uint32_t n = 0; n < pool->body_count && alpha < 1.0; ++n)
                for (int k = 0; (int)pool->owner[a][i] == pool->bodies[n].owner && k < FREEDOMS; ++k) {
                    const double push = h * h * (1.0 - alpha) * basis_at(pool, &pool->bodies[n], i, a, k);
                    pool->bodies[n].column[k][i] -= push, pool->bodies[n].column[k][j] += push;
                }
        }
    for (size_t i = 0; i < pool->count; ++i)
        for (uint32_t n = 0; n < pool->body_count; ++n)
            for (int k = 0; k < FREEDOMS && !pool->wet[i]; ++k) pool->bodies[n].column[k][i] = 0.0;
}

/* dt M^-1 C^T x of a body. */
static void push(const pool_t *pool, body_t *body, const double *x) {
    for (int k = 0; k < FREEDOMS; ++k) {
        body->impulse[k] = 0.0;
        for (size_t i = 0; i < pool->count; ++i) body->impulse[k] += pool->dt * body->column[k][i] * x[i];
    }
    for (int k = 0; k < FREEDOMS; ++k) {
        body->change[k] = 0.0;
        for (int j = 0; j < FREEDOMS; ++j) body->change[k] += body->inverse[k][j] * body->impulse[j];
    }
}

/* Gives every cell of kept air what stands at its region's head, or takes it away again. */
static void spread(const pool_t *pool, double *x, int there) {
    for (size_t i = 0; i < pool->count; ++i) {
        const size_t head = (size_t)pool->head[i];
        if (head && head - 1 != i) x[i] = there ? x[head - 1] : 0.0;
    }
}

/* Adds what the cells of a region have at its head. */
static void gather(const pool_t *pool, double *y) {
    for (size_t i = 0; i < pool->count; ++i) {
        const size_t head = (size_t)pool->head[i];
        if (head && head - 1 != i) y[head - 1] += y[i], y[i] = 0.0;
    }
}

static int is_unknown(const pool_t *pool, size_t i) { return pool->wet[i] > 0.0 || pool->head[i] == (double)(i + 1); }

/* y = A x; x stands at heads alone before and after. */
static void apply(pool_t *pool, double *x, double *y) {
    for (size_t i = 0; i < pool->count; ++i) y[i] = pool->diagonal[i] * x[i];
    spread(pool, x, 1);
    for (int a = 0; a < 3; ++a)
        for (size_t i = pool->stride[a]; i < pool->count; ++i) {
            const size_t j = i - pool->stride[a];
            y[i] -= pool->weight[a][i] * x[j], y[j] -= pool->weight[a][i] * x[i];
        }
    for (uint32_t n = 0; n < pool->body_count; ++n) {
        push(pool, &pool->bodies[n], x);
        for (int k = 0; k < FREEDOMS; ++k)
            for (size_t i = 0; i < pool->count; ++i) y[i] += pool->bodies[n].column[k][i] * pool->bodies[n].change[k];
    }
    spread(pool, x, 0);
    gather(pool, y);
    for (size_t i = 0; i < pool->count; ++i) y[i] *= is_unknown(pool, i);
}

static double dot(const pool_t *pool, const double *x, const double *y) {
    double sum = 0.0;
    for (size_t i = 0; i < pool->count; ++i) sum += x[i] * y[i];
    return sum;
}

/* Conjugate gradients [Shewchuk 1994, B3] from p = 0; returns the iterations, 0 where it was cancelled. */
static uint32_t solve(mns_context_t *ctx, pool_t *pool) {
    double *r = pool->work[0], *z = pool->work[1], *d = pool->work[2], *q = pool->work[3];
    gather(pool, r);
    gather(pool, pool->diagonal);
    for (size_t i = 0; i < pool->count; ++i) {
        r[i] *= is_unknown(pool, i);
        d[i] = z[i] = pool->diagonal[i] > 0.0 ? r[i] / pool->diagonal[i] : 0.0;
    }
    const double target = 1e-12 * dot(pool, r, r);
    double along = dot(pool, r, z);
    uint32_t count = 0;
    while (dot(pool, r, r) > target && count++ < 5000) {
        if (ctx->progress(ctx, -1.0)) return 0;
        apply(pool, d, q);
        const double step = along / dot(pool, d, q);
        for (size_t i = 0; i < pool->count; ++i) {
            pool->p[i] += step * d[i], r[i] -= step * q[i];
            z[i] = pool->diagonal[i] > 0.0 ? r[i] / pool->diagonal[i] : 0.0;
        }
        const double next = dot(pool, r, z);
        for (size_t i = 0; i < pool->count; ++i) d[i] = z[i] + next / along * d[i];
        along = next;
    }
    spread(pool, pool->p, 1);
    return count ? count : 1;
}

/* Velocities of liquid and bodies from the pressure. */
static void update(pool_t *pool) {
    for (uint32_t n = 0; n < pool->body_count; ++n) push(pool, &pool->bodies[n], pool->p);
    for (int a = 0; a < 3; ++a)
        for (size_t i = 0; i < pool->count; ++i) {
            if (!has_below(pool, i, a)) continue;
            const double alpha = pool->open[a][i], drop = pool->p[i] - pool->p[i - pool->stride[a]];
            if (alpha > 0.0) pool->vel[a][i] -= pool->weight[a][i] * drop / (alpha * pool->h * pool->h);
            for (uint32_t n = 0; n < pool->body_count; ++n)
                for (int k = 0; (int)pool->owner[a][i] == pool->bodies[n].owner && k < FREEDOMS; ++k)
                    pool->wall[a][i] += basis_at(pool, &pool->bodies[n], i, a, k) * pool->bodies[n].change[k];
        }
}

/* ---- What stands at the ports -------------------------------------------------------------------------- */

/* The inverse of a small matrix by Gauss and Jordan; 0 where it has none. */
static int invert(const double *m, double inverse[FREEDOMS][FREEDOMS]) {
    double a[FREEDOMS][2 * FREEDOMS];
    for (int i = 0; i < FREEDOMS; ++i)
        for (int j = 0; j < FREEDOMS; ++j) a[i][j] = m[i * FREEDOMS + j], a[i][FREEDOMS + j] = i == j;
    for (int c = 0; c < FREEDOMS; ++c) {
        if (!(a[c][c] > 0.0)) return 0; /* positive definite: no pivot vanishes */
        for (int j = 2 * FREEDOMS - 1; j >= c; --j) a[c][j] /= a[c][c];
        for (int i = 0; i < FREEDOMS; ++i)
            for (int j = 2 * FREEDOMS - 1; i != c && j >= c; --j) a[i][j] -= a[i][c] * a[c][j];
    }
    for (int i = 0; i < FREEDOMS; ++i)
        for (int j = 0; j < FREEDOMS; ++j) inverse[i][j] = a[i][FREEDOMS + j];
    return 1;
}

static mns_status_t read_bodies(mns_context_t *ctx, pool_t *pool) {
    const mns_array_t *names = mns_find_array(ctx->table(ctx, OWNERS, 0), "names");
    for (uint32_t item = 0; item < ctx->items(ctx, DYNAMICS) && item < MOST_BODIES; ++item) {
        body_t *b = &pool->bodies[pool->body_count++];
        const mns_table_t *table = ctx->table(ctx, DYNAMICS, item);
        const double *velocity = mns_find_numbers(table, "velocity", FREEDOMS), *mass = mns_find_numbers(table, "mass", FREEDOMS * FREEDOMS);
        const double *pivot = mns_find_numbers(table, "pivot", 3), *basis = mns_find_numbers(table, "basis", FREEDOMS * 6);
        if (!velocity || !mass || !pivot || !basis || !invert(mass, b->inverse))
            return ctx->fail(ctx, MNS_BAD_INPUT, DYNAMICS, "pools move rigid bodies of one piece");
        memcpy(b->velocity, velocity, sizeof b->velocity);
        memcpy(b->pivot, pivot, sizeof b->pivot);
        memcpy(b->basis, basis, sizeof b->basis);
        b->owner = -1;
        const char *name = names ? (const char *)names->values : NULL, *end = names ? name + names->count : NULL;
        for (int number = 1; name < end; ++number, name += strlen(name) + 1)
            if (strcmp(name, ctx->item_name(ctx, DYNAMICS, item)) == 0) b->owner = number;
        for (int k = 0; k < FREEDOMS; ++k)
            if (!(b->column[k] = (double *)calloc(pool->count, sizeof(double)))) return MNS_FAILED;
    }
    return MNS_OK;
}

/* The rows that air adds: their cells, and the outflow that is wanted, on the right side. */
static mns_status_t read_air(mns_context_t *ctx, pool_t *pool) {
    const mns_table_t *rows = ctx->table(ctx, AIR_ROWS, 0);
    const mns_grid_t *region = ctx->grid(ctx, REGION, 0);
    const mns_array_t *ids = rows ? mns_find_array(rows, "id") : NULL;
    const double *outflow = ids ? mns_find_numbers(rows, "outflow", ids->count) : NULL;
    if (!ids || ids->count == 0) return MNS_OK;
    if (!region || !outflow) return ctx->fail(ctx, MNS_BAD_INPUT, AIR_ROWS, "rows of air need their regions and outflows");
    load(pool, region, 0, pool->work[2]);
    for (uint64_t row = 0; row < ids->count; ++row) {
        size_t head = 0;
        for (size_t i = 0; i < pool->count; ++i) {
            if (pool->work[2][i] != (double)((const int64_t *)ids->values)[row]) continue;
            if (!head) head = i + 1, pool->work[0][i] += outflow[row];
            pool->head[i] = (double)head;
        }
    }
    return MNS_OK;
}

/* The arrays over the box. */
static double **array_of(pool_t *pool, int n) {
    double **triples[] = {pool->open, pool->vel, pool->wall, pool->owner, pool->weight};
    double **ones[] = {&pool->phi, &pool->diagonal, &pool->wet, &pool->p, &pool->head, &pool->work[0], &pool->work[1], &pool->work[2], &pool->work[3]};
    return n < 15 ? &triples[n / 3][n % 3] : ones[n - 15];
}
enum { ARRAYS = 24 };

static mns_status_t project(mns_context_t *ctx, pool_t *pool) {
    const mns_grid_t *surface = ctx->grid(ctx, SURFACE, 0);
    int32_t high[3] = {INT32_MIN, INT32_MIN, INT32_MIN};
    for (int a = 0; a < 3; ++a) pool->low[a] = INT32_MAX;
    for (uint64_t l = 0; l < 3 * surface->leaf_count; ++l) {
        const int32_t o = surface->origins[l], a = (int32_t)(l % 3);
        if (o < pool->low[a]) pool->low[a] = o;
        if (o + 8 > high[a]) high[a] = o + 8;
    }
    if (surface->leaf_count == 0) return MNS_OK;
    for (int a = 0; a < 3; ++a) pool->low[a] -= 1, pool->size[a] = high[a] - pool->low[a] + 1;
    pool->stride[2] = 1, pool->stride[1] = (size_t)pool->size[2], pool->stride[0] = pool->stride[1] * (size_t)pool->size[1];
    pool->count = pool->stride[0] * (size_t)pool->size[0];
    pool->h = surface->index_to_world[0];
    for (int a = 0; a < 3; ++a) pool->at[a] = surface->index_to_world[12 + a] + pool->h * pool->low[a];
    const double *rho = mns_find_numbers(ctx->table(ctx, WATER, 0), "density", 1);
    pool->dt = ctx->dt_kick, pool->rho = rho ? *rho : 0.0;
    if (!(pool->rho > 0.0)) return ctx->fail(ctx, MNS_BAD_INPUT, WATER, "pools are of one density");
    for (int n = 0; n < ARRAYS; ++n)
        if (!(*array_of(pool, n) = (double *)calloc(pool->count, sizeof(double)))) return ctx->fail(ctx, MNS_FAILED, -1, "no memory");

    const mns_grid_t *vel = ctx->edit_grid(ctx, VEL, 0), *wall = ctx->edit_grid(ctx, WALL, 0), *owner = ctx->grid(ctx, OWNER, 0);
    const mns_grid_t *divergence = ctx->grid(ctx, DIVERGENCE, 0);
    if (!vel || !wall) return MNS_FAILED;
    load(pool, surface, 0, pool->phi);
    if (divergence) load(pool, divergence, 0, pool->work[1]);
    for (int a = 0; a < 3; ++a) {
        load(pool, ctx->grid(ctx, OPEN, 0), (uint32_t)a, pool->open[a]);
        load(pool, vel, (uint32_t)a, pool->vel[a]);
        load(pool, wall, (uint32_t)a, pool->wall[a]);
        if (owner) load(pool, owner, (uint32_t)a, pool->owner[a]);
    }
    mns_status_t read = read_bodies(ctx, pool);
    if (read == MNS_OK) read = read_air(ctx, pool);
    if (read != MNS_OK) return read;
    assemble(pool, pool->work[1]);
    const mns_solve_t report = {.size = sizeof report, .name = "pools", .device = "cpu", .unknowns = (uint64_t)dot(pool, pool->wet, pool->wet),
                                .iterations = solve(ctx, pool)};
    if (report.iterations == 0) return MNS_CANCELLED;
    ctx->solved(ctx, &report);
    update(pool);
    for (uint32_t c = 0; c < 3; ++c) store(pool, vel, c, pool->vel[c]), store(pool, wall, c, pool->wall[c]);
    mns_grid_t shape = *surface;
    shape.size = sizeof shape, shape.background[0] = 0.0, shape.tile_count = 0;
    const mns_grid_t *pressure = ctx->shape_grid(ctx, PRESSURE, 0, &shape);
    if (!pressure) return MNS_FAILED;
    store(pool, pressure, 0, pool->p);
    for (uint32_t n = 0; n < pool->body_count; ++n) {
        body_t *b = &pool->bodies[n];
        for (int k = 0; k < FREEDOMS; ++k) b->velocity[k] += b->change[k];
        if (!mns_new_table(ctx, MOVED, n) || !mns_put_numbers(ctx, MOVED, n, "velocity", 1, FREEDOMS, b->velocity) ||
            !mns_put_numbers(ctx, MOVED, n, "impulse", 1, FREEDOMS, b->impulse))
            return MNS_FAILED;
    }
    return MNS_OK;
}

static mns_status_t create(mns_context_t *ctx, uint32_t node, mns_instance_t **instance) {
    (void)ctx;
    *instance = (mns_instance_t *)(uintptr_t)&nodes[node]; /* nothing to keep between calls */
    return MNS_OK;
}

static void destroy(mns_instance_t *instance) { (void)instance; }

static mns_status_t run(mns_instance_t *instance, mns_context_t *ctx) {
    (void)instance;
    pool_t *pool = (pool_t *)calloc(1, sizeof(pool_t));
    if (!pool) return ctx->fail(ctx, MNS_FAILED, -1, "no memory");
    const mns_status_t status = project(ctx, pool);
    for (uint32_t n = 0; n < pool->body_count; ++n)
        for (int k = 0; k < FREEDOMS; ++k) free(pool->bodies[n].column[k]);
    for (int n = 0; n < ARRAYS; ++n) free(*array_of(pool, n));
    free(pool);
    return status;
}

MNS_EXPORT const mns_plugin_t mns_plugin = {
    .size = sizeof(mns_plugin_t), .abi_major = MNS_ABI_MAJOR, .abi_minor = MNS_ABI_MINOR, .node_count = 1,
    .layout_hash = MNS_LAYOUT_HASH, .name = "pools", .version = "1.0.0", .vendor = "Meniscus tests",
    .nodes = nodes, .create = create, .destroy = destroy, .run = run,
};
