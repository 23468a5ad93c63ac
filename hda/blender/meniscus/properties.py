# SPDX-License-Identifier: GPL-3.0-or-later
"""What objects, collections and scenes keep for Meniscus. Parameters come from the node types that the program describes."""

import zlib

import bpy
from bpy.props import (BoolProperty, EnumProperty, FloatProperty, FloatVectorProperty, IntProperty, IntVectorProperty, PointerProperty,
                       StringProperty)

from . import axes
from .graph import ROLES

# What a scene keeps node types for: solvers, couplings, outputs, gravity.
SCENE_TYPES = ("flip_solver", "rigid_solver", "gravity", "usd_shot", "vdb_cache")
# Parameters that the add-on sets by itself.
_BOX = {"limit_center", "limit_size", *axes.SIDES.values()}
HIDDEN = {
    "flip_solver": _BOX,
    "rigid_solver": _BOX,
    "rigid_joint": {"body_a", "body_b", "chain", "pivot", "pivot_b", "axis"},
    "usd_shot": {"objects", "geometry", "volumes", "up_axis", "azimuth", "elevation", "field_of_view"},
}
# How Blender is told that a path may begin with // (from 4.5 on it wants to know).
_RELATIVE = {"PATH_SUPPORTS_BLEND_RELATIVE"} if bpy.app.version >= (4, 5, 0) else set()
# Names that every property group of Blender's has for itself.
_BLENDERS = {"name", "rna_type", "bl_rna", "id_data"}
_INT = 2**31 - 1
_FLOAT = 3.4e38

_ROLE_ITEMS = [
    ("NONE", "None", "Takes no part"),
    ("LIQUID", "Liquid", "Its closed mesh is full of liquid at the first frame. An Empty: a liquid that begins empty"),
    ("SOURCE", "Source", "Liquid flows out of its closed mesh"),
    ("SINK", "Sink", "Liquid that enters its closed mesh vanishes"),
    ("COLLIDER", "Collider", "A solid that nothing moves but its own animation; it may deform"),
    ("BODY", "Rigid Body", "A solid that liquid, contacts and gravity move"),
    ("JOINT", "Joint", "Holds two rigid bodies together, or one to the world, at this object's place; its Z is the axis"),
    ("DOMAIN", "Domain", "The box around it contains the simulation"),
]
_OF_COLLECTIONS = ("NONE", "LIQUID", "SOURCE", "SINK", "COLLIDER", "BODY")
_SIDE_ITEMS = [
    ("closed", "Closed", "A wall"),
    ("open", "Open", "Liquid passes, and the air beyond is unbounded"),
    ("kill", "Kill", "What crosses it is removed"),
]

_classes = []
# The node types that the registered properties are made of, by name.
types = {}


def attribute(parameter):
    """The name of a parameter's property."""
    return f"{parameter.name}_" if parameter.name in _BLENDERS else parameter.name


def shown(node_type):
    """The parameters of a node type that are shown."""
    hidden = HIDDEN.get(node_type.name, ())
    return [p for p in node_type.params if p.name not in hidden]


def couplings():
    """The node types that can couple liquids, bodies and air."""
    return [t for t in types.values() if t.kind == "coupling"]


def register(found):
    """Makes the properties of these node types."""
    types.update(found)
    wanted = [*ROLES.values(), *SCENE_TYPES, *(t.name for t in couplings())]
    groups = {name: _add(f"MENISCUS_PG_{name}", _parameters(types[name])) for name in wanted if name in types}
    roles = {name: PointerProperty(type=groups[name]) for name in ROLES.values() if name in groups}
    others = {name: PointerProperty(type=group) for name, group in groups.items() if name not in roles}
    settings = {
        bpy.types.Object: _add("MENISCUS_PG_object", {**_object(), **roles}),
        bpy.types.Collection: _add("MENISCUS_PG_collection", {**_collection(), **roles}),
        bpy.types.Scene: _add("MENISCUS_PG_scene", {**_scene(), **others}),
    }
    for owner, group in settings.items():
        owner.meniscus = PointerProperty(type=group)


def unregister():
    """Takes the properties away; what they hold stays in the file."""
    for owner in (bpy.types.Object, bpy.types.Collection, bpy.types.Scene):
        del owner.meniscus
    for group in reversed(_classes):
        bpy.utils.unregister_class(group)
    _classes.clear()
    types.clear()


def _add(name, annotations):
    group = type(name, (bpy.types.PropertyGroup,), {"__annotations__": annotations})
    bpy.utils.register_class(group)
    _classes.append(group)
    return group


def _items(*listed):
    """Entries (token, label, help) of a menu. Files keep their numbers, which stay theirs when others are added."""
    return [(token, label, about, "NONE", zlib.crc32(token.encode()) >> 1) for token, label, about in listed]


def _parameters(node_type):
    return {attribute(p): _property(p) for p in shown(node_type)}


def _property(p):
    unit = f" ({p.unit})" if p.unit else ""
    about = p.help + (" In Blender's axes, Z up." if axes.is_directed(p) else "")
    common = {"name": p.label + unit, "description": about, "options": {"ANIMATABLE"} if p.animatable and p.is_number else set()}
    if p.kind == "toggle":
        return BoolProperty(default=p.default, **common)
    if p.kind == "menu":
        return EnumProperty(items=_items(*((token, label, "") for token, label in p.menu)), default=p.default, **common)
    if p.is_number:
        return _number(p, common)
    if p.kind == "texts":
        common["description"] += " Separated by commas."
        return StringProperty(default=", ".join(p.default), **common)
    if p.kind == "file":
        return StringProperty(default=p.default, subtype="FILE_PATH", **{**common, "options": _RELATIVE})
    return StringProperty(default=p.default, **common)


def _number(p, common):
    whole = p.kind == "integer"
    most = _INT if whole else _FLOAT
    number = int if whole else float
    for key, hard, soft, least in (("min", p.hard_min, p.soft_min, -most), ("max", p.hard_max, p.soft_max, most)):
        common[key] = number(least if hard is None else hard)
        if soft is not None:
            common[f"soft_{key}"] = number(soft)
    if not whole:
        common["precision"] = 4
    default = axes.z_up(p.default) if axes.is_directed(p) else p.default
    if p.components == 1:
        return (IntProperty if whole else FloatProperty)(default=default, **common)
    return (IntVectorProperty if whole else FloatVectorProperty)(size=p.components, default=default, **common)


def _fineness():
    return BoolProperty(
        name="Fineness of Its Own", options=set(),
        description="On: its own particle separation or division size. Off: it follows from the scene's voxel size")


def _object():
    pointer = bpy.types.Object
    items = _items(("INHERIT", "As Its Collection", "The role of the first collection that has one"), *_ROLE_ITEMS)
    sides = {f"side_{side}": EnumProperty(
        name=side.replace("neg_", "-").replace("pos_", "+").upper(), items=_items(*_SIDE_ITEMS), options=set(),
        default="open" if side == "pos_z" else "closed",
        description="What happens at this side of the domain, in Blender's axes") for side in axes.SIDES}
    return {
        "role": EnumProperty(name="Role", items=items, default="INHERIT", options=set(), description="What this object is in the simulation"),
        "own_fineness": _fineness(),
        "liquid": PointerProperty(name="Liquid", type=pointer, description="The liquid that it feeds or drains; empty: the only one"),
        "body_a": PointerProperty(name="Body A", type=pointer, description="The rigid body that the joint holds"),
        "body_b": PointerProperty(name="Body B", type=pointer, description="The other rigid body; empty: the world"),
        "far_end": PointerProperty(name="Far End", type=pointer, description="Where a spring ends, on Body B or in the world"),
        **sides,
        # What the last cook made of it: the node, and the place at its first frame (world, Blender's units).
        "node": StringProperty(options={"HIDDEN"}),
        "start": FloatVectorProperty(size=16, options={"HIDDEN"}),
        # While keyframes of a cook move it: what it had before.
        "is_moved": BoolProperty(options={"HIDDEN"}),
        "own_action": PointerProperty(type=bpy.types.Action),
        "own_rotation_mode": StringProperty(options={"HIDDEN"}),
    }


def _collection():
    items = _items(*(item for item in _ROLE_ITEMS if item[0] in _OF_COLLECTIONS))
    return {
        "role": EnumProperty(name="Role", items=items, default="NONE", options=set(),
                             description="What the objects of this collection are. Its meshes make up one liquid, source or sink"),
        "own_fineness": _fineness(),
        "liquid": PointerProperty(name="Liquid", type=bpy.types.Object,
                                  description="The liquid that it feeds or drains; empty: the only one"),
    }


def _scene():
    automatic = ("AUTO", "Automatic", "Open air; where there are rigid bodies they float: floating_bodies")
    return {
        "folder": StringProperty(
            name="Folder", subtype="DIR_PATH", default="//meniscus", options=_RELATIVE,
            description="Where meshes, graph and caches are written. // is the folder of the saved .blend file"),
        "voxel": FloatProperty(
            name="Voxel Size (m)", default=0.05, min=1e-4, soft_min=0.001, soft_max=1.0, precision=4, options=set(),
            description="Edge of the liquid's voxels, in metres, whatever the scene's unit is. Half of it takes about eight times the memory"),
        "substeps_min": IntProperty(name="Min Substeps", default=1, min=1, max=10000, options=set(), description="Fewest substeps a frame"),
        "substeps_max": IntProperty(name="Max Substeps", default=8, min=1, max=10000, options=set(), description="Most substeps a frame"),
        "cfl": FloatProperty(name="CFL Condition", default=2.0, min=0.001, max=1000.0, soft_max=5.0, options=set(),
                             description="Voxels that the fastest liquid may cross in a substep. Lower: more substeps"),
        "coupling": EnumProperty(name="Coupling", items=_items(automatic, *((t.name, t.label, t.help) for t in couplings())),
                                 default="AUTO", options=set(),
                                 description="How liquids, trapped air and bodies are solved together"),
        "volumes": BoolProperty(name="VDB Cache", default=True, options=set(), description="Writes the liquid's grids as OpenVDB files"),
        "preview": BoolProperty(name="Preview Pictures", options=set(), description="Draws a picture of each frame while it cooks"),
        "threads": IntProperty(name="Threads", min=0, max=4096, options=set(), description="0: as many as there are processors"),
        "load_after": BoolProperty(name="Load When Done", default=True, options=set(), description="Loads the shot when the cook is done"),
        "report": StringProperty(options={"HIDDEN", "SKIP_SAVE"}),
    }
