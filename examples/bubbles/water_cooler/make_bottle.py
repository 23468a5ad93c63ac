#!/usr/bin/env python3
"""Writes bottle.obj (two bulbs joined by a neck, a glass wall with its cavity) and fill.obj (the water that
starts in the upper bulb). Both are lathes about the y axis, metres, outward winding. Run it in this folder."""
import math

BULB = 0.13                # inner radius of both bulbs
LOWER, UPPER = 0.15, 0.49  # heights of their centres; the neck joins them
NECK = 0.035               # inner radius of the neck
WALL = 0.02                # wall thickness: two voxels at preview resolution
FILLET = 0.012             # how softly neck and bulbs meet
FILL = (0.30, 0.535)       # the water stands between these heights
SEGMENTS, RINGS = 48, 60


def smooth_max(a, b, k):
    return 0.5 * (a + b + math.sqrt((a - b) ** 2 + k * k))


def radius(y, grow):
    """Radius of the cavity (grow = 0) or of the outer wall (grow = WALL) at height y."""
    ball = max(bulb(y, LOWER, grow), bulb(y, UPPER, grow))
    if not LOWER < y < UPPER:
        return ball
    blend = min(1.0, (y - LOWER) / 0.05, (UPPER - y) / 0.05)  # keeps the poles and equators exact
    return smooth_max(ball, NECK + grow, FILLET * blend)


def bulb(y, centre, grow):
    return math.sqrt(max(0.0, (BULB + grow) ** 2 - (y - centre) ** 2))


def heights(low, high, grow):
    """Ring heights from pole to pole, closer together where the profile turns fast."""
    return [low + (high - low) * 0.5 * (1 - math.cos(math.pi * i / RINGS)) for i in range(1, RINGS)]


def lathe(profile, low, high, outward, points, triangles):
    """Adds the surface of revolution of [(y, r)] closed by the axis points low and high."""
    first = len(points)
    points.append((0.0, low, 0.0))
    for y, r in profile:
        for s in range(SEGMENTS):
            a = 2 * math.pi * s / SEGMENTS
            points.append((r * math.cos(a), y, r * math.sin(a)))
    points.append((0.0, high, 0.0))
    last = len(points) - 1
    ring = lambda i, s: first + 1 + i * SEGMENTS + s % SEGMENTS

    def add(a, b, c):
        triangles.append((a, b, c) if outward else (a, c, b))

    for s in range(SEGMENTS):
        add(first, ring(0, s), ring(0, s + 1))
        add(last, ring(len(profile) - 1, s + 1), ring(len(profile) - 1, s))
        for i in range(len(profile) - 1):
            add(ring(i, s), ring(i + 1, s), ring(i + 1, s + 1))
            add(ring(i, s), ring(i + 1, s + 1), ring(i, s + 1))


def write(name, comment, points, triangles):
    with open(name, "w") as out:
        out.write(f"# {comment}\n# written by make_bottle.py\n")
        out.writelines("v %.6f %.6f %.6f\n" % tuple(round(c, 6) + 0.0 for c in p) for p in points)
        out.writelines("f %d %d %d\n" % tuple(i + 1 for i in t) for t in triangles)


points, triangles = [], []
for grow, outward in ((WALL, True), (0.0, False)):
    low, high = LOWER - BULB - grow, UPPER + BULB + grow
    lathe([(y, radius(y, grow)) for y in heights(low, high, grow)], low, high, outward, points, triangles)
write("bottle.obj", "two bulbs and a neck, metres", points, triangles)

points, triangles = [], []
low, high = FILL
rings = [low + (high - low) * i / 60 for i in range(61)]
lathe([(y, radius(y, 0.0)) for y in rings], low, high, True, points, triangles)
write("fill.obj", "water of the upper bulb, metres", points, triangles)
