#!/usr/bin/env python3
"""Writes bottle.obj: a glass bottle that stands on its head, its mouth open. Metres, y up. Run it in this folder."""
import math

WALL = 0.02      # of the glass: two voxels at preview quality
NECK = 0.03      # inner radius of the neck
BODY = 0.08      # inner radius of the body
MOUTH, SHOULDER, BODY_BELOW, TOP = 0.22, 0.30, 0.36, 0.56  # heights; the inside ends at TOP
SEGMENTS = 32    # around the axis

# From the axis above the glass down the outside, round the mouth, and up the inside: height and radius.
OUTSIDE = [(TOP + WALL, BODY + WALL), (BODY_BELOW - WALL / 2, BODY + WALL), (SHOULDER - WALL / 2, NECK + WALL), (MOUTH, NECK + WALL)]
INSIDE = [(MOUTH, NECK), (SHOULDER, NECK), (BODY_BELOW, BODY), (TOP, BODY)]
profile = OUTSIDE + INSIDE

points = [(0.0, TOP + WALL, 0.0)]
for y, r in profile:
    turns = [2 * math.pi * s / SEGMENTS for s in range(SEGMENTS)]
    points += [(r * math.cos(a), y, r * math.sin(a)) for a in turns]
points.append((0.0, TOP, 0.0))


def ring(i, s):
    return 1 + i * SEGMENTS + s % SEGMENTS


faces = []  # counter-clockwise seen from the air
for s in range(SEGMENTS):
    faces.append((0, ring(0, s + 1), ring(0, s)))
    for i in range(len(profile) - 1):
        faces.append((ring(i, s), ring(i, s + 1), ring(i + 1, s + 1), ring(i + 1, s)))
    faces.append((len(points) - 1, ring(len(profile) - 1, s), ring(len(profile) - 1, s + 1)))

with open("bottle.obj", "w") as out:
    out.write("# a bottle on its head, metres; written by bottle.py\n")
    out.writelines("v %.5f %.5f %.5f\n" % p for p in points)
    out.writelines("f " + " ".join(str(i + 1) for i in f) + "\n" for f in faces)
