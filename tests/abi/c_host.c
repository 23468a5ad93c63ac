/* The smallest host there can be, in plain C: opens a plugin, makes a box of liquid and runs one substep of
 * it through the C ABI: liquid_object and flip_solver init, gravity, flip_solver predict, solve, correct.
 *
 *   c_host libmeniscus_plugin.so     prints one "name value" per line, exit code 0 when every call did well
 */
#define _POSIX_C_SOURCE 200112L
#include "meniscus.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Memory: everything lives until the program ends --------------------------------------------------- */

static void *make(uint64_t count, uint64_t bytes) {
    void *memory = calloc((size_t)(count ? count : 1), (size_t)bytes);
    if (!memory) exit(3);
    return memory;
}

static uint64_t element_bytes(int32_t element) {
    return element == MNS_U8 ? 1 : element == MNS_F64 || element == MNS_I64 || element == MNS_U64 ? 8 : 4;
}

/* ---- The object: named data --------------------------------------------------------------------------- */

typedef struct datum {
    char name[64];
    mns_grid_t grid;
    mns_geometry_t geometry;
    mns_table_t table;
    int has_grid, has_geometry, has_table;
} datum;

typedef struct host {
    const mns_node_t *node;
    datum data[64]; /* of the one object */
    int data_count;
    datum input; /* the geometry wired into liquid_object */
    uint64_t stamp;
    int failed;
} host;

static datum *find(host *h, const char *name) {
    for (int i = 0; i < h->data_count; ++i)
        if (strcmp(h->data[i].name, name) == 0) return &h->data[i];
    if (h->data_count == 64) exit(3);
    datum *d = &h->data[h->data_count++];
    strncpy(d->name, name, sizeof d->name - 1);
    return d;
}

static datum *at(mns_context_t *ctx, uint32_t port, uint32_t item) {
    host *h = (host *)ctx->host;
    if (port >= h->node->port_count || item > 0) return NULL;
    const mns_port_t *p = &h->node->ports[port];
    if (p->owner == MNS_OF_INPUT) return &h->input;
    if (!p->name) return p->carries == MNS_GEOMETRY ? find(h, "particles") : NULL; /* of what is here, forces move these alone */
    return p->owner == MNS_OF_OBJECT || p->owner == MNS_OF_NODE ? find(h, p->name) : NULL;
}

/* ---- Callbacks ------------------------------------------------------------------------------------------ */

static int32_t progress(mns_context_t *ctx, double done) { (void)ctx; (void)done; return 0; }

static void say(mns_context_t *ctx, int32_t level, const char *sentence) { (void)ctx; (void)level; fprintf(stderr, "%s\n", sentence); }

static mns_status_t fail(mns_context_t *ctx, mns_status_t status, int32_t port, const char *sentence) {
    fprintf(stderr, "%s: %s (status %d, port %d)\n", ctx->node, sentence, (int)status, (int)port);
    ((host *)ctx->host)->failed = 1;
    return status;
}

static void measure(mns_context_t *ctx, const char *key, uint32_t count, const double *values) { (void)ctx; (void)key; (void)count; (void)values; }
static void measure_item(mns_context_t *ctx, uint32_t port, uint32_t item, const char *key, uint32_t count, const double *values) {
    (void)port; (void)item;
    measure(ctx, key, count, values);
}

static void solved(mns_context_t *ctx, const mns_solve_t *solve) { (void)ctx; printf("iterations %u\n", (unsigned)solve->iterations); }

static uint32_t items(mns_context_t *ctx, uint32_t port) {
    const mns_node_t *node = ((host *)ctx->host)->node;
    if (port >= node->port_count || node->ports[port].owner == MNS_OF_AFFECTOR) return 0;
    return node->ports[port].name || node->ports[port].carries == MNS_GEOMETRY;
}

static const char *item_name(mns_context_t *ctx, uint32_t port, uint32_t item) { (void)ctx; (void)port; (void)item; return "water"; }
static double item_kick(mns_context_t *ctx, uint32_t port, uint32_t item) { (void)port; (void)item; return ctx->dt_kick; }

static const mns_grid_t *grid(mns_context_t *ctx, uint32_t port, uint32_t item) {
    datum *d = at(ctx, port, item);
    return d && d->has_grid ? &d->grid : NULL;
}

static const mns_geometry_t *geometry(mns_context_t *ctx, uint32_t port, uint32_t item) {
    datum *d = at(ctx, port, item);
    return d && d->has_geometry ? &d->geometry : NULL;
}

static const mns_table_t *table(mns_context_t *ctx, uint32_t port, uint32_t item) {
    datum *d = at(ctx, port, item);
    return d && d->has_table ? &d->table : NULL;
}

static void fill(void *to, int32_t element, uint64_t count, double value) {
    for (uint64_t i = 0; value != 0.0 && i < count; ++i) {
        if (element == MNS_F32) ((float *)to)[i] = (float)value;
        if (element == MNS_F64) ((double *)to)[i] = value;
        if (element == MNS_I32) ((int32_t *)to)[i] = (int32_t)value;
        if (element == MNS_U8) ((uint8_t *)to)[i] = (uint8_t)value;
    }
}

static const mns_grid_t *shape_grid(mns_context_t *ctx, uint32_t port, uint32_t item, const mns_grid_t *shape) {
    host *h = (host *)ctx->host;
    datum *d = at(ctx, port, item);
    if (!d) return NULL;
    mns_grid_t g = *shape;
    int32_t *origins = (int32_t *)make(3 * g.leaf_count, sizeof(int32_t));
    if (g.leaf_count) memcpy(origins, shape->origins, (size_t)(12 * g.leaf_count));
    g.origins = origins;
    if (!g.topology_id) g.topology_id = ++h->stamp;
    g.size = sizeof g;
    g.value_id = ++h->stamp;
    g.tile_count = 0; /* this host shows grids to nobody */
    for (uint32_t c = 0; c < MNS_COMPONENTS_MAX; ++c) {
        g.writable[c] = c < g.components ? make(g.leaf_count * MNS_LEAF_SIZE, element_bytes(g.element)) : NULL;
        g.values[c] = g.writable[c];
        if (c < g.components) fill(g.writable[c], g.element, g.leaf_count * MNS_LEAF_SIZE, g.background[c]);
    }
    d->grid = g;
    d->has_grid = 1;
    return &d->grid;
}

static mns_attribute_t new_attribute(host *h, const mns_attribute_t *shape, uint64_t count) {
    mns_attribute_t a = *shape;
    char *name = (char *)make(strlen(shape->name) + 1, 1);
    strcpy(name, shape->name);
    a.size = sizeof a;
    a.name = name;
    a.count = count;
    a.stride = element_bytes(a.element) * a.components;
    a.writable = make(count, a.stride);
    a.values = a.writable;
    a.value_id = ++h->stamp;
    return a;
}

static uint64_t count_on(const mns_geometry_t *g, int32_t on) {
    return on == MNS_ON_POINTS ? g->point_count : on == MNS_ON_VERTICES ? g->vertex_count : on == MNS_ON_PRIMITIVES ? g->primitive_count : 1;
}

static const mns_geometry_t *shape_geometry(mns_context_t *ctx, uint32_t port, uint32_t item, const mns_geometry_t *shape) {
    host *h = (host *)ctx->host;
    datum *d = at(ctx, port, item);
    if (!d) return NULL;
    mns_geometry_t g = *shape;
    mns_attribute_t *attributes = (mns_attribute_t *)make(g.attribute_count, sizeof *attributes);
    for (uint32_t a = 0; a < g.attribute_count; ++a)
        attributes[a] = new_attribute(h, &shape->attributes[a], count_on(&g, shape->attributes[a].on));
    g.size = sizeof g;
    g.attributes = attributes;
    g.vertices = g.writable_vertices = (uint32_t *)make(g.vertex_count, sizeof(uint32_t));
    g.starts = g.writable_starts = (uint32_t *)make(g.primitive_count + 1, sizeof(uint32_t));
    g.topology_id = ++h->stamp;
    d->geometry = g;
    d->has_geometry = 1;
    return &d->geometry;
}

static const mns_table_t *shape_table(mns_context_t *ctx, uint32_t port, uint32_t item, const mns_table_t *shape) {
    datum *d = at(ctx, port, item);
    if (!d || shape->array_count) return NULL; /* our nodes shape empty tables and add arrays */
    memset(&d->table, 0, sizeof d->table);
    d->table.size = sizeof d->table;
    d->has_table = 1;
    return &d->table;
}

static const mns_grid_t *edit_grid(mns_context_t *ctx, uint32_t port, uint32_t item) {
    datum *d = at(ctx, port, item);
    if (!d || !d->has_grid) return NULL;
    d->grid.value_id = ++((host *)ctx->host)->stamp;
    return &d->grid;
}

static const mns_attribute_t *edit_attribute(mns_context_t *ctx, uint32_t port, uint32_t item, const mns_attribute_t *shape) {
    host *h = (host *)ctx->host;
    datum *d = at(ctx, port, item);
    if (!d || !d->has_geometry) return NULL;
    mns_geometry_t *g = &d->geometry;
    mns_attribute_t *grown = (mns_attribute_t *)make(g->attribute_count + 1, sizeof *grown);
    memcpy(grown, g->attributes, g->attribute_count * sizeof *grown);
    g->attributes = grown;
    for (uint32_t a = 0; a < g->attribute_count; ++a)
        if (grown[a].on == shape->on && strcmp(grown[a].name, shape->name) == 0) return &grown[a];
    grown[g->attribute_count] = new_attribute(h, shape, count_on(g, shape->on));
    return &grown[g->attribute_count++];
}

static const mns_array_t *edit_array(mns_context_t *ctx, uint32_t port, uint32_t item, const mns_array_t *shape) {
    datum *d = at(ctx, port, item);
    if (!d) return NULL;
    mns_table_t *t = &d->table;
    mns_array_t *grown = (mns_array_t *)make(t->array_count + 1, sizeof *grown);
    if (t->array_count) memcpy(grown, t->arrays, t->array_count * sizeof *grown);
    t->arrays = grown;
    t->size = sizeof *t;
    d->has_table = 1;
    uint32_t a = 0;
    while (a < t->array_count && strcmp(grown[a].name, shape->name) != 0) ++a;
    if (a < t->array_count && grown[a].element == shape->element && grown[a].count == shape->count) return &grown[a];
    t->array_count += a == t->array_count;
    char *name = (char *)make(strlen(shape->name) + 1, 1);
    strcpy(name, shape->name);
    grown[a] = *shape;
    grown[a].size = sizeof *grown;
    grown[a].name = name;
    grown[a].writable = make(shape->count * shape->components, element_bytes(shape->element));
    grown[a].values = grown[a].writable;
    return &grown[a];
}

static mns_status_t place_grid(mns_context_t *ctx, uint32_t port, uint32_t item, const double *index_to_world) {
    datum *d = at(ctx, port, item);
    if (!d || !d->has_grid) return MNS_BAD_ARGUMENT;
    memcpy(d->grid.index_to_world, index_to_world, sizeof d->grid.index_to_world);
    return MNS_OK;
}

static void suggest_dt(mns_context_t *ctx, double dt) { (void)ctx; printf("suggested_dt %.17g\n", dt); }
static mns_status_t reject_dt(mns_context_t *ctx, double dt) { (void)ctx; (void)dt; return MNS_DT_REJECTED; }
static const void *extension(mns_context_t *ctx, const char *id, uint32_t revision) { (void)ctx; (void)id; (void)revision; return NULL; }

/* ---- Running nodes -------------------------------------------------------------------------------------- */

static const mns_plugin_t *plugin;

static mns_context_t context(host *h, const char *name, double dt, const mns_value_t *params) {
    mns_context_t ctx = {.size = sizeof ctx, .stage = -1, .threads = 2, .host = h, .node = name, .object = "water",
                         .dt = dt, .dt_next = dt, .dt_kick = 1.5 * dt, .frame_left = dt, .fps = 1.0 / dt, .cfl = 2.0, .frame = 1,
                         .param_count = h->node->param_count, .params = params,
                         .progress = progress, .log = say, .fail = fail, .measure = measure, .measure_item = measure_item, .solved = solved,
                         .items = items, .item_name = item_name, .item_kick = item_kick, .grid = grid, .geometry = geometry, .table = table,
                         .shape_grid = shape_grid, .shape_geometry = shape_geometry, .shape_table = shape_table,
                         .edit_grid = edit_grid, .edit_attribute = edit_attribute, .edit_array = edit_array,
                         .place_grid = place_grid,
                         .suggest_dt = suggest_dt, .reject_dt = reject_dt, .extension = extension};
    return ctx;
}

/* One stage of a node by its id, with default parameters but for one. Every call has an instance of its own:
 * whatever a node needs from its earlier stages must be in the data. */
static void run(host *h, const char *id, int32_t stage, double dt, const char *param, double value) {
    uint32_t n = 0;
    while (n < plugin->node_count && strcmp(plugin->nodes[n].id, id) != 0) ++n;
    if (n == plugin->node_count) {
        fprintf(stderr, "%s is not in the plugin\n", id);
        exit(1);
    }
    h->node = &plugin->nodes[n];
    if (!(h->node->stages & MNS_BIT(stage))) return;
    mns_value_t *params = (mns_value_t *)make(h->node->param_count, sizeof *params);
    for (uint32_t p = 0; p < h->node->param_count; ++p) {
        const mns_param_t *d = &h->node->params[p];
        memcpy(params[p].number, d->default_number, sizeof params[p].number);
        params[p].text = d->type == MNS_MENU ? d->menu[(int)d->default_number[0]].token : d->default_text;
        if (param && strcmp(d->name, param) == 0) params[p].number[0] = value;
    }
    mns_context_t ctx = context(h, id, dt, params);
    mns_instance_t *instance = NULL;
    mns_status_t status = plugin->create(&ctx, n, &instance);
    ctx.stage = stage;
    if (status == MNS_OK) status = plugin->run(instance, &ctx);
    if (instance) plugin->destroy(instance);
    if (status != MNS_OK) {
        fprintf(stderr, "%s: stage %d ended with status %d\n", id, (int)stage, (int)status);
        exit(1);
    }
}

/* A box of 0.2 m as the input geometry. */
static void make_box(host *h) {
    static float positions[8][3];
    static const uint32_t corners[36] = {0, 1, 3, 0, 3, 2, 4, 6, 7, 4, 7, 5, 0, 4, 5, 0, 5, 1,
                                         2, 3, 7, 2, 7, 6, 0, 2, 6, 0, 6, 4, 1, 5, 7, 1, 7, 3};
    static mns_attribute_t position = {.size = sizeof position, .on = MNS_ON_POINTS, .name = "P", .element = MNS_F32,
                                       .components = 3, .meaning = MNS_POSITION, .value_id = 1,
                                       .count = 8, .stride = 12, .values = positions};
    for (int i = 0; i < 8; ++i)
        for (int c = 0; c < 3; ++c) positions[i][c] = (i >> (2 - c)) & 1 ? 0.1f : -0.1f;
    mns_geometry_t g = {.size = sizeof g, .primitive = MNS_TRIANGLES, .topology_id = 1, .point_count = 8,
                        .vertex_count = 36, .primitive_count = 12, .vertices = corners, .attributes = &position,
                        .attribute_count = 1};
    h->input.geometry = g;
    h->input.has_geometry = 1;
}

int main(int argc, char **argv) {
    static host h;
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    plugin = library ? (const mns_plugin_t *)dlsym(library, "mns_plugin") : NULL;
    if (!plugin || plugin->abi_major != MNS_ABI_MAJOR || plugin->layout_hash != MNS_LAYOUT_HASH) return 2;
    h.stamp = 100;
    make_box(&h);

    const double dt = 1.0 / 96.0;
    run(&h, "meniscus.liquid_object", MNS_INIT, dt, "particle_separation", 0.01);
    run(&h, "meniscus.flip_solver", MNS_INIT, dt, NULL, 0.0);
    run(&h, "meniscus.gravity", MNS_PREDICT, dt, NULL, 0.0);
    run(&h, "meniscus.flip_solver", MNS_PREDICT, dt, NULL, 0.0);
    run(&h, "meniscus.flip_solver", MNS_SOLVE, dt, NULL, 0.0);
    run(&h, "meniscus.flip_solver", MNS_CORRECT, dt, NULL, 0.0);

    const mns_geometry_t *particles = &find(&h, "particles")->geometry;
    double fall = 0.0, aside = 0.0;
    for (uint32_t a = 0; a < particles->attribute_count; ++a) {
        const mns_attribute_t *v = &particles->attributes[a];
        if (strcmp(v->name, "v") != 0 || v->on != MNS_ON_POINTS) continue;
        for (uint64_t i = 0; i < v->count; ++i) {
            const float *vi = (const float *)(const void *)((const char *)v->values + i * v->stride);
            fall += vi[1] / (double)v->count;
            aside = fmax(aside, fmax(fabs(vi[0]), fabs(vi[2])));
        }
    }
    printf("particles %llu\nfall %.9g\nexpected_fall %.9g\naside %.9g\n", (unsigned long long)particles->point_count,
           fall, -9.81 * dt, aside);
    printf("surface_leaves %llu\n", (unsigned long long)find(&h, "surface")->grid.leaf_count);
    return h.failed;
}
