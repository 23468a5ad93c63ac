#!/usr/bin/env python3
"""200 crates in stacks, and a ball of 283 kg that falls on them, by newton: `pip install newton mujoco mujoco-warp`.

    python3 newton_crates.py {mujoco|xpbd} SUBSTEPS ITERATIONS

prints the seconds for 48 frames on the CPU and how high the ball lies then: 2.7 m is right.
"""

import sys
import time

import newton
import warp

KIND, SUBSTEPS, ITERATIONS = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
FRAMES = 48

warp.config.quiet = True
warp.set_device("cpu")
builder = newton.ModelBuilder(up_axis=newton.Axis.Z)


def of(density, restitution=0.0):
    return newton.ModelBuilder.ShapeConfig(density=density, mu=0.5, restitution=restitution)


def body(x, y, z):
    return builder.add_body(xform=warp.transform((x, y, z), warp.quat_identity()))


builder.add_ground_plane(cfg=of(0.0))
for x in range(5):
    for y in range(5):
        for z in range(8):
            place = body(0.31 * (x - 2), 0.31 * (y - 2), 0.15 + 0.3 * z)
            builder.add_shape_box(place, hx=0.15, hy=0.15, hz=0.15, cfg=of(300.0))
ball = body(0.05, 0.02, 4.0)
builder.add_shape_sphere(ball, radius=0.3, cfg=of(2500.0, 0.2))
model = builder.finalize(device="cpu")
OWN_CONTACTS = KIND == "mujoco"
if OWN_CONTACTS:
    solver = newton.solvers.SolverMuJoCo(model, iterations=ITERATIONS, use_mujoco_cpu=True, njmax=20000, nconmax=6000)
else:
    solver = newton.solvers.SolverXPBD(model, iterations=ITERATIONS)
states, control, contacts = [model.state(), model.state()], model.control(), model.contacts()


def step():
    states[0].clear_forces()
    if not OWN_CONTACTS:
        model.collide(states[0], contacts)
    solver.step(states[0], states[1], control, None if OWN_CONTACTS else contacts, 1 / 24 / SUBSTEPS)
    states.reverse()


step()  # compiles
start = time.perf_counter()
for _ in range(FRAMES * SUBSTEPS):
    step()
seconds = time.perf_counter() - start
height = states[0].body_q.numpy()[ball, 2]
print(f"newton {newton.__version__} {KIND}, {SUBSTEPS} substeps, {ITERATIONS} iterations: {seconds:.2f} s, ball at {height:.3f} m")
