"""Variants: the work items of the TOP node, and what they leave."""

import importlib.util
import json
import os
import shlex
import subprocess
import tempfile
import unittest

import places
import hou
import pdg
from meniscus_houdini import wedge

GRAPH = {
    "format": "meniscus.graph/1",
    "frames": [1, 2],
    "nodes": [
        {"name": "column", "type": "box", "params": {"size": [0.3, 0.4, 0.3]}},
        {"name": "water", "type": "liquid_object", "inputs": ["column"], "params": {"particle_separation": 0.05}},
        {"name": "flip", "type": "flip_solver", "inputs": ["water"]},
        {"name": "cache", "type": "vdb_cache", "inputs": ["flip"]},
    ],
}


class Item:
    def __init__(self, index):
        self.index, self.attributes, self.command = index, {}, None

    def setIntAttrib(self, name, value):
        self.attributes[name] = value

    def setCommand(self, command):
        self.command = command


class Holder:
    def __init__(self):
        self.items, self.waits = [], []

    def addWorkItem(self, index):
        self.items.append(Item(index))
        return self.items[-1]

    def addDependency(self, dependent, dependency):
        self.waits.append((dependent.index, dependency.index))


class Value:
    def __init__(self, value):
        self.value = value

    def evaluateString(self):
        return str(self.value)

    def evaluateInt(self):
        return int(self.value)


class Registry:
    def registerNode(self, kind, node_type, name, label, category):
        self.kind, self.name = kind, name


def processor():
    """The class that PDG would register."""
    path = os.path.join(places.HOUDINI, "pdg", "types", "meniscuswedge.py")
    spec = importlib.util.spec_from_file_location("meniscuswedge", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    registry = Registry()
    module.registerTypes(registry)
    return registry.kind, registry.name


class Wedges(unittest.TestCase):
    def setUp(self):
        hou.reset()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.graph = os.path.join(folder.name, "a shot.meniscus.json")
        self.out = os.path.join(folder.name, "wedge")
        with open(self.graph, "w", encoding="utf-8") as file:
            json.dump(GRAPH, file)

    def test_values_are_counted_as_meniscus_counts_them(self):
        vary = [("column.size", "[0.3,0.4,0.3],[0.3,0.2,0.3]"), ("water.seed", "1, 2,3")]
        self.assertEqual(wedge.count(vary), 6)
        for number, code in ((7, 2), (0, 2)):
            words = wedge.words(self.graph, self.out, vary) + ["--only", str(number)]
            run = subprocess.run(words, stderr=subprocess.PIPE, text=True)
            self.assertEqual(run.returncode, code, run.stderr)
            self.assertIn("1 to 6", run.stderr)
        self.assertEqual(wedge.values('"a,b",[1,[2,3]],c'), ['"a,b"', "[1,[2,3]]", "c"])

    def test_the_items_of_the_top_node_make_the_wedge(self):
        hou.Node("/tasks")
        cook = hou.asset(hou.obj("world"), "cook", "cook1")
        cook.instances("vary", 1)
        cook.set(
            graph=self.graph,
            out=self.out + ".out",
            vary_what1="column.size",
            vary_values1="[0.3,0.4,0.3],[0.3,0.2,0.3]",
        )
        path = cook.press("wedge")
        made = hou.node(path + "/variants")
        kind, name = processor()
        self.assertEqual(made.kind, name)
        template = json.loads(kind.templateBody())
        self.assertEqual(template["name"], name)
        self.assertEqual({parm["name"] for parm in template["parameters"]}, set(made._parms))
        top = kind({name: Value(parm.value) for name, parm in made._parms.items()})
        holder = Holder()
        self.assertEqual(top.onGenerate(holder, [], None), pdg.result.Success)
        self.assertEqual(top.onAddInternalDependencies(holder, holder.items, True), pdg.result.Success)
        self.assertEqual([item.attributes for item in holder.items], [{"variant": 1}, {"variant": 2}, {}])
        self.assertEqual(holder.waits, [(3, 1), (3, 2)])
        for item in holder.items:
            subprocess.run(shlex.split(item.command) + ["--quiet"], check=True, stdout=subprocess.DEVNULL)
        with open(self.out + ".wedge/wedge.json", encoding="utf-8") as file:
            self.assertEqual([variant["state"] for variant in json.load(file)["variants"]], ["finished", "finished"])

    def test_nothing_to_vary(self):
        cook = hou.asset(hou.obj("world"), "cook", "cook1")
        with self.assertRaisesRegex(hou.NodeError, "/obj/world/cook1: there is nothing to vary; add"):
            cook.press("wedge")


if __name__ == "__main__":
    unittest.main()
