#!/usr/bin/env python3
"""Makes Blender open a cached frame and render it. Not part of CI: `pip install bpy` needs about 1 GB.

    python3 -m venv blender && blender/bin/pip install "bpy==5.0.1"      # Python 3.11
    blender/bin/python tests/blender/check_vdb.py shot.out/cache/cache.0024.vdb picture.png

It imports the file as a volume, checks the grids, makes a mesh of `surface`, checks that it is closed,
and renders it with Cycles on the processor. Exit code 1 tells what is wrong.
"""
import math
import pathlib
import sys

import bpy
import bmesh
from mathutils import Euler, Vector

SIDE = 480       # pixels
SAMPLES = 32
FROM = Vector((0.9, -1.6, 0.7))  # direction from the shot to the camera; Blender has Z up


def fail(sentence):
    print(f"error: {sentence}", file=sys.stderr)
    sys.exit(1)


def import_volume(path):
    bpy.ops.object.volume_import(filepath=str(path.resolve()))
    volume = bpy.context.object
    if volume is None:
        fail(f"Blender cannot import {path}")
    grids = volume.data.grids
    if not grids.load():
        fail(f"Blender cannot load {path}: {grids.error_message}")
    for grid in grids:
        print(f"grid {grid.name}: {grid.data_type}, {grid.channels} channels")
    known = {grid.name: grid for grid in grids}
    for name, kind in (("surface", "FLOAT"), ("vel", "VECTOR_FLOAT")):
        if name not in known or known[name].data_type != kind:
            fail(f"{path} has no grid {name} of type {kind} for Blender")
    return volume


def mesh_of(volume):
    """The surface as a mesh object: Blender does not draw level sets by themselves."""
    mesh = bpy.data.objects.new("water", bpy.data.meshes.new("water"))
    bpy.context.scene.collection.objects.link(mesh)
    mesher = mesh.modifiers.new("mesher", "VOLUME_TO_MESH")
    mesher.object = volume
    mesher.grid_name = "surface"
    mesher.resolution_mode = "GRID"
    mesher.threshold = 0.0
    applied = bpy.data.meshes.new_from_object(mesh.evaluated_get(bpy.context.evaluated_depsgraph_get()))
    mesh.modifiers.clear()
    mesh.data = applied
    return mesh


def check_mesh(mesh):
    made = bmesh.new()
    made.from_mesh(mesh.data)
    if not made.faces:
        fail("the mesh of the surface is empty")
    open_edges = sum(1 for e in made.edges if len(e.link_faces) != 2)
    volume = made.calc_volume(signed=True)
    if volume < 0.0:
        # Level sets are negative inside, Blender takes large values for inside.
        bmesh.ops.reverse_faces(made, faces=made.faces)
        made.to_mesh(mesh.data)
    print(f"mesh: {len(made.verts)} points, {open_edges} open edges, {1e3 * abs(volume):.3f} L")
    if open_edges:
        fail(f"the mesh of the surface has {open_edges} open edges")
    made.free()


def bounds(mesh):
    points = [v.co for v in mesh.data.vertices]
    return [Vector([pick(p[axis] for p in points) for axis in range(3)]) for pick in (min, max)]


def render(mesh, path):
    for polygon in mesh.data.polygons:
        polygon.use_smooth = True
    water = bpy.data.materials.new("water")
    water.use_nodes = True
    shader = water.node_tree.nodes["Principled BSDF"]
    shader.inputs["Base Color"].default_value = (0.05, 0.35, 0.7, 1.0)
    shader.inputs["Roughness"].default_value = 0.08
    mesh.data.materials.append(water)
    # The cache has Y up.
    mesh.matrix_world = Euler((math.pi / 2, 0.0, 0.0)).to_matrix().to_4x4()
    low, high = bounds(mesh)
    middle, size = mesh.matrix_world @ ((low + high) / 2), (high - low).length

    scene = bpy.context.scene
    camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
    camera.location = middle + FROM.normalized() * 1.5 * size
    camera.rotation_euler = (-FROM).to_track_quat("-Z", "Y").to_euler()
    camera.data.clip_start = 1e-3
    scene.collection.objects.link(camera)
    scene.camera = camera
    sun = bpy.data.objects.new("sun", bpy.data.lights.new("sun", "SUN"))
    sun.data.energy = 3.0
    sun.rotation_euler = (0.7, 0.2, 0.5)
    scene.collection.objects.link(sun)
    scene.world = bpy.data.worlds.new("sky")
    scene.world.use_nodes = True
    scene.world.node_tree.nodes["Background"].inputs["Color"].default_value = (0.7, 0.75, 0.8, 1.0)

    scene.render.engine = "CYCLES"
    scene.cycles.device = "CPU"
    scene.cycles.samples = SAMPLES
    scene.render.resolution_x = scene.render.resolution_y = SIDE
    scene.render.filepath = str(path.resolve())
    bpy.ops.render.render(write_still=True)
    check_picture(path)


def check_picture(path):
    picture = bpy.data.images.load(str(path.resolve()))
    pixels = list(picture.pixels)
    blue = sum(1 for i in range(0, len(pixels), 4) if pixels[i + 2] > pixels[i] + 0.2)
    share = blue / (len(pixels) / 4)
    print(f"{path}: water on {100 * share:.0f} % of the picture")
    if not 0.01 < share < 0.9:
        fail(f"{path} does not show the water")


def main():
    if len(sys.argv) != 3:
        fail("usage: check_vdb.py CACHE.vdb PICTURE.png")
    cache, picture = map(pathlib.Path, sys.argv[1:])
    bpy.ops.wm.read_factory_settings(use_empty=True)
    volume = import_volume(cache)
    mesh = mesh_of(volume)
    check_mesh(mesh)
    volume.hide_render = True
    render(mesh, picture)
    print("ok")


main()
