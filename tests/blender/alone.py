#!/usr/bin/env python3
"""The parts of the Blender add-on that need no Blender: descriptors, axes, motion, graphs, cooks.

usage: python alone.py MENISCUS FOLDER         (FOLDER is there, and empty; exit code 1 tells what is wrong)
"""

import json
import math
import pathlib
import sys
import time
import types

MENISCUS, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
ADDON = pathlib.Path(__file__).resolve().parents[2] / "hda/blender/meniscus"
# The package without its __init__, which asks for Blender.
package = types.ModuleType("meniscus")
package.__path__ = [str(ADDON)]
sys.modules["meniscus"] = package

from meniscus import axes, bodies, cook, descriptors, graph, motion  # noqa: E402

FRAMES = (-1, 8)


def check(holds, sentence):
    if not holds:
        raise SystemExit(f"error: {sentence}")


def check_descriptors():
    found = descriptors.read(MENISCUS)
    check(set(graph.ROLES.values()) <= set(found), f"a role has no node type: {sorted(found)}")
    for name, (parameter, _) in graph.FINENESS.items():
        check(found[name].param(parameter).unit == "m", f"{name} has no {parameter} in metres")
    box = found["flip_solver"]
    check(all(box.param(side) for side in axes.SIDES.values()), "a side of the box has another name")
    check(axes.is_directed(found["gravity"].param("force")) and not axes.is_directed(found["liquid_object"].param("density")), "axes")
    ratio = box.param("flip_ratio")
    check(descriptors.is_disabled(ratio.disable_when, lambda name: {"velocity_transfer": "apic"}.get(name)), ratio)
    check(not descriptors.is_disabled(ratio.disable_when, lambda name: {"velocity_transfer": "flip"}.get(name)), ratio)
    values = {"a": True, "b": 3, "c": 0.5, "d": ""}
    for condition, wanted in (("{ a == 1 b != 3 }", False), ("{ a == 1 b == 3 }", True), ("{ a == 0 } { c == 0.5 }", True),
                              ('{ d == "" }', True), ("{ e == 1 }", False), ("", False), ("{ a = 1 }", False)):
        check(descriptors.is_disabled(condition, values.get) == wanted, condition)
    try:
        descriptors.find_program(str(FOLDER / "none"))
    except descriptors.Trouble as trouble:
        check("none" in str(trouble), trouble)
    else:
        check(False, "a program that is not there is found")


def about(axis, angle):
    """The rotation about a unit vector, by radians, straight from Rodrigues' formula."""
    x, y, z = axis
    c, s = math.cos(angle), math.sin(angle)
    skew = [[0, -z, y], [z, 0, -x], [-y, x, 0]]
    return [[c * (r == k) + s * skew[r][k] + (1 - c) * axis[r] * axis[k] for k in range(3)] for r in range(3)]


def at(value, frame):
    if isinstance(value, list):
        return value
    for (a, x), (b, y) in zip(value["keys"], value["keys"][1:]):
        if a <= frame <= b:
            return [p + (q - p) * (frame - a) / (b - a) for p, q in zip(x, y)]
    raise SystemExit(f"error: no keys at {frame}")


def check_motion():
    """Keys are exact at frames, and between them never far from the shortest turn, whatever the axis."""
    turns = {
        "about the vertical": [about((0, 1, 0), 0.4 * n) for n in range(30)],
        "a half turn a frame": [about((0, 0, 1), 3.1 * n) for n in range(5)],
        "tumbling": [about((0.6, 0.64, 0.48), 0.5 * n) for n in range(30)],
        "through straight up": [motion.from_angles([0.3, math.pi / 2 * n / 5, 0.2]) for n in range(11)],
    }
    for what, rotations in turns.items():
        keys = motion.keys([(n, [n, 0, 0], rotation) for n, rotation in enumerate(rotations)])
        for n, (a, b) in enumerate(zip(rotations, rotations[1:])):
            for part in (0.0, 0.3, 0.5, 0.8, 1.0):
                rotation = motion.from_angles([math.radians(angle) for angle in at(keys["rotate"], n + part)])
                off = motion.apart(rotation, motion.slerp(a, b, part))
                check(off < (1e-7 if part in (0.0, 1.0) else 3e-3), f"{what}: at {n + part} off by {off} rad")
                check(abs(at(keys["translate"], n + part)[0] - n - part) < 1e-12, "moves")
    still = motion.keys([(n, [1, 2, 3], about((1, 0, 0), 0.5)) for n in range(3)])
    check(still["translate"] == [1, 2, 3] and isinstance(still["rotate"], list), f"what rests has keys: {still}")
    mirrored = [[-2, 0, 0, 5], [0, 3, 0, 6], [0, 0, 4, 7], [0, 0, 0, 1]]
    move, rotation, scale = motion.parts(mirrored)
    again = [[rotation[r][c] * scale[c] for c in range(3)] for r in range(3)]
    check(again == [row[:3] for row in mirrored[:3]] and move == [5, 6, 7], f"{rotation} {scale}")
    check(motion.parts([[1, 0.5, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]) is None, "a shear is no turn")
    grows = [(n, [[1 + n, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]) for n in range(2)]
    check(motion.rigid(grows) is None, "what grows does not move rigidly")


def check_axes():
    check(axes.y_up([1, 2, 3]) == [1, 3, -2] and axes.z_up(axes.y_up([1, 2, 3])) == [1, 2, 3], "axes")
    turned = axes.matrix_y_up([[0, -1, 0, 4], [1, 0, 0, 5], [0, 0, 1, 6], [0, 0, 0, 1]], 0.1)
    # A quarter turn about Blender's Z is one about our Y; X goes to Blender's Y, which is our -Z.
    x = [turned[r][0] for r in range(3)]
    check(x == [0, 0, -1] and all(abs(turned[r][3] - w) < 1e-12 for r, w in enumerate((0.4, 0.6, -0.5))), f"{turned}")


def box(name, low, high):
    corners = [(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])]
    faces = [(1, 2, 4, 3), (5, 7, 8, 6), (1, 5, 6, 2), (3, 4, 8, 7), (1, 3, 7, 5), (2, 6, 8, 4)]
    lines = [f"v {x} {y} {z}" for x, y, z in corners] + ["f " + " ".join(map(str, face)) for face in faces]
    (FOLDER / name).write_text("\n".join(lines) + "\n")
    return graph.Mesh(name)


def shot():
    made = graph.Shot(frames=FRAMES, fps=24.0, voxel=0.05, substeps={"min": 2, "max": 4, "cfl": 2.0})
    stick = box("stick.obj", (-0.04, -0.2, -0.04), (0.04, 0.2, 0.04))
    stick.places = [(frame, [0.12, 0.2, 0.0], about((0, 1, 0), 0.5 * frame)) for frame in range(FRAMES[0], FRAMES[1] + 1)]
    water = box("water.obj", (-0.2, 0.0, -0.2), (0.2, 0.2, 0.2))
    cork = box("cork.obj", (-0.15, 0.24, -0.05), (-0.05, 0.34, 0.05))
    made.parts = [
        graph.Part("LIQUID", "water", [water], {}),
        graph.Part("COLLIDER", "stick", [stick], {}),
        graph.Part("BODY", "cork", [cork], {"density": 300.0}),
    ]
    made.box = graph.Box([0, 0.25, 0], [0.4, 0.5, 0.4], {side: "closed" for side in axes.SIDES.values() if side != "side_pos_y"})
    return made


def check_graph(made):
    path = str(FOLDER / "shot.meniscus.json")
    made.write(path)
    nodes = {node["name"]: node for node in json.loads(pathlib.Path(path).read_text())["nodes"]}
    check(nodes["coupling"]["type"] == "floating_bodies" and nodes["coupling"]["inputs"] == ["flip", "rigid"], nodes["coupling"])
    check(nodes["flip"]["inputs"] == ["water", "stick", "cork", "gravity"], nodes["flip"])
    check(nodes["water"]["params"] == {"particle_separation": "$voxel / 2"}, nodes["water"])
    check("the graph is sound" in cook.check(MENISCUS, path), "the graph is not sound")
    return path


def refused(words, run):
    try:
        run()
    except descriptors.Trouble as trouble:
        check(all(word in str(trouble) for word in words), f"{words}: {trouble}")
    else:
        check(False, f"{words}: this was not refused")


def check_refusals():
    made = shot()
    made.parts[0].params["densty"] = 1.0
    wrong = str(FOLDER / "wrong.meniscus.json")
    made.write(wrong)
    refused(["node `water`", "densty", "did you mean `density`"], lambda: cook.check(MENISCUS, wrong))
    failed = cook.Job(MENISCUS, wrong, str(FOLDER / "wrong.out"), FRAMES)
    check(failed.wait() == "failed" and "densty" in failed.sentence, failed.sentence)
    made.parts = []
    refused(["nothing is simulated"], made.graph)
    made.parts = [part for part in shot().parts if part.role != "LIQUID"] + [graph.Part("SOURCE", "tap", [], {})]
    refused(["tap", "0 objects have the role Liquid"], made.graph)
    refused(["cannot be run"], lambda: cook.Job(str(FOLDER / "none"), wrong, str(FOLDER / "none.out"), FRAMES))
    names = graph.Names()
    check([names.take(n) for n in ("Cube.001", "Cube 001", "flip", "2nd", "ü", "")] ==
          ["Cube_001", "Cube_001_2", "flip_2", "_2nd", "object", "object_2"], "names")


def check_cook(path):
    """A cook that is stopped and goes on ends as one that was never stopped."""
    out = str(FOLDER / "shot.out")
    job = cook.Job(MENISCUS, path, out, FRAMES)
    seen = []
    while job.state == "running" and job.frame < FRAMES[0] + 2:
        seen.append(job.fraction)
        time.sleep(0.005)
    job.cancel()
    check(job.wait(120) == "stopped", f"it was to stop, and is {job.state}: {job.sentence}")
    check(seen == sorted(seen) and 0.0 < job.fraction < 1.0 and job.frame < FRAMES[1], f"{job.frame} {job.fraction} {seen}")
    check(cook.can_resume(out) and not cook.can_resume(str(FOLDER / "none.out")), "checkpoints")
    stopped = job.frame
    job = cook.Job(MENISCUS, path, out, FRAMES, resume=True, threads=1)
    check(job.wait(300) == "done" and job.fraction == 1.0 and job.frame == FRAMES[1], f"{job.state} at {job.frame}: {job.sentence}")
    whole = str(FOLDER / "whole.out")
    check(cook.Job(MENISCUS, path, whole, FRAMES).wait(300) == "done", "the whole cook")
    for file in sorted(pathlib.Path(whole).glob("bodies/*")):
        check(file.read_bytes() == (pathlib.Path(out) / "bodies" / file.name).read_bytes(), f"{file.name} is another one")
    places = bodies.read(f"{out}/bodies", "cork", True, FRAMES)
    check([place[0] for place in places] == list(range(FRAMES[0], FRAMES[1] + 1)), f"{places}")
    first, last = places[0][1], places[-1][1]
    check(abs(first[1] - 0.29) < 1e-4 and last[1] < first[1] and abs(sum(q * q for q in places[-1][2]) - 1) < 1e-4, f"{places}")
    print(f"stopped at frame {stopped}, gone on to {job.frame}; the cork fell from {first[1]:.3f} m to {last[1]:.3f} m")


check_descriptors()
check_axes()
check_motion()
check_refusals()
check_cook(check_graph(shot()))
print("ok")
