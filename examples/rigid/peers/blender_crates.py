#!/usr/bin/env python3
"""200 crates in stacks, and a ball of 283 kg that falls on them, by Blender's rigid bodies: `pip install bpy==4.2.0`.

    python3 blender_crates.py SUBSTEPS ITERATIONS

prints the seconds for 48 frames and how high the ball lies then: 2.7 m is right.
"""

import sys
import time

import bpy

SUBSTEPS, ITERATIONS = int(sys.argv[1]), int(sys.argv[2])
FRAMES = 48


def add(kind, shape, friction=0.5, mass=1.0, restitution=0.0):
    bpy.ops.rigidbody.object_add(type=kind)
    body = bpy.context.object.rigid_body
    body.collision_shape, body.friction, body.mass, body.restitution = shape, friction, mass, restitution
    body.linear_damping = body.angular_damping = 0.0
    body.use_margin, body.collision_margin = True, 0.0
    return bpy.context.object


def height(thing):
    return thing.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world.translation.z


bpy.ops.wm.read_factory_settings(use_empty=True)
scene = bpy.context.scene
scene.render.fps, scene.frame_start, scene.frame_end = 24, 1, FRAMES + 1
bpy.ops.rigidbody.world_add()
world = scene.rigidbody_world
world.substeps_per_frame, world.solver_iterations = SUBSTEPS, ITERATIONS
world.point_cache.frame_start, world.point_cache.frame_end = 1, FRAMES + 1
bpy.ops.mesh.primitive_cube_add(size=1, location=(0, 0, -0.5))
bpy.context.object.scale = (40, 40, 1)
bpy.ops.object.transform_apply(location=False, rotation=False, scale=True)
add("PASSIVE", "BOX")
for x in range(5):
    for y in range(5):
        for z in range(8):
            place = (0.31 * (x - 2), 0.31 * (y - 2), 0.15 + 0.3 * z)
            bpy.ops.mesh.primitive_cube_add(size=0.3, location=place)
            add("ACTIVE", "BOX", mass=300 * 0.3**3)
bpy.ops.mesh.primitive_uv_sphere_add(radius=0.3, location=(0.05, 0.02, 4.0))
ball = add("ACTIVE", "SPHERE", mass=2500 * 4 / 3 * 3.14159265 * 0.3**3, restitution=0.2)
scene.frame_set(1)
start = time.perf_counter()
for frame in range(2, FRAMES + 2):
    scene.frame_set(frame)
seconds = time.perf_counter() - start
print(f"Blender {bpy.app.version_string}, {SUBSTEPS} substeps, {ITERATIONS} iterations: {seconds:.2f} s, ball at {height(ball):.3f} m")
