"""Parameters of Meniscus' nodes, as its descriptors say them, become parameters of Houdini."""

import re

from .dialog import Group, Parm

# Kind of a parameter: Houdini's type for one component, and for several.
TYPES = {
    "number": ("float", {2: "vector2", 3: "vector"}),
    "integer": ("integer", {2: "intvector2", 3: "intvector"}),
    "toggle": ("toggle", {}),
    "menu": ("ordinal", {}),
    "text": ("string", {}),
    "texts": ("string", {}),
    "file": ("file", {}),
}


def short(node):
    """A node type without its prefix, as graphs may name it."""
    return node["id"].removeprefix("meniscus.")


def parm_name(node, param):
    """Name of a parameter in Houdini: those of two node types never meet."""
    return f"{short(node).replace('.', '_')}_{param['name']}"


def parm(node, param, number=""):
    """A parameter of a node type; `number` is `#` inside of a list."""
    single, several = TYPES[param["kind"]]
    size = param["components"]
    return Parm(
        name=parm_name(node, param) + number,
        label=param["label"] + (f" ({param['unit']})" if param["unit"] else ""),
        type=several[size] if size > 1 else single,
        size=size,
        default=default(param),
        range=bounds(param),
        menu=[(item["token"], item["label"]) for item in param["menu"]],
        help=help_of(param),
        disable_when=condition(node, param["disable_when"], number),
        tags={"meniscus": f"{short(node)}.{param['name']}"},
    )


def default(param):
    """The default's components, as texts."""
    value = param["default"]
    if param["kind"] == "menu":
        tokens = [item["token"] for item in param["menu"]]
        return [str(tokens.index(value))]
    if param["kind"] == "texts":
        return [" ".join(value)]
    if param["kind"] == "toggle":
        return [str(int(value))]
    return [text(component) for component in (value if isinstance(value, list) else [value])]


def text(component):
    """A number as Houdini writes it: no point where it is whole."""
    if isinstance(component, float) and component.is_integer() and abs(component) < 1e15:
        return str(int(component))
    return str(component)


def bounds(param):
    """Ends of the slider; `!` marks one that may not be passed. Where the descriptor leaves an end open, the slider
    ends at ten times the default, or at 1."""
    if param["kind"] not in ("number", "integer"):
        return ()
    hard = (param["hard_min"], param["hard_max"])
    soft = (param["soft_min"], param["soft_max"])
    if all(end is None for end in hard + soft):
        return ()
    value = param["default"]
    size = max((abs(x) for x in (value if isinstance(value, list) else [value])), default=0) * 10 or 1
    ends = [h if s is None else s for h, s in zip(hard, soft)]
    ends = [end if end is not None else fallback for end, fallback in zip(ends, (-size, size))]
    # A hard end is kept even where the slider would go less far.
    marks = ["" if h is None else "!" for h in hard]
    ends = [e if h is None else h for e, h in zip(ends, hard)]
    return tuple(text(end) + mark for end, mark in zip(ends, marks))


def help_of(param):
    """The descriptor's help, and what Houdini's parameter of this meaning is called."""
    parts = [param["help"]]
    if not param["animatable"]:
        parts.append("Fixed for the shot.")
    if param["houdini_name"]:
        parts.append(f"In Houdini's own nodes: {param['houdini_name']}.")
    return " ".join(part for part in parts if part)


def condition(node, when, number):
    """A condition with the names that parameters have in Houdini."""
    names = {param["name"]: parm_name(node, param) + number for param in node["params"]}

    def renamed(match):
        return names.get(match.group(1), match.group(1)) + match.group(2)

    return re.sub(r"(\w+)(\s*(?:==|!=|<=|>=|<|>))", renamed, when)


def members(node, number=""):
    """All parameters of a node type: those without a folder, then an outline for each folder."""
    folders = {}
    for param in node["params"]:
        folders.setdefault(param["folder"], []).append(parm(node, param, number))
    out = folders.pop("", [])
    for label, parms in folders.items():
        name = re.sub(r"\W+", "_", label.lower()).strip("_")
        out.append(Group("groupsimple", f"{short(node)}_in_{name}{'_' + number if number else ''}", label, parms))
    return out
