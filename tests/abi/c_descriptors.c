/* A plugin whose descriptors are wrong in the way a -D says: -DPARAM_COUNT=0x80000000u and so on. Nothing of it runs. */
#include "meniscus.h"

#include <stddef.h>

#ifndef ID
#define ID "test.described"
#endif
#ifndef VERSION
#define VERSION 1
#endif
#ifndef NODE_COUNT
#define NODE_COUNT 1
#endif
#ifndef NODE_SIZE
#define NODE_SIZE sizeof(mns_node_t)
#endif
#ifndef PARAM_COUNT
#define PARAM_COUNT 1
#endif
#ifndef PARAM_SIZE
#define PARAM_SIZE sizeof(mns_param_t)
#endif
#ifndef MENU_COUNT
#define MENU_COUNT 2
#endif
#ifndef PORT_COUNT
#define PORT_COUNT 1
#endif
#ifndef PORT_SIZE
#define PORT_SIZE sizeof(mns_port_t)
#endif
#ifndef ROLE_COUNT
#define ROLE_COUNT 0
#endif
#ifndef STEP_COUNT
#define STEP_COUNT 0
#endif
#ifndef NODES
#define NODES nodes
#endif
#ifndef LABEL
#define LABEL "Described"
#endif

#ifndef PARAM
#define PARAM .type = MNS_MENU, .name = "choice", .label = "Choice", .menu = menu, .menu_count = MENU_COUNT
#endif
#ifndef PORT
#define PORT "second"
#endif
#ifndef ROLE
#define ROLE "other"
#endif
#ifndef NODE
#define NODE .min_inputs = 0
#endif

static const mns_menu_item_t menu[] = {{"one", "One"}, {"two", "Two"}, {"one", "One Again"}};

static const mns_param_t params[] = {
    {.size = PARAM_SIZE, PARAM},
    {.size = sizeof(mns_param_t), .type = MNS_MENU, .name = "choice", .label = "Choice", .menu = menu, .menu_count = 2},
};

static const mns_port_t ports[] = {
    {.size = PORT_SIZE, .carries = MNS_GEOMETRY, .name = "particles", .owner = MNS_OF_OBJECT,
     .access = {[MNS_PREDICT] = MNS_READ}},
    {.size = sizeof(mns_port_t), .carries = MNS_GEOMETRY, .name = PORT, .owner = MNS_OF_OBJECT,
     .access = {[MNS_PREDICT] = MNS_READ}},
};

static const mns_role_t roles[] = {{.size = sizeof(mns_role_t), .name = "part"},
                                   {.size = sizeof(mns_role_t), .name = ROLE}};
static const mns_step_t steps[] = {{.role = 0, .stage = MNS_PREDICT}};

static const mns_node_t nodes[] = {
    {.size = NODE_SIZE, .version = VERSION, .id = ID, .label = LABEL, .help = "Says wrong things about itself.",
     .kind = MNS_NODE_FORCE, .stages = MNS_BIT(MNS_PREDICT), .port_count = PORT_COUNT, .ports = ports,
     .param_count = PARAM_COUNT, .params = params, .role_count = ROLE_COUNT, .roles = roles, .step_count = STEP_COUNT,
     .steps = steps, NODE},
};

static mns_status_t create(mns_context_t *ctx, uint32_t node, mns_instance_t **instance) {
    (void)ctx, (void)node;
    *instance = (mns_instance_t *)(uintptr_t)nodes;
    return MNS_OK;
}

static void destroy(mns_instance_t *instance) { (void)instance; }

static mns_status_t run(mns_instance_t *instance, mns_context_t *ctx) {
    (void)instance, (void)ctx;
    return MNS_OK;
}

MNS_EXPORT const mns_plugin_t mns_plugin = {
    .size = sizeof(mns_plugin_t), .abi_major = MNS_ABI_MAJOR, .abi_minor = MNS_ABI_MINOR, .node_count = NODE_COUNT,
    .layout_hash = MNS_LAYOUT_HASH, .name = "test descriptors", .version = "1", .vendor = "Meniscus tests",
    .nodes = NODES, .create = create, .destroy = destroy, .run = run,
};
