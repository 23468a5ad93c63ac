"""Matrices and geometry."""

import json
import math


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
