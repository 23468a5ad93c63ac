#!/usr/bin/env python3
"""The Blender add-on for real, without a window: scene, graph, cook, load, one rendered frame.

usage: python addon.py MENISCUS FOLDER        (needs `pip install bpy`, 4.2 or later; FOLDER is made)

It installs the add-on as Blender does, into FOLDER, and makes a scene whose unit is 10 cm: water in a cup, a stirrer that turns, a wall that bends, a cork that floats. Values are compared
with what the caches say. FOLDER/picture.png is the rendered frame: look at it. Exit code 1 tells what is wrong.
"""

import importlib
import json
import math
import os
import pathlib
import shutil
import struct
import sys
import time
import types
import zipfile

MENISCUS, FOLDER = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
shutil.rmtree(FOLDER, ignore_errors=True)
# Blender's own folders, for this process alone; it looks for them when it is imported.
os.environ["BLENDER_USER_RESOURCES"] = str(FOLDER / "user")
(FOLDER / "user").mkdir(parents=True)

import bpy  # noqa: E402
import bmesh  # noqa: E402
import numpy as np  # noqa: E402
from mathutils import Matrix  # noqa: E402

ADDON = pathlib.Path(__file__).resolve().parents[2] / "hda/blender/meniscus"
MODULE = "bl_ext.user_default.meniscus"
UNIT = 0.1  # m
FRAMES = (5, 12)
SAMPLES = 16
# Farthest that points may be from where they should be, m.
NEAR = 1e-5


def check(holds, sentence):
    if not holds:
        raise SystemExit(f"error: {sentence}")


def link(thing, collection=None):
    (collection or bpy.context.scene.collection).objects.link(thing)
    return thing


def block(name, low, high, hole=None, collection=None):
    """A box; with a hole that is open above it is a cup."""
    made = bmesh.new()
    corners = lambda a, b: [made.verts.new((x, y, z)) for x in (a[0], b[0]) for y in (a[1], b[1]) for z in (a[2], b[2])]
    outer = corners(low, high)
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4)]
    for face in faces:
        made.faces.new([outer[i] for i in face])
    top = (1, 5, 7, 3)
    if hole is None:
        made.faces.new([outer[i] for i in top])
    else:
        inner = corners(*hole)
        for face in faces:
            made.faces.new([inner[i] for i in reversed(face)])
        for a, b in zip(top, top[1:] + top[:1]):
            made.faces.new([outer[a], outer[b], inner[b], inner[a]])
    mesh = bpy.data.meshes.new(name)
    made.to_mesh(mesh)
    made.free()
    return link(bpy.data.objects.new(name, mesh), collection)


def key(thing, frame, **values):
    for name, value in values.items():
        setattr(thing, name, value)
        thing.keyframe_insert(name, frame=frame)


def install():
    """Installs and enables the add-on, and tells it where the program is."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    package = FOLDER / "meniscus.zip"
    with zipfile.ZipFile(package, "w") as file:
        for path in ADDON.iterdir():
            if path.is_file():
                file.write(path, path.name)
    import addon_utils
    addon_utils.enable("bl_pkg")
    os.environ.pop("MENISCUS", None)
    bpy.ops.extensions.package_install_files(filepath=str(package), repo="user_default", enable_on_install=True)
    addon = bpy.context.preferences.addons[MODULE]
    check(not hasattr(bpy.context.scene.meniscus, "flip_solver"), "node types come of no program")
    addon.preferences.program = MENISCUS
    check(bpy.context.scene.meniscus.flip_solver.flip_ratio > 0.9, "the program's node types are not there")


def make_scene():
    current = bpy.context.scene
    current.frame_start, current.frame_end = FRAMES
    current.frame_set(7)
    current.unit_settings.scale_length = UNIT
    settings = current.meniscus
    settings.folder, settings.voxel = str(FOLDER), 0.02
    settings.substeps_max = 4
    fluids = bpy.data.collections.new("Fluids")
    current.collection.children.link(fluids)
    fluids.meniscus.role = "LIQUID"
    fluids.meniscus.liquid_object.velocity = (0.0, 0.1, 0.0)
    block("Water", (-2, -2, 0.4), (2, 2, 2), collection=fluids)
    cup = block("Cup 1", (-2.4, -2.4, 0), (2.4, 2.4, 3), ((-2, -2, 0.4), (2, 2, 3)))
    cup.meniscus.role = "COLLIDER"
    stirrer = block("Stirrer", (-0.6, -0.25, -0.7), (0.6, 0.25, 0.7))
    stirrer.meniscus.role = "COLLIDER"
    stirrer.scale = (1.0, -1.0, 1.2)
    key(stirrer, FRAMES[0], location=(-0.9, -0.9, 1.6), rotation_euler=(0.1, 0.0, 0.0))
    key(stirrer, FRAMES[1], location=(-0.8, -0.9, 1.4), rotation_euler=(0.1, 0.2, math.radians(220)))
    wall = block("Wall", (1.4, -0.5, 0.6), (1.9, 0.5, 2.6))
    wall.meniscus.role = "COLLIDER"
    wall.shape_key_add(name="Basis")
    bent = wall.shape_key_add(name="Bent")
    for point in bent.data:
        point.co.x -= 0.3 * max(0.0, point.co.z - 1.0)
    bent.value = 0.0
    bent.keyframe_insert("value", frame=FRAMES[0])
    bent.value = 1.0
    bent.keyframe_insert("value", frame=FRAMES[1])
    cork = block("Cork", (-0.4, -0.4, -0.4), (0.4, 0.4, 0.4))
    cork.meniscus.role = "BODY"
    cork.meniscus.rigid_object.density = 300.0
    cork.meniscus.rigid_object.spin = (0.0, 2.0, 1.0)
    cork.location, cork.rotation_euler = (0.7, 0.8, 2.5), (0.3, 0.2, 0.5)
    cork.hide_set(True)
    floats = bpy.data.collections.new("Floats")
    current.collection.children.link(floats)
    floats.meniscus.role = "BODY"
    floats.meniscus.rigid_object.density = 500.0
    chip = block("Chip.001", (-0.3, -0.3, -0.15), (0.3, 0.3, 0.15), collection=floats)
    chip.location, chip.scale = (-1.0, 1.2, 2.4), (1.0, 1.0, 1.5)
    domain = block("Domain", (-2.4, -2.4, 0), (2.4, 2.4, 6))
    domain.meniscus.role = "DOMAIN"
    current.view_layers[0].update()
    return current


def y_up(points):
    return np.stack([points[:, 0], points[:, 2], -points[:, 1]], axis=1)


def world_points(thing):
    """Points of an object as it is now, in metres with Y up."""
    graph = bpy.context.evaluated_depsgraph_get()
    evaluated = thing.evaluated_get(graph)
    if thing.type == "POINTCLOUD":
        local = np.array([p.vector for p in evaluated.data.attributes["position"].data])
    else:
        local = np.array([v.co for v in evaluated.data.vertices])
    m = np.array(evaluated.matrix_world)
    return y_up(local @ m[:3, :3].T + m[:3, 3]) * UNIT


def ply_points(path):
    data = path.read_bytes()
    head, _, body = data.partition(b"end_header\n")
    count = int(next(line.split()[2] for line in head.decode().splitlines() if line.startswith("element vertex")))
    return np.array(struct.unpack(f"<{3 * count}f", body[:12 * count])).reshape(-1, 3)


def off(a, b, what):
    check(a.shape == b.shape, f"{what}: {len(a)} points, and {len(b)} were expected")
    return np.abs(a - b).max()


def at_frame(value, frame):
    if isinstance(value, list):
        return value
    found = [v for f, v in value["keys"] if f == frame]
    check(len(found) == 1, f"no key at frame {frame}")
    return found[0]


def check_graph(current):
    shot, where = scene.write(bpy.context)
    check(current.frame_current == 7, "the frame is another one after writing")
    check(bpy.data.objects["Cork"].hide_get(), "a hidden object is shown after writing")
    graph = json.loads(pathlib.Path(where.graph).read_text())
    nodes = {node["name"]: node for node in graph["nodes"]}
    check(graph["frames"] == list(FRAMES) and graph["fps"] == 24.0 and graph["variables"] == {"voxel": 0.02}, f"settings: {graph}")
    check(nodes["Fluids"]["params"] == {"velocity": [0.0, 0.0, -0.1], "particle_separation": "$voxel / 2"}, f"{nodes['Fluids']}")
    check(nodes["Cork"]["params"]["spin"] == [0.0, 1.0, -2.0], f"{nodes['Cork']}")
    box = nodes["flip"]["params"]
    check(np.abs(np.array(box["limit_size"]) - [0.48, 0.6, 0.48]).max() < 1e-6 and box["side_pos_y"] == "open", f"{box}")
    check("params" not in nodes["gravity"], "gravity is the program's own")
    folder = pathlib.Path(where.meshes)
    worst = 0.0
    for frame in range(FRAMES[0], FRAMES[1] + 1):
        current.frame_set(frame)
        wall = ply_points(folder / f"Wall.{frame:04}.ply")
        worst = max(worst, off(wall, world_points(bpy.data.objects["Wall"]), "the wall"))
        keys = nodes["Stirrer_motion"]["params"]
        turn = Matrix.Rotation(0, 4, "X")
        for axis, angle in zip("XYZ", at_frame(keys["rotate"], frame)):
            turn = Matrix.Rotation(math.radians(angle), 4, axis) @ turn
        rest = ply_points(folder / "Stirrer.ply")
        moved = rest @ np.array(turn)[:3, :3].T + np.array(at_frame(keys["translate"], frame))
        worst = max(worst, off(moved, world_points(bpy.data.objects["Stirrer"]), "the stirrer"))
    check(worst < NEAR, f"colliders are {worst} m from their places")
    print(f"colliders: at most {worst:.1e} m from their places")
    check(bpy.ops.meniscus.check() == {"FINISHED"} and "the graph is sound" in current.meniscus.report, current.meniscus.report)
    return where


def check_cook(current, where):
    """A cook that is stopped, and one that goes on."""
    job = operators._begin(bpy.context, resume=False)
    while job.state == "running" and job.frame < FRAMES[0] + 2:
        job._process.poll()
    job.cancel()
    check(job.wait(60) == "stopped", f"the cook was to stop, and is {job.state}: {job.sentence}")
    check(FRAMES[0] < job.frame < FRAMES[1] and 0.0 < job.fraction < 1.0, f"frame {job.frame}, {job.fraction}")
    check(bpy.ops.meniscus.cook(resume=True) == {"FINISHED"}, "the cook does not go on")
    check(operators.job.state == "done" and operators.job.fraction == 1.0, "it is not done")
    print(f"cooked: stopped at frame {job.frame}, gone on to {operators.job.frame}")
    # The same shot with its particles in files.
    graph = json.loads(pathlib.Path(where.graph).read_text())
    graph["nodes"].append({"name": "points", "type": "geometry_cache", "inputs": ["flip"]})
    other = pathlib.Path(where.graph).with_name("points.meniscus.json")
    other.write_text(json.dumps(graph))
    with_points = cook.Job(MENISCUS, str(other), str(FOLDER / "points.out"), FRAMES)
    check(with_points.wait() == "done", with_points.sentence)


def after(pairs, key):
    return pairs[pairs.index(key) + 1]


def geo(path, name):
    for about, values in after(after(json.loads(path.read_text()), "attributes"), "pointattributes"):
        if after(about, "name") == name:
            return np.array(after(after(values, "values"), "tuples"))
    raise SystemExit(f"error: {path} has no {name}")


def volume_mesh():
    """The mesh that the Geometry Nodes group makes, in metres."""
    graph = bpy.context.evaluated_depsgraph_get()
    made, count = bmesh.new(), 0
    for instance in graph.object_instances:
        if instance.object.type == "MESH" and instance.object.name.startswith("cache"):
            made.from_mesh(instance.object.data)
            made.transform(instance.matrix_world)
            count += 1
    check(count == 1, f"{count} meshes come of the volume")
    held = made.calc_volume(signed=True) * UNIT**3
    points = y_up(np.array([v.co for v in made.verts])) * UNIT
    made.free()
    return points, held


def check_other_voxels(volume, polygons, held):
    """The group makes the same liquid with voxels of another size."""
    modifier = volume.modifiers[0]
    entries = {entry.name: entry.identifier for entry in modifier.node_group.interface.items_tree if entry.in_out == "INPUT"}
    modifier[entries["Voxel Size"]] = 0.03
    volume.update_tag()
    points, litres = volume_mesh()
    modifier[entries["Voxel Size"]] = 0.0
    volume.update_tag()
    # Splashes above are another matter.
    away = np.abs(np.min(points, axis=0) - np.min(polygons, axis=0)).max()
    check(away < 0.006 and abs(litres / held - 1) < 0.05, f"with voxels of 3 cm: {away} m away, {litres} and not {held} m³")


def check_loaded(current, where):
    collection = load.loaded(current)
    check(collection is not None, "nothing was loaded")
    things = {thing.get("meniscus_part"): thing for thing in collection.all_objects}
    check({"Fluids/surface", "Fluids/particles", "cache"} <= set(things), f"loaded: {sorted(map(str, things))}")
    check(not any("Chip" in str(part) or "Cork" in str(part) for part in things), f"a body came twice: {sorted(map(str, things))}")
    surface, volume = things["Fluids/surface"], things["cache"]
    volume.hide_set(False)
    out = pathlib.Path(where.out)
    worst = {"particles": 0.0, "bodies": 0.0, "box of the volume": 0.0}
    for frame in (FRAMES[0], 9, FRAMES[1]):
        current.frame_set(frame)
        cached = geo(FOLDER / f"points.out/points/points.{frame:04}.geo", "P")
        worst["particles"] = max(worst["particles"], off(world_points(things["Fluids/particles"]), cached, "particles"))
        volume.data.grids.load()
        check(volume.data.grids.frame_filepath.endswith(f"cache.{frame:04}.vdb"), f"at {frame}: {volume.data.grids.frame_filepath}")
        points, held = volume_mesh()
        polygons = world_points(surface)
        for pick in (np.min, np.max):
            worst["box of the volume"] = max(worst["box of the volume"], np.abs(pick(points, axis=0) - pick(polygons, axis=0)).max())
        made = bmesh.new()
        made.from_mesh(surface.evaluated_get(bpy.context.evaluated_depsgraph_get()).data)
        litres = made.calc_volume(signed=True), held
        made.free()
        check(0.01 < held and abs(litres[0] / held - 1) < 0.02, f"volumes at {frame}: {litres} m³")
        check_other_voxels(volume, polygons, held)
        # Bodies, by the centre of their mass and their turn.
        for name, node in (("Cork", "Cork"), ("Chip.001", "Chip_001")):
            place, turn = (geo(out / f"bodies/bodies_{node}.{frame:04}.geo", what)[0] for what in ("P", "orient"))
            start, first = (geo(out / f"bodies/bodies_{node}.{FRAMES[0]:04}.geo", what)[0] for what in ("P", "orient"))
            rest = ply_points(pathlib.Path(where.meshes) / f"{node}.ply") - start
            wanted = (rest @ rotation(first)) @ rotation(turn).T + place
            worst["bodies"] = max(worst["bodies"], off(world_points(bpy.data.objects[name]), wanted, name))
    speeds = surface.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.attributes.get("velocity")
    check(speeds is not None and len(speeds.data) > 100, "the surface has no velocities for motion blur")
    print(", ".join(f"{name}: {value:.1e} m" for name, value in worst.items()))
    check(worst["particles"] < NEAR and worst["bodies"] < NEAR and worst["box of the volume"] < NEAR, "they are elsewhere")
    cork, ways = bpy.data.objects["Cork"], []
    for frame, part in ((8, 0.0), (8, 0.25), (9, 0.0)):
        current.frame_set(frame, subframe=part)
        ways.append(np.array(cork.matrix_world.translation))
    check(np.abs(0.75 * ways[0] + 0.25 * ways[2] - ways[1]).max() < 1e-6, f"between keys it does not go straight: {ways}")
    current.frame_set(FRAMES[0])
    first = world_points(cork)
    current.frame_set(FRAMES[1])
    check(np.abs(world_points(bpy.data.objects["Cork"]) - first).max() > 5e-3, "the cork does not move")
    volume.hide_set(True)


def rotation(q):
    x, y, z, w = q
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                     [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                     [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]])


def check_bodies_of_usd(current, where):
    """The shot's own body, imported by Blender alone, is where the keyed cork is."""
    before = set(bpy.data.objects)
    bpy.ops.wm.usd_import(filepath=f"{where.out}/shot/shot.usda", scale=1 / UNIT, set_frame_range=False, support_scene_instancing=False)
    new = set(bpy.data.objects) - before
    body = next(t for t in new if t.type == "MESH" and t.parent and t.parent.name.startswith("Cork"))
    worst = 0.0
    for frame in FRAMES:
        current.frame_set(frame)
        worst = max(worst, off(world_points(body), world_points(bpy.data.objects["Cork"]), "the body of the shot"))
    for thing in new:
        bpy.data.objects.remove(thing)
    bpy.data.orphans_purge()
    print(f"the body of the shot in USD: {worst:.1e} m from the cork")
    check(worst < NEAR, "they are apart")


def check_reload(current):
    collection = load.loaded(current)
    blue = bpy.data.materials.new("Blue")
    blue.use_nodes = True
    shader = blue.node_tree.nodes["Principled BSDF"]
    shader.inputs["Base Color"].default_value = (0.02, 0.2, 0.9, 1.0)
    shader.inputs["Roughness"].default_value = 0.2
    surface = next(t for t in collection.all_objects if t.get("meniscus_part") == "Fluids/surface")
    plain = surface.material_slots[0].material
    surface.material_slots[0].material = blue
    bpy.data.materials.remove(plain)
    count = {name: len(getattr(bpy.data, name)) for name in ("objects", "meshes", "volumes", "cache_files", "collections", "actions", "materials")}
    check(bpy.ops.meniscus.load() == {"FINISHED"}, "it is not loaded again")
    again = {name: len(getattr(bpy.data, name)) for name in count}
    check(count == again, f"before {count}, and again {again}")
    surface = next(t for t in load.loaded(current).all_objects if t.get("meniscus_part") == "Fluids/surface")
    check(surface.material_slots[0].material == blue, "the material is lost")
    check(bpy.ops.meniscus.load(directory=str(FOLDER / "points.out")) == {"FINISHED"}, "another cook is not loaded")
    check("points.out" in bpy.data.volumes["cache"].filepath, "the volume is that of the first cook")
    bpy.ops.meniscus.unload()
    cork = bpy.data.objects["Cork"]
    current.view_layers[0].update()
    check(load.loaded(current) is None and not cork.animation_data.action, "something is left")
    check(cork.rotation_mode == "XYZ", f"the cork turns by {cork.rotation_mode}")
    check((cork.matrix_world.translation - Matrix.Translation((0.7, 0.8, 2.5)).translation).length < 1e-5, "the cork is not back")
    bpy.ops.meniscus.load()
    surface = next(t for t in load.loaded(current).all_objects if t.get("meniscus_part") == "Fluids/surface")
    surface.material_slots[0].material = blue
    print("reload: replaced, materials kept; unload: all gone")


class Layout:
    """Takes what panels draw, and refuses what is not there."""

    drawn = 0

    def __init__(self):
        self.active = self.enabled = True

    def prop(self, data, name, text=None):
        check(name in data.bl_rna.properties, f"{data} has no {name}")
        Layout.drawn += 1

    def operator(self, name, text="", icon="NONE"):
        kind, _, short = name.partition(".")
        check(hasattr(getattr(bpy.ops, kind), short), f"there is no operator {name}")
        return types.SimpleNamespace()

    def label(self, text="", icon="NONE"):
        pass

    def progress(self, factor, text):
        check(0.0 <= factor <= 1.0, "no such progress")

    def panel(self, name, default_closed):
        return Layout(), Layout()

    def row(self, align=False):
        return Layout()

    def column(self):
        return Layout()

    def grid_flow(self, **_):
        return Layout()


def check_panels():
    for name in ("Water", "Cup 1", "Cork", "Domain", "Stirrer"):
        bpy.context.view_layer.objects.active = bpy.data.objects[name]
        for panel in panels.classes:
            if panel is panels.MENISCUS_PT_object or name == "Water":
                panel.draw(types.SimpleNamespace(layout=Layout()), bpy.context)
    for coupling in ("constraint_bubbles", "AUTO"):
        bpy.context.scene.meniscus.coupling = coupling
        panels.MENISCUS_PT_solvers.draw(types.SimpleNamespace(layout=Layout()), bpy.context)
    for role in properties.ROLES:
        bpy.data.objects["Water"].meniscus.role = role
        settings = bpy.data.objects["Water"].meniscus
        panels.draw_role(Layout(), bpy.data.objects["Water"], settings, role)
    bpy.data.objects["Water"].meniscus.role = "INHERIT"
    check(Layout.drawn > 100, f"{Layout.drawn} properties were drawn")
    print(f"panels: {Layout.drawn} properties drawn")


def refused(words, change, back):
    """A change of the scene that cannot be cooked is told in a sentence with these words."""
    change()
    try:
        _, where = scene.write(bpy.context)
        cook.check(MENISCUS, where.graph)
    except Trouble as trouble:
        check(all(word in str(trouble) for word in words), f"{words}: {trouble}")
        print(f"refused: {trouble}")
    else:
        check(False, f"{words}: this was not refused")
    back()


def check_modal():
    """The operator as windows run it, with a stand-in for the window: Esc saves and stops, Resume goes on."""
    said = []
    nothing = lambda *_, **__: None
    manager = types.SimpleNamespace(event_timer_add=nothing, event_timer_remove=nothing, progress_begin=nothing, progress_update=nothing,
                                    progress_end=nothing, modal_handler_add=nothing, windows=[])
    context = types.SimpleNamespace(window_manager=manager, window=None, workspace=types.SimpleNamespace(status_text_set=nothing),
                                    evaluated_depsgraph_get=bpy.context.evaluated_depsgraph_get)
    for name in ("scene", "view_layer", "preferences"):
        setattr(context, name, getattr(bpy.context, name))
    kind = operators.MENISCUS_OT_cook

    def run(resume, stop_after):
        one = types.SimpleNamespace(resume=resume, report=lambda level, text: said.append((level, text)))
        one._end = lambda c: kind._end(one, c)
        check(kind.invoke(one, context, None) == {"RUNNING_MODAL"}, f"it does not begin: {said}")
        event = lambda what: types.SimpleNamespace(type=what, value="PRESS")
        for _ in range(6000):
            if stop_after is not None and operators.job.frame >= stop_after:
                check(kind.modal(one, context, event("ESC")) == {"RUNNING_MODAL"}, "Esc goes on to others")
                stop_after = None
            panels.draw_cook(Layout(), context.scene)
            found = kind.modal(one, context, event("TIMER"))
            if found != {"PASS_THROUGH"}:
                return found
            time.sleep(0.01)
        return "no end"

    check(run(False, FRAMES[0] + 1) == {"CANCELLED"} and said[-1][1].startswith("stopped and saved"), f"{said}")
    check(run(True, None) == {"FINISHED"} and said[-1][1].startswith("cooked"), f"{said}")
    print("with a window's stand-in: stopped by Esc, resumed, loaded")


def check_refusals(current):
    """These overwrite graph and meshes, so they come last."""
    things = bpy.data.objects
    fluids, floats, cork = bpy.data.collections["Fluids"], bpy.data.collections["Floats"], things["Cork"]

    def role(thing, name):
        return lambda: setattr(thing.meniscus, "role", name)

    def both(*calls):
        return lambda: [call() for call in calls]

    refused(["nothing is simulated"], both(role(fluids, "NONE"), role(cork, "NONE"), role(floats, "NONE")),
            both(role(fluids, "LIQUID"), role(cork, "BODY"), role(floats, "BODY")))
    lamp = link(bpy.data.objects.new("Lamp", bpy.data.lights.new("Lamp", "POINT")))
    refused(["Lamp", "no mesh"], role(lamp, "COLLIDER"), role(lamp, "NONE"))
    refused(["Cup 1", "Domain", "domain"], role(things["Cup 1"], "DOMAIN"), role(things["Cup 1"], "COLLIDER"))
    tap = block("Tap", (-0.2, -0.2, 4), (0.2, 0.2, 4.4))
    refused(["Tap", "liquid"], both(role(fluids, "NONE"), role(tap, "SOURCE")), both(role(fluids, "LIQUID"), role(tap, "NONE")))
    refused(["joint", "Tap", "Body A"], role(tap, "JOINT"), role(tap, "NONE"))
    sheet = bpy.data.meshes.new("Sheet")
    sheet.from_pydata([(0, 0, 1), (1, 0, 1), (0, 1, 1)], [], [(0, 1, 2)])
    sheet = link(bpy.data.objects.new("Sheet", sheet))
    refused(["Sheet"], role(sheet, "LIQUID"), role(sheet, "NONE"))
    current.meniscus.folder = "//meniscus"
    refused(["not saved"], lambda: None, lambda: setattr(current.meniscus, "folder", str(FOLDER)))


def check_more_roles(current):
    """A tap that closes, a drain, a joint, two liquids, and air: a graph that is sound."""
    things = bpy.data.objects
    tap, drain = things["Tap"], block("Drain", (-0.2, -0.2, 0.5), (0.2, 0.2, 0.7))
    tap.meniscus.role, drain.meniscus.role = "SOURCE", "SINK"
    source = tap.meniscus.liquid_source
    source.velocity = (0.0, 0.0, -1.0)
    for frame, speed in ((FRAMES[0], -1.0), (FRAMES[1], 0.0)):
        source.velocity[2] = speed
        source.keyframe_insert("velocity", index=2, frame=frame)
    oil = block("Oil", (-1.9, -1.9, 2.2), (-1.0, -1.0, 2.6))
    oil.meniscus.role = "LIQUID"
    oil.meniscus.liquid_object.density = 800.0
    tap.meniscus.liquid = drain.meniscus.liquid = things["Water"]
    empty = link(bpy.data.objects.new("Hinge", None))
    empty.location = (0.7, 0.8, 3.5)
    empty.meniscus.role, empty.meniscus.body_a = "JOINT", things["Cork"]
    piston = block("Piston", (-0.3, -0.3, -0.3), (0.3, 0.3, 0.3))
    piston.meniscus.role, piston.meniscus.rigid_object.keyframed = "BODY", True
    key(piston, FRAMES[0], location=(-1.5, 1.5, 1.0))
    key(piston, FRAMES[1], location=(-1.5, 1.5, 1.4))
    current.meniscus.coupling = "constraint_bubbles"
    shot, where = scene.write(bpy.context)
    nodes = {node["name"]: node for node in shot.graph()["nodes"]}
    keys = nodes["Tap"]["params"]["velocity"]["keys"]
    check(keys[0] == [FRAMES[0], [0.0, -1.0, 0.0]] and keys[-1] == [FRAMES[1], [0.0, 0.0, 0.0]], f"{keys}")
    check(nodes["Fluids_flip"]["inputs"][-3:] == ["Tap", "Drain", "gravity"] and "Tap" not in nodes["Oil_flip"]["inputs"], f"{nodes}")
    check(np.abs(np.array(nodes["Hinge"]["params"]["pivot"]) - [0.07, 0.35, -0.08]).max() < 1e-6, f"{nodes['Hinge']}")
    moved = nodes["Piston_motion"]["params"]["translate"]["keys"]
    check(nodes["Piston"]["params"]["keyframed"] and np.abs(np.array(moved[-1][1]) - [-0.15, 0.14, -0.15]).max() < 1e-6, f"{moved}")
    check("the graph is sound" in cook.check(MENISCUS, where.graph), "it is not sound")
    print("a tap, a drain, a joint, a keyframed body, two liquids and kept air: the graph is sound")


def render(current):
    current.frame_set(9)
    things = bpy.data.objects
    orange = bpy.data.materials.new("Orange")
    orange.diffuse_color = (0.9, 0.4, 0.05, 1)
    orange.use_nodes = True
    orange.node_tree.nodes["Principled BSDF"].inputs["Base Color"].default_value = (0.9, 0.3, 0.02, 1)
    things["Cork"].hide_set(False)
    things["Cork"].data.materials.append(orange)
    # Look into the cup from one side.
    things["Cup 1"].hide_render = True
    camera = link(bpy.data.objects.new("Eye", bpy.data.cameras.new("Eye")))
    camera.location = (-6.0, -8.0, 6.5)
    camera.rotation_euler = (Matrix.Translation((0, 0, 1.2)).translation - camera.location).to_track_quat("-Z", "Y").to_euler()
    sun = link(bpy.data.objects.new("Sun", bpy.data.lights.new("Sun", "SUN")))
    sun.data.energy, sun.rotation_euler = 4.0, (0.5, 0.4, 0.0)
    current.camera = camera
    current.world = bpy.data.worlds.new("Sky")
    current.world.use_nodes = True
    current.world.node_tree.nodes["Background"].inputs[0].default_value = (0.5, 0.5, 0.5, 1)
    current.render.engine = "CYCLES"
    current.cycles.device, current.cycles.samples = "CPU", SAMPLES
    current.render.resolution_x, current.render.resolution_y = 400, 320
    current.render.filepath = str(FOLDER / "picture.png")
    bpy.ops.render.render(write_still=True)
    picture = bpy.data.images.load(current.render.filepath)
    pixels = np.array(picture.pixels[:]).reshape(-1, 4)
    blue = (pixels[:, 2] > pixels[:, 0] + 0.2).mean()
    warm = (pixels[:, 0] > pixels[:, 2] + 0.2).mean()
    print(f"picture: water on {100 * blue:.1f} %, cork on {100 * warm:.1f} %")
    check(0.03 < blue < 0.7 and 0.002 < warm < 0.2, "the picture does not show water and cork")


def main():
    print(f"Blender {bpy.app.version_string}")
    current = make_scene()
    where = check_graph(current)
    check_cook(current, where)
    check_loaded(current, where)
    check_bodies_of_usd(current, where)
    check_reload(current)
    check_panels()
    check_modal()
    render(current)
    check_refusals(current)
    check_more_roles(current)
    bpy.ops.preferences.addon_disable(module=MODULE)
    check(not hasattr(current, "meniscus"), "something of the add-on stays")
    print("ok")


install()
cook, load, operators, panels, properties, scene = (
    importlib.import_module(f"{MODULE}.{name}") for name in ("cook", "load", "operators", "panels", "properties", "scene"))
Trouble = importlib.import_module(f"{MODULE}.descriptors").Trouble
main()
