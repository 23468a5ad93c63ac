# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels. What they show of node types, their descriptors say."""

import bpy

from . import axes, descriptors, load, operators, preferences, properties, values
from .graph import FINENESS, ROLES
from .roles import Roles

_WORDS = 60


def draw_parameters(layout, owner, group, node_type, own_fineness=True):
    """The parameters of a node type, by folder; those without an effect are grey."""
    left_out = None if own_fineness else FINENESS.get(node_type.name, (None,))[0]
    folders = {}
    for p in properties.shown(node_type):
        if p.name != left_out:
            folders.setdefault(p.folder, []).append(p)
    for folder, params in folders.items():
        body = layout
        if folder:
            header, body = layout.panel(f"meniscus_{owner}_{node_type.name}_{folder}", default_closed=True)
            header.label(text=folder)
        if body is not None:
            for p in params:
                _draw_parameter(body, group, node_type, p)


def _draw_parameter(layout, group, node_type, p):
    def value(name):
        other = node_type.param(name)
        return values.read(group, other) if other in properties.shown(node_type) else None

    row = layout.column() if p.components > 1 else layout.row()
    row.active = not descriptors.is_disabled(p.disable_when, value)
    row.prop(group, properties.attribute(p))


def draw_role(layout, thing, settings, role):
    """The settings of an object or a collection that has a role itself."""
    layout.prop(settings, "role")
    if role == "DOMAIN":
        grid = layout.grid_flow(columns=2, row_major=True, even_columns=True)
        for side in axes.SIDES:
            grid.prop(settings, f"side_{side}")
    if role not in ROLES or ROLES[role] not in properties.types:
        return
    node_type = properties.types[ROLES[role]]
    if role in ("SOURCE", "SINK"):
        layout.prop(settings, "liquid")
    if role == "JOINT":
        for name in ("body_a", "body_b", "far_end"):
            layout.prop(settings, name)
    if node_type.name in FINENESS:
        layout.prop(settings, "own_fineness")
    draw_parameters(layout, type(thing).__name__, getattr(settings, node_type.name), node_type, settings.own_fineness)


def draw_trouble(layout):
    """Says why there are no node types; whether there are any."""
    if preferences.trouble:
        for line in _lines(preferences.trouble):
            layout.label(text=line, icon="ERROR")
    return not preferences.trouble


def draw_cook(layout, scene):
    """Buttons, progress and what `check` has said."""
    cooking = operators.is_cooking()
    row = layout.row(align=True)
    row.enabled = not cooking
    row.operator("meniscus.check")
    row.operator("meniscus.cook").resume = False
    row.operator("meniscus.cook", text="Resume").resume = True
    if cooking:
        row = layout.row()
        row.progress(factor=operators.job.fraction, text=operators.job.line.split(" · ")[0])
        row.operator("meniscus.cancel", text="", icon="CANCEL")
    row = layout.row(align=True)
    row.operator("meniscus.load")
    row.operator("meniscus.unload")
    for line in scene.meniscus.report.splitlines():
        icon = "ERROR" if line.startswith(("advice", "warning")) else "NONE"
        for part in _lines(line):
            layout.label(text=part, icon=icon)
            icon = "NONE"


def _lines(text):
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) > _WORDS:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


class _OfScene:
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "scene"
    bl_options = {"DEFAULT_CLOSED"}


class MENISCUS_PT_scene(_OfScene, bpy.types.Panel):
    bl_label = "Meniscus"

    def draw(self, context):
        layout, settings = self.layout, context.scene.meniscus
        layout.use_property_split = True
        if not draw_trouble(layout):
            return
        draw_cook(layout, context.scene)
        for name in ("folder", "voxel", "coupling", "substeps_min", "substeps_max", "cfl", "volumes", "preview", "threads", "load_after"):
            layout.prop(settings, name)


class MENISCUS_PT_solvers(_OfScene, bpy.types.Panel):
    bl_label = "Solvers and Outputs"
    bl_parent_id = "MENISCUS_PT_scene"

    @classmethod
    def poll(cls, _context):
        return bool(properties.types)

    def draw(self, context):
        layout, settings = self.layout, context.scene.meniscus
        layout.use_property_split = True
        for name in (*properties.SCENE_TYPES, *(t.name for t in properties.couplings())):
            if name not in properties.types or not _is_used(name, settings):
                continue
            header, body = layout.panel(f"meniscus_{name}", default_closed=True)
            header.label(text=properties.types[name].label)
            if body is not None:
                draw_parameters(body, "scene", getattr(settings, name), properties.types[name])


def _is_used(name, settings):
    if properties.types[name].kind == "coupling":
        return name == settings.coupling or (settings.coupling == "AUTO" and name == "floating_bodies")
    return name != "vdb_cache" or settings.volumes


class MENISCUS_PT_object(bpy.types.Panel):
    bl_label = "Meniscus"
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "object"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context):
        thing = context.object
        self.layout.use_property_split = True
        if not draw_trouble(self.layout):
            return
        draw_role(self.layout, thing, thing.meniscus, thing.meniscus.role)
        if thing.meniscus.role == "INHERIT":
            self.layout.label(text=f"Now: {Roles(context).of(thing).replace('_', ' ').title()}")


class MENISCUS_PT_collection(bpy.types.Panel):
    bl_label = "Meniscus"
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "collection"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context):
        collection = context.collection
        self.layout.use_property_split = True
        if draw_trouble(self.layout):
            draw_role(self.layout, collection, collection.meniscus, collection.meniscus.role)


class MENISCUS_PT_sidebar(bpy.types.Panel):
    bl_label = "Meniscus"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Meniscus"

    def draw(self, context):
        layout, thing = self.layout, context.object
        if not draw_trouble(layout):
            return
        draw_cook(layout, context.scene)
        layout.prop(context.scene.meniscus, "voxel")
        if thing is not None:
            layout.prop(thing.meniscus, "role", text=thing.name)
        if load.loaded(context.scene) is None:
            layout.label(text="Nothing is loaded")


classes = (MENISCUS_PT_scene, MENISCUS_PT_solvers, MENISCUS_PT_object, MENISCUS_PT_collection, MENISCUS_PT_sidebar)
