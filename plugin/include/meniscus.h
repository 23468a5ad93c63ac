/* The C ABI of Meniscus solver plugins. C99 and C++17. SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A plugin is a shared library that exports ONE symbol: `mns_plugin`, constant data of type mns_plugin_t.
 * Scanning it runs no code of the plugin. A host then creates instances of its nodes and runs their stages.
 *
 * Growth.   A struct that may grow starts with `uint32_t size`, the sizeof its writer compiled. Fields are
 *           only appended; a reader uses min(size, its own sizeof) and takes the rest as zero. In an array
 *           of such structs the elements' `size` is the stride. Unknown major: do not load. Minor: may differ.
 * Threads.  Every function is tagged. [scan]: any time, needs no instance. [owner]: one call at a time per
 *           instance, on a thread of the caller's choice. [any]: from any thread, while the call lasts.
 * Memory.   The host allocates. Views, and every string handed to a stage, live until the call returns.
 *           Nobody frees the other side's memory. Descriptors are constant for the life of the library.
 * State.    All simulated state is in the ports. An instance holds only caches: dropping them between any
 *           two calls changes no bit of the result.
 * Views.    What a view shows without a `writable` pointer is only read, however it is cast: other nodes and
 *           earlier frames share it. `meniscus cook --paranoid` looks at every call, and names who did not.
 * Process.  A plugin does not end the process, and a call returns. Where one does not, the host says whose call
 *           it was. A plugin the host does not know yet is opened in a process of its own first, for a few
 *           seconds and with 4 GiB of memory at most.
 * Failure.  What a call wrote counts only if it returns MNS_OK or MNS_NOT_CONVERGED; otherwise the host
 *           drops it and the ports are as before the call.
 * Text.     UTF-8, ends in NUL; NULL where there is nothing to say. Units: SI, metres, Y up.
 */
#ifndef MENISCUS_H
#define MENISCUS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MNS_ABI_MAJOR 1u
#define MNS_ABI_MINOR 0u

/* ---- Numbers with names ------------------------------------------------------------------------------ */

/* What a call returns: 0 done, > 0 stopped without an error, < 0 failed (the sentence goes to ctx->fail). */
typedef int32_t mns_status_t;
enum {
    MNS_OK = 0,
    MNS_CANCELLED = 1,      /* progress() asked for it */
    MNS_NOT_CONVERGED = 2,  /* what was written stands; the host warns with the sentence of fail(), which should
                               say what was reached */
    MNS_DT_REJECTED = 3,    /* reject_dt() was called: the host rewinds the substep and retries */
    MNS_FAILED = -1,        /* the simulation cannot go on */
    MNS_INTERNAL = -2,      /* a fault of the plugin; the instance may only be destroyed now */
    MNS_BAD_ARGUMENT = -3,  /* the caller broke this contract */
    MNS_OUT_OF_MEMORY = -4,
    MNS_NOT_FINITE = -5,    /* NaN or infinity at a port */
    MNS_UNSUPPORTED = -6,   /* needs what this host or machine has not */
    MNS_BAD_INPUT = -7,     /* the data at a port cannot be used */
    MNS_BAD_PARAMETER = -8  /* a parameter's value cannot be used; the sentence names it */
};

/* Kinds of node. Geometry and output nodes are the host's own. */
enum { MNS_NODE_GEOMETRY = 0, MNS_NODE_OBJECT = 1, MNS_NODE_FORCE = 2, MNS_NODE_SOLVER = 3, MNS_NODE_COUPLING = 4, MNS_NODE_OUTPUT = 5 };

/* Stages. `init` runs once, at an object's first frame: first of the object, which makes its data; then, when every
 * object that begins there is made, of the forces that are there and of the solver it is wired into, in wire order;
 * then of each coupling that the solver takes part in, inner couplings first: once a frame in which objects of its
 * participants begin, with ctx->object NULL and all objects that are there by then, those of earlier frames too. Nodes
 * whose own frames do not hold that one are left out.
 * They may refuse what they could never step, and put right what the object could not know, before anything is
 * written to disk. `meniscus check` runs every init ("mns.trial"). The others are entries of a schedule: a solver without a
 * coupling, and a coupling without `steps`, run predict, solve and correct; advance and transport run only where the steps of
 * a coupling name them, and `meniscus check` tells of a node whose own never run. In
 * `contribute` a participant of a coupling writes its share of the system at ports of its objects or of itself; the
 * outermost coupling reads all shares in `solve`, solves once, and writes back what it promises: see its ports. */
enum { MNS_INIT = 0, MNS_PREDICT = 1, MNS_ADVANCE = 2, MNS_TRANSPORT = 3, MNS_SOLVE = 4, MNS_CORRECT = 5, MNS_CONTRIBUTE = 6 };
#define MNS_PROMISED 1.65 /* see mns_context_t.dt_next */
#define MNS_STAGES 16u /* room in mns_port_t.access */

/* A mask bit of a node kind or of a stage. */
#define MNS_BIT(n) (1u << (n))

/* mns_node_t.flags */
enum {
    MNS_ACCEPTS_SOURCES = 1, /* solver: what it solves may gain and lose mass, so source nodes may be wired in */
    MNS_IS_SOURCE = 2        /* force: adds or removes mass */
};

/* mns_node_t.rank of a solver: any number, these are for orientation. Solvers and couplings that are in no coupling step
 * in the order of their ranks, the lowest first, then of their names: what moves by itself before what meets it where it
 * is going. The participants of one role step by rank, too, and those of one rank in the order of their wires. A
 * coupling has the highest rank of its participants. */
enum {
    MNS_RANK_SOLID = -200, MNS_RANK_CLOTH = -100, MNS_RANK_LIQUID = 0, MNS_RANK_SMOKE = 100, MNS_RANK_WHITEWATER = 200
};

/* REQUIRED: the graph is refused where there is no GPU, or where its user wants none. Buffers are in host memory; what
 * a node keeps on a device is a cache. */
enum { MNS_GPU_NEVER = 0, MNS_GPU_OPTIONAL = 1, MNS_GPU_REQUIRED = 2 };

/* What a port carries. */
enum { MNS_GRID = 0, MNS_GEOMETRY = 1, MNS_TABLE = 2 };

/* Whose data a port names, and what its items are:
 *   OBJECT       the object being created, acted on or solved; one item.
 *   SOLVED       solver only: all objects it solves, in the order of their names; item i is the same object for
 *                every port of this owner. A stage with access to such a port runs once, its ctx->object NULL, and
 *                has no ports of OBJECT; stages without run once an object. `init` runs once for a new object in
 *                any case, and may have both.
 *   AFFECTOR     every other object wired into the solver, in wire order; item i is the same object for
 *                every affector port of the node.
 *   INPUT        the geometry wired into this node, in wire order, as it is at the end of the substep
 *                (at the first frame's time for `init`), with point attribute `v` where it moves.
 *   PARTICIPANT  coupling only: the objects that the participants of one role solve, of that role's medium, in the
 *                order of their names; item i is the same object for every port of that role.
 *   NODE         data kept for this node itself; one item.
 *   MEMBER       coupling only: what participants keep for themselves. The items are the participants of one role that
 *                have a port of this name with owner NODE, in the order of their names; of participants that are
 *                couplings also their own participants of the role's medium. Whoever does not run now, or has no
 *                object now, is no item. So a coupling that is wired into another, or a solver, contributes what
 *                belongs to no object of its own: regions, jumps, constraints between its bodies. A coupling of
 *                several media is an item of every role it plays; mns_port_t.role = MNS_ROLE_ANY: the participants of
 *                all roles, each once. */
enum {
    MNS_OF_OBJECT = 0, MNS_OF_AFFECTOR = 1, MNS_OF_INPUT = 2, MNS_OF_PARTICIPANT = 3, MNS_OF_NODE = 4, MNS_OF_SOLVED = 5,
    MNS_OF_MEMBER = 6
};

/* Where a grid's values sit. FACE: component c of voxel ijk is on its LOWER face across axis c. NODE: on the
 * voxel's lower corner. Integer index coordinates are cell centres. */
enum { MNS_CENTER = 0, MNS_FACE = 1, MNS_NODE = 2 };

/* STATE is checkpointed; SUBSTEP is scratch, gone when the substep ends. */
enum { MNS_STATE = 0, MNS_SUBSTEP = 1 };

/* Access of a stage to a port. WRITE makes it anew and reads nothing of what was there. */
enum { MNS_NO_ACCESS = 0, MNS_READ = 1, MNS_WRITE = 2, MNS_READ_WRITE = 3 };

/* How what several nodes put into a port in one substep goes together, voxel by voxel. With ADD and MIN each node has
 * one contribution a substep: writing again replaces it, clear() takes it back, and the order in which nodes run does
 * not matter (sums go in the order of their names). The first one replaces what the substep before left. All stages
 * that make the same data anew (MNS_WRITE) have the same rule, or the graph is refused; `init` excepted. A stage that
 * reads and writes a port acts in turn: it replaces what is there, and later contributions join what it left. */
enum { MNS_REPLACE = 0, MNS_ADD = 1, MNS_MIN = 2 };

/* What a grid means to other programs. */
enum { MNS_PLAIN_GRID = 0, MNS_LEVEL_SET = 1, MNS_FOG = 2 };

/* How pictures draw a level set, or points: DOTS, each as a white ball of radius `pscale`. */
enum { MNS_NOT_DRAWN = 0, MNS_DRAWN_AS_LIQUID = 1, MNS_DRAWN_AS_SOLID = 2, MNS_DRAWN_AS_DOTS = 3 };

/* mns_port_t.flags */
enum {
    MNS_RESULT = 1,  /* caches write it unless their user names something else, in the order of these ports */
    MNS_MOVABLE = 2  /* of an object: geometry, whose points forces act on (their `dv`), or a grid of three f32, to which they
                        add what they change velocities by where its leaves are, m/s: its solver takes it, and makes it 0.
                        Of a force: see mns_port_t.name */
};

/* Element types. */
enum { MNS_F32 = 0, MNS_F64 = 1, MNS_I32 = 2, MNS_I64 = 3, MNS_U8 = 4, MNS_U32 = 5, MNS_U64 = 6 };

/* Parameter types. */
enum { MNS_FLOAT = 0, MNS_INT = 1, MNS_TOGGLE = 2, MNS_MENU = 3, MNS_STRING = 4, MNS_FILE = 5, MNS_VECTOR3 = 6 };

/* mns_param_t.flags: a hard end of the range is refused beyond, a soft one only bounds the slider. */
enum { MNS_HARD_MIN = 1, MNS_HARD_MAX = 2, MNS_NOT_ANIMATED = 4 /* read at `init` or fixed for the shot */ };

/* What geometry is made of, and what an attribute is on. */
enum { MNS_POINTS = 0, MNS_POLYLINES = 1, MNS_TRIANGLES = 2 };
enum { MNS_ON_POINTS = 0, MNS_ON_VERTICES = 1, MNS_ON_PRIMITIVES = 2, MNS_ON_DETAIL = 3 };

/* How an attribute moves with its geometry. */
enum { MNS_PLAIN = 0, MNS_POSITION = 1, MNS_VECTOR = 2, MNS_NORMAL = 3, MNS_QUATERNION = 4, MNS_COLOR = 5 };

/* What a parameter means to the host, whatever its name. It estimates shots and places cameras by them, and acts on
 * the first two itself. */
enum {
    MNS_MEANS_NOTHING = 0,
    MNS_MEANS_FIRST_FRAME = 1,  /* int: first frame a node runs (an object exists); 0: the shot's first */
    MNS_MEANS_LAST_FRAME = 2,   /* int: last of them; 0: the shot's last */
    MNS_MEANS_SEPARATION = 3,   /* object: distance between particles, m; they fill its geometry */
    MNS_MEANS_VOXEL_SCALE = 4,  /* object: edge of a voxel in such distances */
    MNS_MEANS_VOXEL = 5,        /* object: edge of a voxel, m; they line its surface */
    MNS_MEANS_BOX_CENTER = 6,   /* solver: middle of the box that its objects stay in, m */
    MNS_MEANS_BOX_SIZE = 7,     /* solver: its size, m */
    MNS_MEANS_BOX_SIDE = 8,     /* to 13: solver: sides -x +x -y +y -z +z of the box, a menu whose entry 0 is closed,
                                   1 open to infinity, 2 open at the side */
    MNS_MEANS_ACTIVE = 14,      /* source: it works now */
    MNS_MEANS_DRIVES = 15,      /* source: it drives what it makes out of its region */
    MNS_MEANS_VELOCITY = 16     /* source: what it makes enters with it, m/s; object: it begins with it */
};

enum { MNS_LOG_DEBUG = 0, MNS_LOG_INFO = 1, MNS_LOG_WARNING = 2 };

/* ---- Descriptors: what a node is, as data ------------------------------------------------------------ */

typedef struct mns_menu_item_t {
    const char *token; /* in graph files */
    const char *label;
} mns_menu_item_t;

typedef struct mns_param_t {
    uint32_t size;
    int32_t type;
    const char *name;         /* in graph files, e.g. "particle_separation" */
    const char *label;        /* "Particle Separation" */
    const char *folder;       /* "Domain/Limits": tabs, separated by '/' */
    const char *unit;         /* "m", "kg/m^3", NULL for a pure number */
    const char *help;         /* a sentence or two for an artist */
    const char *houdini_name; /* Houdini's parameter of this meaning, or NULL */
    const char *disable_when; /* "{ track == 0 }", Houdini's syntax, or NULL */
    const char *default_text; /* string, file */
    double default_number[3]; /* float, int, toggle (0, 1), menu (entry number), vector3 */
    double range[2];          /* equal ends: no range */
    uint32_t flags;
    uint32_t menu_count;
    const mns_menu_item_t *menu;
    int32_t means;            /* MNS_MEANS_...; of a node's parameters, one means a thing */
    uint32_t reserved;
} mns_param_t;

/* Merge rule, lifetime, class and flags belong to a port with its owner and role: data of one name on two objects
 * are two things. All that use the same data of the same object must name the same shape, and all that write it the same lifetime
 * and class. */
typedef struct mns_port_t {
    uint32_t size;
    int32_t carries;    /* MNS_GRID, MNS_GEOMETRY, MNS_TABLE */
    const char *name;   /* of the data on its owner: "vel", "particles". NULL (force, owner OBJECT, with MNS_MOVABLE):
                           everything of this shape that the object's own node or its solver declares movable, one item
                           each; of a force's required ones without a name, one at least must find something */
    const char *help;
    const char *unit;
    int32_t owner;      /* MNS_OF_... */
    uint32_t role;      /* of PARTICIPANT, MEMBER: entry of mns_node_t.roles; of MEMBER also MNS_ROLE_ANY */
    int32_t sampling;   /* grids */
    int32_t element;    /* grids */
    uint32_t components; /* grids */
    int32_t lifetime;
    int32_t merge;
    uint32_t required;  /* 1: a reading stage does not run without it */
    uint8_t access[MNS_STAGES]; /* MNS_READ ..., by stage */
    int32_t grid_class; /* grids: MNS_PLAIN_GRID ... */
    int32_t drawn;      /* level sets: MNS_NOT_DRAWN ...; points: as dots, or (P, orient) places at which the object's level
                           sets that are drawn so are shown, each moved there from the origin, instead of where they are; triangles:
                           the mesh that stands at each of these places, which outputs move there; where no points are drawn
                           so, a surface where it is */
    uint32_t flags;     /* MNS_RESULT ... */
    uint32_t reserved;
    const char *report; /* geometry: how its points are listed in stats.jsonl: a key ("bubbles", "bodies"), then names
                           of point attributes, each as `name` or `name_there=name`, separated by blanks; with a ?
                           behind it, it is written as true or false; `name=@object`: the object's name. NULL: not at
                           all */
} mns_port_t;

/* A part in a coupling, played by the participants (solvers, couplings) whose medium it names. Roles are
 * listed in the order in which they predict: solids before fluids. A participant plays, for each medium of its objects,
 * the first role of that medium that has not max_count participants yet; a medium that no role names plays the first role that takes any. One that finds
 * no place is refused. */
typedef struct mns_role_t {
    uint32_t size;
    uint32_t min_count, max_count; /* participants; max 0: any number */
    uint32_t max_objects;          /* that they solve between them, of the role's medium; 0: any number */
    const char *name;   /* "liquid" */
    const char *medium; /* the participants' medium, NULL: any */
    const char *help;
} mns_role_t;

#define MNS_ROLE_ANY UINT32_MAX

/* An entry of a coupling's schedule: that stage of every participant of the role, by rank, then in wire order, or of the
 * coupling itself (MNS_ROLE_SELF). */
typedef struct mns_step_t {
    uint32_t role;
    int32_t stage;
} mns_step_t;
#define MNS_ROLE_SELF UINT32_MAX

typedef struct mns_node_t {
    uint32_t size;
    uint32_t version;      /* of the node's meaning; a changed meaning is a new version */
    const char *id;        /* "meniscus.flip_solver"; graph files may leave out a known prefix */
    const char *label;
    const char *help;
    const char *medium;    /* object, solver: "liquid", "collider" ...; a solver solves the objects of its medium,
                              the other objects wired into it are its affectors */
    const char *houdini_name;
    const char *cites;     /* keys of references.bib, separated by blanks */
    int32_t kind;
    uint32_t stages;       /* bits of the stages `run` implements */
    uint32_t accepts;      /* bits of the node kinds it takes as inputs */
    uint32_t min_inputs, max_inputs; /* max 0: any number */
    int32_t gpu;
    uint32_t flags;
    uint32_t port_count;
    uint32_t param_count;
    uint32_t role_count;
    uint32_t step_count;   /* 0: predict all roles and itself, contribute all roles and itself, solve, correct itself
                              and all roles. The outermost coupling's schedule counts: a coupling in it runs its own
                              predict and contribute after its participants', its correct before theirs */
    int32_t rank;          /* solver: MNS_RANK_... */
    const mns_port_t *ports;
    const mns_param_t *params;
    const mns_role_t *roles;
    const mns_step_t *steps;
    /* object: what it costs while a substep runs, for estimates; 0: nobody knows */
    double particle_bytes, voxel_bytes;     /* per particle, per voxel */
    /* of one processor core, per particle, per voxel; of what has no particles, per voxel as large as those of the
     * particles around it */
    double particle_seconds, voxel_seconds;
} mns_node_t;

/* ---- Data: grids, geometry, tables ------------------------------------------------------------------- */

#define MNS_LEAF_SIZE 512u /* voxel (x, y, z) of a leaf: n = (x&7)<<6 | (y&7)<<3 | (z&7), OpenVDB's order */
#define MNS_COMPONENTS_MAX 9u

/* A cube of voxels that all hold one value: edge 8, 128 or 4096 voxels, as in OpenVDB's tree. */
typedef struct mns_tile_t {
    int32_t origin[3];
    int32_t edge;
} mns_tile_t;

/* Stamps: equal topology_id, same leaves; equal value_id, same bytes. 0: not stamped. They last as long as
 * the process and never steer a result. As a request (shape_grid), fields marked [shape] are read; there
 * topology_id is 0 or that of a grid with these very leaves, which a host that still knows it shares. */
typedef struct mns_grid_t {
    uint32_t size;
    int32_t element;             /* [shape] */
    uint32_t components;         /* [shape] */
    int32_t sampling;            /* [shape] */
    uint64_t topology_id;        /* [shape] */
    uint64_t value_id;
    uint64_t leaf_count;         /* [shape] */
    const int32_t *origins;      /* [shape] [leaf][3], multiples of 8, sorted by x, y, z */
    uint64_t tile_count;         /* [shape] */
    const mns_tile_t *tiles;     /* [shape] */
    const double *tile_values;   /* [shape] [tile][component] */
    double background[MNS_COMPONENTS_MAX];       /* [shape] outside leaves and tiles */
    double index_to_world[16];   /* [shape] row-major, acting on row vectors (x y z 1) M */
    const void *values[MNS_COMPONENTS_MAX];      /* per component [leaf][512] */
    void *writable[MNS_COMPONENTS_MAX];          /* the same memory, NULL in a view to read */
} mns_grid_t;

typedef struct mns_attribute_t {
    uint32_t size;
    int32_t on;            /* [shape] points, vertices, primitives, detail */
    const char *name;      /* [shape] "P", "v", "id" ... */
    int32_t element;       /* [shape] */
    uint32_t components;   /* [shape] */
    int32_t meaning;       /* [shape] MNS_PLAIN ... */
    uint32_t reserved;
    uint64_t value_id;
    uint64_t count;
    uint64_t stride;       /* bytes from one element to the next */
    const void *values;
    void *writable;        /* the same memory, NULL in a view to read */
} mns_attribute_t;

/* One kind of primitive per geometry. POINTS have no vertices, each point is its primitive. Polyline p owns
 * vertices starts[p] .. starts[p+1]; triangle p owns 3p, 3p+1, 3p+2. P is relative to `origin`. */
typedef struct mns_geometry_t {
    uint32_t size;
    int32_t primitive;         /* [shape] */
    uint64_t topology_id;      /* counts and vertices */
    uint64_t point_count;      /* [shape] */
    uint64_t vertex_count;     /* [shape] */
    uint64_t primitive_count;  /* [shape] */
    const uint32_t *vertices;  /* [vertex] point number */
    const uint32_t *starts;    /* [primitive + 1], polylines only */
    uint32_t *writable_vertices;
    uint32_t *writable_starts;
    double origin[3];          /* [shape] metres */
    const mns_attribute_t *attributes; /* [shape] */
    uint32_t attribute_count;  /* [shape] */
    uint32_t reserved;
} mns_geometry_t;

typedef struct mns_array_t {
    uint32_t size;
    int32_t element;      /* [shape] */
    const char *name;     /* [shape] */
    uint32_t components;  /* [shape] */
    uint32_t reserved;
    uint64_t count;       /* [shape] */
    uint64_t value_id;
    const void *values;   /* [count][components] */
    void *writable;       /* the same memory, NULL in a view to read */
} mns_array_t;

typedef struct mns_table_t {
    uint32_t size;
    uint32_t array_count;      /* [shape] */
    const mns_array_t *arrays; /* [shape] */
} mns_table_t;

/* ---- The call ---------------------------------------------------------------------------------------- */

/* A parameter's value, already evaluated for this substep. Menu: entry number, and its token as text. */
typedef struct mns_value_t {
    double number[3];
    const char *text;
} mns_value_t;

/* What a linear solve did, for stats.jsonl. */
typedef struct mns_solve_t {
    uint32_t size;
    uint32_t iterations;
    const char *name;
    const char *device; /* "cpu", "cuda" */
    uint64_t unknowns;
    double residual;    /* final, relative to the right side */
    double seconds;
} mns_solve_t;

typedef struct mns_context_t mns_context_t;
struct mns_context_t {
    uint32_t size;
    int32_t stage;           /* being run; -1 in create and suggest_dt */
    uint32_t step;           /* entry of the coupling's schedule; 0 where there is none */
    uint32_t threads;        /* the host's budget: a plugin owns a pool of at most this size */
    void *host;              /* the host's own */
    const char *node;        /* the node's name in the graph */
    const char *object;      /* the object's name (MNS_OF_OBJECT), or NULL */
    double time;             /* at the start of the substep, s */
    double dt;               /* of this substep, s; 0 in init and in an object's first step of all, which moves nothing:
                                in it forces and pressures act for half of the substep that follows at once. An
                                object that a stage sees together with others that have moved has no such step */
    double dt_next;          /* of the next one, s; promised: it comes out shorter where speeds jump, that is where it is
                                more than MNS_PROMISED times longer than the shortest answer of suggest_dt when its
                                turn comes; 0 in init */
    double dt_kick;          /* over which accelerations, pressures and viscosity change velocities, s: from the moment
                                these belong to, half a substep ahead of positions, to the middle of the next one.
                                A force reads the point attribute `v` and adds what it changes to `dv`, which
                                is zero before the first force of a substep; the solver overwrites `v`. Of a call
                                that sees several objects: the longest of theirs, item_kick() tells each one's */
    double frame_left;       /* from `time` to the end of the frame, s */
    double fps;
    double cfl;              /* voxels a substep may cross */
    int32_t frame;
    uint32_t substep;        /* 0 at the start of each frame */
    uint32_t param_count;
    uint32_t reserved;
    const mns_value_t *params; /* in the order of the descriptor */

    /* [any] `done` of this stage, 0 to 1, or < 0 where nobody knows. 1: cancel, return MNS_CANCELLED soon.
       At least once per iteration of a solver, and a few times a second in whatever else may take long. */
    int32_t (*progress)(mns_context_t *ctx, double done);
    /* [any] A sentence for the artist. A host may show only some of very many, and count the rest. What a plugin
       prints instead reaches people as lines without the node's name. */
    void (*log)(mns_context_t *ctx, int32_t level, const char *sentence);
    /* [any] Says why, in one sentence for the artist; returns `status`, which the call then returns.
       port: entry of the descriptor, -1 for none. */
    mns_status_t (*fail)(mns_context_t *ctx, mns_status_t status, int32_t port, const char *sentence);
    /* [any] A number for stats.jsonl, under its key there ("volume", "momentum", "max_divergence" ...),
       of the object where there is one. */
    void (*measure)(mns_context_t *ctx, const char *key, uint32_t count, const double *values);
    /* [any] The same of the object that an item is of, in a call that sees several; of an item that is of no object
       it is measure(). */
    void (*measure_item)(mns_context_t *ctx, uint32_t port, uint32_t item, const char *key, uint32_t count,
                         const double *values);
    /* [any] A solve for stats.jsonl. A residual or time that is not finite fails the call. */
    void (*solved)(mns_context_t *ctx, const mns_solve_t *solve);

    /* [owner] Number of items at a port. */
    uint32_t (*items)(mns_context_t *ctx, uint32_t port);
    /* [owner] Name of the object or node an item comes from. */
    const char *(*item_name)(mns_context_t *ctx, uint32_t port, uint32_t item);
    /* [owner] dt_kick of the object that an item is of, s. It is another than ctx->dt_kick where objects of one call
       began at different times: the velocities of one that has not moved yet are not ahead of its positions. Of an
       item that is of no object: ctx->dt_kick. 0 in init and suggest_dt. */
    double (*item_kick)(mns_context_t *ctx, uint32_t port, uint32_t item);
    /* [owner] The data at a port as it was when the call began (or as this call last shaped or edited it).
       NULL where the item has none. */
    const mns_grid_t *(*grid)(mns_context_t *ctx, uint32_t port, uint32_t item);
    const mns_geometry_t *(*geometry)(mns_context_t *ctx, uint32_t port, uint32_t item);
    const mns_table_t *(*table)(mns_context_t *ctx, uint32_t port, uint32_t item);

    /* [owner] New data at a port, in the shape asked for; to be written in place. Grid values start as the
       background, everything else as zero. May be called late, when a count is known, and again; views
       handed out before stay valid. NULL: refused (no write access, out of memory); fail() was called. */
    const mns_grid_t *(*shape_grid)(mns_context_t *ctx, uint32_t port, uint32_t item, const mns_grid_t *shape);
    const mns_geometry_t *(*shape_geometry)(mns_context_t *ctx, uint32_t port, uint32_t item, const mns_geometry_t *shape);
    const mns_table_t *(*shape_table)(mns_context_t *ctx, uint32_t port, uint32_t item, const mns_table_t *shape);
    /* [owner] The data at a port made writable, its bytes kept (copied first where someone else reads them).
       An attribute or array that is not there, or of another type or count, is made anew, zero. */
    const mns_grid_t *(*edit_grid)(mns_context_t *ctx, uint32_t port, uint32_t item);
    const mns_attribute_t *(*edit_attribute)(mns_context_t *ctx, uint32_t port, uint32_t item, const mns_attribute_t *shape);
    const mns_array_t *(*edit_array)(mns_context_t *ctx, uint32_t port, uint32_t item, const mns_array_t *shape);
    /* [owner] Moves the grid at a port: a new index_to_world, row-major; values and stamps stay. It is
       affine and gives voxels a volume. */
    mns_status_t (*place_grid)(mns_context_t *ctx, uint32_t port, uint32_t item, const double *index_to_world);
    /* [owner] Takes away what is at a port that this stage may write (of ADD and MIN, see there, this node's own
       contribution); nothing where nothing is. */
    mns_status_t (*clear)(mns_context_t *ctx, uint32_t port, uint32_t item);

    /* [owner] The next dt should not be longer than this, s. */
    void (*suggest_dt)(mns_context_t *ctx, double dt);
    /* [owner] This dt was too long; returns MNS_DT_REJECTED, which the stage then returns. */
    mns_status_t (*reject_dt)(mns_context_t *ctx, double suggestion);
    /* [owner] A host extension, or NULL. ("mns.device", 1): where the user wants solves to run, a const char *:
       "auto" (a GPU where there is one), "cpu", or "cuda" (a GPU, or the call fails). ("mns.trial", 1): not NULL
       in init where the host only asks whether the shot could begin. Fail as ever; what takes long need not be
       made, and what others made may be empty.
       ("mns.memory", 1): a void (*)(uint64_t bytes), [any] as long as the process lasts: says whose call needed so
       many bytes that could not be had, and ends the process; for an allocator that has no other way. */
    const void *(*extension)(mns_context_t *ctx, const char *id, uint32_t revision);
};

/* ---- The plugin -------------------------------------------------------------------------------------- */

typedef struct mns_instance_t mns_instance_t; /* the plugin's own */

typedef struct mns_plugin_t {
    uint32_t size;
    uint32_t abi_major; /* MNS_ABI_MAJOR */
    uint32_t abi_minor; /* MNS_ABI_MINOR */
    uint32_t node_count;
    uint64_t layout_hash; /* MNS_LAYOUT_HASH */
    const char *name;
    const char *version;
    const char *vendor;
    const mns_node_t *nodes;

    /* [owner] An instance of nodes[node]; the context has no ports. */
    mns_status_t (*create)(mns_context_t *ctx, uint32_t node, mns_instance_t **instance);
    /* [owner] */
    void (*destroy)(mns_instance_t *instance);
    /* [owner] Runs ctx->stage. */
    mns_status_t (*run)(mns_instance_t *instance, mns_context_t *ctx);
    /* [owner] The longest dt this node would take from here, with every port to read as it is now (NULL where
       nothing is yet; ports of INPUT have no items); NULL in the table, or dt left as it was (+infinity): no
       opinion. A dt that was promised may be MNS_PROMISED times longer. Before every substep each node that runs
       in it is asked, and the shortest answer counts: an object for itself, a force and a solver for each object
       the solver solves, a coupling once. */
    mns_status_t (*suggest_dt)(mns_instance_t *instance, mns_context_t *ctx, double *dt);
    /* [owner] Forget every cache. */
    void (*drop_caches)(mns_instance_t *instance);
    /* [scan] A plugin extension by id and revision, or NULL. The entry itself may be NULL. */
    const void *(*extension)(const char *id, uint32_t revision);
} mns_plugin_t;

#if defined(_WIN32)
#define MNS_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define MNS_EXPORT __attribute__((visibility("default")))
#else
#define MNS_EXPORT
#endif

/* The one symbol: `MNS_EXPORT const mns_plugin_t mns_plugin = { sizeof(mns_plugin_t), ... };` */
MNS_EXPORT extern const mns_plugin_t mns_plugin;

/* Computed by the plugin's own compiler, so that a packed or reordered build is refused before anything is
 * called. It covers the fields of minor 0 and stays the same over a major. */
#define MNS_LAYOUT_TERM(k, x) ((uint64_t)(x) * (UINT64_C(0x9E3779B97F4A7C15) * (uint64_t)(2 * (k) + 1)))
#define MNS_LAYOUT_AT(k, type, field) MNS_LAYOUT_TERM(k, (uint64_t)offsetof(type, field) + 1u)
#define MNS_LAYOUT_HASH                                                                                     \
    (MNS_LAYOUT_TERM(0, MNS_ABI_MAJOR) + MNS_LAYOUT_TERM(1, sizeof(mns_menu_item_t)) +                      \
     MNS_LAYOUT_AT(2, mns_param_t, name) + MNS_LAYOUT_AT(3, mns_param_t, default_number) +                  \
     MNS_LAYOUT_AT(4, mns_param_t, means) + MNS_LAYOUT_AT(5, mns_port_t, name) +                             \
     MNS_LAYOUT_AT(6, mns_port_t, owner) + MNS_LAYOUT_AT(7, mns_port_t, report) +                           \
     MNS_LAYOUT_AT(8, mns_role_t, help) + MNS_LAYOUT_TERM(9, sizeof(mns_step_t)) +                          \
     MNS_LAYOUT_AT(10, mns_node_t, id) + MNS_LAYOUT_AT(11, mns_node_t, kind) +                              \
     MNS_LAYOUT_AT(12, mns_node_t, voxel_seconds) + MNS_LAYOUT_TERM(13, sizeof(mns_tile_t)) +                       \
     MNS_LAYOUT_AT(14, mns_grid_t, origins) + MNS_LAYOUT_AT(15, mns_grid_t, background) +                   \
     MNS_LAYOUT_AT(16, mns_grid_t, values) + MNS_LAYOUT_AT(17, mns_grid_t, writable) +                      \
     MNS_LAYOUT_AT(18, mns_attribute_t, name) + MNS_LAYOUT_AT(19, mns_attribute_t, writable) +              \
     MNS_LAYOUT_AT(20, mns_geometry_t, vertices) + MNS_LAYOUT_AT(21, mns_geometry_t, attribute_count) +     \
     MNS_LAYOUT_AT(22, mns_array_t, name) + MNS_LAYOUT_AT(23, mns_array_t, writable) +                      \
     MNS_LAYOUT_AT(24, mns_table_t, arrays) + MNS_LAYOUT_TERM(25, sizeof(mns_value_t)) +                    \
     MNS_LAYOUT_AT(26, mns_solve_t, seconds) + MNS_LAYOUT_AT(27, mns_context_t, params) +                   \
     MNS_LAYOUT_AT(28, mns_context_t, progress) + MNS_LAYOUT_AT(29, mns_context_t, extension) +             \
     MNS_LAYOUT_AT(30, mns_plugin_t, layout_hash) + MNS_LAYOUT_AT(31, mns_plugin_t, nodes) +                \
     MNS_LAYOUT_AT(32, mns_plugin_t, extension))

#ifdef __cplusplus
}
#endif

#endif /* MENISCUS_H */
