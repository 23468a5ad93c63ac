# SPDX-License-Identifier: GPL-3.0-or-later
"""Motions of solids as keyframes of a transform node. Needs no Blender.

A transform node turns about x, y and z in that order and then moves, and goes straight from key to key in each number.
"""

import math

# Farthest, in radians, that a turn between two frames may stray from the shortest one.
_STRAY = 2e-3
# How often the time between two frames is halved to keep it.
_HALVINGS = 6
# A scale or an angle between axes that changes by less is constant.
_SAME = 1e-5


def parts(matrix):
    """Move, rotation (3 x 3) and scale of a 4 x 4 matrix; None if it shears."""
    columns = [[matrix[row][c] for row in range(3)] for c in range(3)]
    scale = [math.sqrt(_dot(c, c)) for c in columns]
    if min(scale) < 1e-12:
        return None
    if _dot(_cross(columns[0], columns[1]), columns[2]) < 0.0:
        scale = [-s for s in scale]
    axes = [[x / s for x in c] for c, s in zip(columns, scale)]
    if any(abs(_dot(axes[a], axes[b])) > _SAME for a, b in ((0, 1), (0, 2), (1, 2))):
        return None
    rotation = [[axes[c][row] for c in range(3)] for row in range(3)]
    return [matrix[row][3] for row in range(3)], rotation, scale


def rigid(samples):
    """The constant scale and [(frame, move, rotation)] of matrices at frames; None if they do not move rigidly."""
    taken = [(frame, parts(matrix)) for frame, matrix in samples]
    if any(p is None for _, p in taken):
        return None
    scale = taken[0][1][2]
    if any(abs(a - b) > _SAME * abs(b) for _, p in taken for a, b in zip(p[2], scale)):
        return None
    return scale, [(frame, p[0], p[1]) for frame, p in taken]


def keys(places):
    """Keyframes `translate` (m) and `rotate` (degrees) of [(frame, move, rotation)], exact at those frames."""
    translate, rotate, last = [], [], [0.0, 0.0, 0.0]
    before = None
    for frame, move, rotation in places:
        if before is not None:
            for between, turned in _between(before, (frame, rotation), last, _HALVINGS):
                last = angles(turned, last)
                rotate.append([between, _degrees(last)])
        last = angles(rotation, last)
        before = (frame, rotation)
        translate.append([frame, list(move)])
        rotate.append([frame, _degrees(last)])
    return {"translate": _shortest(translate), "rotate": _shortest(rotate)}


def _shortest(found):
    """A value where it never changes, else keyframes."""
    if all(value == found[0][1] for _, value in found):
        return found[0][1]
    return {"keys": found, "ease": "linear"}


def _between(a, b, start, halvings):
    """Rotations between two frames, so many that angles that go straight between them turn almost as the shortest turn does."""
    first, second = angles(a[1], start), None
    second = angles(b[1], first)
    middle = slerp(a[1], b[1], 0.5)
    straight = from_angles([(p + q) / 2 for p, q in zip(first, second)])
    if halvings == 0 or apart(middle, straight) < _STRAY:
        return []
    half = ((a[0] + b[0]) / 2, middle)
    left = _between(a, half, first, halvings - 1)
    right = _between(half, b, angles(middle, first), halvings - 1)
    return left + [half] + right


def angles(rotation, near):
    """Angles about x, y, z (radians) of a rotation, those of all that are nearest to some others."""
    y = math.asin(max(-1.0, min(1.0, -rotation[2][0])))
    if abs(rotation[2][0]) < 1.0 - 1e-12:
        x = math.atan2(rotation[2][1], rotation[2][2])
        z = math.atan2(rotation[1][0], rotation[0][0])
    else:
        # Only the sum or the difference of x and z counts.
        x = near[0]
        across = math.atan2(-rotation[0][1], rotation[1][1])
        z = across + x if rotation[2][0] < 0.0 else across - x
    both = ([x, y, z], [x + math.pi, math.pi - y, z + math.pi])
    turned = [[a + math.tau * round((n - a) / math.tau) for a, n in zip(one, near)] for one in both]
    return min(turned, key=lambda one: sum((a - n) ** 2 for a, n in zip(one, near)))


def from_angles(v):
    """The rotation about x, then y, then z, by radians."""
    (cx, cy, cz), (sx, sy, sz) = [math.cos(a) for a in v], [math.sin(a) for a in v]
    return [
        [cy * cz, sx * sy * cz - cx * sz, cx * sy * cz + sx * sz],
        [cy * sz, sx * sy * sz + cx * cz, cx * sy * sz - sx * cz],
        [-sy, sx * cy, cx * cy],
    ]


def slerp(a, b, t):
    """The rotation at a part of the shortest turn from one to another."""
    turn = _times(b, _transposed(a))
    angle = apart(a, b)
    if angle < 1e-9:
        return a
    axis = _axis(turn, angle)
    return _times(_about(axis, t * angle), a)


def apart(a, b):
    """The angle, radians, between two rotations."""
    turn = _times(b, _transposed(a))
    sine = math.sqrt(sum(x * x for x in _skew(turn)))
    return math.atan2(sine, (turn[0][0] + turn[1][1] + turn[2][2] - 1.0) / 2.0)


def _axis(turn, angle):
    v = _skew(turn)
    length = math.sqrt(_dot(v, v))
    if length > 1e-6:
        return [x / length for x in v]
    # Half a turn: the axis is the longest column of turn + 1.
    sums = [[turn[row][c] + (row == c) for row in range(3)] for c in range(3)]
    longest = max(sums, key=lambda c: _dot(c, c))
    length = math.sqrt(_dot(longest, longest))
    return [x / length for x in longest]


def _skew(m):
    return [(m[2][1] - m[1][2]) / 2, (m[0][2] - m[2][0]) / 2, (m[1][0] - m[0][1]) / 2]


def _about(axis, angle):
    c, s = math.cos(angle), math.sin(angle)
    x, y, z = axis
    return [
        [c + x * x * (1 - c), x * y * (1 - c) - z * s, x * z * (1 - c) + y * s],
        [y * x * (1 - c) + z * s, c + y * y * (1 - c), y * z * (1 - c) - x * s],
        [z * x * (1 - c) - y * s, z * y * (1 - c) + x * s, c + z * z * (1 - c)],
    ]


def _times(a, b):
    return [[sum(a[r][k] * b[k][c] for k in range(3)) for c in range(3)] for r in range(3)]


def _transposed(m):
    return [[m[c][r] for c in range(3)] for r in range(3)]


def _dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def _cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def _degrees(v):
    return [math.degrees(a) for a in v]
