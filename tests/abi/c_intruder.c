/* Nodes that reach for what is not theirs - the terminal, other processes, open files: forces on an object with
 * `particles` (wire them into a solver). They do it once, in frame 2.
 *
 * With -DCONSTRUCTOR=... the plugin runs that statement when it is opened, with -DSECOND=... when a command opens it, and
 * not where it is only looked at.
 */
#define _GNU_SOURCE
#include "meniscus.h"

#include <fcntl.h>
#include <fenv.h>
#include <pthread.h>
#include <sys/stat.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WILD "\x1b[2J\x1b]0;owned\x07\rerror: forged\xc2\x9b" "31m"

static const mns_port_t ports[] = {
    {.size = sizeof(mns_port_t), .carries = MNS_GEOMETRY, .name = "particles", .owner = MNS_OF_OBJECT,
     .required = 1, .access = {[MNS_PREDICT] = MNS_READ}},
};

enum { PRINTS, PRINTS_AND_CRASHES, PRINTS_A_MILLION, LOGS_A_MILLION, KILLS_PARENT, STOPS_PARENT, LEAVES_PROCESSES,
       DOUBLES, CLOSES_FILES, CLOSES_THE_LOCK, REPLACES_FILES, ROUNDS_UP, LEAVES_A_CRASH, LEAVES_AN_EXIT,
       LEAVES_AN_ABORT, CHANGES_FOLDER, SPINS, NODES };

#define FORCE(id_)                                                                                           \
    {.size = sizeof(mns_node_t), .version = 1, .id = id_, .label = id_, .help = "Reaches for what is not its own.", \
     .kind = MNS_NODE_FORCE, .stages = MNS_BIT(MNS_PREDICT), .port_count = 1, .ports = ports}

static const mns_node_t nodes[NODES] = {
    [PRINTS] = FORCE("test.prints"),
    [PRINTS_AND_CRASHES] = FORCE("test.prints_and_crashes"),
    [PRINTS_A_MILLION] = FORCE("test.prints_a_million"),
    [LOGS_A_MILLION] = FORCE("test.logs_a_million"),
    [KILLS_PARENT] = FORCE("test.kills_parent"),
    [STOPS_PARENT] = FORCE("test.stops_parent"),
    [LEAVES_PROCESSES] = FORCE("test.leaves_processes"),
    [DOUBLES] = FORCE("test.doubles"),
    [CLOSES_FILES] = FORCE("test.closes_files"),
    [CLOSES_THE_LOCK] = FORCE("test.closes_the_lock"),
    [REPLACES_FILES] = FORCE("test.replaces_files"),
    [ROUNDS_UP] = FORCE("test.rounds_up"),
    [LEAVES_A_CRASH] = FORCE("test.leaves_a_crash"),
    [LEAVES_AN_EXIT] = FORCE("test.leaves_an_exit"),
    [LEAVES_AN_ABORT] = FORCE("test.leaves_an_abort"),
    [CHANGES_FOLDER] = FORCE("test.changes_folder"),
    [SPINS] = FORCE("test.spins"),
};

/* Another process is given something to end by: it is found by its name. */
static void sleep_apart(void) {
    if (fork()) return;
    setsid();
    if (fork()) _exit(0);
    execlp("sleep", "sleep", "1234", (char *)NULL);
    _exit(1);
}

/* What a thread that was left behind does when its node has long returned. */
static void *crash(void *none) {
    (void)none;
    usleep(100000);
    int *volatile nowhere = (int *)8;
    *nowhere = 1;
    return NULL;
}

static void *end(void *none) {
    (void)none;
    usleep(100000);
    exit(0);
}

static void *give_up(void *none) {
    (void)none;
    usleep(100000);
    abort();
}

static mns_status_t leave(void *(*what)(void *)) {
    pthread_t thread;
    return pthread_create(&thread, NULL, what, NULL) ? MNS_BAD_ARGUMENT : MNS_OK;
}

static void close_the_lock(void) {
    char name[32], path[4096];
    for (int i = 3; i < 1000; ++i) {
        snprintf(name, sizeof name, "/proc/self/fd/%d", i);
        const ssize_t length = readlink(name, path, sizeof path - 1);
        if (length < 0) continue;
        path[length] = 0;
        if (strstr(path, "cook.lock")) close(i);
    }
}

static mns_status_t create(mns_context_t *ctx, uint32_t node, mns_instance_t **instance) {
    (void)ctx;
    *instance = (mns_instance_t *)(uintptr_t)&nodes[node];
    return MNS_OK;
}

static void destroy(mns_instance_t *instance) { (void)instance; }

static mns_status_t run(mns_instance_t *instance, mns_context_t *ctx) {
    static int done;
    if (ctx->frame != 2 || done++) return MNS_OK;
    switch ((const mns_node_t *)(const void *)instance - nodes) {
    case PRINTS:
        printf("to its output " WILD "\n");
        fprintf(stderr, "to its errors " WILD "\n");
        printf("without an end");
        fflush(stdout);
        return MNS_OK;
    case PRINTS_AND_CRASHES:
        printf("last words\n");
        fprintf(stderr, "and the very last");
        abort();
    case PRINTS_A_MILLION:
        for (int i = 0; i < 1000000; ++i) printf("line %d\n", i);
        return MNS_OK;
    case LOGS_A_MILLION:
        for (int i = 0; i < 1000000; ++i) ctx->log(ctx, MNS_LOG_WARNING, "once more");
        return MNS_OK;
    case KILLS_PARENT:
        kill(getppid(), SIGKILL);
        for (;;) pause();
    case STOPS_PARENT: kill(getppid(), SIGSTOP); return MNS_OK;
    case LEAVES_PROCESSES:
        sleep_apart();
        sleep_apart();
        return MNS_OK;
    case DOUBLES: fork(); return MNS_OK;
    case CLOSES_FILES:
        for (int i = 3; i < 1000; ++i) close(i);
        return MNS_OK;
    case CLOSES_THE_LOCK: close_the_lock(); return MNS_OK;
    case ROUNDS_UP: fesetround(FE_UPWARD); return MNS_OK;
    case LEAVES_A_CRASH: return leave(crash);
    case LEAVES_AN_EXIT: return leave(end);
    case LEAVES_AN_ABORT: return leave(give_up);
    case CHANGES_FOLDER:
        umask(0777);
        return chdir("/") ? MNS_BAD_ARGUMENT : MNS_OK;
    case SPINS:
        for (volatile int i = 0;; i = 0) (void)i;
    case REPLACES_FILES: {
        /* Files on a disk alone: others of the same numbers take what is written next. */
        const int other = open("/dev/null", O_RDWR);
        for (int i = 3; i < 1000; ++i) {
            struct stat about;
            if (i != other && !fstat(i, &about) && S_ISREG(about.st_mode)) dup2(other, i);
        }
        return MNS_OK;
    }
    default: return MNS_BAD_ARGUMENT;
    }
}

/* Whether the process only looks at the plugin. */
static int only_looked_at(void) {
    char words[4096] = {0};
    FILE *f = fopen("/proc/self/cmdline", "r");
    if (!f) return 0;
    const size_t length = fread(words, 1, sizeof words - 1, f);
    fclose(f);
    return memmem(words, length, "scan-plugin", 11) != NULL;
}

__attribute__((constructor)) static void constructor(void) {
#if defined(CONSTRUCTOR)
    CONSTRUCTOR;
#endif
#if defined(SECOND)
    if (!only_looked_at()) { SECOND; }
#else
    (void)only_looked_at;
#endif
}

MNS_EXPORT const mns_plugin_t mns_plugin = {
    .size = sizeof(mns_plugin_t), .abi_major = MNS_ABI_MAJOR, .abi_minor = MNS_ABI_MINOR, .node_count = NODES,
    .layout_hash = MNS_LAYOUT_HASH, .name = "intruder", .version = "1", .vendor = "test", .nodes = nodes,
    .create = create, .destroy = destroy, .run = run,
};
