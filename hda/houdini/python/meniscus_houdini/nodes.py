"""The node types that the assets know, from `nodes.json`, which generate.py writes from the descriptors."""

import json
import os

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "nodes.json"), encoding="utf-8") as _file:
    _TABLE = json.load(_file)

TYPES = _TABLE["types"]
# Types that may be in a shot any number of times, in the order of the menu.
MANY = _TABLE["many"]
WITHOUT_GEOMETRY = _TABLE["without_geometry"]
COUPLINGS = _TABLE["couplings"]
# Solvers that make something of the liquid, and the objects that they fill.
MADE = _TABLE["made"]
OUTPUTS = _TABLE["outputs"]


def label(node_type):
    """What people call a type."""
    return TYPES[node_type]["label"]


def params(node_type):
    """The parameters of a type: name, parm (its name in Houdini), kind, components, default, animatable, menu."""
    return TYPES[node_type]["params"]


def differing(node_type, values):
    """Of values by name, those that are not the default, in the descriptor's order."""
    return {
        p["name"]: values[p["name"]]
        for p in params(node_type)
        if p["name"] in values and not is_default(p, values[p["name"]])
    }


def is_default(param, value):
    """Whether a value is the default. Houdini's numbers are not always of the very same bits."""
    default = param["default"]
    if isinstance(value, dict):
        return False
    if param["kind"] in ("number", "integer"):
        pairs = zip(value, default) if isinstance(default, list) else [(value, default)]
        return all(abs(a - b) <= 1e-7 * abs(b) for a, b in pairs)
    return value == default
