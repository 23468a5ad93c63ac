/* C face of the few OpenVDB services the host uses. Every entry catches C++ exceptions: it returns 0, or 1
 * with one sentence in `error`. Leaves are 8x8x8 in OpenVDB's order, n = (x&7)<<6 | (y&7)<<3 | (z&7);
 * bit n&63 of mask word n>>6 says whether voxel n is active. */
#ifndef MENISCUS_VDB_SHIM_H
#define MENISCUS_VDB_SHIM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Element types of a grid. */
enum { MV_FLOAT = 0, MV_VEC3F = 1, MV_INT32 = 2, MV_OTHER = 3 };
/* Grid classes, as OpenVDB's `class` metadata. */
enum { MV_UNKNOWN = 0, MV_LEVEL_SET = 1, MV_FOG_VOLUME = 2, MV_STAGGERED = 3 };
/* Metadata value types. */
enum { MV_META_STRING = 0, MV_META_FLOAT = 1, MV_META_INT = 2, MV_META_BOOL = 3, MV_META_DOUBLE = 4 };

typedef struct mv_error {
    char text[512];
} mv_error;

typedef struct mv_meta {
    const char* key;
    const char* text; /* MV_META_STRING only */
    double number;
    int32_t type;
} mv_meta;

/* A constant box of voxels: level 1 is 8 voxels wide, 2 is 128, 3 is 4096. */
typedef struct mv_tile {
    int32_t origin[3];
    int32_t level;
    int32_t active;
    double value[3];
} mv_tile;

/* One grid to be written or traced. `values[c]` holds component c of every voxel, [leaf][512], `stride`
 * elements apart; `masks` ([leaf][8] words) may be null: all active, or, for a level set, the voxels with
 * |value| < background. */
typedef struct mv_grid {
    const char* name;
    int32_t type;
    int32_t grid_class;
    int32_t half;
    int32_t flood; /* give voxels and tiles outside the active set the sign of their side */
    double transform[16]; /* index to world, row-major, row vectors */
    double background[3];
    const int32_t* origins; /* [leaf][3] */
    const uint64_t* masks;
    const void* values[3];
    size_t stride;
    size_t leaves;
    const mv_tile* tiles;
    size_t tile_count;
    const char* vector_type; /* null: OpenVDB's default */
    const mv_meta* meta;
    size_t meta_count;
} mv_grid;

typedef struct mv_buffer mv_buffer;
/* The bytes of a .vdb file holding the given grids. */
int mv_write(const mv_grid* grids, size_t count, const mv_meta* meta, size_t meta_count, mv_buffer** out,
             mv_error* error);
const uint8_t* mv_buffer_data(const mv_buffer* buffer);
size_t mv_buffer_size(const mv_buffer* buffer);
void mv_buffer_free(mv_buffer* buffer);

typedef struct mv_file mv_file;
/* Reads a file. OpenVDB believes every length in it: damaged files may crash, hang or take all memory. */
int mv_open(const char* path, mv_file** out, mv_error* error);
void mv_close(mv_file* file);

typedef struct mv_info {
    const char* name;       /* lives as long as the file */
    const char* value_type; /* "float", "vec3s", ... */
    int32_t type;
    int32_t grid_class;
    int32_t half;
    double transform[16];
    double background[3];
    uint64_t active_voxels;
    uint64_t leaves;
    uint64_t tiles;
    uint64_t memory_bytes;
    int32_t has_bounds;
    int32_t bounds[6]; /* lowest and highest active voxel, included */
} mv_info;

size_t mv_grid_count(const mv_file* file);
int mv_grid_info(mv_file* file, size_t grid, mv_info* out, mv_error* error);
/* Metadata of a grid, or of the file (grid = SIZE_MAX); strings live as long as the file. */
size_t mv_meta_count(mv_file* file, size_t grid);
int mv_meta_at(mv_file* file, size_t grid, size_t entry, const char** key, const char** type_name,
               const char** value);
/* Copies every leaf (arrays sized from mv_info; values interleaved by component) and every tile. */
int mv_read_leaves(mv_file* file, size_t grid, int32_t* origins, uint64_t* masks, void* values,
                   mv_error* error);
int mv_read_tiles(mv_file* file, size_t grid, mv_tile* tiles, mv_error* error);

typedef struct mv_stats {
    uint64_t non_finite; /* voxels of the leaves, active or not, with a NaN or infinite component */
    double minimum;      /* over active voxels; of the length for vectors */
    double maximum;
    /* Float grids of class level set only: */
    uint64_t gradient_samples; /* active voxels within one voxel of the surface */
    double gradient_min;       /* |grad phi| by central differences */
    double gradient_mean;
    double gradient_max;
    uint64_t wrong_sign;  /* inactive neighbours of active voxels that read the other sign */
    uint64_t beyond_band; /* active voxels with |phi| > background */
} mv_stats;

int mv_grid_stats(mv_file* file, size_t grid, mv_stats* out, mv_error* error);

/* How a surface is drawn. */
enum { MV_LIQUID = 0, MV_GLASS = 1, MV_CLAY = 2, MV_FOAM = 3 };

typedef struct mv_surface {
    mv_grid grid; /* uniform voxels; a level set, or of MV_FOAM a fog: the share of light it takes away, 1/m */
    int32_t material;
    double colour[3]; /* of MV_CLAY, linear */
} mv_surface;

typedef struct mv_camera {
    double position[3];
    double look_at[3];
    double up[3];
    double fov_degrees; /* vertical */
} mv_camera;

typedef struct mv_picture {
    int32_t width, height;
    int32_t threads;
    double floor_y;       /* height of the studio floor, metres */
    double scene_size;    /* diameter of the shot, metres: scales absorption and fading */
    double target[3];     /* middle of the shot */
    const uint8_t* halt;  /* not 0 as soon as nobody wants the picture any more; read atomically */
} mv_picture;

/* Ray-traces surfaces into `rgb` ([height][width][3], sRGB, top row first). Told to halt, it leaves rows out. */
int mv_render(const mv_surface* surfaces, size_t count, const mv_camera* camera, const mv_picture* picture,
              uint8_t* rgb, mv_error* error);

/* A polygon mesh. */
typedef struct mv_mesh mv_mesh;
/* The polygons of a level set's surface, in metres; the same whatever the number of threads. */
int mv_polygons(const mv_grid* grid, int32_t threads, mv_mesh** out, mv_error* error);
size_t mv_mesh_points(const mv_mesh* mesh, const float** xyz); /* [point][3] */
size_t mv_mesh_quads(const mv_mesh* mesh, const uint32_t** corners); /* [quad][4], clockwise seen from outside */
void mv_mesh_free(mv_mesh* mesh);

/* Leaves of floats. */
typedef struct mv_leaves mv_leaves;
/* The level set of closed triangles, counter-clockwise seen from outside, in metres: distances within three voxels, in voxels of
 * `voxel` metres that lie on its multiples; the same whatever the number of threads. */
int mv_level_set(const float* xyz, size_t points, const uint32_t* corners, size_t triangles, double voxel, int32_t threads,
                 mv_leaves** out, mv_error* error);
size_t mv_leaves_data(const mv_leaves* leaves, const int32_t** origins, const float** values); /* [leaf][3], [leaf][512] */
void mv_leaves_free(mv_leaves* leaves);

/* Told the system's error (errno) when a C++ exception about it ends the program: no memory, no thread. It need not come
 * back. May be set before the libraries are set up. */
typedef void (*mv_uncaught)(int error);
void mv_on_uncaught(mv_uncaught tell);

/* OpenVDB's own version, "10.0.1". */
const char* mv_version(void);

#ifdef __cplusplus
}
#endif
#endif
