"""How an object moves over the frames of a shot: as a whole, by keys of a transform, or point by point, as a sequence.

Matrices are Houdini's: 16 numbers, row-major, acting on row vectors. Lengths are in scene units.
"""

import math

# A linear part is taken for orthogonal where its rows are so nearly at right angles (cosine).
SHEAR = 1e-6
IDENTITY = (1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0)


def parts(matrix):
    """Translation, rotation (degrees about x, y and z, in that order), scale; None where the matrix shears."""
    rows = [matrix[0:3], matrix[4:7], matrix[8:11]]
    scale = [math.sqrt(sum(x * x for x in row)) for row in rows]
    if min(scale) == 0:
        return None
    if dot(cross(rows[0], rows[1]), rows[2]) < 0:
        scale[2] = -scale[2]
    r = [[x / s for x in row] for row, s in zip(rows, scale)]
    if any(abs(dot(r[a], r[b])) > SHEAR for a, b in ((0, 1), (1, 2), (2, 0))):
        return None
    # r = Rx Ry Rz for row vectors.
    flat = math.hypot(r[0][0], r[0][1])
    y = math.atan2(-r[0][2], flat)
    if flat > 1e-9:
        x, z = math.atan2(r[1][2], r[2][2]), math.atan2(r[0][1], r[0][0])
    else:
        x, z = math.atan2(-r[2][1], r[1][1]), 0.0
    return tuple(matrix[12:15]), tuple(math.degrees(a) for a in (x, y, z)), tuple(scale)


def quaternion(matrix):
    """The rotation of a matrix, x y z w; none where it shears."""
    found = parts(matrix)
    out = (0.0, 0.0, 0.0, 1.0)
    for axis, angle in enumerate(found[1] if found else ()):
        half = math.radians(angle) / 2
        turn = [0.0, 0.0, 0.0, math.cos(half)]
        turn[axis] = math.sin(half)
        out = product(turn, out)
    return out


def product(a, b):
    """Of quaternions: first b, then a."""
    x, y, z = (a[3] * b[c] + b[3] * a[c] + d for c, d in enumerate(cross(a[:3], b[:3])))
    return x, y, z, a[3] * b[3] - dot(a[:3], b[:3])


def dot(a, b):
    """Scalar product."""
    return sum(x * y for x, y in zip(a, b))


def cross(a, b):
    """Vector product."""
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def nearest_turn(angles, before):
    """The same rotation with the angles that lie nearest to those before, so that what lies between two keys is
    the short way. Rotations about three axes have two sets of angles."""
    x, y, z = angles
    sets = [(x, y, z), (x + 180.0, 180.0 - y, z + 180.0)]
    near = [tuple(a + 360.0 * round((b - a) / 360.0) for a, b in zip(one, before)) for one in sets]
    return min(near, key=lambda one: sum((a - b) ** 2 for a, b in zip(one, before)))


def keys(frames, matrices, metres_per_unit=1.0):
    """Parameters of a `transform` node (m, degrees) that moves like the matrices at the frames; None where one of
    them shears. What does not change is a constant, and what does nothing is left out."""
    at = [parts(m) for m in matrices]
    if any(one is None for one in at):
        return None
    turns = [at[0][1]]
    for _, turn, _ in at[1:]:
        turns.append(nearest_turn(turn, turns[-1]))
    moves = [tuple(x * metres_per_unit for x in one[0]) for one in at]
    values = {"translate": moves, "rotate": turns, "scale": [one[2] for one in at]}
    idle = {"translate": (0.0,) * 3, "rotate": (0.0,) * 3, "scale": (1.0,) * 3}
    out = {}
    for name, all_values in values.items():
        value = steady(frames, [rounded(v) for v in all_values])
        if value != list(idle[name]):
            out[name] = value
    return out


def rounded(vector):
    """Without the noise of double arithmetic; whole noughts have no sign."""
    return [round(x, 9) + 0.0 for x in vector]


def steady(frames, values):
    """A value of a graph: a constant, or keys where it changes."""
    if all(value == values[0] for value in values):
        return values[0]
    return {"keys": [[frame, value] for frame, value in zip(frames, values)]}
