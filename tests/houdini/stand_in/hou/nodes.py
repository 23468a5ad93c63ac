"""Parameters and nodes, and what a test builds its scene of."""

import os

import dialog_script
import places

from .geometry import Geometry, placed
from .session import fps, frame, scene


class ParmTuple:
    """A parameter: a default of the interface, a value, or a function of the frame."""

    def __init__(self, node, name, item):
        self.node, self.name_, self.item = node, name, item
        self.value = None

    def set(self, value):
        self.value = value

    def __iter__(self):
        return iter([Parm(self, component) for component in range(len(self.eval()))])

    def changes(self):
        return (
            callable(self.value)
            or self.value is None
            and any("$F" == getattr(d, "text", None) for d in self.item.default)
        )

    def at(self, number):
        if callable(self.value):
            found = self.value(number)
        elif self.value is not None:
            found = self.value
        else:
            found = [self._default(d, number) for d in self.item.default]
        found = found if isinstance(found, (list, tuple)) else [found]
        return tuple(self._typed(x) for x in found)

    def eval(self):
        return self.at(frame())

    def _default(self, default, number):
        if isinstance(default, dialog_script.Expression):
            return {"$F": number, "$FSTART": scene["start"], "$FEND": scene["end"]}[default.text]
        return default

    def _typed(self, x):
        kind = self.item.type
        if kind in ("float", "vector", "vector2"):
            return float(x)
        if kind in ("integer", "intvector", "intvector2", "toggle", "ordinal", "button"):
            return int(x)
        text = str(x).replace("$HIP", scene["hip"]).replace("$OS", self.node.name())
        return text.replace("$MENISCUS", os.environ["MENISCUS"])


class Parm:
    """A component of a parameter."""

    def __init__(self, whole, component=0):
        self.whole, self.component = whole, component

    def set(self, value):
        self.whole.set(value)

    def eval(self):
        return self.whole.eval()[self.component]

    def evalAtFrame(self, number):
        return self.whole.at(number)[self.component]

    def isTimeDependent(self):
        return self.whole.changes()


class Node:
    def __init__(self, path):
        self._path = path
        self._parms = {}
        scene["nodes"][path] = self

    def path(self):
        return self._path

    def name(self):
        return self._path.rsplit("/", 1)[1]

    def parent(self):
        return scene["nodes"].get(self._path.rsplit("/", 1)[0])

    def node(self, path):
        whole = path if path.startswith("/") else os.path.normpath(os.path.join(self._path, path))
        return scene["nodes"].get(whole)

    def parmTuple(self, name):
        if name not in self._parms:
            raise AttributeError(f"{self._path} has no parameter {name}")
        return self._parms[name]

    def parm(self, name):
        return Parm(self.parmTuple(name))

    def evalParm(self, name):
        found = self.parmTuple(name).eval()
        assert len(found) == 1, name
        return found[0]

    def evalParmTuple(self, name):
        return self.parmTuple(name).eval()

    def createNode(self, kind, name):
        new = Node(f"{self._path}/{name}")
        new.kind = kind
        new.parm = lambda parm_name: new._parms.setdefault(parm_name, _Free())
        return new


class _Free:
    """A parameter of a node of Houdini's own, of which nothing is known here."""

    def set(self, value):
        self.value = value


class ObjNode(Node):
    """An object; `matrix` is a function of the frame."""

    def displayNode(self):
        return self.display

    def worldTransformAtTime(self, time):
        return self.matrix(time * fps() + 1)

    def worldTransform(self):
        return self.matrix(frame())


class SopNode(Node):
    """A SOP; `make` is a function of the frame."""

    def isTimeDependent(self):
        return self.moves

    def geometryAtFrame(self, number):
        return self.make(number)

    def geometry(self):
        return self.make(frame())


class AssetNode(SopNode):
    """A SOP that is one of our assets."""

    def geometry(self):
        return self.cooking

    def hdaModule(self):
        return self.module

    def cook(self, force=False):
        """Runs PythonCook; the geometry that it made."""
        self.cooking, scene["pwd"] = Geometry(), self
        exec(self.section("PythonCook"), {"hou": __import__("hou")})
        return self.cooking

    def press(self, name):
        """Presses a button, as the interface's callback says."""
        kwargs = {"node": self}
        phm = lambda: self.module  # noqa: E731
        space = type("hou", (), {"phm": staticmethod(phm)})
        return eval(self._parms[name].item.tags["script_callback"], {"hou": space, "kwargs": kwargs})

    def section(self, name):
        path = os.path.join(places.OTLS, self.library, places.asset_folder(self.library), name)
        with open(path, encoding="utf-8") as file:
            return file.read()

    def instances(self, name, count):
        """Sets how many entries a list has."""
        self._parms[name].set(count)
        for item, inside in dialog_script.walk(self.lists[name]):
            for number in range(1, count + 1):
                if item.keyword == "parm":
                    whole = item.name.replace("#", str(number))
                    self._parms.setdefault(whole, ParmTuple(self, whole, item))

    def set(self, **values):
        """Sets parameters; menus by token."""
        for name, value in values.items():
            parm = self.parmTuple(name)
            menu = parm.item.menu
            parm.set(menu[::2].index(value) if menu and isinstance(value, str) else value)


def node(path):
    return scene["nodes"].get(path)


def obj(name, matrix=None):
    """An object in /obj; `matrix(frame)` places it."""
    out = ObjNode(f"/obj/{name}")
    out.matrix = matrix or (lambda _: placed())
    return out


def sop(holder, name, make, moves=False):
    """A SOP in an object, whose display SOP it is; `make` is its geometry, or a function of the frame."""
    out = SopNode(f"{holder.path()}/{name}")
    out.make = make if callable(make) else lambda _: make
    out.moves = moves
    holder.display = out
    return out


def asset(holder, kind, name):
    """One of our assets, with the parameters of its interface."""
    out = AssetNode(f"{holder.path()}/{name}")
    out.library = f"meniscus_{kind}.hda"
    out.lists = {}
    for item, inside in dialog_script.walk(dialog_script.read(out.section("DialogScript"))):
        if item.keyword == "multiparm":
            out.lists[item.name] = item
            item.properties["type"] = "integer"
            item.properties["default"] = [item.default]
        if item.keyword in ("parm", "multiparm") and not inside:
            out._parms[item.name] = ParmTuple(out, item.name, item)
    for name_, item in out.lists.items():
        out.instances(name_, int(item.default[0]))
    space = {}
    exec(out.section("PythonModule"), space)
    out.module = type("module", (), {key: staticmethod(value) for key, value in space.items() if callable(value)})
    return out
