"""Writes the geometry of a shot: once where it keeps its form, a file a frame where it deforms."""

import os
import re

from . import motion
from .graph import Piece, ShotError
from .mesh import write_ply


def piece(name, source, frames, folder, base, metres_per_unit=1.0, rigid=False):
    """Writes a source's geometry as files of that name in `folder`; paths are relative to `base`.

    `source.at(frame)` gives a Mesh in its object's space and the object's matrix (scene units); `source.moves` says
    whether the mesh may change. What is rigid may not deform.
    """
    first, last = frames
    # A mesh that moves is asked for the frame after the last, too.
    numbers = list(range(first, last + 2))
    remove_old(folder, name)
    mesh, matrix = source.at(first)
    deforms, matrices = False, [matrix]
    for frame in numbers[1:]:
        other, matrix = source.at(frame) if source.moves else (mesh, source.matrix(frame))
        deforms = deforms or not same(mesh, other)
        matrices.append(matrix)
    if deforms and rigid:
        raise ShotError(
            f"object `{name}`: its geometry deforms, and a rigid body keeps its form; "
            "move the object that holds the SOP, or put a Time Shift SOP behind it"
        )
    keys = None if deforms else motion.keys(numbers, matrices, metres_per_unit)
    if keys is not None:
        path = os.path.join(folder, f"{name}.ply")
        write_ply(path, mesh, metres_per_unit)
        return Piece(relative(path, base), keys)
    if not deforms and all(matrix == matrices[0] for matrix in matrices):
        # It shears, and stays as it is.
        path = os.path.join(folder, f"{name}.ply")
        write_ply(path, mesh.moved(matrices[0]), metres_per_unit)
        return Piece(relative(path, base))
    for frame, matrix in zip(numbers, matrices):
        moved = source.at(frame)[0].moved(matrix)
        write_ply(os.path.join(folder, frame_name(f"{name}.$F4.ply", frame)), moved, metres_per_unit)
    return Piece(relative(os.path.join(folder, f"{name}.$F4.ply"), base))


def still(name, source, frame, folder, base, metres_per_unit=1.0):
    """Writes a source's geometry as it is at one frame, where it is."""
    remove_old(folder, name)
    mesh, matrix = source.at(frame)
    path = os.path.join(folder, f"{name}.ply")
    write_ply(path, mesh.moved(matrix), metres_per_unit)
    return Piece(relative(path, base))


def same(a, b):
    """Whether two meshes are one and the same."""
    return a is b or (a.same_polygons(b) and a.positions == b.positions)


def frame_name(pattern, frame):
    """The name for a frame, as Meniscus reads `$F4`."""
    return pattern.replace("$F4", f"{'-' if frame < 0 else ''}{abs(frame):04}")


def relative(path, base):
    """A path in a graph."""
    return os.path.relpath(path, base).replace(os.sep, "/")


def remove_old(folder, name):
    """Removes what an earlier export of the same object left."""
    ours = re.compile(re.escape(name) + r"(\.-?\d+)?\.ply")
    for file in os.listdir(folder) if os.path.isdir(folder) else []:
        if ours.fullmatch(file):
            os.remove(os.path.join(folder, file))
