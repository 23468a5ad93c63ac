"""Meshes and points on their way to Meniscus: binary PLY files, in metres.

Houdini winds polygons clockwise as seen from outside, Meniscus counter-clockwise. `Mesh` is Houdini's; `write_ply` turns
every polygon round. Meniscus cuts polygons into fans, which is right for convex ones alone, so others are cut here.
"""

import os
import struct
from array import array
from dataclasses import dataclass, field

from . import motion

# Attribute, components: the names of its PLY properties, which Meniscus puts together again.
GROUPS = {
    "v": ("vx", "vy", "vz"),
    "w": ("wx", "wy", "wz"),
    "N": ("nx", "ny", "nz"),
    "uv": ("s", "t"),
    "orient": ("orient_x", "orient_y", "orient_z", "orient_w"),
}
# Attributes of other programs' own, and what PLY calls a position.
LEFT_OUT = {"P", "Pw", "x", "y", "z", "vx", "vy", "vz"}


@dataclass
class Mesh:
    """Points and polygons, as Houdini has them."""

    # [points * 3], scene units.
    positions: array
    # Corners of each polygon: point numbers, clockwise from outside.
    polygons: list = field(default_factory=list)
    # Name: (components, values); point attributes, as arrays of doubles or of integers ("q").
    attributes: dict = field(default_factory=dict)

    def count(self):
        """Number of points."""
        return len(self.positions) // 3

    def same_polygons(self, other):
        """Whether both have the same points in the same polygons, wherever the points are."""
        return self.count() == other.count() and self.polygons == other.polygons

    def moved(self, matrix):
        """The mesh under a matrix (16 numbers, row-major, acting on row vectors)."""
        m, p = matrix, self.positions
        out = array("d", bytes(8 * len(p)))
        for i in range(0, len(p), 3):
            x, y, z = p[i], p[i + 1], p[i + 2]
            for c in range(3):
                out[i + c] = x * m[c] + y * m[4 + c] + z * m[8 + c] + m[12 + c]
        attributes = dict(self.attributes)
        for name in ("v", "w", "N"):
            if name in attributes:
                attributes[name] = (3, turned(attributes[name][1], m))
        if attributes.get("orient", (0,))[0] == 4:
            turn, values = motion.quaternion(m), attributes["orient"][1]
            turns = (motion.product(turn, values[i : i + 4]) for i in range(0, len(values), 4))
            attributes["orient"] = (4, array("d", (x for one in turns for x in one)))
        polygons = self.polygons
        if determinant(m) < 0:
            polygons = [tuple(reversed(corners)) for corners in polygons]
        return Mesh(out, polygons, attributes)


def turned(vectors, m):
    """Vectors under the linear part of a matrix."""
    out = array("d", bytes(8 * len(vectors)))
    for i in range(0, len(vectors), 3):
        x, y, z = vectors[i], vectors[i + 1], vectors[i + 2]
        for c in range(3):
            out[i + c] = x * m[c] + y * m[4 + c] + z * m[8 + c]
    return out


def determinant(m):
    """Of the linear part of a matrix; negative where it mirrors."""
    return (
        m[0] * (m[5] * m[10] - m[6] * m[9]) - m[1] * (m[4] * m[10] - m[6] * m[8]) + m[2] * (m[4] * m[9] - m[5] * m[8])
    )


def write_ply(path, mesh, metres_per_unit=1.0):
    """Writes a mesh, or points where it has no polygons; whole or not at all."""
    columns = properties(mesh, metres_per_unit)
    triangles = [t for corners in mesh.polygons for t in cut(corners, mesh.positions)]
    header = ["ply", "format binary_little_endian 1.0", f"element vertex {mesh.count()}"]
    header += [f"property {'int' if is_whole(values) else 'float'} {name}" for name, values in columns]
    if triangles:
        header += [f"element face {len(triangles)}", "property list uchar int vertex_indices"]
    row = struct.Struct("<" + "".join("i" if is_whole(values) else "f" for _, values in columns)).pack
    rows = b"".join(row(*values) for values in zip(*(values for _, values in columns)))
    # Turned round: from clockwise to counter-clockwise.
    face = struct.Struct("<B3i").pack
    faces = b"".join(face(3, a, c, b) for a, b, c in triangles)
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with open(path + ".part", "wb") as file:
        file.write("\n".join(header + ["end_header\n"]).encode("ascii") + rows + faces)
    os.replace(path + ".part", path)


def is_whole(values):
    """Whether an attribute's values are integers: in arrays of 64 bits."""
    return values.typecode == "q"


def properties(mesh, metres_per_unit):
    """The vertex properties of a mesh: their names and values; lengths and velocities in metres."""
    scaled = array("d", (x * metres_per_unit for x in mesh.positions))
    columns = [(name, scaled[c::3]) for c, name in enumerate("xyz")]
    for name, (components, values) in sorted(mesh.attributes.items()):
        if name in LEFT_OUT:
            continue
        if name == "v":
            values = array("d", (x * metres_per_unit for x in values))
        if name == "Cd" and components == 3:
            names = ("red", "green", "blue")
        elif name == "Alpha" and components == 1:
            names = ("alpha",)
        elif name in GROUPS and components >= len(GROUPS[name]):
            names = GROUPS[name]
        elif components == 1 and is_plain(name):
            names = (name,)
        else:
            continue
        columns += [(part, values[c::components]) for c, part in enumerate(names)]
    return columns


def is_plain(name):
    """Whether a name can stand in a PLY header."""
    return name.isascii() and name.isidentifier() and name not in GROUPS


def cut(corners, positions):
    """Triangles of a polygon, wound as it is: a fan where it is convex, else ears cut off one by one."""
    corners = list(corners)
    if len(corners) < 3:
        return []
    if len(corners) == 3:
        return [tuple(corners)]
    flat = flattened(corners, positions)
    around = range(len(corners))
    if all(area(flat[i - 2], flat[i - 1], flat[i]) >= 0 for i in around):
        return [(corners[0], corners[i], corners[i + 1]) for i in range(1, len(corners) - 1)]
    triangles = []
    left = list(around)
    while len(left) > 3:
        at = next((i for i in range(len(left)) if is_ear(left, i, flat)), 0)
        triangles.append(tuple(corners[left[i]] for i in (at - 1, at, (at + 1) % len(left))))
        del left[at]
    return triangles + [tuple(corners[i] for i in left)]


def flattened(corners, positions):
    """The corners in the plane of the polygon, in which it is wound counter-clockwise."""
    points = [positions[3 * i : 3 * i + 3] for i in corners]
    normal = [0.0, 0.0, 0.0]
    for a, b in zip(points, points[1:] + points[:1]):
        for c in range(3):
            d, e = (c + 1) % 3, (c + 2) % 3
            normal[c] += (a[d] - b[d]) * (a[e] + b[e])
    # Drop the axis along which the polygon is seen largest; swap the others where that looks at its back.
    drop = max(range(3), key=lambda c: abs(normal[c]))
    u, w = (drop + 1) % 3, (drop + 2) % 3
    if normal[drop] < 0:
        u, w = w, u
    return [(p[u], p[w]) for p in points]


def area(a, b, c):
    """Twice the area of a triangle in the plane; negative where it is wound clockwise."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def is_ear(left, at, flat):
    """Whether the corner can be cut off: it is convex, and no other corner lies in its triangle."""
    inner = [left[at - 1], left[at], left[(at + 1) % len(left)]]
    a, b, c = (flat[i] for i in inner)
    if area(a, b, c) <= 0:
        return False
    others = (flat[i] for i in left if i not in inner)
    return not any(
        area(a, b, p) >= 0 and area(b, c, p) >= 0 and area(c, a, p) >= 0 for p in others if p not in (a, b, c)
    )
