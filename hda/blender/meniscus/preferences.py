# SPDX-License-Identifier: GPL-3.0-or-later
"""The add-on's preferences: where the program is."""

import bpy

from . import descriptors, properties

# Why there are no node types, in one sentence.
trouble = ""


def program(context):
    """The program that is chosen; empty: the one that is found."""
    addon = context.preferences.addons.get(__package__)
    return bpy.path.abspath(addon.preferences.program) if addon and addon.preferences.program else ""


def register_properties(context):
    """Makes the properties of the program's node types; without a program only what needs none."""
    global trouble
    trouble, found = "", {}
    try:
        found = descriptors.read(descriptors.find_program(program(context)))
    except descriptors.Trouble as e:
        trouble = str(e)
    properties.register(found)


def _changed(_self, context):
    properties.unregister()
    register_properties(context)


class MENISCUS_preferences(bpy.types.AddonPreferences):
    bl_idname = __package__

    program: bpy.props.StringProperty(
        name="Program", subtype="FILE_PATH", update=_changed,
        description="The file `meniscus`, with its plugin beside it. Empty: the one that the environment's MENISCUS names, else the one on the search path")

    def draw(self, _context):
        self.layout.prop(self, "program")
        if trouble:
            self.layout.label(text=trouble, icon="ERROR")
        else:
            self.layout.label(text=f"{len(properties.types)} node types", icon="CHECKMARK")
