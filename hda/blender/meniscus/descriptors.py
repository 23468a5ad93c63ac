# SPDX-License-Identifier: GPL-3.0-or-later
"""The node types of a Meniscus program, as `meniscus nodes --json` describes them. Needs no Blender."""

import dataclasses
import json
import os
import shutil
import subprocess

# Seconds that the program has to describe its nodes; the first time it also tries its plugins.
PATIENCE = 60
NAMESPACE = "meniscus."


class Trouble(Exception):
    """What went wrong, in one sentence that says what to do."""


@dataclasses.dataclass(frozen=True)
class Parameter:
    """A parameter of a node type. Values are in its unit, which is SI; vectors have Y up."""

    name: str
    label: str
    folder: str
    unit: str
    help: str
    kind: str  # toggle, integer, number, text, file, menu or texts
    components: int
    default: object
    hard_min: float | None
    hard_max: float | None
    soft_min: float | None
    soft_max: float | None
    menu: tuple[tuple[str, str], ...]  # (token, label)
    disable_when: str
    animatable: bool

    @property
    def is_number(self):
        return self.kind in ("number", "integer")


@dataclasses.dataclass(frozen=True)
class NodeType:
    """A node type; `name` is how graphs call it."""

    name: str
    label: str
    kind: str
    help: str
    params: tuple[Parameter, ...]

    def param(self, name):
        return next((p for p in self.params if p.name == name), None)


def parse(text):
    """The node types in what `meniscus nodes --json` prints, by name."""
    found = {}
    for node in json.loads(text):
        name = node["id"].removeprefix(NAMESPACE)
        params = tuple(_parameter(p) for p in node["params"])
        found[name] = NodeType(name, node["label"], node["kind"], node["help"], params)
    return found


def _parameter(p):
    plain = {field.name: p[field.name] for field in dataclasses.fields(Parameter) if field.name != "menu"}
    return Parameter(menu=tuple((m["token"], m["label"]) for m in p["menu"]), **plain)


def find_program(given=""):
    """The program: the one given, else the one that MENISCUS names, else the one on the search path."""
    for name in (given, os.environ.get("MENISCUS", "")):
        if name:
            if not os.path.isfile(name):
                raise Trouble(f"there is no program {name}: choose the file `meniscus` in the add-on's preferences")
            return os.path.abspath(name)
    found = shutil.which("meniscus")
    if found is None:
        raise Trouble("the program `meniscus` was not found: choose it in the add-on's preferences")
    return found


def read(program):
    """The node types of a program and of its plugins, by name."""
    try:
        said = subprocess.run([program, "nodes", "--json"], capture_output=True, text=True, timeout=PATIENCE)
    except (OSError, subprocess.TimeoutExpired) as e:
        raise Trouble(f"{program} cannot be run: {e}") from e
    if said.returncode != 0:
        raise Trouble(f"{program} does not describe its nodes: {said.stderr.strip()}")
    try:
        found = parse(said.stdout)
    except (ValueError, KeyError, TypeError) as e:
        raise Trouble(f"{program} describes its nodes in a way that this add-on does not know: {e!r}") from e
    if not any(node_type.kind == "solver" for node_type in found.values()):
        why = said.stderr.strip().removeprefix("warning: ")
        raise Trouble(f"{program} has no solvers: {why or 'put its plugin beside it'}")
    return found


def is_disabled(condition, value):
    """Whether a condition holds under which a parameter has no effect: `{ a == x b != y } { c == 0 }`.

    The terms within braces must all hold; one pair of braces suffices. `value` gives a parameter's value by its name, or None.
    """
    for clause in condition.split("{")[1:]:
        words = clause.split("}")[0].split()
        terms = [words[i:i + 3] for i in range(0, len(words), 3)]
        if terms and all(_holds(term, value) for term in terms):
            return True
    return False


def _holds(term, value):
    if len(term) != 3 or term[1] not in ("==", "!="):
        return False
    name, sign, wanted = term
    now = value(name)
    if now is None:
        return False
    if isinstance(now, str):
        same = now == wanted.strip('"')
    else:
        try:
            same = float(now) == float(wanted)
        except (TypeError, ValueError):
            same = False
    return same == (sign == "==")
