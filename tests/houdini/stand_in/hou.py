"""A small stand-in for Houdini's module `hou`: what `meniscus_houdini` uses of it, with the signatures of its public
documentation. It is no Houdini: it shows that our calls fit together, not that Houdini answers them so.

A scene is made by hand: `obj(...)`, `sop(...)`, `asset(...)`. `reset()` begins anew.
"""

import json
import math
import os

import dialog_script
import places


class Error(Exception):
    """Base of Houdini's errors."""


class NodeError(Error):
    """An error that a node shows."""


class ObjectWasDeleted(Error):
    """A node that is gone."""


class Named:
    """A value of an enumeration."""

    def __init__(self, name):
        self._name = name

    def name(self):
        return self._name


class primType:
    Polygon, Volume, VDB, PackedGeometry = map(Named, ("Polygon", "Volume", "VDB", "PackedGeometry"))


class attribData:
    Float, Int, String = map(Named, ("Float", "Int", "String"))


class attribType:
    Point, Prim, Vertex, Global = map(Named, ("Point", "Prim", "Vertex", "Global"))


# ---- Time, units, session

_scene = {}


def reset():
    """An empty scene at frame 1."""
    _scene.clear()
    _scene.update(nodes={}, frame=1.0, fps=24.0, hip=".", unit=1.0, start=1, end=24, pwd=None, ui=False, callbacks=[])


def pwd():
    return _scene["pwd"]


def frame():
    return _scene["frame"]


def setFrame(number):
    _scene["frame"] = float(number)


def fps():
    return _scene["fps"]


def frameToTime(number):
    return (number - 1) / fps()


def hscriptExpression(text):
    assert text == 'scaletomks("m1")', text
    return _scene["unit"]


def isUIAvailable():
    return _scene["ui"]


class ui:
    @staticmethod
    def addEventLoopCallback(callback):
        _scene["callbacks"].append(callback)

    @staticmethod
    def removeEventLoopCallback(callback):
        _scene["callbacks"].remove(callback)


# ---- Matrices


class Matrix4:
    """16 numbers, row-major, acting on row vectors."""

    def __init__(self, numbers):
        self._numbers = tuple(float(x) for x in numbers)

    def asTuple(self):
        return self._numbers


class hmath:
    @staticmethod
    def buildScale(x, y, z):
        return Matrix4((x, 0, 0, 0, 0, y, 0, 0, 0, 0, z, 0, 0, 0, 0, 1))


def placed(translate=(0, 0, 0), rotate=(0, 0, 0), scale=(1, 1, 1)):
    """Scale, then rotate about x, y and z (degrees), then translate: an object's default order."""

    def times(a, b):
        return [[sum(a[i][k] * b[k][j] for k in range(3)) for j in range(3)] for i in range(3)]

    (cx, sx), (cy, sy), (cz, sz) = ((math.cos(math.radians(a)), math.sin(math.radians(a))) for a in rotate)
    turn = times(
        times([[1, 0, 0], [0, cx, sx], [0, -sx, cx]], [[cy, 0, -sy], [0, 1, 0], [sy, 0, cy]]),
        [[cz, sz, 0], [-sz, cz, 0], [0, 0, 1]],
    )
    rows = [[x * s for x in row] + [0] for row, s in zip(turn, scale)]
    return Matrix4([x for row in rows for x in row] + [*translate, 1])


# ---- Geometry


class Attrib:
    def __init__(self, name, size, data, is_array=False):
        self._name, self._size, self._data, self._array = name, size, data, is_array

    def name(self):
        return self._name

    def size(self):
        return self._size

    def dataType(self):
        return self._data

    def isArrayType(self):
        return self._array


class Point:
    def __init__(self, number):
        self._number = number

    def number(self):
        return self._number


class Prim:
    def __init__(self, geometry, number):
        self._geometry, self._number = geometry, number

    def number(self):
        return self._number

    def type(self):
        return self._geometry.kinds[self._number]

    def isClosed(self):
        return True

    def points(self):
        return tuple(map(Point, self._geometry.polygons[self._number]))

    def setAttribValue(self, attrib, value):
        self._geometry.prim_values[attrib.name()][self._number] = value


class PrimGroup:
    def __init__(self, geometry, numbers):
        self._geometry, self._numbers = geometry, numbers

    def prims(self):
        return tuple(Prim(self._geometry, number) for number in self._numbers)

    def contains(self, prim):
        return prim.number() in self._numbers


class Geometry:
    """Points, polygons (clockwise from outside), point attributes, primitive groups."""

    def __init__(self, points=(), polygons=(), attributes=None, groups=None, kinds=None):
        self.points_, self.polygons = [tuple(p) for p in points], [tuple(p) for p in polygons]
        self.attributes = dict(attributes or {})
        self.groups = dict(groups or {})
        self.kinds = list(kinds or [primType.Polygon] * len(self.polygons))
        self.prim_values, self.globals, self.loaded = {}, {}, None

    def prims(self):
        return tuple(Prim(self, number) for number in range(len(self.kinds)))

    def findPrimGroup(self, name):
        return PrimGroup(self, self.groups[name]) if name in self.groups else None

    def deletePrims(self, prims):
        gone = {prim.number() for prim in prims}
        kept = [n for n in range(len(self.kinds)) if n not in gone]
        self.polygons, self.kinds = [self.polygons[n] for n in kept], [self.kinds[n] for n in kept]

    def pointAttribs(self):
        own = [Attrib("P", 3, attribData.Float)]
        return own + [Attrib(name, size, data) for name, (size, data, _) in self.attributes.items()]

    def pointFloatAttribValues(self, name):
        if name == "P":
            return tuple(x for p in self.points_ for x in p)
        assert self.attributes[name][1] is attribData.Float
        return tuple(self.attributes[name][2])

    def pointIntAttribValues(self, name):
        assert self.attributes[name][1] is attribData.Int
        return tuple(self.attributes[name][2])

    def findPointAttrib(self, name):
        return next((a for a in self.pointAttribs() if a.name() == name), None)

    def setPointFloatAttribValues(self, name, values):
        size, data, _ = self.attributes[name]
        self.attributes[name] = (size, data, list(values))

    def findPrimAttrib(self, name):
        return Attrib(name, 1, attribData.String) if name in self.prim_values else None

    def addAttrib(self, kind, name, default):
        if kind is attribType.Prim:
            self.prim_values[name] = [default] * len(self.kinds)
        elif kind is attribType.Point:
            self.attributes[name] = (1, attribData.Float, [default] * len(self.points_))
        else:
            self.globals[name] = default
        return Attrib(name, 1, attribData.String)

    def setGlobalAttribValue(self, name, value):
        assert type(self.globals[name]) is type(value), (name, value)
        self.globals[name] = value

    def createPoint(self):
        self.points_.append((0.0, 0.0, 0.0))

    def merge(self, other):
        base, before = len(self.points_), len(self.kinds)
        self.points_ += other.points_
        self.groups = {**other.groups, **self.groups} if not before else self.groups
        self.polygons += [tuple(base + corner for corner in polygon) for polygon in other.polygons]
        self.kinds += other.kinds
        for name in set(self.prim_values) | set(other.prim_values):
            old, new = self.prim_values.get(name, [""] * before), other.prim_values.get(name, [""] * len(other.kinds))
            self.prim_values[name] = old + new

    def transform(self, matrix):
        m = matrix.asTuple()
        self.points_ = [
            tuple(sum(p[r] * m[4 * r + c] for r in range(3)) + m[12 + c] for c in range(3)) for p in self.points_
        ]

    def loadFromFile(self, path):
        self.loaded = path
        if path.endswith(".vdb"):
            with open(path, "rb") as file:
                assert file.read(4) == b" BDV", path
            self.kinds = [primType.VDB]
            return
        with open(path, encoding="utf-8") as file:
            pairs = json.load(file)
        keys = dict(zip(pairs[::2], pairs[1::2]))
        lists = dict(zip(keys["attributes"][::2], keys["attributes"][1::2]))
        for head, body in lists["pointattributes"]:
            head, body = dict(zip(head[::2], head[1::2])), dict(zip(body[::2], body[1::2]))
            values = dict(zip(body["values"][::2], body["values"][1::2]))
            if head["name"] == "P":
                self.points_ = [tuple(p) for p in values["tuples"]]
            else:
                flat = [x for t in values["tuples"] for x in t] if "tuples" in values else values["arrays"][0]
                data = attribData.Int if body["storage"].startswith("int") else attribData.Float
                self.attributes[head["name"]] = (body["size"], data, flat)
        indices, at = keys["topology"][1][1], 0
        for _, run in keys["primitives"]:
            rle = dict(zip(run[::2], run[1::2]))["nvertices_rle"]
            for corners, repeat in zip(rle[::2], rle[1::2]):
                for _ in range(repeat):
                    self.polygons.append(tuple(indices[at : at + corners]))
                    at += corners
        self.kinds = [primType.Polygon] * len(self.polygons)


class _Reverse:
    def execute(self, geometry, inputs):
        geometry.polygons = [tuple(reversed(polygon)) for polygon in inputs[0].polygons]


class _Sops:
    def nodeVerb(self, name):
        return {"reverse": _Reverse()}[name]


def sopNodeTypeCategory():
    return _Sops()


# ---- Parameters


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
            return {"$F": number, "$FSTART": _scene["start"], "$FEND": _scene["end"]}[default.text]
        return default

    def _typed(self, x):
        kind = self.item.type
        if kind in ("float", "vector", "vector2"):
            return float(x)
        if kind in ("integer", "intvector", "intvector2", "toggle", "ordinal", "button"):
            return int(x)
        text = str(x).replace("$HIP", _scene["hip"]).replace("$OS", self.node.name())
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


# ---- Nodes


class Node:
    def __init__(self, path):
        self._path = path
        self._parms = {}
        _scene["nodes"][path] = self

    def path(self):
        return self._path

    def name(self):
        return self._path.rsplit("/", 1)[1]

    def parent(self):
        return _scene["nodes"].get(self._path.rsplit("/", 1)[0])

    def node(self, path):
        whole = path if path.startswith("/") else os.path.normpath(os.path.join(self._path, path))
        return _scene["nodes"].get(whole)

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
        self.cooking, _scene["pwd"] = Geometry(), self
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
    return _scene["nodes"].get(path)


# ---- What a test builds its scene of


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


reset()
