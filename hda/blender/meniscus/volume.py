# SPDX-License-Identifier: GPL-3.0-or-later
"""VDB caches as volume objects, and a Geometry Nodes group that makes a mesh of the liquid's surface in them."""

import bpy

# Before 5.0 Blender's Volume to Mesh puts its mesh half a voxel too far along each axis (seen in 4.2 and 4.5).
_SHIFTS = bpy.app.version < (5, 0, 0)
# A file may be opened by another Blender than the one in which its group was made.
GROUP = "Meniscus Volume (Blender 4)" if _SHIFTS else "Meniscus Volume"
_FILE_VOXEL = "File's Voxel Size"


def sequence(name, first_file, frames):
    """Data of a volume whose files have the numbers of the scene's frames."""
    volume = bpy.data.volumes.new(name)
    volume.filepath = bpy.path.relpath(first_file) if bpy.data.filepath else first_file
    volume.is_sequence = True
    volume.frame_start = frames[0]
    volume.frame_duration = frames[1] - frames[0] + 1
    # Blender counts the files of a sequence from 1.
    volume.frame_offset = frames[0] - 1
    return volume


def add_surface(thing):
    """Gives a volume object the modifier that shows its surface."""
    modifier = thing.modifiers.new(GROUP, "NODES")
    modifier.node_group = group()
    if _SHIFTS:
        modifier[_identifier(modifier.node_group, _FILE_VOXEL)] = _voxel(thing.data.filepath)


def _voxel(file):
    """The voxel size of a file, m."""
    volume = bpy.data.volumes.new("voxel")
    volume.filepath = file
    found = volume.grids[0].matrix_object[0][0] if volume.grids.load() and len(volume.grids) else 0.0
    bpy.data.volumes.remove(volume)
    return found


def _identifier(tree, name):
    """The name by which a modifier keeps the input of a group."""
    return next(entry.identifier for entry in tree.interface.items_tree if entry.name == name and entry.in_out == "INPUT")


def group():
    """The group, made where the file does not have it yet."""
    return bpy.data.node_groups.get(GROUP) or _make()


def _make():
    tree = bpy.data.node_groups.new(GROUP, "GeometryNodeTree")
    tree.is_modifier = True
    tree.description = "The surface of a liquid in a level set, as a mesh"
    interface = tree.interface
    interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry").description = "A volume"
    offset = interface.new_socket("Offset", in_out="INPUT", socket_type="NodeSocketFloat")
    offset.description = "Metres by which the surface is moved outwards; up to three voxels"
    offset.min_value, offset.max_value = -1.0, 1.0
    voxel = interface.new_socket("Voxel Size", in_out="INPUT", socket_type="NodeSocketFloat")
    voxel.description = "Voxel size of the mesh in the volume's own units, metres; 0: that of the file"
    voxel.min_value = 0.0
    adaptivity = interface.new_socket("Adaptivity", in_out="INPUT", socket_type="NodeSocketFloat")
    adaptivity.description = "Higher: fewer polygons where the surface is flat"
    adaptivity.min_value, adaptivity.max_value = 0.0, 1.0
    smooth = interface.new_socket("Smooth", in_out="INPUT", socket_type="NodeSocketBool")
    smooth.default_value = True
    interface.new_socket("Material", in_out="INPUT", socket_type="NodeSocketMaterial")
    if _SHIFTS:
        interface.new_socket(_FILE_VOXEL, in_out="INPUT", socket_type="NodeSocketFloat").description = "Set when the volume is loaded"
    interface.new_socket("Mesh", in_out="OUTPUT", socket_type="NodeSocketGeometry")

    nodes = _Nodes(tree)
    source = nodes.add("NodeGroupInput")
    meshes = [_mesher(nodes, source, mode) for mode in ("Grid", "Size")]
    if _SHIFTS:
        meshes = [_moved_back(nodes, source, mesh, voxel) for mesh, voxel in zip(meshes, (_FILE_VOXEL, "Voxel Size"))]
    finer = nodes.add("FunctionNodeCompare", data_type="FLOAT", operation="GREATER_THAN")
    nodes.link(source, "Voxel Size", finer, 0)
    finer.inputs[1].default_value = 0.0
    chosen = nodes.add("GeometryNodeSwitch", input_type="GEOMETRY")
    nodes.link(finer, "Result", chosen, "Switch")
    nodes.link(meshes[0], 0, chosen, "False")
    # Blender knows level sets, which are negative inside, but not after it has given them other voxels.
    flipped = nodes.add("GeometryNodeFlipFaces")
    nodes.link(meshes[1], 0, flipped, "Mesh")
    nodes.link(flipped, "Mesh", chosen, "True")
    shaded = nodes.add("GeometryNodeSetShadeSmooth")
    nodes.link(chosen, "Output", shaded, 0)
    nodes.link(source, "Smooth", shaded, "Shade Smooth")
    painted = nodes.add("GeometryNodeSetMaterial")
    nodes.link(shaded, 0, painted, "Geometry")
    nodes.link(source, "Material", painted, "Material")
    nodes.link(painted, "Geometry", nodes.add("NodeGroupOutput"), "Mesh")
    return tree


def _mesher(nodes, source, mode):
    """A node that makes the mesh, at the voxels of the grid or at a size."""
    mesher = nodes.add("GeometryNodeVolumeToMesh")
    if hasattr(mesher, "resolution_mode"):
        mesher.resolution_mode = {"Grid": "GRID", "Size": "VOXEL_SIZE"}[mode]
    else:
        # From Blender 5.0 on it is a socket.
        mesher.inputs["Resolution Mode"].default_value = mode
    wires = {"Volume": "Geometry", "Threshold": "Offset", "Adaptivity": "Adaptivity"}
    if mode == "Size":
        wires["Voxel Size"] = "Voxel Size"
    for entry, name in wires.items():
        nodes.link(source, name, mesher, entry)
    return mesher


def _moved_back(nodes, source, mesher, voxel):
    """A node that moves a mesh back by half a voxel."""
    half = nodes.add("ShaderNodeVectorMath", operation="SCALE")
    half.inputs[0].default_value = (-0.5, -0.5, -0.5)
    nodes.link(source, voxel, half, "Scale")
    back = nodes.add("GeometryNodeSetPosition")
    nodes.link(mesher, "Mesh", back, "Geometry")
    nodes.link(half, "Vector", back, "Offset")
    return back


class _Nodes:
    """Nodes of a tree, in a row."""

    def __init__(self, tree):
        self._tree = tree

    def add(self, kind, **settings):
        node = self._tree.nodes.new(kind)
        node.location = 180 * (len(self._tree.nodes) - 1), 0
        for name, value in settings.items():
            setattr(node, name, value)
        return node

    def link(self, source, output, target, entry):
        self._tree.links.new(source.outputs[output], target.inputs[entry])
