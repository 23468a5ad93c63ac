#!/usr/bin/env python3
"""docs/blender.py MENISCUS OUT: opens shots of `usd_shot` in Blender, renders a frame of each, and writes docs/pictures/blender.

Cooks go into OUT, a folder each; a shot that OUT holds already is not cooked again. Needs `pip install bpy` (4.2 or later).
"""

import json
import pathlib
import subprocess
import sys

import bpy
import mathutils

ROOT = pathlib.Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs/pictures/blender"
WIDTH, HEIGHT, SAMPLES = 640, 480, 96
# The example's folder, its last frame, and what is wired into `usd_shot`, with its parameters.
SHOTS = {
    "water_cooler": ("bubbles/water_cooler", 40, ["air", "bottle_mesh"], {"glass": "bottle_mesh", "elevation": 4}),
    "tap": ("render", 30, ["mesher", "whitewater", "cup"], {"glass": "cup", "elevation": 10}),
    "balls": ("rigid", 16, ["float"], {"elevation": 18, "azimuth": 25}),
}


def main(meniscus, out):
    PICTURES.mkdir(parents=True, exist_ok=True)
    for name, (folder, frame, inputs, params) in SHOTS.items():
        cooked = out / name
        if not (cooked / "shot/shot.usda").exists():
            cook(meniscus, ROOT / "examples" / folder / f"{name}.meniscus.json", cooked, frame, inputs, params)
        render(cooked / "shot/shot.usda", frame, PICTURES / f"{name}.png")


def cook(meniscus, graph, cooked, frame, inputs, params):
    read = json.loads(graph.read_text())
    writers = ("preview", "vdb_cache", "geometry_cache", "mesh_cache", "usd_shot")
    read["nodes"] = [node for node in read["nodes"] if node["type"] not in writers]
    read["nodes"].append({"name": "shot", "type": "usd_shot", "inputs": inputs, "params": params})
    copy = graph.with_name(f".{graph.name}")
    copy.write_text(json.dumps(read))
    try:
        quality = ["--quality", "preview", "--frames", f"1-{frame}"]
        subprocess.run([meniscus, "cook", copy, *quality, "--out", cooked, "--quiet", "--replace"], check=True)
    finally:
        copy.unlink()


def render(usda, frame, picture):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.usd_import(filepath=str(usda))
    scene = bpy.context.scene
    scene.frame_set(frame)
    for thing in bpy.data.objects:
        if thing.name.startswith("particles"):
            thing.hide_render = True
        if thing.type == "MESH" and thing.name.startswith(("surface", "render_mesh")):
            thing.data.polygons.foreach_set("use_smooth", [True] * len(thing.data.polygons))
    for material in bpy.data.materials:
        see_through(material)
    scene.camera = next(thing for thing in bpy.data.objects if thing.type == "CAMERA")
    light(scene, lowest())
    scene.render.engine = "CYCLES"
    scene.cycles.device, scene.cycles.samples, scene.cycles.use_denoising = "CPU", SAMPLES, True
    scene.cycles.max_bounces, scene.cycles.transmission_bounces = 12, 12
    scene.render.resolution_x, scene.render.resolution_y = WIDTH, HEIGHT
    scene.view_settings.view_transform = "Standard"
    scene.render.filepath = str(picture)
    bpy.ops.render.render(write_still=True)
    print(f"{picture} is rendered")


def matte(name, colour):
    material = bpy.data.materials.new(name)
    material.use_nodes = True
    material.node_tree.nodes["Principled BSDF"].inputs["Base Color"].default_value = (*colour, 1)
    return material


def see_through(material):
    """What USD says is not opaque lets light through by its index of refraction."""
    shader = next((node for node in material.node_tree.nodes if node.type == "BSDF_PRINCIPLED"), None)
    if shader is None or shader.inputs["Alpha"].default_value == 1:
        return
    shader.inputs["Alpha"].default_value, shader.inputs["Transmission Weight"].default_value = 1, 1
    tint = mathutils.Color(shader.inputs["Base Color"].default_value[:3])
    shader.inputs["Base Color"].default_value = (*(0.4 * c + 0.6 for c in tint), 1)


def lowest():
    meshes = [thing for thing in bpy.data.objects if thing.type == "MESH"]
    return min((thing.matrix_world @ mathutils.Vector(corner)).z for thing in meshes for corner in thing.bound_box)


def light(scene, floor):
    bpy.ops.mesh.primitive_plane_add(size=40, location=(0, 0, floor - 0.002))
    bpy.context.object.active_material = matte("ground", (0.55, 0.54, 0.52))
    sun = bpy.data.objects.new("sun", bpy.data.lights.new("sun", "SUN"))
    sun.data.energy, sun.data.angle, sun.rotation_euler = 3, 0.2, (0.7, 0.2, 0.4)
    scene.collection.objects.link(sun)
    scene.world = bpy.data.worlds.new("sky")
    scene.world.use_nodes = True
    scene.world.node_tree.nodes["Background"].inputs[0].default_value = (0.75, 0.83, 0.92, 1)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve())
