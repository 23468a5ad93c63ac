#!/usr/bin/env python3
"""Writes fill.obj: a block of water around a cube of air, metres. The cavity winds inward, which makes it outside.
Run it in this folder."""

WATER = ((-0.64, 0.0, -0.64), (0.64, 2.08, 0.64))
CAVITY = ((-0.24, 0.24, -0.24), (0.24, 0.72, 0.24))

FACES = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))


def box(low, high, outward, points, triangles):
    """Adds a box: corner n lies at high along x, y, z where bit 2, 1, 0 of n is set."""
    first = len(points)
    points += [tuple((high if n >> (2 - a) & 1 else low)[a] for a in range(3)) for n in range(8)]
    for a, b, c, d in FACES:
        for t in ((a, b, c), (a, c, d)):
            triangles.append(tuple(first + n for n in (t if outward else t[::-1])))


points, triangles = [], []
box(*WATER, True, points, triangles)
box(*CAVITY, False, points, triangles)
with open("fill.obj", "w") as out:
    out.write("# water around a cube of air, metres\n# written by make_fill.py\n")
    out.writelines("v %g %g %g\n" % p for p in points)
    out.writelines("f %d %d %d\n" % tuple(i + 1 for i in t) for t in triangles)
