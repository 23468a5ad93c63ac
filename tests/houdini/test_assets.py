"""The assets: files, sections, parameter interfaces, Python."""

import json
import os
import re
import subprocess
import sys
import unittest

import dialog_script
import places


def text(*path):
    """A file of the assets."""
    with open(os.path.join(places.HOUDINI, *path), encoding="utf-8", newline="") as file:
        return file.read()


class Libraries(unittest.TestCase):
    """The expanded form of `hotl -t`."""

    def test_lists_name_the_files(self):
        for library in places.LIBRARIES:
            folders = [library] + [
                os.path.join(library, name)
                for name in os.listdir(os.path.join(places.OTLS, library))
                if name.startswith("meniscus_8")
            ]
            self.assertEqual(len(folders), 2, library)
            for folder in folders:
                lines = text("otls", folder, "Sections.list").split("\n")
                self.assertEqual((lines[0], lines[-1]), ('""', ""))
                pairs = [line.split("\t") for line in lines[1:-1]]
                for file, section in pairs:
                    escaped = re.sub(r"[_/:]", lambda found: {"_": "__", "/": "_1", ":": "_8"}[found.group()], section)
                    self.assertEqual(file, escaped)
                listed = {file for file, _ in pairs} | {"Sections.list"}
                self.assertEqual(listed, set(os.listdir(os.path.join(places.OTLS, folder))), folder)

    def test_the_index_agrees(self):
        for library in places.LIBRARIES:
            index = dict(re.findall(r"(?m)^(\w+): *(.*)$", text("otls", library, "INDEX__SECTION")))
            namespace, name, version = index["Operator"].split("::")
            path = f"{namespace}::Sop/{name}::{version}"
            self.assertEqual(index["Path"], f"oplib:/{path}?{path}")
            self.assertEqual((index["Table"], index["Subnet"], index["Python"]), ("Sop", "false", "true"))
            self.assertIn(path, text("otls", library, "Sections.list"))
            self.assertEqual(text("otls", library, "houdini.hdalibrary"), "")
            self.assertEqual(library, f"{namespace}_{name}.hda")

    def test_what_lies_here_is_what_the_generator_writes(self):
        command = [
            sys.executable,
            os.path.join(places.HOUDINI, "generate.py"),
            "--meniscus",
            places.MENISCUS,
            "--check",
        ]
        run = subprocess.run(command, stderr=subprocess.PIPE, text=True)
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_python_compiles(self):
        for folder, _, names in os.walk(places.HOUDINI):
            for name in names:
                if name.endswith(".py") or name in ("PythonCook", "PythonModule"):
                    path = os.path.join(folder, name)
                    compile(text(path), path, "exec")

    def test_the_package_is_json(self):
        package = json.loads(text("meniscus.json"))
        self.assertEqual(package["hpath"], "$MENISCUS_HOUDINI")
        self.assertTrue(any("PYTHONPATH" in entry for entry in package["env"]))


class Interfaces(unittest.TestCase):
    """DialogScript."""

    def read(self, library):
        return dialog_script.read(text("otls", library, places.asset_folder(library), "DialogScript"))

    def test_scripts_follow_the_grammar(self):
        for library in places.LIBRARIES:
            self.assertEqual(self.read(library).name, f"meniscus::{library[9:-4]}::1.0")

    def test_every_parameter_of_the_descriptors_is_there(self):
        listed = subprocess.run([places.MENISCUS, "nodes", "--json"], check=True, stdout=subprocess.PIPE)
        nodes = {node["id"].removeprefix("meniscus."): node for node in json.loads(listed.stdout)}
        parms = {
            item.tags["meniscus"]: item
            for item, _ in dialog_script.walk(self.read("meniscus_shot.hda"))
            if "meniscus" in item.tags
        }
        # Geometry is Houdini's own.
        used = [
            name
            for name, node in nodes.items()
            if node["kind"] != "geometry" and (node["plugin"] in ("", None, "meniscus"))
        ]
        wanted = {f"{name}.{param['name']}": param for name in used for param in nodes[name]["params"]}
        self.assertEqual(set(parms), set(wanted))
        for name, param in wanted.items():
            parm = parms[name]
            self.assertEqual(int(parm.size or 1), param["components"], name)
            self.assertTrue((parm.help or "").startswith(param["help"]), name)
            self.assertIn(f"({param['unit']})" if param["unit"] else param["label"], parm.label)
            self.assertEqual(
                parm.menu, [word for item in param["menu"] for word in (item["token"], item["label"])] or None, name
            )
            for end, hard in zip(parm.range or (), (param["hard_min"], param["hard_max"])):
                self.assertEqual(end.endswith("!"), hard is not None, name)
                self.assertTrue(hard is None or float(end[:-1]) == hard, name)
            if param["kind"] == "number":
                default = param["default"] if isinstance(param["default"], list) else [param["default"]]
                self.assertEqual([float(value) for value in parm.default], default, name)

    def test_buttons_call_what_there_is(self):
        for library in places.LIBRARIES:
            module = text("otls", library, places.asset_folder(library), "PythonModule")
            for item, _ in dialog_script.walk(self.read(library)):
                callback = item.tags.get("script_callback")
                if callback:
                    self.assertIn(re.fullmatch(r"hou\.phm\(\)\.(\w+)\(kwargs\['node'\]\)", callback).group(1), module)

    def test_mistakes_are_found(self):
        good = (
            '{ name a::b label "B" help { "" } parm { name "x" label "X" type float default { "1" } range { 0! 2 } } }'
        )
        dialog_script.read(good)
        for old, new in [
            ("type float", "type flaot"),
            ('{ "1" }', '{ "1" "2" }'),
            ("0! 2", "2! 0"),
            ("0! 2", "1.5! 2"),
            ("range", "rnage"),
            ('name "x"', 'name "1x"'),
            ('name "x"', 'name "x#"'),
            ("} }", "}"),
            ("type float", 'type float disablewhen "{ y == 1 }"'),
            ("type float", 'type float hidewhen "x == 1"'),
            ('label "X"', 'label "X'),
            ("type float", "type float type float"),
        ]:
            with self.assertRaises(dialog_script.Wrong, msg=f"{old} → {new}"):
                dialog_script.read(good.replace(old, new, 1) if old != "} }" else good[: -len("}")])


if __name__ == "__main__":
    unittest.main()
