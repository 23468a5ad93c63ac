"""A scene, its graph, a cook that is stopped and goes on, and its caches: with the real program and a stand-in for hou."""

import json
import os
import struct
import subprocess
import tempfile
import time
import unittest

import places
import hou
from meniscus_houdini import job
from test_geometry import L, prism, volume


def box(size, middle, attributes=None, **more):
    """A box, as Houdini winds it."""
    (x, y, z), (cx, cy, cz) = size, middle
    outline = [(cx - x / 2, cz - z / 2), (cx - x / 2, cz + z / 2), (cx + x / 2, cz + z / 2), (cx + x / 2, cz - z / 2)]
    points, polygons = prism(outline, y)
    return hou.Geometry([(a, b + cy - y / 2, c) for a, b, c in points], polygons, attributes, **more)


def both(a, b):
    """Two boxes in one SOP, each a group."""
    out = hou.Geometry()
    out.merge(a)
    out.merge(b)
    out.groups = {"left": range(len(a.polygons)), "right": range(len(a.polygons), len(out.polygons))}
    return out


def packed(answer):
    """The shapes that `view-shapes` prints, and the bytes that they point into."""
    length = struct.unpack_from("<I", answer, 8)[0]
    return json.loads(answer[12 : 12 + length])["shapes"], answer[12 + length :]


def numbers(kind, data, place):
    """An array of 32-bit numbers in these bytes."""
    return struct.unpack_from(f"<{place['count']}{kind}", data, place["at"])


class Scene(unittest.TestCase):
    """A tank in centimetres: water, a floor, a paddle that turns, a body in a group, a tap, copies at points."""

    def setUp(self):
        hou.reset()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        hou.scene.update(hip=self.folder, unit=0.01, end=4)
        holder = hou.obj("world", lambda _: hou.placed((0, 10, 0)))
        hou.sop(holder, "water", box((40, 20, 20), (0, 0, 0)))
        hou.sop(holder, "tap", box((4, 4, 4), (10, 20, 0)))
        # Turned by a quarter, twice as large: an L of 12 x 6 x 12, and a box.
        crates = hou.obj("crates", lambda _: hou.placed((0, 24, 0), (0, 90, 0), (2, 2, 2)))
        points, polygons = prism([(3 * x - 3, 3 * z - 8) for x, z in L], 3)
        hou.sop(crates, "both", both(hou.Geometry(points, polygons), box((3, 3, 3), (0, 1.5, 5))))
        hou.sop(holder, "floor", lambda frame: box((44, 4, 24), (0, -12.5, 0.1 * frame)), moves=True)
        paddle = hou.obj("paddle", lambda frame: hou.placed((15, 16, 0), (0, 0, 10 * frame)))
        hou.sop(paddle, "blade", box((2, 10, 18), (0, 0, 0)))
        self.shot = hou.asset(holder, "shot", "shot1")
        self.cook = hou.asset(holder, "cook", "cook1")
        self.load = hou.asset(holder, "load", "load1")
        self.shot.instances("objects", 6)
        entries = [
            ("water", "liquid_object", "../water", ""),
            ("floor", "static_object", "../floor", ""),
            ("paddle", "static_object", "/obj/paddle", ""),
            ("left", "rigid_object", "/obj/crates", "left"),
            ("right", "rigid_object", "/obj/crates", "right"),
            ("tap", "liquid_source", "../tap", ""),
        ]
        for number, (name, kind, path, group) in enumerate(entries, 1):
            self.shot.set(
                **{
                    f"object_{key}{number}": value
                    for key, value in zip(("name", "type", "path", "group"), (name, kind, path, group))
                }
            )
        self.shot.set(
            liquid_object_particle_separation1=0.02,
            static_object_division_size2=0.03,
            static_object_division_size3=0.03,
        )
        self.shot.set(rigid_object_density4=600, rigid_object_division_size4=0.03, rigid_object_division_size5=0.03)
        self.shot.set(liquid_source_velocity6=lambda frame: (0.0, -0.5 - 0.1 * frame, 0.0))
        self.shot.set(flip_solver_limit_size=(0.5, 0.6, 0.3), flip_solver_limit_center=(0, 0.25, 0))
        self.shot.set(rigid_solver_limit_size=(0.5, 0.6, 0.3), rigid_solver_limit_center=(0, 0.25, 0))
        for side in ("neg_x", "pos_x", "neg_z", "pos_z", "neg_y"):
            self.shot.set(**{f"{solver}_side_{side}": "closed" for solver in ("flip_solver", "rigid_solver")})
        self.shot.set(coupling="floating_bodies", use_usd_shot=1)
        self.cook.set(shot="../shot1", out=os.path.join(self.folder, "cooked"))
        self.load.set(out=os.path.join(self.folder, "cooked"))

    def graph(self):
        with open(os.path.join(self.folder, "meniscus/shot1/shot.meniscus.json"), encoding="utf-8") as file:
            return json.load(file)

    def nodes(self):
        return {node["name"]: node for node in self.graph()["nodes"]}

    def test_the_graph_says_what_the_scene_says(self):
        self.shot.press("write")
        graph, nodes = self.graph(), self.nodes()
        self.assertEqual(
            (graph["fps"], graph["frames"], graph["substeps"]), (24.0, [1, 4], {"min": 1, "max": 8, "cfl": 2.0})
        )
        self.assertEqual(
            nodes["water"],
            {
                "name": "water",
                "type": "liquid_object",
                "version": 1,
                "inputs": ["water_mesh"],
                "params": {"particle_separation": 0.02},
            },
        )
        self.assertEqual(nodes["floor_mesh"]["params"]["file"], "shot_geometry/floor.$F4.ply")
        self.assertEqual(nodes["paddle"]["inputs"], ["paddle_mesh_placed"])
        self.assertEqual(nodes["paddle_mesh_placed"]["params"]["rotate"]["keys"][2], [3, [0.0, 0.0, 30.0]])
        self.assertEqual(nodes["paddle_mesh_placed"]["params"]["translate"], [0.15, 0.16, 0.0])
        self.assertEqual(nodes["tap"]["params"]["velocity"]["keys"][1], [2, [0.0, -0.7, 0.0]])
        self.assertEqual(nodes["flip"]["inputs"], ["water", "floor", "paddle", "left", "right", "tap", "gravity"])
        self.assertEqual(nodes["rigid"]["inputs"], ["left", "right", "floor", "paddle", "gravity"])
        self.assertEqual(nodes["coupling"]["inputs"], ["rigid", "flip"])
        self.assertEqual(nodes["shot"]["inputs"], ["coupling", "floor_mesh", "paddle_mesh_placed"])
        self.assertNotIn("params", nodes["gravity"])
        self.assertEqual(nodes["flip"]["params"]["side_neg_x"], "closed")
        self.assertNotIn("side_pos_y", nodes["flip"]["params"])

    def test_whitewater_and_a_surface_are_made_of_the_liquid(self):
        on = ("whitewater_solver", "liquid_mesher", "geometry_cache", "mesh_cache", "usd_shot", "preview")
        self.shot.set(whitewater_solver_min_speed=0.1, **{f"use_{name}": 1 for name in on})
        self.shot.press("check")
        nodes = self.nodes()
        solids = ["floor", "paddle", "left", "right"]
        self.assertEqual(nodes["whitewater"]["inputs"], ["foam", "water", *solids, "gravity"])
        self.assertEqual(nodes["whitewater"]["params"], {"min_speed": 0.1})
        self.assertEqual(nodes["mesher"]["inputs"], ["render_surface", "water", *solids])
        self.assertEqual(nodes["points"]["inputs"], ["coupling", "whitewater", "mesher"])
        self.assertEqual(nodes["preview"]["inputs"], ["coupling", "whitewater", "mesher"])
        self.assertEqual((nodes["meshes"]["type"], nodes["meshes"]["inputs"]), ("mesh_cache", ["coupling", "mesher"]))
        self.assertEqual(nodes["shot"]["inputs"][:3], ["coupling", "whitewater", "mesher"])
        self.assertIn("the graph is sound", self.shot.evalParm("said"))
        run = subprocess.run(
            [places.MENISCUS, "cook", "--quiet", os.path.join(self.folder, "meniscus/shot1/shot.meniscus.json"), "--out", self.folder + "/made"],
            stderr=subprocess.PIPE,
            text=True,
        )
        self.assertEqual(run.returncode, 0, run.stderr)
        for name in ("points/points_render_mesh.0002.geo", "meshes/meshes.0002.ply", "shot/shot.usda"):
            self.assertTrue(os.path.exists(os.path.join(self.folder, "made", name)), os.listdir(self.folder + "/made/points"))

    def test_the_node_shows_what_it_gathers(self):
        shown = self.shot.cook()
        self.assertEqual(
            [shown.prim_values["name"].count(name) for name in ("water", "floor", "paddle", "left", "right", "tap")],
            [6, 6, 6, 8, 6, 6],
        )
        self.assertAlmostEqual(max(p[1] for p in shown.points_), 32.0)

    def test_a_cook_is_stopped_goes_on_and_is_loaded(self):
        self.assertTrue(self.shot.press("check"), self.shot.evalParm("said"))
        self.assertIn("the graph is sound", self.shot.evalParm("said"))
        hou.scene["ui"] = True
        cook = self.cook.press("start")
        while (
            not os.path.exists(os.path.join(self.folder, "cooked/cache/cache.0002.vdb")) and cook.state() == "cooking"
        ):
            time.sleep(0.01)
        self.cook.press("cancel")
        self.assertEqual(cook.wait(600), "stopped", cook.lines)
        (look,) = hou.scene["callbacks"]
        look()
        self.assertEqual((hou.scene["callbacks"], self.cook.evalParm("state")), ([], "stopped"))
        self.assertTrue(0 < self.cook.evalParm("progress") < 100, self.cook.evalParm("progress"))
        at = self.cook.cook().globals
        self.assertEqual((at["state"], at["said"][:10]), ("stopped", "go on with"))
        cook = self.cook.press("resume")
        self.assertEqual(cook.wait(600), "finished", cook.lines)
        look = hou.scene["callbacks"][0]
        look()
        self.assertEqual((self.cook.evalParm("state"), self.cook.evalParm("progress")), ("finished", 100.0))
        for frame in (1, 3, 4):
            self.compare_solids(frame)
        self.load_all()

    def compare_solids(self, frame):
        """What the program itself makes of the solids at a frame is what Houdini has there, in metres."""
        words = [places.MENISCUS, "view-shapes", "scenery", "--frame", str(frame)]
        words.append(os.path.join(self.folder, "cooked/cook.json"))
        shapes, data = packed(subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout)
        self.assertEqual([shape["name"] for shape in shapes], ["floor", "paddle"])
        for shape, path in zip(shapes, ("/obj/world/floor", "/obj/paddle/blade")):
            part = hou.Geometry()
            part.merge(hou.node(path).geometryAtFrame(frame))
            part.transform(hou.node(path).parent().worldTransformAtTime(hou.frameToTime(frame)))
            found = numbers("f", data, shape["positions"])
            for a, b in zip(found, [x / 100 for point in part.points_ for x in point]):
                self.assertAlmostEqual(a, b, 6)
            self.assertEqual(len(found), 24)
            columns = dict(zip("xyz", (found[c::3] for c in range(3))))
            corners = numbers("I", data, shape["triangles"])
            size = volume(columns, list(zip(*(corners[c::3] for c in range(3)))))
            self.assertAlmostEqual(size, {"floor": 44 * 4 * 24e-6, "paddle": 2 * 10 * 18e-6}[shape["name"]], 8)

    def load_all(self):
        self.load.press("reload")
        self.assertEqual(
            self.load.evalParm("said"),
            "cache: 4 frames, points: 4 frames, points_bodies_left: 4 frames, points_bodies_right: 4 frames, "
            "points_bubbles: 3 frames, points_mesh_left: 4 frames, points_mesh_right: 4 frames",
        )
        self.assertEqual(self.load.cook().kinds, [hou.primType.VDB])
        # The body, back from Meniscus: where and as large as it was, in centimetres, wound clockwise.
        self.load.set(sequence="points_mesh_left")
        body = self.load.cook()
        low, high = ([f(p[c] for p in body.points_) for c in range(3)] for f in (min, max))
        for found, right in zip(low + high, (-16, 24, -6, -4, 30, 6)):
            self.assertAlmostEqual(found, right, 4)
        columns = dict(zip("xyz", zip(*body.points_)))
        self.assertAlmostEqual(volume(columns, body.polygons), -3 * 36 * 6, 3)
        hou.setFrame(4.9)
        self.assertLess(min(p[1] for p in self.load.cook().points_), 24 - 1)
        hou.setFrame(9)
        with self.assertRaisesRegex(hou.NodeError, "there is no frame 9 in .*, which has 1 to 4"):
            self.load.cook()
        self.load.set(missing="nearest")
        self.assertTrue(self.load.cook().loaded.endswith("points_mesh_left.0004.geo"))
        self.load.set(missing="empty", sequence="points")
        self.assertIsNone(self.load.cook().loaded)
        hou.setFrame(2)
        points = self.load.cook()
        self.assertGreater(len(points.points_), 1500)
        self.assertAlmostEqual(points.attributes["pscale"][2][0], 2 / 2, 6)
        hou.Node("/stage")
        self.assertEqual(self.load.press("stage"), "/stage/load1_shot")
        self.assertTrue(hou.node("/stage/load1_shot").parm("filepath1").value.endswith("cooked/shot/shot.usda"))

    def test_a_failed_cook_says_why(self):
        self.shot.press("write")
        os.remove(os.path.join(self.folder, "meniscus/shot1/shot_geometry/left.ply"))
        cook = self.cook.press("resume")
        self.assertEqual(cook.wait(600), "failed")
        self.assertIn("left_mesh", cook.look()[2])
        self.cook.set(program="/nowhere/meniscus")
        with self.assertRaisesRegex(
            hou.NodeError, "/obj/world/cook1: cannot start /nowhere/meniscus: No such file.*set Program"
        ):
            self.cook.press("resume")
        self.cook.set(program="$MENISCUS", out="/proc/nowhere/cooked")
        with self.assertRaisesRegex(
            hou.NodeError, "/obj/world/cook1: cannot write /proc/nowhere/cooked.log: .*; set Out"
        ):
            self.cook.press("resume")

    def test_mistakes_name_the_node_and_what_to_do(self):
        holder = hou.node("/obj/world")
        packed = hou.Geometry(kinds=[hou.primType.PackedGeometry])
        hou.sop(holder, "packed", packed)
        for change, sentence in [
            ({"object_path2": "../gone"}, "there is no node ../gone; set the path anew"),
            ({"object_path2": ""}, "object `floor`: a Static Object needs geometry; set its SOP Path"),
            ({"object_path2": "../packed"}, "primitive 0 is a PackedGeometry.*Unpack"),
            ({"object_group4": "middle"}, "there is no primitive group middle"),
            ({"object_name4": "right"}, "object `right`: the name is taken; rename it"),
            ({"object_name4": "a b"}, "object `a b`: a name has"),
            ({"object_path4": "../floor", "object_group4": ""}, "object `left`: its geometry deforms"),
            ({"liquid_source_active6": lambda frame: frame > 2}, "liquid_source_active6 changes over time"),
            (
                {"rigid_object_density4": lambda frame: 500 + frame},
                "rigid_object_density4 changes over time, and Meniscus reads it once",
            ),
            ({"object_type1": "static_object"}, "no liquid: add a Liquid Object"),
            ({"frames": (4, 1)}, "frame 1, the last, comes before 4, the first; set Frames"),
        ]:
            with self.subTest(sentence), self.assertRaisesRegex(hou.NodeError, sentence):
                self.setUp()
                hou.sop(hou.node("/obj/world"), "packed", packed)
                self.shot.set(**change)
                self.shot.press("write")

    def test_copies_at_points(self):
        holder = hou.node("/obj/world")
        points = hou.Geometry(
            [(-12, 30, 0), (-4, 30, 0)], attributes={"orient": (4, hou.attribData.Float, [0, 0, 0, 1] * 2)}
        )
        hou.sop(holder, "places", points)
        hou.sop(holder, "crate", box((6, 6, 6), (0, 0, 0)))
        self.shot.set(object_path4="../crate", object_group4="", object_points4="../places")
        self.shot.press("check")
        self.assertEqual(self.nodes()["left"]["inputs"], ["left_mesh_placed", "left_points"])
        self.assertIn("the graph is sound", self.shot.evalParm("said"))


class Processes(unittest.TestCase):
    def test_libraries_of_houdini_stay_in_houdini(self):
        env = {
            "HFS": "/opt/hfs22",
            "LD_LIBRARY_PATH": "/opt/hfs22/dsolib:/usr/local/lib",
            "LD_PRELOAD": "/opt/hfs22/dsolib/libjemalloc.so",
        }
        self.assertEqual(job.environment(env), {"HFS": "/opt/hfs22", "LD_LIBRARY_PATH": "/usr/local/lib"})

    def test_what_needs_no_hou_imports_without_it(self):
        code = "import sys; sys.modules['hou'] = None\n"
        code += "from meniscus_houdini import caches, export, graph, job, mesh, motion, nodes, wedge"
        env = dict(os.environ, PYTHONPATH=os.path.join(places.HOUDINI, "python"))
        subprocess.run([os.sys.executable, "-B", "-c", code], check=True, env=env)


if __name__ == "__main__":
    unittest.main()
