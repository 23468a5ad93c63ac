#!/usr/bin/env python3
"""docs/gallery.py MENISCUS OUT: cooks the first second of every example at preview quality and writes docs/gallery.md.

Cooks go into OUT, a folder each. An example that OUT holds already is not cooked again. An example's picture is the one in the
folder `pictures` beside its graph; where there is none, the last frame of the cook is copied to docs/pictures/gallery.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs/pictures/gallery"
SECOND = 24  # frames of a second


def main(meniscus, out):
    out.mkdir(parents=True, exist_ok=True)
    environment = dict(os.environ, MENISCUS_PLUGIN_PATH=str(piston(out)))
    graphs = sorted(ROOT.glob("examples/**/*.meniscus.json"), key=lambda path: path.parts)
    parts, seconds = [], 0.0
    for graph in graphs:
        took = cook(meniscus, graph, out, environment)
        seconds += took["seconds"]
        parts.append(entry(graph, took, out))
    head = (
        "# Gallery\n\n"
        "Every example: its picture, its network, and how long its beginning takes.\n"
        "`make gallery` writes this page. `meniscus demo --scene NAME` cooks one of them.\n\n"
        f"Times: the first {SECOND} frames, or as many as are named, at preview quality with everything that the graph writes, {machine()}. "
        f"All {len(graphs)} together: {clock(seconds)}.\n"
    )
    (ROOT / "docs/gallery.md").write_text(head + in_blender() + "".join(parts))


def in_blender():
    """The section with the pictures of docs/blender.py, where there are any."""
    pictures = sorted((ROOT / "docs/pictures/blender").glob("*.png"))
    if not pictures:
        return ""
    shown = " ".join(f"![{p.stem} in Blender]({p.relative_to(ROOT / 'docs')})" for p in pictures)
    return (
        "\n## In Blender\n\n"
        f"{shown}\n\n"
        "Shots of [`usd_shot`](usd.md) at preview quality, opened and rendered by Blender 4.2 (`make gallery-blender`). Polygons, camera and\n"
        "materials are the shot's own; Blender's glass takes the place of what is not opaque, and a ground and a sun were added.\n"
    )


def piston(out):
    """The plugin of examples/c_coupling, built."""
    library, include = out / "libpiston.so", ROOT / "plugin/include"
    source = ROOT / "examples/c_coupling/piston.c"
    subprocess.run(["cc", "-std=c99", "-O2", "-shared", "-fPIC", f"-I{include}", source, "-o", library, "-lm"], check=True)
    return library.resolve()


def name_of(graph):
    return graph.name.removesuffix(".meniscus.json")


def cook(meniscus, graph, out, environment):
    """Seconds and frames of a cook, which is done where its record is not there yet."""
    name = name_of(graph)
    record = out / f"{name}.json"
    if record.exists():
        return json.loads(record.read_text())
    read = json.loads(graph.read_text())
    quality = ["--quality", "preview"] if "preview" in read.get("quality", {}) else []
    first, last = read.get("frames") or read["quality"]["preview"]["frames"]
    last = min(last, first + SECOND - 1)
    command = [meniscus, "cook", graph, *quality, "--frames", f"{first}-{last}", "--out", out / name, "--quiet", "--replace"]
    print(f"{name}: frames {first}-{last}", flush=True)
    start = time.monotonic()
    subprocess.run(command, check=True, env=environment)
    took = {"frames": [first, last], "seconds": round(time.monotonic() - start, 1)}
    record.write_text(json.dumps(took))
    return took


def entry(graph, took, out):
    read, name = json.loads(graph.read_text()), name_of(graph)
    first, last = took["frames"]
    relative = graph.relative_to(ROOT)
    return (
        f"\n## {name}\n\n![{name}]({picture(graph, read, took, out)})\n\n{read['comment']}\n\n"
        f"Frames {first} to {last}: {clock(took['seconds'])}. [The graph](../{relative}), and its network:\n\n"
        f"```mermaid\n{network(read)}```\n"
    )


def picture(graph, read, took, out):
    """The picture's path, seen from docs."""
    name = name_of(graph)
    for folder in (graph.parent, graph.parent.parent):
        own = folder / "pictures" / f"{name}.png"
        if own.exists():
            return f"../{own.relative_to(ROOT)}"
    preview = next(node["name"] for node in read["nodes"] if node["type"] == "preview")
    last = took["frames"][1]
    frame = out / name / preview / f"{preview}.{last:04}.png"
    PICTURES.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(frame, PICTURES / f"{name}.png")
    return f"pictures/gallery/{name}.png"


def network(read):
    lines = ["flowchart LR\n"]
    for node in read["nodes"]:
        off = ", bypassed" if node.get("bypass") else ""
        lines.append(f"  n_{node['name']}[\"{node['name']} ({node['type']}{off})\"]\n")
        lines += [f"  n_{source.split(':')[0]} --> n_{node['name']}\n" for source in node.get("inputs", [])]
    return "".join(lines)


def clock(seconds):
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def machine():
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "processor")
    busy = os.getloadavg()[0]
    others = " that other programs kept busy, so that idle ones take a fraction of this" if busy > 1.5 * (os.cpu_count() or 1) else ""
    return f"on {os.cpu_count()} processors ({model}){others}"


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]))
