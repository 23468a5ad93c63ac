"""What a cook has written: sequences of files, by the names that the output nodes gave them."""

import json
import os
import re
from dataclasses import dataclass, field

# Forms that are loaded frame by frame.
FORMS = ("vdb", "geo")


class CacheError(Exception):
    """What is missing, and what to do: one sentence."""


@dataclass
class Sequence:
    """Files of one name."""

    # Without frame number: `cache`, `points`, `points_bubbles`.
    name: str
    folder: str
    # `vdb` or `geo`.
    form: str
    # Path by frame number.
    files: dict = field(default_factory=dict)

    def file(self, frame, missing="error"):
        """The file that stands for a frame; None where nothing does. `missing`: error, empty or nearest."""
        found = self.files.get(frame)
        if found is None and missing == "nearest":
            found = self.files[min(self.files, key=lambda number: (abs(number - frame), number))]
        if found is None and missing == "error":
            first, last = min(self.files), max(self.files)
            raise CacheError(
                f"{self.name}: there is no frame {frame} in {self.folder}, which has {first} to {last}; "
                "cook it, or set Missing Frame"
            )
        return found


def sequences(out):
    """The sequences in a cook's folder, by name."""
    found = {}
    pattern = re.compile(r"(.+)\.(-?\d+)\.(" + "|".join(FORMS) + ")")
    for node in sorted(os.listdir(out)) if os.path.isdir(out) else []:
        folder = os.path.join(out, node)
        for name in os.listdir(folder) if os.path.isdir(folder) else []:
            parts = pattern.fullmatch(name)
            if parts:
                stem, number, form = parts.groups()
                sequence = found.setdefault(stem, Sequence(stem, folder, form))
                sequence.files[int(number)] = os.path.join(folder, name)
    return found


def sequence(out, name):
    """One of them."""
    found = sequences(out)
    if name not in found:
        names = ", ".join(sorted(found)) or "none yet"
        raise CacheError(f"there is no sequence `{name}` in {out}; it has: {names}")
    return found[name]


def point_radius(out):
    """Radius of a liquid's particles, m: half of the smallest distance between them; None where no cook says it."""
    try:
        with open(os.path.join(out, "cook.json"), encoding="utf-8") as file:
            made = json.load(file)["nodes"].values()
    except (OSError, ValueError, KeyError):
        return None
    liquids = [node["params"] for node in made if node["type"] == "meniscus.liquid_object"]
    return min((params["particle_separation"] / 2 for params in liquids), default=None)


def usd(out):
    """The file of a cook that opens the whole shot in USD."""
    for node in sorted(os.listdir(out)) if os.path.isdir(out) else []:
        path = os.path.join(out, node, f"{node}.usda")
        if os.path.isfile(path):
            return path
    raise CacheError(f"there is no USD shot in {out}; switch on the output USD Shot and cook again")
