"""The adapter for the HDK: its part without the HDK runs real plugins; the rest is checked for syntax."""

import math
import os
import re
import subprocess
import tempfile
import unittest

import places

HDK = os.path.join(places.HOUDINI, "hdk")
INCLUDE = os.path.join(places.ROOT, "plugin", "include")
WARN = ["-Wall", "-Wextra", "-Werror"]


class Adapter(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.libraries = {}
        for name, source in (
            ("drag", os.path.join(places.ROOT, "examples/c_plugin/drag.c")),
            ("probe", os.path.join(places.HERE, "probe.c")),
        ):
            cls.libraries[name] = os.path.join(cls.folder.name, f"lib{name}.so")
            cls.build(["cc", "-std=c99", "-shared", "-fPIC", source, "-o", cls.libraries[name], "-lm"])
        cls.libraries["meniscus"] = os.path.join(os.path.dirname(places.MENISCUS), "libmeniscus_plugin.so")
        cls.program = os.path.join(cls.folder.name, "adapter")
        sources = [os.path.join(places.HERE, "adapter.cpp"), os.path.join(HDK, "plugin_force.cpp")]
        cls.build(["g++", "-std=c++17", f"-I{HDK}", *sources, "-o", cls.program, "-ldl"])

    @classmethod
    def build(cls, words):
        run = subprocess.run(words + WARN + [f"-I{INCLUDE}"], stderr=subprocess.PIPE, text=True)
        assert run.returncode == 0, run.stderr

    def run_force(self, library, node, settings="", dt=0.25, *more):
        words = [self.program, self.libraries.get(library, library), node, settings, str(dt), *more]
        return subprocess.run(words, stdout=subprocess.PIPE, text=True).stdout.strip()

    def velocities(self, *given):
        said = self.run_force(*given)
        self.assertIn("done", said)
        return [float(word) for word in said.split()[:6]]

    def test_drag_in_plain_c(self):
        keep = math.exp(-2 * 0.25)
        for a, b in zip(self.velocities("drag", "example.drag", "drag=2 wind=0,0,1"), [1, 2, 3, 4, 5, 6]):
            wind = 1 if b in (3, 6) else 0
            self.assertAlmostEqual(a, wind + (b - wind) * keep, 6)

    def test_our_own_gravity(self):
        found = self.velocities("meniscus", "meniscus.gravity", "force=0,-4,1")
        self.assertEqual(found, [1, 1, 3.25, 4, 4, 6.25])

    def test_fields_reach_the_plugin_where_they_are(self):
        far = 9 + 100 * 8 + 10000 * 19
        self.assertEqual(self.velocities("probe", "test.probe"), [1, 2.25, 3.5, 4 + far, 5 + far + 0.25, 6 + far + 0.5])

    def test_what_a_plugin_says_is_handed_on(self):
        self.assertTrue(self.run_force("probe", "test.probe").endswith("done 1"))
        self.assertEqual(self.run_force("probe", "test.probe", "", 0.25, "cancel"), "1 2 3 4 5 6 cancelled 0")
        for given, sentence in [
            (("probe", "test.probe", "fails=1"), "test.probe: the probe was told to fail"),
            (("probe", "test.probe", "reshapes=1"), "it changes `heat`, and the adapter takes back `dv`"),
            (("probe", "test.probe", "fails"), "`fails` sets no parameter of it"),
            (("probe", "test.probe", "fails=maybe"), "fails takes a number"),
            (("drag", "example.drag", "wind=1,2"), "wind takes three numbers"),
            (("drag", "example.lift"), "has no node example.lift"),
            (("/nowhere.so", "x"), "cannot open the plugin /nowhere.so"),
            (
                ("meniscus", "meniscus.flip_solver"),
                "is no force that acts in predict; cook it with the asset Meniscus Cook",
            ),
            (("meniscus", "meniscus.liquid_source"), "needs `vel_drift`, which is no field"),
        ]:
            self.assertRegex(self.run_force(*given), f"^refused: .*{re.escape(sentence)}", given)

    def test_the_rest_has_no_mistakes_of_syntax(self):
        source = os.path.join(HDK, "gas_meniscus_force.cpp")
        headers = set()
        for name in ("gas_meniscus_force.cpp", "gas_meniscus_force.h"):
            with open(os.path.join(HDK, name), encoding="utf-8") as file:
                headers |= set(re.findall(r"#include <([A-Z]+/\w+\.h)>", file.read()))
        for header in headers:
            path = os.path.join(self.folder.name, header)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write('#include "hdk.h"\n')
        stand_in = os.path.join(places.HERE, "stand_in")
        self.build(["g++", "-std=c++17", "-fsyntax-only", f"-I{self.folder.name}", f"-I{stand_in}", source])


if __name__ == "__main__":
    unittest.main()
