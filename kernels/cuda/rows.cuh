// Rows of a leaf and what lies beside them.
#pragma once
#include "layout.cuh"

/// The rows of one colour of a leaf.
template <class T>
__device__ inline T* half(T* field, const Level& level, unsigned colour, unsigned leaf) {
    return field + (size_t(colour) * (level.leaves + 1) + leaf) * ROWS;
}

/// A value named by colour << 31 | leaf * 256 + row * 4 + lane.
template <class T>
__device__ inline T& value_at(Row<T>* field, unsigned leaves, unsigned cell) {
    size_t row = size_t(cell >> 31) * (leaves + 1) * ROWS + ((cell & 0x7fffffffu) >> 2);
    return field[row].lane[cell & 3];
}

template <class T>
__device__ inline const T& value_at(const Row<T>* field, unsigned leaves, unsigned cell) {
    return value_at(const_cast<Row<T>*>(field), leaves, cell);
}

/// The six neighbours −x +x −y +y −z +z of a row's four cells.
template <class T>
struct Beside {
    Row<T> side[6];
};

/// Values beside row r of a colour, all of the other colour. Lane 0 of the row stands at z = phase; the other
/// colour's lanes then stand one above (phase 0) or one below (phase 1).
template <class T>
__device__ inline Beside<T> values_beside(
    const Level& level, const Row<T>* field, unsigned leaf, unsigned colour, unsigned r) {
    const unsigned* n = level.neighbours + 6 * size_t(leaf);
    const Row<T>* other = half(field, level, 1 - colour, 0);
    const Row<T>* here = other + size_t(leaf) * ROWS;
    unsigned x = r >> 3, y = r & 7, phase = (x + y + colour) & 1;
    Beside<T> v;
    v.side[0] = x > 0 ? here[r - 8] : other[size_t(n[0]) * ROWS + r + 56];
    v.side[1] = x < 7 ? here[r + 8] : other[size_t(n[1]) * ROWS + r - 56];
    v.side[2] = y > 0 ? here[r - 1] : other[size_t(n[2]) * ROWS + r + 7];
    v.side[3] = y < 7 ? here[r + 1] : other[size_t(n[3]) * ROWS + r - 7];
    Row<T> row = here[r];
    if (phase == 0) {
        T below = other[size_t(n[4]) * ROWS + r].lane[3];
        v.side[4] = Row<T>{{below, row.lane[0], row.lane[1], row.lane[2]}};
        v.side[5] = row;
    } else {
        T above = other[size_t(n[5]) * ROWS + r].lane[0];
        v.side[4] = row;
        v.side[5] = Row<T>{{row.lane[1], row.lane[2], row.lane[3], above}};
    }
    return v;
}

/// Coefficients of row r of a colour towards its six neighbours: each stands with the upper of its two cells.
__device__ inline Beside<float> weights_beside(const Level& level, unsigned leaf, unsigned colour, unsigned r) {
    const unsigned* n = level.neighbours + 6 * size_t(leaf);
    unsigned x = r >> 3, y = r & 7, phase = (x + y + colour) & 1;
    const Row<float>* own[3];
    const Row<float>* other[3];
#pragma unroll
    for (unsigned a = 0; a < 3; ++a) {
        own[a] = half(level.faces[a], level, colour, leaf);
        other[a] = half(level.faces[a], level, 1 - colour, 0);
    }
    size_t here = size_t(leaf) * ROWS;
    Beside<float> w;
    w.side[0] = own[0][r];
    w.side[1] = x < 7 ? other[0][here + r + 8] : other[0][size_t(n[1]) * ROWS + r - 56];
    w.side[2] = own[1][r];
    w.side[3] = y < 7 ? other[1][here + r + 1] : other[1][size_t(n[3]) * ROWS + r - 7];
    w.side[4] = own[2][r];
    Row<float> z = other[2][here + r];
    if (phase == 1) {
        float above = other[2][size_t(n[5]) * ROWS + r].lane[0];
        z = Row<float>{{z.lane[1], z.lane[2], z.lane[3], above}};
    }
    w.side[5] = z;
    return w;
}

/// Coefficients and diagonal of a row. A half-leaf whose rows are all alike is not asked for its arrays: the same
/// bits from a fraction of the memory.
struct Stencil {
    Beside<float> weight;
    Row<float> diagonal;
};

__device__ inline Stencil stencil(const Level& level, unsigned leaf, unsigned colour, unsigned r) {
    float2 alike = level.uniform[size_t(colour) * level.leaves + leaf];
    if (!(alike.x > 0.0f)) {
        return Stencil{weights_beside(level, leaf, colour, r), half(level.diagonal, level, colour, leaf)[r]};
    }
    Stencil s;
#pragma unroll
    for (unsigned k = 0; k < LANES; ++k) {
#pragma unroll
        for (unsigned f = 0; f < 6; ++f) {
            s.weight.side[f].lane[k] = alike.x;
        }
        s.diagonal.lane[k] = alike.y;
    }
    return s;
}

/// Calls f(entry) for what row r of a half-leaf holds, in order.
template <class W, class F>
__device__ inline void for_entries(const RowLists<W>& lists, unsigned leaf, unsigned colour, unsigned r, F f) {
    if (lists.page == nullptr) {
        return;
    }
    unsigned page = lists.page[2 * size_t(leaf) + colour];
    if (page == ABSENT) {
        return;
    }
    const unsigned* first = lists.first + size_t(page) * (ROWS + 1) + r;
    for (unsigned e = first[0]; e < first[1]; ++e) {
        f(lists.entries[e]);
    }
}

/// One lane of a row, without an index into registers.
template <class T>
__device__ inline T pick(const Row<T>& row, unsigned lane) {
    T low = lane & 1 ? row.lane[1] : row.lane[0];
    T high = lane & 1 ? row.lane[3] : row.lane[2];
    return lane & 2 ? high : low;
}

/// Adds to one lane of a row.
template <class T>
__device__ inline void add(Row<T>& row, unsigned lane, T value) {
#pragma unroll
    for (unsigned k = 0; k < LANES; ++k) {
        if (lane == k) {
            row.lane[k] += value;
        }
    }
}
