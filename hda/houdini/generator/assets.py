"""All that is generated: the three assets, and what their Python needs to know of the nodes."""

from .cook import cook
from .descriptors import parm_name, short
from .load import load
from .shot import COUPLINGS, MADE, MANY, OUTPUTS, WITHOUT_GEOMETRY, shot

# Node types that a shot has at most once, beside couplings and outputs.
ONCE = ["flip_solver", "rigid_solver", "gravity"]


def all_assets(nodes):
    """The assets, from the list that `meniscus nodes --json` prints."""
    return [shot({short(node): node for node in nodes}), cook(), load()]


def run_time(nodes):
    """What the Python package needs to know of the node types: written beside it as `nodes.json`."""
    chosen = MANY + ONCE + COUPLINGS + [name for pair in MADE.items() for name in pair] + list(OUTPUTS)
    return {
        "many": MANY,
        "without_geometry": WITHOUT_GEOMETRY,
        "couplings": COUPLINGS,
        "made": MADE,
        "outputs": list(OUTPUTS),
        "types": {short(node): of_type(node) for node in nodes if short(node) in chosen},
    }


def of_type(node):
    """Of a type: its parameters, and what they are called in Houdini."""
    kept = ("name", "kind", "components", "default", "animatable")
    params = [
        {
            "parm": parm_name(node, param),
            **{key: param[key] for key in kept},
            "menu": [item["token"] for item in param["menu"]],
        }
        for param in node["params"]
    ]
    return {"label": node["label"], "version": node["version"], "params": params}
