# SPDX-License-Identifier: GPL-3.0-or-later
"""Meniscus in Blender: roles for objects, cooks in a process of their own, and what they wrote in the scene."""

import atexit

import bpy

from . import operators, panels, preferences, properties

_CLASSES = (preferences.MENISCUS_preferences, *operators.classes, *panels.classes)


def register():
    bpy.utils.register_class(_CLASSES[0])
    preferences.register_properties(bpy.context)
    for one in _CLASSES[1:]:
        bpy.utils.register_class(one)
    atexit.register(operators.end)


def unregister():
    operators.end()
    atexit.unregister(operators.end)
    for one in reversed(_CLASSES[1:]):
        bpy.utils.unregister_class(one)
    properties.unregister()
    bpy.utils.unregister_class(_CLASSES[0])
