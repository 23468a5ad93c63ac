"""Geometry on its way to Meniscus: polygons, units, motion."""

import math
import os
import random
import struct
import tempfile
import unittest
from array import array

import places  # noqa: F401
import hou
from meniscus_houdini import export, graph, mesh, motion


def read_ply(path):
    """Properties by name, and triangles, of a binary PLY file."""
    with open(path, "rb") as file:
        head, body = file.read().split(b"end_header\n", 1)
    lines = head.decode().splitlines()
    count = int(next(line for line in lines if line.startswith("element vertex")).split()[2])
    kinds = [line.split()[1:] for line in lines if line.startswith("property") and "list" not in line]
    row = struct.Struct("<" + "".join(kind[0] for kind, _ in kinds))
    rows = [row.unpack_from(body, row.size * at) for at in range(count)]
    columns = {name: values for (_, name), values in zip(kinds, zip(*rows))}
    at, triangles = row.size * count, []
    while at < len(body):
        n, *corners = struct.unpack_from("<B3i", body, at)
        assert n == 3
        triangles.append(tuple(corners))
        at += 13
    return columns, triangles


def volume(columns, triangles):
    """What triangles enclose, m³; positive where they are wound counter-clockwise from outside."""
    points = list(zip(columns["x"], columns["y"], columns["z"]))
    out = 0.0
    for a, b, c in (tuple(points[i] for i in t) for t in triangles):
        out += motion.dot(a, motion.cross(b, c)) / 6
    return out


def prism(outline, height=1.0):
    """A prism over an outline in the xz plane, seen from above clockwise; Houdini's winding."""
    n = len(outline)
    points = [(x, 0.0, z) for x, z in outline] + [(x, height, z) for x, z in outline]
    sides = [(i, n + i, n + (i + 1) % n, (i + 1) % n) for i in range(n)]
    bottom, top = tuple(range(n)), tuple(range(2 * n - 1, n - 1, -1))
    return points, [bottom, top, *sides]


# An L, its outline such that `prism` is wound clockwise from outside.
L = [(0, 0), (0, 2), (1, 2), (1, 1), (2, 1), (2, 0)]


def as_mesh(points, polygons, **attributes):
    return mesh.Mesh(array("d", (x for p in points for x in p)), polygons, attributes)


class Fixed:
    """A source that a test describes."""

    def __init__(self, make, matrix=lambda _: motion.IDENTITY, moves=True):
        self.make, self.matrix, self.moves = make, matrix, moves

    def at(self, frame):
        return self.make(frame), self.matrix(frame)


class Polygons(unittest.TestCase):
    def test_concave_polygons_keep_their_volume(self):
        points, polygons = prism(L)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "l.ply")
            mesh.write_ply(path, as_mesh(points, polygons))
            columns, triangles = read_ply(path)
        self.assertEqual(len(triangles), 2 * (len(L) - 2) + 2 * len(L))
        self.assertAlmostEqual(volume(columns, triangles), 3.0, 6)
        # A fan would cover what is outside of the L; no triangle does.
        flat = sum(
            abs(mesh.area(*[(columns["x"][i], columns["z"][i]) for i in t])) / 2
            for t in triangles
            if all(columns["y"][i] == 0 for i in t)
        )
        self.assertAlmostEqual(flat, 3.0, 6)

    def test_stars_of_all_kinds_are_cut(self):
        dice = random.Random(1)
        for corners in range(3, 40):
            angles = [2 * math.pi * i / corners for i in range(corners)]
            radii = [dice.uniform(0.2, 1) for _ in angles]
            flat = [(r * math.cos(a), 0.3 * r * math.sin(a), r * math.sin(a)) for r, a in zip(radii, angles)]
            for order in (list(range(corners)), list(range(corners))[::-1]):
                triangles = mesh.cut(order, array("d", (x for p in flat for x in p)))
                self.assertEqual(len(triangles), corners - 2)
                cut = [[(flat[i][0], flat[i][2]) for i in t] for t in triangles]
                areas = [mesh.area(*t) for t in cut]
                whole = sum(
                    flat[a][0] * flat[b][2] - flat[b][0] * flat[a][2] for a, b in zip(order, order[1:] + order[:1])
                )
                self.assertAlmostEqual(sum(areas), whole, 9)
                self.assertAlmostEqual(sum(map(abs, areas)), abs(whole), 9)

    def test_attributes_and_units(self):
        points, polygons = prism(L)
        n = len(points)
        given = {
            "v": (3, array("d", [1, 2, 3] * n)),
            "Cd": (3, array("d", [1, 0, 0.5] * n)),
            "heat": (1, array("d", range(n))),
            "matrix": (9, array("d", [0] * 9 * n)),
            "uv": (3, array("d", [0.25, 0.75, 0] * n)),
            "x": (1, array("d", [7] * n)),
            "id": (1, array("q", [2**24 + 1] * n)),
        }
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "l.ply")
            mesh.write_ply(path, as_mesh(points, polygons, **given), 0.01)
            columns, triangles = read_ply(path)
        self.assertAlmostEqual(volume(columns, triangles), 3e-6, 12)
        self.assertEqual([round(columns[c][0], 6) for c in ("vx", "vy", "vz")], [0.01, 0.02, 0.03])
        self.assertEqual(
            [columns[c][3] for c in ("red", "green", "blue", "heat", "s", "t")], [1, 0, 0.5, 3, 0.25, 0.75]
        )
        self.assertEqual(columns["id"][0], 2**24 + 1)
        self.assertEqual(
            set(columns), {"id", "x", "y", "z", "vx", "vy", "vz", "red", "green", "blue", "heat", "s", "t"}
        )

    def test_mirrors_turn_polygons_round(self):
        points, polygons = prism(L)
        mirrored = as_mesh(points, polygons).moved(hou.placed(scale=(-2, 1, 1)).asTuple())
        with tempfile.TemporaryDirectory() as folder:
            mesh.write_ply(os.path.join(folder, "l.ply"), mirrored)
            self.assertAlmostEqual(volume(*read_ply(os.path.join(folder, "l.ply"))), 6.0, 5)


class Motion(unittest.TestCase):
    def test_parts_put_together_are_the_matrix(self):
        dice = random.Random(2)
        for _ in range(300):
            rotate = [dice.choice([0, 90, -90, 180, dice.uniform(-180, 180)]) for _ in range(3)]
            scale = [dice.uniform(0.1, 3) for _ in range(2)] + [dice.choice([-1, 1]) * dice.uniform(0.1, 3)]
            matrix = hou.placed((1, 2, 3), rotate, scale).asTuple()
            for a, b in zip(hou.placed(*motion.parts(matrix)).asTuple(), matrix):
                self.assertAlmostEqual(a, b, 9)

    def test_a_body_that_turns_twice_has_rising_angles(self):
        frames = list(range(1, 50))
        turns = [hou.placed(rotate=(20, 15 * (frame - 1), 0)).asTuple() for frame in frames]
        keys = motion.keys(frames, turns)
        self.assertEqual(set(keys), {"rotate"})
        for (_, a), (_, b) in zip(keys["rotate"]["keys"], keys["rotate"]["keys"][1:]):
            self.assertLess(max(abs(x - y) for x, y in zip(a, b)), 100)
        # Half way between two keys a point is where it would be, to a hundredth of the radius.
        for at, (frame, a) in list(enumerate(keys["rotate"]["keys"]))[:-1]:
            b = keys["rotate"]["keys"][at + 1][1]
            half = hou.placed(rotate=[(x + y) / 2 for x, y in zip(a, b)]).asTuple()
            right = hou.placed(rotate=(20, 15 * (frame - 0.5), 0)).asTuple()
            self.assertLess(max(abs(x - y) for x, y in zip(half, right)), 0.012)

    def test_points_turn_with_their_object(self):
        half = math.sqrt(0.5)
        copies = as_mesh([(1, 0, 0)], [], orient=(4, array("d", [half, 0, 0, half])), v=(3, array("d", [1, 0, 0])))
        moved = copies.moved(hou.placed((0, 0, 5), (0, 90, 0)).asTuple())
        for found, right in zip(
            [*moved.positions, *moved.attributes["v"][1], *moved.attributes["orient"][1]],
            [0, 0, 4, 0, 0, -1, 0.5, 0.5, -0.5, 0.5],
        ):
            self.assertAlmostEqual(found, right, 12)

    def test_shear_has_no_parts(self):
        self.assertIsNone(motion.parts((1, 0.5, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1)))


class Exports(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def piece(self, source, **more):
        return export.piece(
            "thing", source, (1, 3), os.path.join(self.folder.name, "geo"), self.folder.name, 0.5, **more
        )

    def files(self):
        return sorted(os.listdir(os.path.join(self.folder.name, "geo")))

    def test_what_keeps_its_form_is_written_once(self):
        still = as_mesh(*prism(L))
        piece = self.piece(Fixed(lambda _: still))
        self.assertEqual((piece.file, piece.keys, self.files()), ("geo/thing.ply", {}, ["thing.ply"]))
        piece = self.piece(
            Fixed(lambda _: still, lambda frame: hou.placed((frame, 0, 0), (0, 90, 0), (2, 2, 2)).asTuple())
        )
        self.assertEqual(piece.keys["translate"], {"keys": [[f, [0.5 * f, 0.0, 0.0]] for f in (1, 2, 3, 4)]})
        self.assertEqual((piece.keys["rotate"], piece.keys["scale"]), ([0.0, 90.0, 0.0], [2.0, 2.0, 2.0]))

    def test_what_deforms_is_a_sequence_to_the_frame_after_the_last(self):
        piece = self.piece(
            Fixed(lambda frame: as_mesh(*prism(L, frame)), lambda frame: hou.placed((0, frame, 0)).asTuple())
        )
        self.assertEqual((piece.file, piece.keys), ("geo/thing.$F4.ply", {}))
        self.assertEqual(self.files(), [f"thing.000{f}.ply" for f in (1, 2, 3, 4)])
        columns, triangles = read_ply(os.path.join(self.folder.name, "geo", "thing.0003.ply"))
        self.assertAlmostEqual(volume(columns, triangles), 3 * 3 / 8, 6)
        self.assertEqual((min(columns["y"]), max(columns["y"])), (1.5, 3.0))
        # An export that keeps its form leaves no frames of this one.
        self.piece(Fixed(lambda _: as_mesh(*prism(L))))
        self.assertEqual(self.files(), ["thing.ply"])

    def test_what_shears_is_put_where_it_is(self):
        shear = (1, 0.5, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1)
        piece = self.piece(Fixed(lambda _: as_mesh(*prism(L)), lambda _: shear))
        self.assertEqual(piece.keys, {})
        columns, _ = read_ply(os.path.join(self.folder.name, piece.file))
        self.assertEqual(max(columns["y"]), 1.0)

    def test_a_rigid_body_that_deforms_is_refused(self):
        with self.assertRaisesRegex(graph.ShotError, "object `thing`: its geometry deforms"):
            self.piece(Fixed(lambda frame: as_mesh(*prism(L, frame))), rigid=True)

    def test_frames_before_nought(self):
        self.assertEqual(
            [export.frame_name("a.$F4.ply", f) for f in (-3, 0, 12345)], ["a.-0003.ply", "a.0000.ply", "a.12345.ply"]
        )


if __name__ == "__main__":
    unittest.main()
