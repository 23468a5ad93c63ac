"""A shot as a graph of Meniscus: what takes part becomes nodes, and nodes are wired as their roles say."""

import json
import os
import re
from dataclasses import dataclass, field

from . import nodes

# Names of the nodes that every shot has once.
FLIP, RIGID, GRAVITY, COUPLING = "flip", "rigid", "gravity", "coupling"
OUTPUT_NAMES = {
    "vdb_cache": "cache",
    "geometry_cache": "points",
    "mesh_cache": "meshes",
    "usd_shot": "shot",
    "preview": "preview",
}
# Names of what is made of the liquid, by its solver: the solver's, and that of the object that it fills.
MADE_NAMES = {"whitewater_solver": ("whitewater", "foam"), "liquid_mesher": ("mesher", "render_surface")}
# Outputs that take it.
MADE_FOR = {
    "whitewater_solver": {"geometry_cache", "usd_shot", "preview"},
    "liquid_mesher": {"geometry_cache", "mesh_cache", "usd_shot", "preview"},
}
# What Meniscus keeps for itself.
RESERVED = {"fps", "frames", "substeps", "quality", "checkpoints", "variables"}


class ShotError(Exception):
    """What is wrong with a shot, and what to do: one sentence."""


@dataclass
class Piece:
    """Geometry that is on disk."""

    # Relative to the graph; `$F4` where there is a file a frame.
    file: str
    # Parameters of a transform that moves it (m, degrees); empty: it is where it should be.
    keys: dict = field(default_factory=dict)


@dataclass
class Entry:
    """Something that takes part: a liquid, a solid, a body, a source, a sink, a joint."""

    name: str
    type: str
    # By the names of the descriptor; a constant, or {"keys": [[frame, value], ...]}.
    params: dict = field(default_factory=dict)
    mesh: Piece = None
    points: Piece = None


@dataclass
class Shot:
    """All that a graph says."""

    entries: list
    # First and last.
    frames: tuple = (1, 120)
    fps: float = 24.0
    # Fewest and most of a frame.
    substeps: tuple = (1, 8)
    # Voxels a substep.
    cfl: float = 2.0
    flip: dict = field(default_factory=dict)
    rigid: dict = field(default_factory=dict)
    # Parameters of gravity; None: there is none.
    gravity: dict = None
    # Type and parameters; None: each solver solves for itself.
    coupling: tuple = None
    # What is made of the liquid: parameters of the solver and of the object that it fills, by solver.
    made: dict = field(default_factory=dict)
    # Parameters by type.
    outputs: dict = field(default_factory=dict)


def build(shot):
    """The graph. Raises ShotError."""
    check(shot)
    of = {name: [e.name for e in shot.entries if e.type == name] for name in nodes.MANY}
    made = [node for entry in shot.entries for node in entry_nodes(entry)]
    forces = []
    if shot.gravity is not None:
        made.append(node(GRAVITY, "gravity", [], shot.gravity))
        forces = [GRAVITY]
    solvers = []
    if of["rigid_object"]:
        meets = of["rigid_object"] + of["static_object"] + of["rigid_joint"] + forces
        made.append(node(RIGID, "rigid_solver", meets, shot.rigid))
        solvers.append(RIGID)
    if of["liquid_object"]:
        # Sources act before all other forces.
        inflow = of["liquid_source"] + of["liquid_sink"]
        meets = of["liquid_object"] + of["static_object"] + of["rigid_object"] + inflow + forces
        made.append(node(FLIP, "flip_solver", meets, shot.flip))
        solvers.append(FLIP)
    top = solvers
    if shot.coupling and of["liquid_object"]:
        kind, params = shot.coupling
        made.append(node(COUPLING, kind, solvers, params))
        top = [COUPLING]
    for solver, (params, filled) in shot.made.items() if of["liquid_object"] else ():
        name, holder = MADE_NAMES[solver]
        made.append(node(holder, nodes.MADE[solver], [], filled))
        meets = of["liquid_object"] + of["static_object"] + of["rigid_object"]
        made.append(node(name, solver, [holder, *meets, *(forces if solver == "whitewater_solver" else [])], params))
    for kind, params in shot.outputs.items():
        solvers_of_liquid = [s for s in shot.made if kind in MADE_FOR[s]] if of["liquid_object"] else []
        inputs = top + [MADE_NAMES[s][0] for s in solvers_of_liquid] + [mesh_of(e) for e in shot.entries if e.type == "static_object" and kind == "usd_shot"]
        made.append(node(OUTPUT_NAMES[kind], kind, inputs, params))
    low, high = shot.substeps
    return {
        "format": "meniscus.graph/1",
        "comment": "Written by the Houdini asset Meniscus Shot.",
        "fps": shot.fps,
        "frames": list(shot.frames),
        "substeps": {"min": low, "max": high, "cfl": shot.cfl},
        "nodes": made,
    }


def entry_nodes(entry):
    """The nodes of something that takes part: its geometry first."""
    made, inputs = [], []
    for piece, name in ((entry.mesh, f"{entry.name}_mesh"), (entry.points, f"{entry.name}_points")):
        if piece is None:
            continue
        made.append({"name": name, "type": "file", "params": {"file": piece.file}})
        if piece.keys:
            made.append({"name": f"{name}_placed", "type": "transform", "inputs": [name], "params": piece.keys})
        inputs.append(made[-1]["name"])
    return made + [node(entry.name, entry.type, inputs, entry.params)]


def mesh_of(entry):
    """Name of the node that gives an entry's mesh where it is."""
    return f"{entry.name}_mesh" + ("_placed" if entry.mesh.keys else "")


def node(name, kind, inputs, params):
    """A node with the parameters that are not defaults."""
    out = {"name": name, "type": kind, "version": nodes.TYPES[kind]["version"]}
    if inputs:
        out["inputs"] = list(inputs)
    given = nodes.differing(kind, params)
    if given:
        out["params"] = given
    return out


def check(shot):
    """What Meniscus could only say about nodes that nobody has seen in Houdini."""
    taken = {FLIP, RIGID, GRAVITY, COUPLING, *OUTPUT_NAMES.values(), *RESERVED}
    taken |= {name for names in MADE_NAMES.values() for name in names}
    for entry in shot.entries:
        name = entry.name
        if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,79}", name):
            raise ShotError(
                f"object `{name}`: a name has 1 to 80 letters, digits, _ and -, because files are named by it; rename it"
            )
        if name in taken:
            raise ShotError(f"object `{name}`: the name is taken; rename it")
        taken |= {name, f"{name}_mesh", f"{name}_points", f"{name}_mesh_placed", f"{name}_points_placed"}
        if entry.mesh is None and entry.type not in nodes.WITHOUT_GEOMETRY and entry.type != "liquid_object":
            raise ShotError(f"object `{name}`: a {nodes.label(entry.type)} needs geometry; set its SOP Path")
    kinds = {entry.type for entry in shot.entries}
    if not kinds & {"liquid_object", "rigid_object"}:
        raise ShotError("nothing moves in this shot: add a Liquid Object or a Rigid Object")
    if "liquid_object" not in kinds and kinds & {"liquid_source", "liquid_sink"}:
        raise ShotError(
            "there is a source or a sink, but no liquid: add a Liquid Object; without a SOP Path it starts empty"
        )
    if shot.coupling and shot.coupling[0] == "floating_bodies" and not {"liquid_object", "rigid_object"} <= kinds:
        raise ShotError(
            "coupling Floating Bodies needs a Liquid Object and a Rigid Object: "
            "add what is missing, or choose another coupling"
        )


def text(graph):
    """The graph as a file, a node a line."""
    head = {key: value for key, value in graph.items() if key != "nodes"}
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}," for key, value in head.items()]
    made = ",\n".join("    " + json.dumps(one) for one in graph["nodes"])
    return "{\n" + "\n".join(lines) + '\n  "nodes": [\n' + made + "\n  ]\n}\n"


def write(path, graph):
    """Writes a graph, whole or not at all."""
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with open(path + ".part", "w", encoding="utf-8") as file:
        file.write(text(graph))
    os.replace(path + ".part", path)
