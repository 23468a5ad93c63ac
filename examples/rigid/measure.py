#!/usr/bin/env python3
"""Cooks what "Asked and measured" in README.md is about, on one thread, and prints the figures of its table.

    python3 measure.py target/release/meniscus measured.out [neutral hourglass gears u_tube cost pendulum slope stack crates]

Without names all of it is cooked, for about an hour. Shots that are there already are not cooked again.
"""

import json
import math
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
GRAVITY, WATER = 9.81, 1000.0
COUPLINGS = ("floating_bodies", "constraint_bubbles", "rigid_fluid")
# In the graphs of this folder: the coupling of the paper.
PAPER = ["float.bypass=true", "paper.bypass=false"]


def node(name, kind, inputs=(), **params):
    return {"name": name, "type": kind, "inputs": list(inputs), "params": params}


def box(name, size, center, turn=0.0):
    return node(name, "box", size=size, center=center, rotate=[0, 0, turn])


def body(name, mesh, **params):
    """A mesh and the body of it."""
    mesh = {**mesh, "name": f"{name}_mesh"}
    return [mesh, node(name, "rigid_object", [mesh["name"]], **params)]


def limits(size, center, top="kill"):
    sides = {f"side_{side}": "closed" for side in ("neg_x", "pos_x", "neg_y", "neg_z", "pos_z")}
    return {"limit_size": size, "limit_center": center, "side_pos_y": top, **sides}


def dry(nodes, names, solver, gravity=(0, -GRAVITY, 0)):
    """Bodies without liquid."""
    return nodes + [
        node("gravity", "gravity", force=list(gravity)),
        node("rigid", "rigid_solver", names + ["gravity"], **solver),
        node("meshes", "geometry_cache", ["rigid"]),
    ]


def wet(nodes, fill, h, names, joints, solids, coupling, rigid, flip):
    """Bodies in water that fills a mesh, with voxels of h."""
    return nodes + [
        node("water", "liquid_object", [fill], particle_separation=h / 2),
        node("gravity", "gravity"),
        node("rigid", "rigid_solver", names + joints + ["gravity"], **rigid),
        node("flip", "flip_solver", ["water"] + solids + names + ["gravity"], **flip),
        node("both", coupling, ["rigid", "flip"]),
        node("meshes", "geometry_cache", ["rigid"]),
    ]


class Shots:
    """What is cooked into a folder."""

    def __init__(self, meniscus, out):
        self.meniscus, self.out = meniscus, out
        out.mkdir(parents=True, exist_ok=True)

    def cook(self, name, graph, *options):
        """The lines of stats.jsonl of a shot."""
        folder, done = self.out / name, self.out / f"{name}.done"
        if not done.exists():
            command = [self.meniscus, "cook", graph, "--out", folder, "--threads", "1", "--quiet", "--replace"]
            subprocess.run([*command, *options], check=True)
            done.touch()
        return [json.loads(line) for line in (folder / "stats.jsonl").open()]

    def small(self, name, nodes, seconds, steps, most=None, run=""):
        """The same of a graph from here, with at least and at most so many substeps a frame of 24 a second."""
        graph = self.out / f"{name}.json"
        substeps = {"min": steps, "max": most or steps, "cfl": 1.0}
        frames = [1, 1 + round(24 * seconds)]
        text = {"format": "meniscus.graph/1", "fps": 24, "frames": frames, "substeps": substeps, "nodes": nodes}
        graph.write_text(json.dumps(text))
        return self.cook(name + run, graph)

    def scene(self, name, scene, quality, last, sets=()):
        """The same of a graph of this folder, its frames up to the last."""
        sets = [f"frames=[1, {last}]", "preview.resolution=[16,16]", "preview.sheet=0", *sets]
        options = [word for setting in sets for word in ("--set", setting)]
        return self.cook(name, HERE / f"{scene}.meniscus.json", "--quality", quality, *options)


def end(line):
    return line["time"] + line["dt"]


def of(line, name):
    return next(b for b in line["bodies"] if b["name"] == name)


def neutral(shots):
    """How far a cube of 5.37 voxels that weighs what it displaces strays in 10 s."""
    h, turned = 0.02, (17, 33, 0)
    places = [((0.003, 0.17, 0.006), None), ((-0.0137, 0.1123, 0.0291), None), ((0.0519, 0.2011, -0.0443), turned)]
    for coupling in COUPLINGS:
        for n, (place, turn) in enumerate(places):
            for full in (False, True) if n == 1 else (False,):
                high = 0.3 if full else 0.4
                mesh = node("", "box", size=[5.37 * h] * 3, center=place, rotate=turn or (0, 0, 0))
                sides = limits([0.28, high, 0.28], [0, high / 2, 0], "closed")
                nodes = [box("fill", [0.28, 0.3, 0.28], [0, 0.15, 0])]
                nodes += body("body", mesh, density=WATER, division_size=h / 2)
                nodes = wet(nodes, "fill", h, ["body"], [], [], coupling, sides, sides)
                stats = shots.small(f"neutral_{coupling}_{n}{'_full' * full}", nodes, 10, 1, 8)
                ways = [(end(line), math.dist(of(line, "body")["position"], place) / h) for line in stats]
                after = [next(way for t, way in ways if t >= then - 1e-9) for then in (1, 3)]
                farthest = max(way for _, way in ways)
                print(f"{coupling}, place {n + 1}{', full tank' * full}: {after[0]:.2f} voxels after 1 s,"
                      f" {after[1]:.2f} after 3 s, {ways[-1][1]:.2f} at the end, {farthest:.2f} at most")


def values(geo, name):
    """An attribute of the points of a .geo file."""
    after = lambda words, key: words[words.index(key) + 1]
    attributes = after(after(json.loads(geo.read_text()), "attributes"), "pointattributes")
    return after(after(next(a for a in attributes if after(a[0], "name") == name)[1], "values"), "tuples")


def hourglass(shots):
    """Which share of the water passes the plug in 10 s."""
    for name, sets in (("float", []), ("paper", PAPER)):
        stats = shots.scene(f"hourglass_{name}", "hourglass", "preview", 241, sets)
        shares = []
        for frame in range(1, 242, 8):
            heights = [p[1] for p in values(shots.out / f"hourglass_{name}/points/points.{frame:04}.geo", "P")]
            shares.append(100 * sum(y < 0.29 for y in heights) / len(heights))
        print(f"hourglass, {name}: {len(stats)} substeps, {shares[-1]:.2f} % below the neck after 10 s,"
              f" {max(shares):.2f} % at most")


def gears(shots):
    """Gears and bunnies on 64 x 68 x 64 cells: a second, and three frames with the paper's coupling and without any; ms by stage."""
    for name, last, sets in (("float", 25, []), ("paper", 4, PAPER), ("alone", 4, ["float.bypass=true"])):
        stats = shots.scene(f"gears_{name}", "gears_and_bunnies", "final", last, sets)
        median = lambda value: 1e3 * statistics.median(map(value, stats))
        stages = [f"{stage} {median(lambda line: line['stages'].get(stage, 0.0)):.1f}" for stage in stats[-1]["stages"]]
        solve = median(lambda line: sum(s["seconds"] for s in line["solves"]))
        water = [line["objects"]["water"] for line in stats]
        off = max(abs(w["volume"] / w["rest_volume"] - 1) for w in water)
        print(f"gears and bunnies, {name}: {end(stats[-1]):.3f} s in {len(stats)} substeps, liquid {100 * off:.2f} % off; ms:"
              f" substep {median(lambda line: sum(line['stages'].values())):.0f}, {', '.join(stages)}, pressure solve {solve:.1f}")


def period(stats, value):
    at = [(end(line), value(line)) for line in stats]
    turns = [a + (c - a) * b / (b - d) for (a, b), (c, d) in zip(at, at[1:]) if b * d < 0]
    return 2 * (turns[-1] - turns[0]) / (len(turns) - 1)


def u_tube(shots):
    """Period of a piston in the foot of a U-tube; the water's column is measured with one that weighs what it displaces."""
    h, area, length = 0.01, 0.08 * 0.04, 0.04
    displaced = WATER * area * length
    for coupling in COUPLINGS[:2]:
        periods = {}
        for mass in (displaced, 0.05, 0.8, 1.5, 4.0):
            nodes = [box("left", [0.0799, 0.19, 0.04], [-0.16005, 0.095, 0]), box("right", [0.0799, 0.13, 0.04], [0.16005, 0.065, 0])]
            nodes += [box(f"below{side}", [0.0999, 0.0799, 0.04], [0.07005 * side, 0.03995, 0]) for side in (-1, 1)]
            nodes += [node("fill", "merge", [n["name"] for n in nodes]), box("wall", [0.24, 0.4, 0.2], [0, 0.28, 0])]
            nodes += [node("divider", "static_object", ["wall"], division_size=h)]
            nodes += body("piston", box("", [length, 0.2, 0.2], [0, 0.04, 0]), mass=mass, division_size=h)
            nodes += [node("rail", "rigid_joint", joint_type="prismatic", body_a="piston", pivot=[0, 0.04, 0], axis=[1, 0, 0])]
            sides = limits([0.4, 0.4, 0.04], [0, 0.2, 0], "open")
            nodes = wet(nodes, "fill", h, ["piston"], ["rail"], ["divider"], coupling, {"limit_size": [2, 2, 2]}, sides)
            stats = shots.small(f"u_tube_{coupling}_{mass:g}", nodes, 3, 2, 8)
            periods[mass] = period(stats, lambda line: of(line, "piston")["v"][0])
            spring = 2 * WATER * GRAVITY * area
            column = spring * (periods[displaced] / math.tau) ** 2
            theory = math.tau * math.sqrt((column - displaced + mass) / spring)
            off = 100 * (theory / periods[mass] - 1)
            print(f"{coupling}, piston of {mass:g} kg: period {periods[mass]:.4f} s, frequency {off:+.2f} % off")


def pool_of(count, spacing, size, density, middle, keyframed, frames):
    """A pool with a low wave and a block of boxes in it, which are free or keyframed to creep."""
    h, nodes, names = 0.02, [], []
    params = {"density": density, "division_size": h / 2, "keyframed": keyframed, "sleeping": False}
    lines = [[c + (i - (n - 1) / 2) * d for i in range(n)] for n, d, c in zip(count, spacing, middle)]
    centers = [[x, y, z] for x in lines[0] for y in lines[1] for z in lines[2]]
    if len(centers) > 10 and not keyframed:
        names.append("boxes")
        nodes += [node("places", "points", count=count, spacing=spacing, center=middle)]
        nodes += body("boxes", box("", [size] * 3, [0, 0, 0]), **params)
        nodes[-1]["inputs"].append("places")
        centers = []
    # A keyframed body follows its mesh, so each has its own.
    for n, center in enumerate(centers):
        names.append(f"body_{n}")
        made = body(names[-1], box("", [size] * 3, center), **params)
        if keyframed:
            creep = {"keys": [[1, [0, 0, 0]], [frames, [0.002, 0, 0.001]]]}
            made.insert(1, node(f"way_{n}", "transform", [made[0]["name"]], translate=creep))
            made[-1]["inputs"] = [f"way_{n}"]
        nodes += made
    nodes += [box("pool", [1.28, 0.32, 0.64], [0, 0.16, 0]), box("hump", [0.1998, 0.02, 0.6398], [-0.54, 0.33005, 0])]
    nodes += [node("fill", "merge", ["pool", "hump"])]
    sides = limits([1.28, 0.64, 0.64], [0, 0.32, 0])
    return wet(nodes, "fill", h, names, [], [], "floating_bodies", sides, sides)


# Count, spacing, size, density and middle of the boxes: neutral ones apart from each other, and stones on the floor, those of
# several in stacks of two.
BLOCKS = {
    "apart_1": ((1, 1, 1), (1, 1, 1), 0.16, 1000, (0.0031, 0.153, 0.0053)),
    "apart_10": ((5, 1, 2), (0.24, 1, 0.3), 0.11, 1000, (0.0031, 0.153, 0.0053)),
    "apart_200": ((10, 4, 5), (0.12, 0.07, 0.12), 0.05, 1000, (0.0031, 0.153, 0.0053)),
    "touching_1": ((1, 1, 1), (1, 1, 1), 0.16, 2500, (0.0031, 0.08, 0.0053)),
    "touching_10": ((5, 2, 1), (0.24, 0.1101, 1), 0.11, 2500, (0.0031, 0.11005, 0.0053)),
    "touching_200": ((10, 2, 10), (0.12, 0.0451, 0.06), 0.045, 2500, (0.0031, 0.04505, 0.0053)),
}


def cost(shots):
    """Free bodies against keyframed ones: iterations, ms of the pressure solve, of the coupling's stage and of the substep."""
    measures = {
        "iterations": lambda line: sum(s["iterations"] for s in line["solves"]),
        "solve": lambda line: 1e3 * sum(s["seconds"] for s in line["solves"]),
        "stage": lambda line: 1e3 * line["stages"]["both.solve"],
        "substep": lambda line: 1e3 * sum(line["stages"].values()),
    }
    for name, block in BLOCKS.items():
        many = name.endswith("200")
        frames, turns, reps = (6, 1, {}) if many else (13, 3, {})
        for turn in range(turns):
            for keyframed in (False, True):
                nodes = pool_of(*block, keyframed, frames)
                shot = f"cost_{name}_{'keyframed' if keyframed else 'free'}"
                reps.setdefault(keyframed, []).append(shots.small(shot, nodes, (frames - 1) / 24, 2, run=f"_{turn}"))
        told = []
        for label, measure in measures.items():
            # The least of the turns of every substep, for others use the machine, too.
            free, keyed = ([min(map(measure, same)) for same in zip(*reps[k])] for k in (False, True))
            ratio = statistics.median(a / b for a, b in zip(free, keyed))
            told.append(f"{label} {statistics.median(free):.1f} against {statistics.median(keyed):.1f}, {ratio:.2f} times")
        print(f"{name}: {'; '.join(told)}")


def pendulum(shots):
    """Energy of three rods of 1 m and 1 kg on frictionless joints, shares of the fall, and the joints' largest gap."""
    thick, angles, depth = 0.1, (1.5, 1.8, 1.6), 4.5 * GRAVITY
    inertia = (1 + thick * thick) / 12
    for joint in ("revolute", "ball"):
        for steps in (2, 5, 10, 20):
            nodes, names, at = [], [], [0.0, 0.0]
            for n, angle in enumerate(angles):
                way = [math.sin(angle), -math.cos(angle)]
                mesh = box("", [thick, 1, thick], [at[0] + way[0] / 2, at[1] + way[1] / 2, 0], math.degrees(angle))
                nodes += body(f"rod_{n}", mesh, mass=1, mask=0, division_size=0.05)
                above = f"rod_{n - 1}" if n else ""
                nodes += [node(f"joint_{n}", "rigid_joint", joint_type=joint, body_a=f"rod_{n}", body_b=above, pivot=[*at, 0], axis=[0, 0, 1])]
                names += [f"rod_{n}", f"joint_{n}"]
                at = [at[0] + way[0], at[1] + way[1]]
            stats = shots.small(f"pendulum_{joint}_{steps}", dry(nodes, names, {"limit_size": [20] * 3}), 10, steps)
            each = lambda b: (math.hypot(*b["v"]) ** 2 + inertia * b["w"][2] ** 2) / 2 + GRAVITY * b["position"][1]
            energy = [sum(map(each, line["bodies"])) / depth for line in stats]
            second = len(energy) // 10
            drift = statistics.mean(energy[-second:]) - statistics.mean(energy[:second])
            jump = max(abs(b - a) for a, b in zip(energy, energy[1:]))
            gap = max(line["joint_gap"] for line in stats)
            print(f"{joint}, {24 * steps} substeps a second: energy drifts by {drift:+.5f}, swings by"
                  f" {max(abs(e - energy[0]) for e in energy):.4f}, jumps by {jump:.4f} at most; gap {gap:.1e} m")


def slope(shots):
    """How far a box slides in 2 s where tan θ is a share of μ."""
    friction = 0.5
    for ratio in (0.98, 1.02, 1.1):
        angle = math.atan(friction * ratio)
        theory = 2 * GRAVITY * max(0, math.sin(angle) - friction * math.cos(angle))
        turn, up = math.degrees(angle), [-math.sin(angle), math.cos(angle)]
        floor = body("box", box("", [0.4, 0.2, 0.3], [0, 0.1, 0]), density=600, friction=friction)
        aslant = (GRAVITY * math.sin(angle), -GRAVITY * math.cos(angle), 0)
        side = {"limit_center": [0, 2, 0], "limit_size": [20, 4, 4], "side_neg_y": "closed"}
        ramp = box("ramp_mesh", [6, 0.5, 3], [0, 0, 0], turn)
        mesh = box("", [0.2] * 3, [0.35 * up[0], 0.35 * up[1], 0], turn)
        on_ramp = [ramp, node("ramp", "static_object", ["ramp_mesh"])] + body("box", mesh, density=600, friction=friction)
        for name, nodes in (("floor", dry(floor, ["box"], side, aslant)), ("ramp", dry(on_ramp, ["box", "ramp"], {}))):
            stats = shots.small(f"slope_{name}_{ratio}", nodes, 2, 2)
            start = next(n for n in nodes if n["name"] == "box_mesh")["params"]["center"]
            moved = math.dist(of(stats[-1], "box")["position"], start)
            print(f"{name}, tan θ {ratio} μ: {1e3 * moved:.2f} mm in 2 s, theory {1e3 * theory:.2f}")


def stack(shots):
    """How far the top of ten boxes moves in 10 s."""
    for sleeping, steps in ((False, 1), (False, 2), (True, 2)):
        nodes = [node("places", "points", count=[1, 10, 1], spacing=[1, 0.2, 1], center=[0, 1, 0])]
        nodes += body("box", box("", [0.2] * 3, [0, 0, 0]), density=600, sleeping=sleeping)
        nodes[-1]["inputs"].append("places")
        side = {"limit_center": [0, 2, 0], "limit_size": [4, 4, 4], "side_neg_y": "closed"}
        stats = shots.small(f"stack_{sleeping}_{steps}", dry(nodes, ["box"], side), 10, steps)
        top = max((b["position"] for b in stats[-1]["bodies"]), key=lambda p: p[1])
        print(f"stack, {24 * steps} substeps a second, sleeping {sleeping}: the top moves by"
              f" {1e3 * math.dist(top, [0, 1.9, 0]):.3f} mm in 10 s")


def crates(shots):
    """Seconds for 200 crates on which a ball falls; `peers/` has the same for other programs."""
    nodes = [node("places", "points", count=[5, 8, 5], spacing=[0.31, 0.3, 0.31], center=[0, 1.2, 0])]
    nodes += body("crates", box("", [0.3] * 3, [0, 0, 0]), density=300, friction=0.5)
    nodes[-1]["inputs"].append("places")
    nodes += body("ball", node("", "sphere", radius=0.3, center=[0.05, 4, 0.02]), density=2500, restitution=0.2)
    side = {"limit_center": [0, 4, 0], "limit_size": [40, 8, 40], "side_neg_y": "closed"}
    stats = shots.small("crates", dry(nodes, ["crates", "ball"], side), 2, 4, most=4)
    seconds = sum(t for line in stats for stage, t in line["stages"].items() if stage.startswith("rigid."))
    ball = next(b["position"][1] for b in stats[-1]["bodies"] if b["name"] == "ball")
    deepest = 1e3 * max(line["overlap"] for line in stats)
    print(f"crates: {seconds:.2f} s in the solver, ball at {ball:.3f} m, deepest overlap {deepest:.1f} mm")


CASES = {f.__name__: f for f in (neutral, hourglass, gears, u_tube, cost, pendulum, slope, stack, crates)}


def main():
    shots = Shots(sys.argv[1], Path(sys.argv[2]))
    for name in sys.argv[3:] or CASES:
        CASES[name](shots)


if __name__ == "__main__":
    main()
