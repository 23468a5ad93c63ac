/* A medium without points, in plain C: air whose velocity stands on grids, at faces and in the middle of cells. It does nothing but
 * take what forces give, and say how fast it is. */
#include "meniscus.h"
#include <string.h>

#define PORT(carries_, name_, ...) \
    {.size = sizeof(mns_port_t), .carries = carries_, .name = name_, .owner = MNS_OF_OBJECT, .help = "A test.", __VA_ARGS__}
#define GUST(name_, sampling_, element_, init_, predict_) \
    PORT(MNS_GRID, name_, .unit = "m/s", .components = 3, .sampling = sampling_, .element = element_, .flags = MNS_MOVABLE, \
         .access = {[MNS_INIT] = init_, [MNS_PREDICT] = predict_})
#define SPEED(name_, sampling_, init_, predict_) \
    PORT(MNS_GRID, name_, .unit = "m/s", .components = 3, .sampling = sampling_, \
         .access = {[MNS_INIT] = init_, [MNS_PREDICT] = predict_})

#ifdef WRONG_ELEMENT
#define ELEMENT MNS_F64
#else
#define ELEMENT MNS_F32
#endif

enum { FACES, MIDDLES, FACE_SPEED, MIDDLE_SPEED, PORTS };
static const mns_port_t object_ports[PORTS] = {
    GUST("gust", MNS_FACE, ELEMENT, MNS_WRITE, 0), GUST("breeze", MNS_CENTER, MNS_F32, MNS_WRITE, 0),
    SPEED("vel", MNS_FACE, MNS_WRITE, 0), SPEED("vel_mid", MNS_CENTER, MNS_WRITE, 0)};
static const mns_port_t solver_ports[PORTS] = {
    GUST("gust", MNS_FACE, ELEMENT, 0, MNS_READ_WRITE), GUST("breeze", MNS_CENTER, MNS_F32, 0, MNS_READ_WRITE),
    SPEED("vel", MNS_FACE, 0, MNS_READ_WRITE), SPEED("vel_mid", MNS_CENTER, 0, MNS_READ_WRITE)};

static const mns_node_t nodes[] = {
    {.size = sizeof(mns_node_t), .version = 1, .id = "test.air", .label = "Air", .medium = "air", .help = "A test.",
     .kind = MNS_NODE_OBJECT, .stages = MNS_BIT(MNS_INIT), .port_count = PORTS, .ports = object_ports},
    {.size = sizeof(mns_node_t), .version = 1, .id = "test.air_solver", .label = "Air Solver", .medium = "air", .help = "A test.",
     .kind = MNS_NODE_SOLVER, .stages = MNS_BIT(MNS_PREDICT), .accepts = MNS_BIT(MNS_NODE_OBJECT) | MNS_BIT(MNS_NODE_FORCE),
     .min_inputs = 1, .port_count = PORTS, .ports = solver_ports},
};

/* Two leaves of still air. */
static mns_status_t begin(mns_context_t *ctx) {
    static const int32_t origins[2][3] = {{0, 0, 0}, {8, 0, 0}};
    for (uint32_t port = 0; port < PORTS; ++port) {
        mns_grid_t shape = {.size = sizeof shape, .element = port == FACES ? ELEMENT : MNS_F32, .components = 3,
                            .sampling = object_ports[port].sampling, .leaf_count = 2, .origins = &origins[0][0]};
        for (int c = 0; c < 4; ++c) shape.index_to_world[5 * c] = c < 3 ? 0.1 : 1.0;
        const mns_grid_t *grid = ctx->shape_grid(ctx, port, 0, &shape);
        if (!grid) return MNS_FAILED;
        const size_t bytes = 2 * MNS_LEAF_SIZE * (shape.element == MNS_F64 ? sizeof(double) : sizeof(float));
        for (int c = 0; c < 3; ++c) memset(grid->writable[c], 0, bytes);
    }
    return MNS_OK;
}

/* Takes what forces gave one grid; the slowest and the fastest value of each axis are told. */
static mns_status_t take(mns_context_t *ctx, uint32_t gust, uint32_t speed, const char *key) {
    const mns_grid_t *given = ctx->edit_grid(ctx, gust, 0), *own = given ? ctx->edit_grid(ctx, speed, 0) : NULL;
    if (!own) return MNS_FAILED;
    double ends[6];
    for (int c = 0; c < 3; ++c) {
        float *dv = (float *)given->writable[c], *v = (float *)own->writable[c];
        for (uint32_t i = 0; i < 2u * MNS_LEAF_SIZE; ++i) {
            v[i] += dv[i], dv[i] = 0.0f;
            if (i == 0 || v[i] < ends[2 * c]) ends[2 * c] = v[i];
            if (i == 0 || v[i] > ends[2 * c + 1]) ends[2 * c + 1] = v[i];
        }
    }
    ctx->measure(ctx, key, 6, ends);
    return MNS_OK;
}

static mns_status_t create(mns_context_t *ctx, uint32_t node, mns_instance_t **out) {
    (void)ctx;
    *out = (mns_instance_t *)(void *)&nodes[node];
    return MNS_OK;
}
static void destroy(mns_instance_t *instance) { (void)instance; }
static mns_status_t run(mns_instance_t *instance, mns_context_t *ctx) {
    (void)instance;
    if (ctx->stage == MNS_INIT) return begin(ctx);
    const mns_status_t status = take(ctx, FACES, FACE_SPEED, "faces");
    return status == MNS_OK ? take(ctx, MIDDLES, MIDDLE_SPEED, "middles") : status;
}

MNS_EXPORT const mns_plugin_t mns_plugin = {.size = sizeof(mns_plugin_t), .abi_major = MNS_ABI_MAJOR, .abi_minor = MNS_ABI_MINOR,
    .layout_hash = MNS_LAYOUT_HASH, .name = "air", .version = "1", .vendor = "tests", .node_count = 2, .nodes = nodes,
    .create = create, .destroy = destroy, .run = run};
