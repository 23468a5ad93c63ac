# SPDX-License-Identifier: GPL-3.0-or-later
"""What a cook has written, in the scene: USD for liquids, volumes for VDB caches, keyframes for bodies.

Everything but the keyframes is in one collection of the scene, which is replaced when the shot is loaded again. Nothing in it needs
this add-on.
"""

import contextlib
import os
import re

import bpy
from mathutils import Matrix, Quaternion, Vector

from . import bodies, scene, volume
from .descriptors import Trouble
from .roles import Roles

# The part of the shot that an object of the collection is, such as water/surface.
_PART = "meniscus_part"
# Marks actions that hold the motion of a body.
_OURS = "meniscus_motion"
_TURN = Matrix(((1, 0, 0, 0), (0, 0, -1, 0), (0, 1, 0, 0), (0, 0, 0, 1)))
# Roles whose objects only say where liquid begins or what the box is: seen as wires, not rendered.
_STAND_INS = ("LIQUID", "SOURCE", "SINK", "DOMAIN")


def load(context, out=None):
    """Loads what a cook has written into its folder; the collection. Raises Trouble where there is nothing."""
    current = context.scene
    out = out or scene.paths(current).out
    shot = os.path.join(out, "shot", "shot.usda")
    if not os.path.isfile(shot):
        raise Trouble(f"there is no shot in {out}: cook it first")
    frames = _frames(os.path.join(out, "shot"))
    kept, materials = _looks(current), set(bpy.data.materials)
    _remove_collection(current)
    collection = bpy.data.collections.new(_name(current))
    current.collection.children.link(collection)
    _import(context, collection, shot)
    _add_volume(current, collection, out, frames)
    _tidy(collection, _move_bodies(context, out, frames))
    _restore(collection, kept)
    bpy.data.batch_remove([one for one in bpy.data.materials if one.users == 0 and one not in materials])
    for thing in Roles(context).those(*_STAND_INS):
        if thing.type != "EMPTY":
            thing.hide_render, thing.display_type = True, "WIRE"
    current.frame_set(current.frame_current)
    return collection


def unload(context):
    """Takes away what was loaded, and lets bodies go back to where they were."""
    _remove_collection(context.scene)
    for thing in context.scene.objects:
        if thing.meniscus.is_moved:
            _let_go(thing)


def loaded(current):
    """The collection of what was loaded, or None."""
    return next((c for c in current.collection.children if c.name == _name(current)), None)


def _name(current):
    return f"Meniscus {current.name}"


def _frames(folder):
    """The first and the last frame that are there."""
    numbers = [int(found[1]) for found in (re.fullmatch(r"shot\.(-?\d+)\.usdc", name) for name in os.listdir(folder)) if found]
    return min(numbers), max(numbers)


def _remove_collection(current):
    collection = loaded(current)
    if collection is not None:
        _remove(list(collection.objects))
        bpy.data.collections.remove(collection)


def _remove(things):
    """Removes objects, and what nothing else uses of theirs, but for materials."""
    data = {thing.data for thing in things if thing.data}
    files = {user.cache_file for thing in things for user in (*thing.modifiers, *thing.constraints) if getattr(user, "cache_file", None)}
    for thing in things:
        bpy.data.objects.remove(thing)
    bpy.data.batch_remove([one for one in data | files if one.users == 0])


def _import(context, collection, shot):
    """Imports the USD file into a collection, in the scene's units."""
    current = context.scene
    with _active(context, collection):
        bpy.ops.wm.usd_import(
            filepath=shot, scale=1.0 / scene.metres(current), set_frame_range=False, import_volumes=False, import_cameras=False,
            support_scene_instancing=False)


@contextlib.contextmanager
def _active(context, collection):
    """New objects go into a collection for a while."""
    layer = context.view_layer
    before = layer.active_layer_collection
    layer.active_layer_collection = layer.layer_collection.children[collection.name]
    try:
        yield
    finally:
        layer.active_layer_collection = before


def _add_volume(current, collection, out, frames):
    """The VDB cache as a volume that shows its surface. The USD mesh is what is rendered."""
    file = os.path.join(out, "cache", f"cache.{scene.digits(frames[0])}.vdb")
    if not os.path.isfile(file):
        return
    thing = bpy.data.objects.new("cache", volume.sequence("cache", file, frames))
    collection.objects.link(thing)
    thing.matrix_world = _TURN @ Matrix.Scale(1.0 / scene.metres(current), 4)
    volume.add_surface(thing)
    thing[_PART] = "cache"
    thing.hide_render = True
    thing.hide_set(True)


def _tidy(collection, moved):
    """Names imported objects by what they are; removes bodies that are there as objects of their own, and empties that hold nothing."""
    imported = [thing for thing in collection.objects if _PART not in thing]
    for thing in imported:
        above = _plain(thing.parent) if thing.parent else ""
        thing[_PART] = f"{above}/{_plain(thing)}"
    keep = set()
    for thing in imported:
        if thing.type != "EMPTY" and thing[_PART].split("/")[0] not in moved:
            keep.add(thing)
            while thing.parent:
                thing = thing.parent
                keep.add(thing)
    for thing in keep:
        if thing.type != "EMPTY":
            thing.name = thing[_PART].replace("/", " ")
        # Particles are where the surface is.
        thing.hide_render = thing.type == "POINTCLOUD"
    _remove([thing for thing in imported if thing not in keep])


def _plain(thing):
    """The name that an imported object has in its file."""
    return thing.name.split(".")[0]


def _looks(current):
    """Materials of what was loaded before, and what is hidden, by part."""
    collection = loaded(current)
    things = list(collection.objects) if collection else []
    return {thing[_PART]: ([(slot.link, slot.material) for slot in thing.material_slots], thing.hide_render, thing.hide_get())
            for thing in things if _PART in thing}


def _restore(collection, kept):
    """Gives parts the looks that they had."""
    for thing in list(collection.objects):
        if thing.get(_PART) not in kept:
            continue
        materials, hidden, eye = kept[thing[_PART]]
        thing.hide_render = hidden
        thing.hide_set(eye)
        for index, (link, material) in enumerate(materials[:len(thing.material_slots)]):
            thing.data.materials[index] = material
            thing.material_slots[index].link = link
            thing.material_slots[index].material = material


def _move_bodies(context, out, frames):
    """Keyframes for the objects that were simulated as bodies; the names of their nodes."""
    folder = os.path.join(out, "bodies")
    alone = os.path.isfile(os.path.join(folder, f"bodies.{scene.digits(frames[0])}.geo"))
    roles = Roles(context)
    moved = set()
    for thing in roles.those("BODY"):
        node = thing.meniscus.node
        if not node or roles.owner(thing).meniscus.rigid_object.keyframed:
            continue
        places = bodies.read(folder, node, alone, frames)
        if places:
            _key(context, thing, places)
            moved.add(node)
    return moved


def _key(context, thing, places):
    """Gives an object the motion of a body: it moves from where it began as the body does."""
    unit = scene.metres(context.scene)
    values = thing.meniscus.start
    start = Matrix([values[4 * row:4 * row + 4] for row in range(4)])
    first = _matrix(places[0], unit).inverted()
    above = thing.parent.matrix_world @ thing.matrix_parent_inverse if thing.parent else Matrix()
    _take(thing)
    thing.rotation_mode = "QUATERNION"
    last = None
    for place in places:
        move, turn, scale = (above.inverted() @ _matrix(place, unit) @ first @ start).decompose()
        if last is not None:
            turn.make_compatible(last)
        last = turn
        thing.location, thing.rotation_quaternion, thing.scale = move, turn, scale
        thing.keyframe_insert("location", frame=place[0], group="Meniscus")
        thing.keyframe_insert("rotation_quaternion", frame=place[0], group="Meniscus")
    _straighten(thing.animation_data.action)


def _matrix(place, unit):
    """The place of a body in Blender's axes and units."""
    _, (x, y, z), turn = place
    turned = Quaternion((turn[3], *turn[:3])).to_matrix().to_4x4()
    moved = Matrix.Translation(Vector((x, y, z)) / unit)
    return _TURN @ moved @ turned @ _TURN.inverted()


def _take(thing):
    """Puts an action of ours in the place of the object's own."""
    kept = thing.meniscus
    data = thing.animation_data or thing.animation_data_create()
    if not kept.is_moved:
        kept.own_action, kept.own_rotation_mode = data.action, thing.rotation_mode
    _drop(data)
    data.action = bpy.data.actions.new(f"Meniscus {thing.name}")
    data.action[_OURS] = True
    kept.is_moved = True


def _let_go(thing):
    """Gives an object back the action and the place that it had, unless somebody has given it another action since."""
    kept, data = thing.meniscus, thing.animation_data
    if data and _drop(data):
        data.action = kept.own_action
        thing.rotation_mode = kept.own_rotation_mode
        values = kept.start
        thing.matrix_world = Matrix([values[4 * row:4 * row + 4] for row in range(4)])
    kept.own_action, kept.is_moved = None, False


def _drop(data):
    """Removes an action of ours; whether there was one."""
    action = data.action
    if action is None or not action.get(_OURS):
        return False
    bpy.data.actions.remove(action)
    return True


def _straighten(action):
    """Makes keyframes linear."""
    # From Blender 5.0 on actions have layers only.
    old = getattr(action, "fcurves", None)
    curves = old if old is not None else action.layers[0].strips[0].channelbags[0].fcurves
    for curve in curves:
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
