# SPDX-License-Identifier: GPL-3.0-or-later
"""Values of Blender's properties as a graph has them."""

import bpy

from . import axes, properties
from .graph import FINENESS


def read(group, parameter):
    """A parameter's value now: SI, Y up, with as many digits as Blender keeps."""
    value = getattr(group, properties.attribute(parameter))
    if parameter.kind == "texts":
        return [text.strip() for text in value.split(",") if text.strip()]
    if parameter.kind == "file":
        return bpy.path.abspath(value) if value else ""
    if not parameter.is_number:
        return value
    if parameter.components == 1:
        return _number(parameter, value)
    numbers = [_number(parameter, v) for v in value]
    return axes.y_up(numbers) if axes.is_directed(parameter) else numbers


def _number(parameter, value):
    # 0.05 is 0.05000000074505806 in Blender's 32 bits. -0 is 0.
    return int(value) if parameter.kind == "integer" else float(f"{value:.7g}") + 0.0


class Reader:
    """The values of a node type's parameters over time: those that differ from their defaults, keyframes where they change."""

    def __init__(self, group, node_type, own_fineness=True):
        left_out = FINENESS.get(node_type.name, (None,))[0] if not own_fineness else None
        self._group = group
        self._params = [p for p in properties.shown(node_type) if p.name != left_out]
        self._taken = {p.name: [] for p in self._params}

    def take(self, frame):
        """Notes the values that can change; call it when the scene is at this frame."""
        for p in self._params:
            if not self._taken[p.name] or (p.animatable and p.is_number):
                self._taken[p.name].append([frame, read(self._group, p)])

    def params(self):
        found = {}
        for p in self._params:
            taken = self._taken[p.name]
            first = taken[0][1]
            if any(value != first for _, value in taken):
                found[p.name] = {"keys": taken, "ease": "linear"}
            elif first != p.default:
                found[p.name] = first
        return found
