/* A Meniscus plugin in plain C: points that fall, are slowed by the air, and bounce off a floor.
 *
 * A plugin is one symbol, `mns_plugin`, at the end of this file. It leads to descriptors: tables that say which nodes there
 * are, and their parameters and ports. A port is data that nodes exchange; the host owns it. The host calls `run` once a
 * stage. All state is in the ports, so a cook that was killed goes on to the same bytes. */
#include "meniscus_find.h"

#include <math.h>

/* ---- What the nodes are ---------------------------------------------------------------------------------- */

/* The object: it makes the points in the stage `init`. */
enum { VELOCITY };
static const mns_param_t object_params[] = {
    {.size = sizeof(mns_param_t), .type = MNS_VECTOR3, .name = "velocity", .label = "Initial Velocity", .unit = "m/s",
     .help = "Velocity the points start with.", .flags = MNS_NOT_ANIMATED},
};

enum { MADE, MESH };
static const mns_port_t object_ports[] = {
    {.size = sizeof(mns_port_t), .carries = MNS_GEOMETRY, .name = "points", .owner = MNS_OF_OBJECT,
     .help = "The points: P (m), v (m/s), and dv (m/s), what forces add.", .flags = MNS_MOVABLE | MNS_RESULT,
     .access = {[MNS_INIT] = MNS_WRITE}},
    {.size = sizeof(mns_port_t), .carries = MNS_GEOMETRY, .name = "mesh", .owner = MNS_OF_INPUT,
     .help = "A mesh (m): a point is made at each of its points.", .required = 1, .access = {[MNS_INIT] = MNS_READ}},
};

/* The solver: it moves them in the stage `predict`, after the forces that are wired in. */
enum { DRAG, FLOOR, BOUNCE };
static const mns_param_t solver_params[] = {
    {.size = sizeof(mns_param_t), .type = MNS_FLOAT, .name = "drag", .label = "Drag", .unit = "1/s",
     .help = "Share of the velocity that the air takes per second. Higher: the points fall more slowly.",
     .range = {0.0, 10.0}, .flags = MNS_HARD_MIN},
    {.size = sizeof(mns_param_t), .type = MNS_FLOAT, .name = "floor", .label = "Floor", .unit = "m",
     .help = "Height of the floor.", .range = {-10.0, 10.0}},
    {.size = sizeof(mns_param_t), .type = MNS_FLOAT, .name = "bounce", .label = "Bounce",
     .help = "Share of the speed that is left after the floor was hit. 0: the points stay on the floor. 1: nothing is lost.",
     .default_number = {0.5}, .range = {0.0, 1.0}, .flags = MNS_HARD_MIN | MNS_HARD_MAX},
};

enum { POINTS };
static const mns_port_t solver_ports[] = {
    {.size = sizeof(mns_port_t), .carries = MNS_GEOMETRY, .name = "points", .owner = MNS_OF_OBJECT,
     .help = "The points: P (m), v (m/s), and dv (m/s), what forces add.", .flags = MNS_MOVABLE | MNS_RESULT, .required = 1,
     .access = {[MNS_PREDICT] = MNS_READ_WRITE}},
};

/* A solver solves the objects of its own medium; other objects that are wired in are those that it meets. */
enum { OBJECT, SOLVER };
static const mns_node_t nodes[] = {
    {.size = sizeof(mns_node_t), .version = 1, .id = "{{identifier}}.points", .label = "{{name}} Points",
     .help = "Points at the points of a mesh. Wire it into a {{identifier}}.solver.", .medium = "{{identifier}}",
     .kind = MNS_NODE_OBJECT, .stages = MNS_BIT(MNS_INIT), .accepts = MNS_BIT(MNS_NODE_GEOMETRY), .min_inputs = 1,
     .max_inputs = 1, .port_count = 2, .ports = object_ports, .param_count = 1, .params = object_params},
    {.size = sizeof(mns_node_t), .version = 1, .id = "{{identifier}}.solver", .label = "{{name}} Solver",
     .help = "Lets points fall, slows them down, and lets them bounce off a floor.", .medium = "{{identifier}}",
     .kind = MNS_NODE_SOLVER, .stages = MNS_BIT(MNS_PREDICT), .rank = MNS_RANK_SOLID,
     .accepts = MNS_BIT(MNS_NODE_OBJECT) | MNS_BIT(MNS_NODE_FORCE), .min_inputs = 1, .port_count = 1, .ports = solver_ports,
     .param_count = 3, .params = solver_params},
};

/* ---- What they do ---------------------------------------------------------------------------------------- */

/* An attribute of three floats on points. */
#define THREE(name_, meaning_) \
    {.size = sizeof(mns_attribute_t), .on = MNS_ON_POINTS, .name = name_, .element = MNS_F32, .components = 3, .meaning = meaning_}
static const mns_attribute_t attributes[] = {THREE("P", MNS_POSITION), THREE("v", MNS_VECTOR), THREE("dv", MNS_VECTOR)};

/* Makes the points. */
static mns_status_t begin(mns_context_t *ctx) {
    const mns_geometry_t *mesh = ctx->geometry(ctx, MESH, 0);
    const mns_attribute_t *from = mns_find_attribute(mesh, MNS_ON_POINTS, "P");
    if (!from || from->element != MNS_F32 || from->components != 3)
        return ctx->fail(ctx, MNS_BAD_INPUT, MESH, "the mesh has no points; wire a geometry node into it");
    mns_geometry_t shape = {.size = sizeof shape, .primitive = MNS_POINTS, .point_count = from->count,
                            .attributes = attributes, .attribute_count = 3};
    memcpy(shape.origin, mesh->origin, sizeof shape.origin); /* P is relative to it */
    const mns_geometry_t *points = ctx->shape_geometry(ctx, MADE, 0, &shape);
    if (!points) return MNS_FAILED; /* the host has said why */
    const mns_attribute_t *place = mns_find_attribute(points, MNS_ON_POINTS, "P");
    const mns_attribute_t *velocity = mns_find_attribute(points, MNS_ON_POINTS, "v");
    for (uint64_t i = 0; i < from->count; ++i) {
        memcpy(mns_place_of(place, i), mns_value_of(from, i), 3 * sizeof(float));
        for (int c = 0; c < 3; ++c) ((float *)mns_place_of(velocity, i))[c] = (float)ctx->params[VELOCITY].number[c];
    }
    return MNS_OK;
}

/* Moves the points over ctx->dt. The velocity `v` belongs to the middle of the substep; what acts on it acts over
 * ctx->dt_kick, to the middle of the next one. The host chooses both. */
static mns_status_t step(mns_context_t *ctx) {
    const double height = ctx->params[FLOOR].number[0], bounce = ctx->params[BOUNCE].number[0];
    const double kept = exp(-ctx->params[DRAG].number[0] * ctx->dt_kick); /* exact, so no step makes it unstable */
    const mns_attribute_t *place = ctx->edit_attribute(ctx, POINTS, 0, &attributes[0]);
    const mns_attribute_t *velocity = ctx->edit_attribute(ctx, POINTS, 0, &attributes[1]);
    const mns_attribute_t *change = ctx->edit_attribute(ctx, POINTS, 0, &attributes[2]);
    const mns_geometry_t *points = ctx->geometry(ctx, POINTS, 0);
    if (!place || !velocity || !change || !points) return MNS_FAILED;
    for (uint64_t i = 0; i < place->count; ++i) {
        float *p = (float *)mns_place_of(place, i), *v = (float *)mns_place_of(velocity, i), *dv = (float *)mns_place_of(change, i);
        for (int c = 0; c < 3; ++c) p[c] += (float)(ctx->dt * v[c]);
        if (p[1] + points->origin[1] < height && v[1] < 0.0f) {
            p[1] = (float)(height - points->origin[1]);
            v[1] *= (float)-bounce;
        }
        for (int c = 0; c < 3; ++c) v[c] = (float)(kept * v[c]) + dv[c];
        memset(dv, 0, 3 * sizeof(float)); /* for the forces of the next substep */
    }
    return MNS_OK;
}

/* ---- The door -------------------------------------------------------------------------------------------- */

/* An instance may keep caches, never state. These keep nothing: an instance is its descriptor. */
static mns_status_t create(mns_context_t *ctx, uint32_t node, mns_instance_t **instance) {
    (void)ctx;
    *instance = (mns_instance_t *)(uintptr_t)&nodes[node];
    return MNS_OK;
}

static void destroy(mns_instance_t *instance) { (void)instance; }

static mns_status_t run(mns_instance_t *instance, mns_context_t *ctx) {
    return (const mns_node_t *)(const void *)instance == &nodes[OBJECT] ? begin(ctx) : step(ctx);
}

MNS_EXPORT const mns_plugin_t mns_plugin = {
    .size = sizeof(mns_plugin_t), .abi_major = MNS_ABI_MAJOR, .abi_minor = MNS_ABI_MINOR, .node_count = 2,
    .layout_hash = MNS_LAYOUT_HASH, .name = "{{name}}", .version = "0.1.0", .nodes = nodes,
    .create = create, .destroy = destroy, .run = run,
};
