# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes of evaluated objects as .ply files: metres, Y up."""

import os

import numpy as np

from .descriptors import Trouble

_HEADER = """ply
format binary_little_endian 1.0
comment written by the Blender add-on of Meniscus
element vertex {}
property float x
property float y
property float z
element face {}
property list uchar int vertex_indices
end_header
"""


def of(thing, graph):
    """The points (n x 3, the object's own coordinates) and triangles (m x 3) of an object as it is evaluated now."""
    evaluated = thing.evaluated_get(graph)
    mesh = evaluated.to_mesh()
    if mesh is None:
        raise Trouble(f"the object `{thing.name}` has no mesh: take its role away, or convert it to a mesh")
    mesh.calc_loop_triangles()
    points = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", points)
    triangles = np.empty(3 * len(mesh.loop_triangles), dtype=np.int32)
    mesh.loop_triangles.foreach_get("vertices", triangles)
    evaluated.to_mesh_clear()
    if not len(triangles):
        raise Trouble(f"the object `{thing.name}` has no faces: take its role away, or give it some")
    return points.reshape(-1, 3), triangles.reshape(-1, 3)


def placed(points, matrix, metres):
    """Points in metres with Y up, after a 4 x 4 matrix of Blender's; `metres`: length of Blender's unit."""
    m = np.array(matrix, dtype=np.float64)
    x, y, z = ((points @ m[:3, :3].T + m[:3, 3]) * metres).T
    return np.stack([x, z, -y], axis=1)


def write(path, points, triangles, mirrored):
    """Writes a .ply file; `mirrored`: the matrix that placed the points turns them inside out."""
    if mirrored:
        triangles = triangles[:, ::-1]
    faces = np.empty(len(triangles), dtype=[("count", "u1"), ("points", "<i4", 3)])
    faces["count"], faces["points"] = 3, triangles
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(_HEADER.format(len(points), len(triangles)).encode())
        file.write(points.astype("<f4").tobytes())
        file.write(faces.tobytes())
