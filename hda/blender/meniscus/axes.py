# SPDX-License-Identifier: GPL-3.0-or-later
"""From Blender's axes (Z up, units of the scene) to those of Meniscus (Y up, metres), and back. Needs no Blender.

Vectors are lists of numbers, matrices lists of rows that act on columns.
"""

# Units of vectors that point somewhere.
_DIRECTED = ("m", "m/s", "m/s^2", "rad/s", "N")
# The sides of a box, Blender's to ours.
SIDES = {
    "neg_x": "side_neg_x", "pos_x": "side_pos_x",
    "neg_y": "side_pos_z", "pos_y": "side_neg_z",
    "neg_z": "side_neg_y", "pos_z": "side_pos_y",
}


def y_up(v):
    """A vector of Blender's, with Y up."""
    return [v[0], v[2], -v[1]]


def z_up(v):
    """A vector of ours, with Z up."""
    return [v[0], -v[2], v[1]]


def is_directed(parameter):
    """Whether a parameter's value is a vector that turns with the axes."""
    return parameter.kind == "number" and parameter.components == 3 and parameter.unit in _DIRECTED


def matrix_y_up(m, metres):
    """A 4 x 4 matrix that takes Blender's coordinates to Blender's, as one that takes ours to ours.

    `metres`: length of Blender's unit.
    """
    turned = [[_entry(m, row, column) for column in range(3)] for row in range(3)]
    moved = y_up([m[row][3] * metres for row in range(3)])
    return [turned[row] + [moved[row]] for row in range(3)] + [[0.0, 0.0, 0.0, 1.0]]


def _entry(m, row, column):
    # Ours are x, z, -y of Blender's.
    axis, sign = (0, 2, 1), (1.0, 1.0, -1.0)
    return sign[row] * sign[column] * m[axis[row]][axis[column]]
