/* Nodes that say what a terminal must not hear: forces on an object with `particles` (wire them into a solver).
 */
#include "meniscus.h"

#include <string.h>

#define WILD "\x1b[2J\x1b]0;owned\x07\r\nerror: forged\xc2\x9b" "31m"

static const mns_port_t ports[] = {
    {.size = sizeof(mns_port_t), .carries = MNS_GEOMETRY, .name = "particles", .owner = MNS_OF_OBJECT,
     .required = 1, .access = {[MNS_PREDICT] = MNS_READ}},
};

enum { WARNS, FAILS, STOPS_SHORT, NODES };

#define FORCE(id_)                                                                                           \
    {.size = sizeof(mns_node_t), .version = 1, .id = id_, .label = id_, .help = "Says " WILD ".",            \
     .kind = MNS_NODE_FORCE, .stages = MNS_BIT(MNS_PREDICT), .port_count = 1, .ports = ports}

static const mns_node_t nodes[NODES] = {
    [WARNS] = FORCE("test.warns_wildly"),
    [FAILS] = FORCE("test.fails_at_length"),
    [STOPS_SHORT] = FORCE("test.stops_short"),
};

static mns_status_t create(mns_context_t *ctx, uint32_t node, mns_instance_t **instance) {
    (void)ctx;
    *instance = (mns_instance_t *)(uintptr_t)&nodes[node];
    return MNS_OK;
}

static void destroy(mns_instance_t *instance) { (void)instance; }

static mns_status_t run(mns_instance_t *instance, mns_context_t *ctx) {
    static char novel[100000];
    switch ((const mns_node_t *)(const void *)instance - nodes) {
    case WARNS: ctx->log(ctx, MNS_LOG_WARNING, "it is " WILD); return MNS_OK;
    case FAILS:
        memset(novel, 'x', sizeof novel - 1);
        memcpy(novel, WILD, strlen(WILD));
        return ctx->fail(ctx, MNS_FAILED, -1, novel);
    case STOPS_SHORT: return MNS_NOT_CONVERGED;
    default: return MNS_BAD_ARGUMENT;
    }
}

MNS_EXPORT const mns_plugin_t mns_plugin = {
    .size = sizeof(mns_plugin_t), .abi_major = MNS_ABI_MAJOR, .abi_minor = MNS_ABI_MINOR, .node_count = NODES,
    .layout_hash = MNS_LAYOUT_HASH, .name = "shouts", .version = "1", .vendor = "test", .nodes = nodes,
    .create = create, .destroy = destroy, .run = run,
};
