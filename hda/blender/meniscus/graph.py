# SPDX-License-Identifier: GPL-3.0-or-later
"""A shot as a graph that `meniscus` cooks. Needs no Blender. Metres, seconds, kilograms, degrees; Y is up."""

import dataclasses
import json
import os
import re

from . import motion
from .descriptors import Trouble

# What an object can be, and the node type that it becomes.
ROLES = {
    "LIQUID": "liquid_object",
    "SOURCE": "liquid_source",
    "SINK": "liquid_sink",
    "COLLIDER": "static_object",
    "BODY": "rigid_object",
    "JOINT": "rigid_joint",
}
# Parameters that say how fine a node is, in parts of the shot's voxel.
FINENESS = {"liquid_object": ("particle_separation", "$voxel / 2"), "static_object": ("division_size", "$voxel"),
            "rigid_object": ("division_size", "$voxel")}
# Names that graphs, their folders or USD shots have for themselves, and those of the nodes that this module adds.
_TAKEN = {"fps", "frames", "substeps", "quality", "checkpoints", "variables", "materials", "camera", "voxel",
          "gravity", "rigid", "flip", "coupling", "cache", "shot", "bodies", "preview"}
_LONGEST = 60


@dataclasses.dataclass
class Mesh:
    """A mesh file beside the graph; `$F4` in its name stands for the frame."""

    file: str
    # [(frame, move, rotation 3 x 3)] of a solid that moves: the file has it about the origin.
    places: list | None = None


@dataclasses.dataclass
class Part:
    """What one object or collection becomes."""

    role: str
    name: str
    meshes: list
    params: dict
    # The name of the liquid that a source or a sink belongs to; None where there is only one.
    liquid: str | None = None


@dataclasses.dataclass
class Box:
    """The box that contains the simulation; `sides` by their parameters' names: closed, open or kill."""

    center: list
    size: list
    sides: dict

    def params(self):
        return {"limit_center": self.center, "limit_size": self.size, **self.sides}


@dataclasses.dataclass
class Shot:
    """All that a graph is made of. `params` are those of solvers, forces and outputs, by node type."""

    frames: tuple
    fps: float
    voxel: float
    substeps: dict
    parts: list = dataclasses.field(default_factory=list)
    params: dict = dataclasses.field(default_factory=dict)
    box: Box | None = None
    # A coupling's node type; None: the liquid's own solver, or floating_bodies where bodies are in it.
    coupling: str | None = None
    volumes: bool = True
    preview: bool = False

    def of(self, role):
        return [part for part in self.parts if part.role == role]

    def graph(self):
        """The graph, as JSON has it. Raises Trouble where nothing can be made of the shot."""
        self._check()
        nodes = [node for part in self.parts for node in self._part(part)]
        nodes.append(self._node("gravity", "gravity", []))
        flips = [self._flip(liquid) for liquid in self.of("LIQUID")]
        solvers = flips + self._rigid()
        coupling = self._coupling(solvers)
        ends = [node["name"] for node in coupling or solvers]
        nodes += solvers + coupling + self._outputs(ends)
        return {
            "format": "meniscus.graph/1",
            "comment": "Written by the Blender add-on.",
            "fps": self.fps,
            "frames": list(self.frames),
            "substeps": self.substeps,
            "variables": {"voxel": self.voxel},
            "nodes": nodes,
        }

    def write(self, path):
        """Writes the graph file."""
        text = json.dumps(self.graph(), indent=1)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text + "\n")

    def _check(self):
        if not self.of("LIQUID") and not self.of("BODY"):
            raise Trouble("nothing is simulated: give an object the role Liquid or Rigid Body, in its Object properties under Meniscus")
        for part in self.parts:
            if part.role in ("SOURCE", "SINK"):
                self._liquid_of(part)
        if self.of("JOINT") and not self.of("BODY"):
            raise Trouble(f"the joint `{self.of('JOINT')[0].name}` has nothing to hold: no object is a rigid body")

    def _liquid_of(self, part):
        names = [liquid.name for liquid in self.of("LIQUID")]
        if part.liquid is None and len(names) == 1:
            return names[0]
        if part.liquid not in names:
            what = {"SOURCE": "source", "SINK": "sink"}[part.role]
            do = "choose one of them at its Liquid" if names else "give an object that role; an Empty is a liquid that begins empty"
            raise Trouble(f"the {what} `{part.name}` needs a liquid, and {len(names)} objects have the role Liquid: {do}")
        return part.liquid

    def _node(self, name, type_name, inputs, params=None):
        node = {"name": name, "type": type_name}
        if inputs:
            node["inputs"] = inputs
        params = {**self.params.get(type_name, {}), **(params or {})}
        if params:
            node["params"] = params
        return node

    def _part(self, part):
        """The nodes of a part: its meshes, their motion, the object."""
        nodes, inputs = [], []
        for number, mesh in enumerate(part.meshes):
            end = f"_{number + 1}" if len(part.meshes) > 1 else ""
            nodes.append(self._node(f"{part.name}_mesh{end}", "file", [], {"file": mesh.file}))
            if mesh.places is not None:
                moved = f"{part.name}_motion{end}"
                nodes.append(self._node(moved, "transform", [nodes[-1]["name"]], motion.keys(mesh.places)))
            inputs.append(nodes[-1]["name"])
        type_name = ROLES[part.role]
        params = dict(part.params)
        if type_name in FINENESS:
            name, share = FINENESS[type_name]
            params.setdefault(name, share)
        return nodes + [self._node(part.name, type_name, inputs, params)]

    def _box(self):
        return self.box.params() if self.box else {}

    def _names(self, role):
        return [part.name for part in self.of(role)]

    def _flip(self, liquid):
        alone = len(self.of("LIQUID")) == 1
        own = [part.name for part in self.parts if part.role in ("SOURCE", "SINK") and self._liquid_of(part) == liquid.name]
        inputs = [liquid.name, *self._names("COLLIDER"), *self._names("BODY"), *own, "gravity"]
        return self._node("flip" if alone else f"{liquid.name}_flip", "flip_solver", inputs, self._box())

    def _rigid(self):
        if not self.of("BODY"):
            return []
        inputs = [*self._names("BODY"), *self._names("COLLIDER"), *self._names("JOINT"), "gravity"]
        return [self._node("rigid", "rigid_solver", inputs, self._box())]

    def _coupling(self, solvers):
        if not self.of("LIQUID"):
            return []
        chosen = self.coupling or ("floating_bodies" if len(solvers) > 1 else None)
        return [self._node("coupling", chosen, [node["name"] for node in solvers])] if chosen else []

    def _outputs(self, ends):
        nodes = [self._node("shot", "usd_shot", ends)]
        if self.volumes and self.of("LIQUID"):
            nodes.append(self._node("cache", "vdb_cache", ends))
        if self.of("BODY"):
            params = {"geometry": ["bodies"], "attributes": "orient"}
            nodes.append(self._node("bodies", "geometry_cache", ["rigid"], params))
        if self.preview:
            nodes.append(self._node("preview", "preview", ends))
        return nodes


class Names:
    """Names of nodes for names of objects: letters, digits and _, each once."""

    def __init__(self):
        self._taken = set(_TAKEN)

    def take(self, wanted):
        plain = re.sub(r"[^A-Za-z0-9_]", "_", wanted)[:_LONGEST].strip("_") or "object"
        if plain[0].isdigit():
            plain = f"_{plain}"
        name, number = plain, 2
        while name.lower() in self._taken:
            name, number = f"{plain}_{number}", number + 1
        self._taken.add(name.lower())
        return name
