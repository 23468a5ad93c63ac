"""Opens a shot of `usd_shot` in Blender and compares it with the caches of the same cook.

usage: python check_usd.py COOK_FOLDER FRAME PICTURE.png

COOK_FOLDER holds `shot/shot.usda`, and `points/points.<frame>.geo` with the particles of the object `water`. Needs `pip install bpy`.
"""

import json
import pathlib
import sys

import bpy
import mathutils

SAMPLES = 16
SIDE = 320


def fail(sentence):
    print(f"error: {sentence}", file=sys.stderr)
    sys.exit(1)


def after(pairs, key):
    return pairs[pairs.index(key) + 1]


def cached_points(path):
    """`P` of a .geo file, Z up as Blender has it."""
    file = json.loads(path.read_text())
    for about, values in after(after(file, "attributes"), "pointattributes"):
        if after(about, "name") == "P":
            return [mathutils.Vector((x, -z, y)) for x, y, z in after(after(values, "values"), "tuples")]
    fail(f"{path} has no points")


def points_of(thing, graph):
    evaluated = thing.evaluated_get(graph)
    data = evaluated.data
    if thing.type == "POINTCLOUD":
        places = [mathutils.Vector(p.vector) for p in data.attributes["position"].data]
    else:
        places = [v.co for v in data.vertices]
    return [evaluated.matrix_world @ p for p in places]


def farthest(found, wanted):
    if len(found) != len(wanted):
        fail(f"{len(found)} points were opened, {len(wanted)} are cached")
    return max((a - b).length for a, b in zip(found, wanted))


def main():
    if len(sys.argv) != 4:
        fail("usage: check_usd.py COOK_FOLDER FRAME PICTURE.png")
    folder, frame, picture = pathlib.Path(sys.argv[1]).resolve(), int(sys.argv[2]), pathlib.Path(sys.argv[3])
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.usd_import(filepath=str(folder / "shot/shot.usda"))
    scene = bpy.context.scene
    print(f"frames {scene.frame_start} to {scene.frame_end}, {scene.render.fps / scene.render.fps_base:.3f} fps")
    scene.frame_set(frame)
    graph = bpy.context.evaluated_depsgraph_get()
    for thing in bpy.data.objects:
        place = thing.evaluated_get(graph).matrix_world
        print(f"{thing.name}: {thing.type}, at {tuple(round(c, 5) for c in place.translation)}, "
              f"turned by {tuple(round(c, 4) for c in place.to_quaternion())}")
    particles = next((o for o in bpy.data.objects if o.name.startswith("particles")), None)
    if particles is None:
        fail("there are no particles")
    off = farthest(points_of(particles, graph), cached_points(folder / f"points/points.{frame:04}.geo"))
    print(f"particles: at most {off:.2e} m from those that are cached")
    if off > 1e-5:
        fail("they are elsewhere")
    for volume in (o for o in bpy.data.objects if o.type == "VOLUME"):
        volume.data.grids.load()
        print(f"{volume.name}: grids {[g.name for g in volume.data.grids]} of {volume.data.grids.frame_filepath}")
        volume.hide_render = True
    render(scene, picture)


def render(scene, picture):
    scene.camera = next(o for o in bpy.data.objects if o.type == "CAMERA")
    sun = bpy.data.objects.new("sun", bpy.data.lights.new("sun", "SUN"))
    sun.data.energy = 4
    sun.rotation_euler = (0.6, 0.3, 0)
    scene.collection.objects.link(sun)
    scene.world = scene.world or bpy.data.worlds.new("sky")
    scene.world.use_nodes = True
    scene.world.node_tree.nodes["Background"].inputs[0].default_value = (0.6, 0.7, 0.8, 1)
    scene.render.engine = "CYCLES"
    scene.cycles.device = "CPU"
    scene.cycles.samples = SAMPLES
    scene.render.use_motion_blur = True
    scene.render.resolution_x = scene.render.resolution_y = SIDE
    scene.render.filepath = str(picture.resolve())
    bpy.ops.render.render(write_still=True)
    print(f"{picture} is rendered")


main()
