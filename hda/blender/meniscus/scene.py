# SPDX-License-Identifier: GPL-3.0-or-later
"""A Blender scene as a shot: meshes, places and values at each frame."""

import contextlib
import dataclasses
import os
import re

import bpy
import numpy as np

from . import axes, meshes, motion, properties
from .descriptors import Trouble
from .graph import ROLES, Box, Mesh, Names, Part, Shot
from .roles import Roles
from .values import Reader

_WITH_MESHES = ("MESH", "CURVE", "SURFACE", "META", "FONT")
# Roles whose objects go on as Blender moves them, after the first frame.
_ANIMATED = ("COLLIDER", "SOURCE", "SINK")


@dataclasses.dataclass
class Paths:
    """Where the files of a scene's shot are."""

    graph: str
    meshes: str
    out: str


def paths(scene):
    """Raises Trouble where the folder is that of a .blend file that is not saved."""
    given = scene.meniscus.folder
    if given.startswith("//") and not bpy.data.filepath:
        raise Trouble("the .blend file is not saved, so its folder is not known: save it, or choose another Folder in the scene's Meniscus panel")
    folder = os.path.abspath(bpy.path.abspath(given))
    name = os.path.join(folder, re.sub(r"[^A-Za-z0-9_-]", "_", scene.name))
    return Paths(f"{name}.meniscus.json", f"{name}.meshes", f"{name}.out")


def metres(scene):
    """Length of Blender's unit, m."""
    return scene.unit_settings.scale_length if scene.unit_settings.system != "NONE" else 1.0


def write(context):
    """Writes the scene's meshes and its graph; the shot, and where the files are."""
    scene = context.scene
    where = paths(scene)
    frame = scene.frame_current, scene.frame_subframe
    roles = Roles(context)
    casts, domain = roles.casts(), roles.domain()
    taking_part = [thing for cast in casts for thing in cast.objects] + ([domain] if domain else [])
    with _in_sight(context, taking_part):
        try:
            shot = _Writer(context, where, casts, domain).shot()
        finally:
            scene.frame_set(frame[0], subframe=frame[1])
    shot.write(where.graph)
    return shot, where


@contextlib.contextmanager
def _in_sight(context, things):
    """Shows objects for a while: Blender does not evaluate hidden ones."""
    hidden = [(thing, thing.hide_get(), thing.hide_viewport) for thing in things]
    try:
        for thing, _, _ in hidden:
            thing.hide_viewport = False
            thing.hide_set(False)
        context.view_layer.update()
        for thing in things:
            if not thing.visible_get():
                raise Trouble(f"the object `{thing.name}` is hidden with its collection: show the collection, or take the object's role away")
        yield
    finally:
        for thing, eye, screen in hidden:
            thing.hide_set(eye)
            thing.hide_viewport = screen


class _Solid:
    """An object's mesh, and how it moves and deforms."""

    def __init__(self, thing, moves):
        if thing.type not in _WITH_MESHES:
            raise Trouble(f"the object `{thing.name}` has no mesh: take its role away, or convert it to a mesh")
        self.thing, self.moves = thing, moves
        self.points = self.triangles = None
        self.matrices = []
        self.deforms = False

    def take(self, frame, graph):
        """Notes mesh and place at a frame."""
        if self.matrices and not self.moves:
            return
        if not self.matrices:
            self.points, self.triangles = meshes.of(self.thing, graph)
        elif not self.deforms and _may_deform(self.thing):
            points, triangles = meshes.of(self.thing, graph)
            self.deforms = not (np.array_equal(points, self.points) and np.array_equal(triangles, self.triangles))
        self.matrices.append((frame, [list(row) for row in self.thing.evaluated_get(graph).matrix_world]))

    def places(self, unit):
        """The scale and the places of a solid that moves rigidly; None if it rests or does not."""
        if all(matrix == self.matrices[0][1] for _, matrix in self.matrices):
            return None
        return motion.rigid([(frame, axes.matrix_y_up(matrix, unit)) for frame, matrix in self.matrices])

    @property
    def rests(self):
        return not self.deforms and all(matrix == self.matrices[0][1] for _, matrix in self.matrices)


def _may_deform(thing):
    data = thing.data
    return thing.type != "MESH" or thing.modifiers or data.shape_keys or data.animation_data


class _Writer:
    """Walks through the frames once, and once more where meshes deform."""

    def __init__(self, context, where, casts, domain):
        self.context, self.scene, self.where = context, context.scene, where
        self.settings = self.scene.meniscus
        self.unit = metres(self.scene)
        self.casts, self.domain = casts, domain
        names = Names()
        self.names = [names.take(cast.name) for cast in casts]
        # What deforms: the name of its files, the object.
        self.sequences = []
        self.solids = [self._solids(cast) for cast in casts]

    def shot(self):
        scene, settings = self.scene, self.settings
        frames = scene.frame_start, scene.frame_end
        if frames[1] < frames[0]:
            raise Trouble(f"the scene's last frame {frames[1]} comes before its first {frames[0]}")
        own = self._scene_readers()
        part_readers = [self._reader(cast) for cast in self.casts]
        box = None
        for frame in range(frames[0], frames[1] + 1):
            graph = self._at(frame)
            for reader in (*own.values(), *part_readers):
                reader.take(frame)
            for solid in (solid for solids in self.solids for solid in solids):
                solid.take(frame, graph)
            if frame == frames[0]:
                box = self._box(graph)
                pinned = [self._joint(cast, graph) for cast in self.casts]
                self._remember()
        self._clean()
        parts = []
        for number, cast in enumerate(self.casts):
            params = {**part_readers[number].params(), **pinned[number]}
            made = [self._mesh(number, n, solid) for n, solid in enumerate(self.solids[number])]
            parts.append(Part(cast.role, self.names[number], made, params, self._liquid(cast)))
        self._write_sequences(frames)
        coupling = settings.coupling if settings.coupling != "AUTO" else None
        return Shot(
            frames=frames, fps=scene.render.fps / scene.render.fps_base, voxel=float(f"{settings.voxel:.7g}"),
            substeps={"min": settings.substeps_min, "max": max(settings.substeps_min, settings.substeps_max),
                      "cfl": float(f"{settings.cfl:.7g}")},
            parts=parts, params={name: reader.params() for name, reader in own.items()}, box=box, coupling=coupling,
            volumes=settings.volumes, preview=settings.preview)

    def _at(self, frame):
        self.scene.frame_set(frame)
        return self.context.evaluated_depsgraph_get()

    def _solids(self, cast):
        if cast.role == "JOINT":
            return []
        empties = cast.role == "LIQUID" and all(thing.type == "EMPTY" for thing in cast.objects)
        things = [] if empties else cast.objects
        moves = cast.role in _ANIMATED or (cast.role == "BODY" and cast.settings.rigid_object.keyframed)
        return [_Solid(thing, moves) for thing in things]

    def _reader(self, cast):
        name = ROLES[cast.role]
        return Reader(getattr(cast.settings, name), properties.types[name], cast.settings.own_fineness)

    def _scene_readers(self):
        wanted = [*properties.SCENE_TYPES, *(t.name for t in properties.couplings())]
        return {name: Reader(getattr(self.settings, name), properties.types[name]) for name in wanted if name in properties.types}

    def _box(self, graph):
        if self.domain is None:
            return None
        thing = self.domain.evaluated_get(graph)
        corners = meshes.placed(np.array([list(corner) for corner in thing.bound_box]), thing.matrix_world, self.unit)
        low, high = corners.min(axis=0), corners.max(axis=0)
        if not (high > low).all():
            raise Trouble(f"the domain `{thing.name}` is flat: give it a height, a width and a depth")
        sides = {axes.SIDES[side]: getattr(self.domain.meniscus, f"side_{side}") for side in axes.SIDES}
        return Box(_plain((low + high) / 2), _plain(high - low), sides)

    def _joint(self, cast, graph):
        """What a joint holds, where, and about which axis."""
        if cast.role != "JOINT":
            return {}
        held = cast.settings
        if held.body_a is None:
            raise Trouble(f"the joint `{cast.name}` holds nothing: choose its Body A")
        place = cast.objects[0].evaluated_get(graph).matrix_world
        found = {"body_a": self._body(cast, held.body_a), "pivot": self._point(place),
                 "axis": axes.y_up(list(place.to_3x3().col[2].normalized()))}
        if held.body_b is not None:
            found["body_b"] = self._body(cast, held.body_b)
        end = held.far_end.evaluated_get(graph).matrix_world if held.far_end else place
        found["pivot_b"] = self._point(end)
        return found

    def _point(self, place):
        return [c * self.unit for c in axes.y_up(list(place.translation))]

    def _body(self, joint, thing):
        return self._node(thing, "BODY", f"the joint `{joint.name}` holds `{thing.name}`, which is no rigid body: give it that role")

    def _liquid(self, cast):
        thing = cast.settings.liquid if cast.role in ("SOURCE", "SINK") else None
        return thing and self._node(thing, "LIQUID", f"`{cast.name}` belongs to `{thing.name}`, which is no liquid: give it that role")

    def _node(self, thing, role, otherwise):
        for name, cast in zip(self.names, self.casts):
            if cast.role == role and thing in cast.objects:
                return name
        raise Trouble(otherwise)

    def _remember(self):
        """Notes at the objects which nodes they become and where they begin, for when the shot is loaded."""
        for name, cast in zip(self.names, self.casts):
            for thing in cast.objects:
                thing.meniscus.node = name
                thing.meniscus.start = [thing.matrix_world[row][column] for row in range(4) for column in range(4)]

    def _clean(self):
        """Removes the meshes of an earlier writing."""
        if os.path.isdir(self.where.meshes):
            for entry in os.scandir(self.where.meshes):
                if entry.name.endswith(".ply"):
                    os.remove(entry.path)

    def _mesh(self, number, index, solid):
        end = f"_{index + 1}" if len(self.solids[number]) > 1 else ""
        name = f"{self.names[number]}{end}"
        first = solid.matrices[0][1]
        if solid.rests:
            self._save(f"{name}.ply", solid.points, solid.triangles, first)
            return self._file(f"{name}.ply")
        rigid = None if solid.deforms else solid.places(self.unit)
        if rigid is not None:
            scale, places = rigid
            points = meshes.placed(solid.points, np.eye(4), self.unit) * scale
            meshes.write(os.path.join(self.where.meshes, f"{name}.ply"), points, solid.triangles, np.prod(scale) < 0.0)
            return self._file(f"{name}.ply", places)
        if self.casts[number].role == "BODY":
            raise Trouble(f"the keyframed body `{solid.thing.name}` deforms or changes its scale: give it the role Collider")
        self.sequences.append((name, solid.thing))
        return self._file(f"{name}.$F4.ply")

    def _write_sequences(self, frames):
        """Writes the meshes of what deforms, at all frames."""
        for frame in range(frames[0], frames[1] + 1) if self.sequences else ():
            graph = self._at(frame)
            for name, thing in self.sequences:
                points, triangles = meshes.of(thing, graph)
                self._save(f"{name}.{digits(frame)}.ply", points, triangles, thing.evaluated_get(graph).matrix_world)

    def _save(self, file, points, triangles, matrix):
        mirrored = np.linalg.det(np.array(matrix)[:3, :3]) < 0.0
        meshes.write(os.path.join(self.where.meshes, file), meshes.placed(points, matrix, self.unit), triangles, mirrored)

    def _file(self, file, places=None):
        return Mesh(f"{os.path.basename(self.where.meshes)}/{file}", places)


def digits(frame):
    """A frame number as `$F4` has it."""
    return f"{'-' if frame < 0 else ''}{abs(frame):04}"


def _plain(values):
    return [float(f"{value:.9g}") for value in values]
