#!/usr/bin/env python3
"""Writes fill.obj: a ball of water around a cube of air, metres. The cavity winds inward, which makes it outside.
Run it in this folder."""
import math

RADIUS = 0.08          # of the ball
HALF = 0.03            # half an edge of the cube
ROWS, COLUMNS = 48, 96

FACES = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))


def ball(points, triangles):
    points.append((0.0, -RADIUS, 0.0))
    for r in range(1, ROWS):
        a = math.pi * r / ROWS
        for c in range(COLUMNS):
            b = 2 * math.pi * c / COLUMNS
            points.append((RADIUS * math.sin(a) * math.cos(b), -RADIUS * math.cos(a), RADIUS * math.sin(a) * math.sin(b)))
    points.append((0.0, RADIUS, 0.0))
    last = len(points) - 1
    ring = lambda r, c: 1 + r * COLUMNS + c % COLUMNS
    for c in range(COLUMNS):
        triangles.append((0, ring(0, c), ring(0, c + 1)))
        triangles.append((last, ring(ROWS - 2, c + 1), ring(ROWS - 2, c)))
        for r in range(ROWS - 2):
            triangles.append((ring(r, c), ring(r + 1, c), ring(r + 1, c + 1)))
            triangles.append((ring(r, c), ring(r + 1, c + 1), ring(r, c + 1)))


def cavity(points, triangles):
    """Adds the cube: corner n lies at +HALF along x, y, z where bit 2, 1, 0 of n is set."""
    first = len(points)
    points += [tuple(HALF if n >> (2 - a) & 1 else -HALF for a in range(3)) for n in range(8)]
    for a, b, c, d in FACES:
        triangles += [(first + c, first + b, first + a), (first + d, first + c, first + a)]


points, triangles = [], []
ball(points, triangles)
cavity(points, triangles)
with open("fill.obj", "w") as out:
    out.write("# a ball of water around a cube of air, metres\n# written by make_fill.py\n")
    out.writelines("v %.6f %.6f %.6f\n" % tuple(round(c, 6) + 0.0 for c in p) for p in points)
    out.writelines("f %d %d %d\n" % tuple(i + 1 for i in t) for t in triangles)
