// The arrays of a solve as the kernels see them. Every struct has its twin in src/cuda/layout.rs; both sides assert
// the size. Order in memory: that of src/checkerboard.rs.
#pragma once
#include "leaf.cuh"

/// Rows of one colour in a leaf, and threads of a block that works on one colour of a leaf.
constexpr unsigned ROWS = 64;
/// Voxels of one colour in a z-row.
constexpr unsigned LANES = 4;
/// Threads of a block that works on both colours of a leaf.
constexpr unsigned LEAF_THREADS = 2 * ROWS;
/// Threads of a block that works alone: on scalars, or on the super-cells.
constexpr unsigned LONE_THREADS = 256;
/// Threads of a block that sums one run of a super-cell's contacts, or one low-rank column.
constexpr unsigned RUN_THREADS = 64;

/// The four voxels of one colour in a z-row.
template <class T>
struct alignas(16) Row {
    T lane[LANES];
};

/// What single cells hold besides faces: a weight towards a target.
template <class W>
struct Entry {
    W weight;
    unsigned target;
    unsigned lane;
};

/// Entries by row. Half-leaf 2 * leaf + colour has a page or none; row r of page p has the entries
/// first[65 p + r] to first[65 p + r + 1].
template <class W>
struct RowLists {
    const unsigned* page;
    const unsigned* first;
    const Entry<W>* entries;
};

/// The super-cells of a level, from their side.
struct Supers {
    unsigned count;
    /// Runs that all the contacts of super-cells are cut into.
    unsigned runs;
    /// Super-cells that border other super-cells.
    unsigned linked;
    unsigned padding;
    /// [runs + 1]: first contact of each run; the contacts of a super-cell are contiguous.
    const unsigned* run_first;
    /// [runs]: whose it is.
    const unsigned* run_owner;
    /// [count + 1]: first run of each super-cell.
    const unsigned* first_run;
    /// [contacts]: colour << 31 | leaf * 256 + row * 4 + lane.
    const unsigned* contact_cell;
    /// [contacts].
    const float* contact_weight;
    /// [count + 1]: first neighbour of each.
    const unsigned* first_neighbour;
    const unsigned* neighbour;
    const double* neighbour_weight;
    /// Their numbers, ascending; [linked].
    const unsigned* linked_list;
    /// [count]: the row's diagonal.
    const double* diagonal;
    /// [count]: compliance, and couplings to a pressure known to be 0.
    const double* tied;
};

/// The factors L D Lᵀ of sparse matrices, all in one. Rows and columns that do not wait for each other stand in one
/// step, [steps + 1] into the list.
struct Factor {
    unsigned size;
    unsigned forward_steps;
    unsigned backward_steps;
    unsigned padding;
    /// [size]: degree of freedom that stands at each place.
    const unsigned* column;
    /// L by rows, and by columns.
    const unsigned* row_first;
    const unsigned* row_at;
    const double* row_value;
    const unsigned* column_first;
    const unsigned* column_at;
    const double* column_value;
    const double* inverse_pivot;
    const unsigned* forward_first;
    const unsigned* forward_list;
    const unsigned* backward_first;
    const unsigned* backward_list;
    /// [size].
    double* solution;
};

/// The sheets of a level; their degrees of freedom come after those of the blocks.
struct Sheets {
    /// Degrees of freedom, and where they begin.
    unsigned degrees;
    unsigned begin;
    /// [degrees + 1]: entries of M, by rows.
    const unsigned* mass_first;
    const unsigned* mass_at;
    const double* mass_value;
    /// M + T of red, black, super-cells.
    Factor carry[3];
};

/// Matrices of a block besides its weight.
const unsigned MATRICES = 5;

/// The bodies of a level in the smoother: blocks that are solved together, degrees of freedom numbered through.
struct Bodies {
    /// Blocks.
    unsigned count;
    /// Degrees of freedom.
    unsigned degrees;
    /// [count + 1]: first degree of freedom of each block.
    const unsigned* first;
    /// [count]: where a block's matrices [MATRICES][n][n] begin; [n][n] of `weight` at a fifth of it.
    const unsigned* first_matrix;
    /// (1 + T W)⁻¹ of red, black, super-cells, and how red answers for black, 0 where it does not (opposed.rs); W.
    const double* carry;
    const double* weight;
    /// [3 * degrees + 1]: entries of a degree of freedom in red, black, super-cells.
    const unsigned* first_entry;
    /// Cells by name, super-cells by number.
    const unsigned* entry_cell;
    const double* entry_weight;
    /// By cell: target is the degree of freedom.
    RowLists<double> cells;
    /// By super-cell [supers + 1]: degree of freedom and entry.
    const unsigned* first_of_super;
    const unsigned* degree_of_super;
    const double* weight_of_super;
    /// [degrees]: Cᵀ t of the last sweep.
    double* pushed;
    /// [3][degrees]: Cᵀ x of red, black, super-cells.
    double* moved;
    /// [degrees]: y.
    double* impulse;
    Sheets sheets;
};

/// One grid of the hierarchy. A field is [colour][leaf][row], with a last leaf, the void, that stays zero.
struct Level {
    unsigned leaves;
    unsigned padding;
    /// [leaf][6]: −x +x −y +y −z +z; `leaves` where absent.
    const unsigned* neighbours;
    /// Per axis, a field: coefficient between a cell and the cell below it.
    const Row<float>* faces[3];
    /// A field.
    const Row<float>* diagonal;
    /// [colour][leaf]: the coefficient and the diagonal of a half-leaf whose rows are all alike, or 0.
    const float2* uniform;
    /// Contacts of cells with super-cells.
    RowLists<float> bubbles;
    /// Contacts of cells with known zeros.
    RowLists<float> zeros;
    Supers supers;
    Bodies bodies;
};

/// The vectors of a level in the cycle.
struct Work {
    Row<float>* x;
    Row<float>* b;
    double* x_super;
    double* b_super;
    /// [runs]: Σ c x.
    double* inflow;
};

/// How a level hangs on the next coarser one.
struct Aggregation {
    unsigned coarse_leaves;
    /// Coarse cells that super-cells have shrunk to.
    unsigned cells;
    /// [coarse leaf][octant]: fine leaf, or the fine void.
    const unsigned* children;
    /// [fine leaf]: coarse leaf << 3 | octant.
    const unsigned* parents;
    /// [fine super-cell]: its number on the coarse level, or 1 << 31 | the place in `cell`.
    const unsigned* super_parent;
    /// [cells]: colour << 31 | leaf * 256 + row * 4 + lane.
    const unsigned* cell;
    /// [cells + 1], into `shrunk`.
    const unsigned* first_shrunk;
    /// The super-cells that have become each cell, ascending.
    const unsigned* shrunk;
};

/// The dense solve: A⁻¹ = L⁻ᵀ L⁻¹.
struct Coarsest {
    /// Cells that are unknowns; the super-cells follow.
    unsigned cells;
    unsigned size;
    /// [cells]: colour << 31 | leaf * 256 + row * 4 + lane.
    const unsigned* cell;
    /// [size][size]: L⁻¹ by rows, and by columns.
    const double* by_row;
    const double* by_column;
};

/// Unknowns of the coarsest level up to which it is solved directly.
constexpr unsigned DIRECT_UNKNOWNS = 600;

/// The attached masses: C W Cᵀ.
struct LowRank {
    unsigned columns;
    unsigned padding;
    /// [columns + 1], into `entry_cell` and `entry_weight`.
    const unsigned* first_entry;
    const unsigned* entry_cell;
    const double* entry_weight;
    /// [columns + 1], into `super_number` and `super_weight`.
    const unsigned* first_super;
    const unsigned* super_number;
    const double* super_weight;
    /// [columns]: first column of its body, and number of columns of it.
    const unsigned* body_first;
    const unsigned* body_columns;
    /// [columns]: where its row of W begins.
    const unsigned* weight_first;
    const double* weight;
    /// By cell: target is the column.
    RowLists<double> cells;
    /// By super-cell [supers + 1]: column and entry.
    const unsigned* first_of_super;
    const unsigned* column_of_super;
    const double* weight_of_super;
    /// [columns]: Cᵀ x, then W Cᵀ x.
    double* moved;
    double* weighed;
    Factor factor;
};

/// A vector over the unknowns of the finest level.
template <class T>
struct Vector {
    Row<T>* cells;
    double* supers;
};

/// What the kernels do at present.
enum Phase : unsigned {
    /// Nothing any more.
    DONE = 0,
    /// Iterate.
    RUN = 1,
    /// Fold the correction into x and compute the true residual.
    REPLACE = 2,
    /// Scale the true residual for the cycle (f64 stage).
    RESTART = 3,
};

/// Residuals remembered for the host between two looks at the state.
constexpr unsigned HISTORY = 64;

/// The scalars of a solve; nothing of it leaves the device but for the host to watch.
struct State {
    /// Relative residual to reach.
    double tolerance;
    /// ‖b‖₂.
    double norm;
    /// ‖b − A x‖₂ / ‖b‖₂, by the recurrence or true.
    double residual;
    /// The last true one.
    double trusted;
    double energy;
    double beta;
    double step;
    /// Lengths that the cycle's input and the one before were divided by (f64 stage).
    double scaled;
    double scale;
    /// Σ (b − A x)² over the super-cells.
    double super_square;
    /// How far the f32 recurrence may have strayed since the last true residual, in lengths of ‖b‖.
    double rounding;
    /// [iteration % HISTORY].
    double history[HISTORY];
    unsigned max_iterations;
    unsigned iterations;
    /// Iterations done when the last true residual was computed.
    unsigned since;
    Phase phase;
    /// The last step was no descent: nothing more to gain from this recurrence.
    unsigned broken;
    unsigned padding;
};

static_assert(sizeof(RowLists<float>) == 24 && sizeof(Entry<float>) == 12 && sizeof(Entry<double>) == 16, "twins");
static_assert(sizeof(Supers) == 104 && sizeof(Bodies) == 528 && sizeof(Level) == 736 && sizeof(Work) == 40, "twins");
static_assert(sizeof(Aggregation) == 56 && sizeof(Coarsest) == 32 && sizeof(Factor) == 120 && sizeof(LowRank) == 272, "twins");
static_assert(sizeof(Vector<float>) == 16 && sizeof(State) == 88 + 8 * HISTORY + 24, "twins");
