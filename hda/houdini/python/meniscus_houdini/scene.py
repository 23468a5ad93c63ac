"""Reads a Houdini scene: parameters, geometry, units. The one module, with `assets`, that needs `hou`."""

from array import array

import hou

from . import export, graph, motion, nodes
from .mesh import Mesh


def metres_per_unit():
    """Length of the scene's unit, m."""
    return float(hou.hscriptExpression('scaletomks("m1")'))


class Source:
    """The geometry at a path over time: its mesh, and the matrix of the object that holds it."""

    def __init__(self, owner, path, group=""):
        """`owner` is the asset, whose relative paths these are; raises ShotError where there is no geometry."""
        found = owner.node(path)
        if found is None:
            raise graph.ShotError(f"{owner.path()}: there is no node {path}; set the path anew")
        self.sop = found.displayNode() if isinstance(found, hou.ObjNode) else found
        if not isinstance(self.sop, hou.SopNode):
            raise graph.ShotError(
                f"{owner.path()}: {path} is no SOP and no object with one; name a node that has geometry"
            )
        self.group = group
        self.holder = self.sop
        while self.holder is not None and not isinstance(self.holder, hou.ObjNode):
            self.holder = self.holder.parent()
        self.moves = self.sop.isTimeDependent()

    def at(self, frame):
        """The mesh in the object's space, and the object's matrix, at a frame; scene units."""
        geometry = self.sop.geometryAtFrame(frame)
        if geometry is None:
            raise graph.ShotError(f"{self.sop.path()}: it has errors at frame {frame}; mend it")
        return mesh(geometry, self.group, self.sop.path()), self.matrix(frame)

    def matrix(self, frame):
        """The object's matrix at a frame."""
        if self.holder is None:
            return motion.IDENTITY
        return tuple(self.holder.worldTransformAtTime(hou.frameToTime(frame)).asTuple())


def mesh(geometry, group, path):
    """A Mesh from Houdini's geometry, of the primitives in a group alone where one is named."""
    chosen = prims_of(geometry, group, path) if group else None
    polygons = []
    for prim in geometry.prims():
        if chosen is not None and prim.number() not in chosen:
            continue
        if prim.type() != hou.primType.Polygon:
            raise graph.ShotError(
                f"{path}: primitive {prim.number()} is a {prim.type().name()}, and Meniscus takes polygons; "
                "put an Unpack or a Convert SOP behind it"
            )
        if prim.isClosed():
            polygons.append(tuple(point.number() for point in prim.points()))
    out = Mesh(array("d", geometry.pointFloatAttribValues("P")), polygons, attributes(geometry))
    return compact(out) if group else out


def prims_of(geometry, group, path):
    """Numbers of the primitives in a group."""
    found = geometry.findPrimGroup(group)
    if found is None:
        raise graph.ShotError(f"{path}: there is no primitive group {group}; set Group anew")
    return {prim.number() for prim in found.prims()}


def attributes(geometry):
    """Point attributes that are numbers: components and values by name."""
    out = {}
    for attribute in geometry.pointAttribs():
        name, size = attribute.name(), attribute.size()
        if name == "P" or attribute.isArrayType():
            continue
        if attribute.dataType() == hou.attribData.Float:
            out[name] = (size, array("d", geometry.pointFloatAttribValues(name)))
        elif attribute.dataType() == hou.attribData.Int:
            out[name] = (size, array("q", geometry.pointIntAttribValues(name)))
    return out


def compact(mesh):
    """Without the points that no polygon names."""
    used = sorted({corner for corners in mesh.polygons for corner in corners})
    new = {old: at for at, old in enumerate(used)}

    def kept(values, size):
        return array(values.typecode, (x for old in used for x in values[size * old : size * old + size]))

    polygons = [tuple(new[corner] for corner in corners) for corners in mesh.polygons]
    kept_attributes = {name: (size, kept(values, size)) for name, (size, values) in mesh.attributes.items()}
    return Mesh(kept(mesh.positions, 3), polygons, kept_attributes)


def values(owner, node_type, frames, number=""):
    """The values of an asset's parameters for a node type, by the descriptor's names: constants, or keys."""
    return {p["name"]: value(owner, p, p["parm"] + str(number), frames) for p in nodes.params(node_type)}


def value(owner, param, name, frames):
    """One of them."""
    parms = tuple(owner.parmTuple(name))

    def at(frame):
        return plain(param, [parm.evalAtFrame(frame) for parm in parms])

    if not any(parm.isTimeDependent() for parm in parms):
        return at(frames[0])
    numbers = range(frames[0], frames[1] + 1)
    over_time = motion.steady(numbers, [at(frame) for frame in numbers])
    if isinstance(over_time, dict) and not (param["kind"] in ("number", "integer") and param["animatable"]):
        raise graph.ShotError(f"{owner.path()}: {name} changes over time, and Meniscus reads it once; delete its keys")
    return over_time


def plain(param, found):
    """A value as graphs have it."""
    kind = param["kind"]
    if kind == "toggle":
        return bool(found[0])
    if kind == "menu":
        return param["menu"][int(found[0])]
    if kind == "texts":
        return found[0].split()
    if kind in ("text", "file"):
        return found[0]
    found = [int(x) for x in found] if kind == "integer" else [float(x) for x in found]
    return found if param["components"] > 1 else found[0]


def shot(owner, folder, base):
    """The shot that a Meniscus Shot describes; its geometry is written to `folder`, paths are relative to `base`."""
    frames = tuple(int(x) for x in owner.evalParmTuple("frames"))
    if frames[1] < frames[0]:
        raise graph.ShotError(
            f"{owner.path()}: frame {frames[1]}, the last, comes before {frames[0]}, the first; set Frames"
        )
    units = metres_per_unit()
    entries = [entry(owner, number, frames, folder, base, units) for number in range(1, owner.evalParm("objects") + 1)]
    coupling = chosen(owner, "coupling", ["none"] + nodes.COUPLINGS)
    return graph.Shot(
        entries=entries,
        frames=frames,
        fps=hou.fps(),
        substeps=owner.evalParmTuple("substeps"),
        cfl=owner.evalParm("cfl"),
        flip=values(owner, "flip_solver", frames),
        rigid=values(owner, "rigid_solver", frames),
        gravity=values(owner, "gravity", frames) if owner.evalParm("use_gravity") else None,
        coupling=None if coupling == "none" else (coupling, values(owner, coupling, frames)),
        made={
            solver: (values(owner, solver, frames), values(owner, filled, frames))
            for solver, filled in nodes.MADE.items()
            if owner.evalParm(f"use_{solver}")
        },
        outputs={name: values(owner, name, frames) for name in nodes.OUTPUTS if owner.evalParm(f"use_{name}")},
    )


def entry(owner, number, frames, folder, base, units):
    """What takes part under a number."""
    kind = chosen(owner, f"object_type{number}", nodes.MANY)
    name = owner.evalParm(f"object_name{number}") or f"{kind}{number}"
    out = graph.Entry(name, kind, values(owner, kind, frames, number))
    path = owner.evalParm(f"object_path{number}")
    if path and kind not in nodes.WITHOUT_GEOMETRY:
        source = Source(owner, path, owner.evalParm(f"object_group{number}"))
        if kind == "liquid_object":
            out.mesh = export.still(name, source, frames[0], folder, base, units)
        else:
            out.mesh = export.piece(name, source, frames, folder, base, units, kind == "rigid_object")
    points = owner.evalParm(f"object_points{number}") if kind == "rigid_object" else ""
    if points:
        out.points = export.still(f"{name}_points", Source(owner, points), frames[0], folder, base, units)
    return out


def chosen(owner, name, tokens):
    """The token that a menu stands at."""
    return tokens[int(owner.evalParm(name))]


def gathered(owner, geometry):
    """Merges what a Meniscus Shot gathers into `geometry`, where it is; `name` says whose a primitive is."""
    for number in range(1, owner.evalParm("objects") + 1):
        path = owner.evalParm(f"object_path{number}")
        kind = chosen(owner, f"object_type{number}", nodes.MANY)
        if not path or kind in nodes.WITHOUT_GEOMETRY:
            continue
        source = Source(owner, path)
        part = hou.Geometry()
        part.merge(source.sop.geometry())
        group = owner.evalParm(f"object_group{number}")
        if group:
            kept = prims_of(part, group, source.sop.path())
            part.deletePrims([prim for prim in part.prims() if prim.number() not in kept])
        if source.holder is not None:
            part.transform(source.holder.worldTransform())
        name = part.findPrimAttrib("name") or part.addAttrib(hou.attribType.Prim, "name", "")
        for prim in part.prims():
            prim.setAttribValue(name, owner.evalParm(f"object_name{number}") or f"{kind}{number}")
        geometry.merge(part)
