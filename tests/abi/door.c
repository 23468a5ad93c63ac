/* A wall without thickness across a tank, at x = 0, in plain C: below `sill` it is a fan, by which the pressure is `rise` higher
 * beyond it; above, it is shut by the share `shut`. It has no degrees of freedom: it takes part in a pressure solve by its
 * faces alone, and lists in stats.jsonl what it feels there. With `keep` it also keeps the air before it, and blows `inflow` into it. `fault` makes it write grids that a coupling must refuse.
 */
#include "meniscus.h"
#include "meniscus_find.h"

#include <math.h>

#define PORT(carries_, name_, owner_, ...) \
    {.size = sizeof(mns_port_t), .carries = carries_, .name = name_, .owner = owner_, __VA_ARGS__}
#define NUMBER(name_, label_, help_, ...) \
    {.size = sizeof(mns_param_t), .name = name_, .label = label_, .help = help_, .type = MNS_FLOAT, __VA_ARGS__}

enum { SILL, RISE, SHUT_BY, VOXEL, FAULT, KEEP, INFLOW, SETTINGS };
static const mns_param_t door_params[] = {
    NUMBER("sill", "Sill", "Height up to which it is a fan.", .unit = "m", .range = {-1.0, 1.0}),
    NUMBER("rise", "Rise", "By how much it raises the pressure.", .unit = "Pa", .range = {-1e6, 1e6}),
    NUMBER("shut", "Shut", "Share of its faces above the sill that is shut.", .default_number = {1.0}, .range = {0.0, 2.0}),
    NUMBER("voxel", "Voxel", "Voxel size of the liquid.", .unit = "m", .default_number = {0.02}, .range = {0.001, 1.0}),
    {.size = sizeof(mns_param_t), .type = MNS_INT, .name = "fault", .label = "Fault", .help = "What is wrong with its grids.",
     .range = {0.0, 9.0}},
    {.size = sizeof(mns_param_t), .type = MNS_TOGGLE, .name = "keep", .label = "Keep", .help = "On: the air before it keeps its volume."},
    NUMBER("inflow", "Inflow", "Air that is blown into what it keeps.", .unit = "m^3/s", .range = {-1.0, 1.0}),
};

enum { DOOR, JUMP, SHUT, CHAMBERS, FELT, LOAD, PASSING, KEPT_AIR };
#define FACES(name_, contribute_, correct_, help_, ...) \
    PORT(MNS_GRID, name_, MNS_OF_OBJECT, .components = 3, .sampling = MNS_FACE, .lifetime = MNS_SUBSTEP, .help = help_, \
         .access = {[MNS_CONTRIBUTE] = contribute_, [MNS_CORRECT] = correct_}, .unit = __VA_ARGS__)
static const mns_port_t door_ports[] = {
    PORT(MNS_TABLE, "door", MNS_OF_OBJECT, .help = "settings: of the node.", .access = {[MNS_INIT] = MNS_WRITE}),
};
static const mns_port_t solver_ports[] = {
    PORT(MNS_TABLE, "door", MNS_OF_OBJECT, .help = "settings: of the node.", .access = {[MNS_CONTRIBUTE] = MNS_READ, [MNS_CORRECT] = MNS_READ}),
    FACES("jump", MNS_WRITE, 0, "By how much the pressure is higher beyond a face.", "Pa"),
    FACES("shut", MNS_WRITE, MNS_READ, "Share of each face that is shut.", ""),
    PORT(MNS_TABLE, "chambers", MNS_OF_OBJECT, .lifetime = MNS_SUBSTEP, .help = "Air that is kept.",
         .access = {[MNS_CONTRIBUTE] = MNS_WRITE}),
    PORT(MNS_GEOMETRY, "felt", MNS_OF_OBJECT, .help = "A point with what it felt.", .access = {[MNS_CORRECT] = MNS_WRITE},
         .report = "doors name=@object force=force flow=flow volume=volume pressure=pressure"),
    FACES("load", 0, MNS_READ, "What it bears.", "Pa"),
    FACES("passing", 0, MNS_READ, "What passes it.", "m/s"),
    PORT(MNS_TABLE, "kept_air", MNS_OF_OBJECT, .lifetime = MNS_SUBSTEP, .help = "What its air does.", .access = {[MNS_CORRECT] = MNS_READ}),
};

static const mns_node_t nodes[] = {
    {.size = sizeof(mns_node_t), .version = 1, .id = "test.door", .label = "Door", .medium = "door",
     .help = "A wall without thickness.", .kind = MNS_NODE_OBJECT, .stages = MNS_BIT(MNS_INIT),
     .port_count = 1, .ports = door_ports, .param_count = SETTINGS, .params = door_params},
    {.size = sizeof(mns_node_t), .version = 1, .id = "test.door_solver", .label = "Door Solver", .medium = "door",
     .help = "Brings doors into a pressure solve.", .kind = MNS_NODE_SOLVER, .stages = MNS_BIT(MNS_CONTRIBUTE) | MNS_BIT(MNS_CORRECT),
     .accepts = MNS_BIT(MNS_NODE_OBJECT), .min_inputs = 1, .port_count = 8, .ports = solver_ports},
};

/* The leaves of the cells beyond x = 0. */
enum { ACROSS = 2, HIGH = 3, LEAVES = HIGH * 2 * ACROSS };

static const mns_grid_t *faces(mns_context_t *ctx, uint32_t port, uint32_t item, double h, double beyond, int32_t origins[LEAVES][3]) {
    uint64_t count = 0;
    for (int32_t y = 0; y < HIGH; ++y)
        for (int32_t z = -ACROSS; z < ACROSS; ++z, ++count)
            origins[count][0] = 0, origins[count][1] = 8 * y, origins[count][2] = 8 * z;
    mns_grid_t shape = {.size = sizeof shape, .element = MNS_F32, .components = 3, .sampling = MNS_FACE, .leaf_count = count,
                        .origins = &origins[0][0]};
    for (int c = 0; c < 3; ++c) shape.index_to_world[5 * c] = h, shape.index_to_world[12 + c] = 0.5 * h;
    shape.index_to_world[15] = 1.0;
    shape.background[1] = beyond;
    return ctx->shape_grid(ctx, port, item, &shape);
}

static mns_status_t contribute(mns_context_t *ctx) {
    for (uint32_t item = 0; item < ctx->items(ctx, DOOR); ++item) {
        const double *settings = mns_find_numbers(ctx->table(ctx, DOOR, item), "settings", SETTINGS);
        if (!settings) return MNS_FAILED;
        const double h = settings[VOXEL];
        int32_t origins[LEAVES][3];
        const mns_grid_t *jump = faces(ctx, JUMP, item, h, 0.0, origins);
        if (!jump) return MNS_FAILED;
        float *rise = (float *)jump->writable[0];
        const mns_grid_t *shut = faces(ctx, SHUT, item, h, settings[FAULT] == 4.0 ? 0.5 : 0.0, origins);
        if (!shut) return MNS_FAILED;
        float *closed = (float *)shut->writable[0];
        for (uint64_t i = 0; i < LEAVES * MNS_LEAF_SIZE; ++i) {
            const uint64_t n = i % MNS_LEAF_SIZE;
            const double y = h * (origins[i / MNS_LEAF_SIZE][1] + (int)(n >> 3 & 7) + 0.5);
            if (n >> 6) continue;
            if (y < settings[SILL]) rise[i] = (float)settings[RISE];
            else closed[i] = (float)settings[SHUT_BY];
        }
        const double place[3] = {-4.0 * h, 14.0 * h, 0.0};
        if (settings[KEEP] != 0.0 &&
            !(mns_new_table(ctx, CHAMBERS, item) && mns_put_numbers(ctx, CHAMBERS, item, "place", 3, 1, place) &&
              mns_put_numbers(ctx, CHAMBERS, item, "inflow", 1, settings[FAULT] == 3.0 ? 0 : 1, &settings[INFLOW])))
            return MNS_FAILED;
        if (settings[FAULT] == 1.0) rise[70] = NAN;
        if (settings[FAULT] == 2.0) closed[70] = -0.5f;
    }
    return MNS_OK;
}

static int put(mns_context_t *ctx, uint32_t item, const char *name, double value) {
    const mns_attribute_t shape = {.size = sizeof shape, .on = MNS_ON_POINTS, .name = name, .element = MNS_F64, .components = 1};
    const mns_attribute_t *made = ctx->edit_attribute(ctx, FELT, item, &shape);
    if (made) *(double *)mns_place_of(made, 0) = value;
    return made != NULL;
}

/* Force on what is shut (N), flow through it all (m^3/s), and the air that it keeps. */
static mns_status_t feel(mns_context_t *ctx) {
    for (uint32_t item = 0; item < ctx->items(ctx, DOOR); ++item) {
        const double *settings = mns_find_numbers(ctx->table(ctx, DOOR, item), "settings", SETTINGS);
        const mns_grid_t *load = ctx->grid(ctx, LOAD, item), *passing = ctx->grid(ctx, PASSING, item);
        const mns_grid_t *shut = ctx->grid(ctx, SHUT, item);
        if (!settings || !load || !passing || !shut || load->leaf_count != LEAVES || passing->leaf_count != LEAVES) return MNS_FAILED;
        const double area = settings[VOXEL] * settings[VOXEL];
        double force = 0.0, flow = 0.0;
        for (uint64_t i = 0; i < LEAVES * MNS_LEAF_SIZE; ++i) {
            force += area * ((const float *)shut->values[0])[i] * ((const float *)load->values[0])[i];
            if (i % MNS_LEAF_SIZE < 64) flow += area * ((const float *)passing->values[0])[i];
        }
        const mns_table_t *kept = ctx->table(ctx, KEPT_AIR, item);
        const double *volume = kept ? mns_find_numbers(kept, "volume", 1) : NULL;
        const double *pressure = kept ? mns_find_numbers(kept, "pressure", 1) : NULL;
        if (settings[KEEP] != 0.0 && !(volume && pressure)) return MNS_FAILED;
        const mns_geometry_t shape = {.size = sizeof shape, .point_count = 1};
        if (!ctx->shape_geometry(ctx, FELT, item, &shape) || !put(ctx, item, "force", force) || !put(ctx, item, "flow", flow) ||
            !put(ctx, item, "volume", volume ? *volume : 0.0) || !put(ctx, item, "pressure", pressure ? *pressure : 0.0))
            return MNS_FAILED;
    }
    return MNS_OK;
}

static mns_status_t begin(mns_context_t *ctx) {
    double settings[SETTINGS];
    for (int n = 0; n < SETTINGS; ++n) settings[n] = ctx->params[n].number[0];
    return mns_new_table(ctx, DOOR, 0) && mns_put_numbers(ctx, DOOR, 0, "settings", SETTINGS, 1, settings) ? MNS_OK : MNS_FAILED;
}

static mns_status_t create(mns_context_t *ctx, uint32_t node, mns_instance_t **instance) {
    (void)ctx;
    *instance = (mns_instance_t *)(uintptr_t)&nodes[node]; /* nothing to keep between calls */
    return MNS_OK;
}

static void destroy(mns_instance_t *instance) { (void)instance; }

static mns_status_t run(mns_instance_t *instance, mns_context_t *ctx) {
    if ((const mns_node_t *)(const void *)instance == &nodes[0]) return begin(ctx);
    return ctx->stage == MNS_CORRECT ? feel(ctx) : contribute(ctx);
}

MNS_EXPORT const mns_plugin_t mns_plugin = {
    .size = sizeof(mns_plugin_t), .abi_major = MNS_ABI_MAJOR, .abi_minor = MNS_ABI_MINOR, .node_count = 2,
    .layout_hash = MNS_LAYOUT_HASH, .name = "door", .version = "1.0.0", .vendor = "Meniscus tests",
    .nodes = nodes, .create = create, .destroy = destroy, .run = run,
};
