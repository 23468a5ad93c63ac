#!/usr/bin/env python3
"""The first frames of every example as a shot in USD, before Pixar's validators.

    PYTHONPATH=$(.ci/wheel usd-core 26.11) tests/usd/examples.py target/release/meniscus OUT [NAME…]

A `usd_shot` takes the place of the graph's preview and of its geometry: it gets what the preview shows, and the geometry that static
objects are made of. Every layer that is written is looked at by itself, too, as `usdchecker` does. Ends with 1 where anything is said.
"""

import json
import os
import pathlib
import subprocess
import sys
import time

from pxr import Usd, UsdGeom

from complaints import complaints

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FRAMES = 3


def piston(out):
    """The folder with the plugin of examples/c_coupling, built."""
    folder = out / "plugins"
    folder.mkdir(parents=True, exist_ok=True)
    source, include = ROOT / "examples/c_coupling/piston.c", ROOT / "plugin/include"
    command = ["cc", "-std=c99", "-O2", "-shared", "-fPIC", f"-I{include}", source, "-o", folder / "libpiston.so", "-lm"]
    subprocess.run(command, check=True)
    return folder.resolve()


def with_shot(graph, folder):
    """The graph with a shot in USD in the place of its pictures and its geometry. Its files lie in that folder."""
    for node in graph["nodes"]:
        if "file" in node.get("params", {}):
            node["params"]["file"] = str(folder / node["params"]["file"])
    nodes = {node["name"]: node for node in graph["nodes"]}
    shown = [name for node in graph["nodes"] if node["type"] == "preview" for name in node["inputs"]]
    solids = [node["inputs"][0] for node in graph["nodes"] if node["type"] == "static_object" and node.get("inputs")]
    wires = [name for name in dict.fromkeys(shown + solids) if name in nodes]
    kept = [node for node in graph["nodes"] if node["type"] not in ("preview", "geometry_cache")]
    return {**graph, "nodes": [*kept, {"name": "usd", "type": "usd_shot", "inputs": wires}]}


def cook(program, path, out, environment):
    """Cooks the first frames; gives the shot's folder."""
    graph = json.loads(path.read_text())
    quality = ["--quality", "preview"] if "preview" in graph.get("quality", {}) else []
    first = (graph.get("frames") or graph["quality"]["preview"]["frames"])[0]
    changed = out.with_suffix(".meniscus.json")
    changed.write_text(json.dumps(with_shot(graph, path.parent)))
    command = [program, "cook", changed, *quality, "--frames", f"{first}-{first + FRAMES - 1}", "--out", out, "--quiet", "--replace"]
    subprocess.run(command, check=True, env=environment)
    return out / "usd"


def faults(folder):
    """What is said of the shot and of each of its layers, and how many prims and layers were seen."""
    stage = Usd.Stage.Open(str(folder / "usd.usda"))
    said = [f"usd.usda: {sentence}" for sentence in complaints(stage)]
    layers = sorted(path for path in folder.iterdir() if path.suffix in (".usda", ".usdc"))
    for layer in layers:
        said += [f"{layer.name}: {sentence}" for sentence in complaints(Usd.Stage.Open(str(layer)))]
    prims = list(stage.Traverse(Usd.TraverseInstanceProxies(Usd.PrimDefaultPredicate)))
    points = [prim for prim in prims if prim.IsA(UsdGeom.PointBased)]
    if not points or stage.GetEndTimeCode() - stage.GetStartTimeCode() != FRAMES - 1:
        said.append("usd.usda: it does not hold the frames that were cooked")
    for prim in points:
        at = prim.GetAttribute("points").Get(stage.GetEndTimeCode())
        if at is None:
            said.append(f"{prim.GetPath()} has no points at the last frame")
    return said, len(prims), len(layers)


def main(program, out, names):
    out.mkdir(parents=True, exist_ok=True)
    environment = dict(os.environ, MENISCUS_PLUGIN_PATH=str(piston(out)))
    graphs = {path.name.removesuffix(".meniscus.json"): path for path in sorted(ROOT.glob("examples/**/*.meniscus.json"))}
    bad = 0
    for name in names or graphs:
        begun = time.monotonic()
        said, prims, layers = faults(cook(program, graphs[name], out / name, environment))
        print(f"{name}: {prims} prims, {layers} layers, {time.monotonic() - begun:.1f} s: {'silent' if not said else ''}", flush=True)
        for sentence in dict.fromkeys(said):
            print(f"    {sentence}", flush=True)
        bad += bool(said)
    return 1 if bad else 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    raise SystemExit(main(os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3:]))
