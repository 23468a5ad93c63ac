# SPDX-License-Identifier: GPL-3.0-or-later
"""The motion of rigid bodies in the caches of a cook. Needs no Blender."""

import json
import os


def read(folder, node, alone, frames):
    """[(frame, (x, y, z), (x, y, z, w))] of a rigid_object's body: its centre of mass, m, and its turn from its rest; Y up.

    `folder` holds the files that the node `bodies` wrote; `alone`: no other object has bodies. Frames without it are left out.
    """
    found = []
    for frame in range(frames[0], frames[1] + 1):
        digits = f"{'-' if frame < 0 else ''}{abs(frame):04}"
        path = os.path.join(folder, f"bodies.{digits}.geo" if alone else f"bodies_{node}.{digits}.geo")
        if os.path.isfile(path):
            place = _place(path)
            if place is not None:
                found.append((frame, *place))
    return found


def _place(path):
    with open(path, encoding="utf-8") as file:
        content = json.load(file)
    lists = _after(_after(content, "attributes"), "pointattributes")
    values = {_after(about, "name"): _after(_after(data, "values"), "tuples") for about, data in lists}
    return (values["P"][0], values["orient"][0]) if values["P"] else None


def _after(pairs, key):
    return pairs[pairs.index(key) + 1]
