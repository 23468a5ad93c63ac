#!/usr/bin/env python3
"""Writes the meshes of the scenes in the folder above: gear, bunny, two gems, wheel, bottle and hourglass, in metres, with
outward winding. All are made here from formulas; none is taken from elsewhere. Run it in this folder."""
import math


def write(name, comment, points, faces):
    with open(name, "w") as out:
        out.write(f"# {comment}, metres; written by make_meshes.py\n")
        out.writelines("v %.5f %.5f %.5f\n" % tuple(round(c, 5) + 0.0 for c in p) for p in points)
        out.writelines("f " + " ".join(str(i + 1) for i in f) + "\n" for f in faces)


def plate(outline, hole, thick):
    """A plate between two closed outlines [(x, y)] with as many corners each, about the z axis."""
    n = len(outline)
    points = [(x, y, z) for z in (-0.5 * thick, 0.5 * thick) for ring in (outline, hole) for x, y in ring]
    faces = []
    for i in range(n):
        j = (i + 1) % n
        a, b, c, d = i, j, n + i, n + j  # outer and inner corners below; those above are 2 n further
        e, f, g, h = (k + 2 * n for k in (a, b, c, d))
        for quad in ((a, b, f, e), (d, c, g, h), (b, a, c, d), (e, f, h, g)):
            faces += [(quad[0], quad[1], quad[2]), (quad[0], quad[2], quad[3])]
    return points, faces


def at(radius, angle):
    return (radius * math.cos(angle), radius * math.sin(angle))


def gear(teeth, root, tip, bore):
    """Outline of a gear, and its bore with as many corners."""
    turn = 2 * math.pi / teeth
    parts = [(root, -0.30), (tip, -0.16), (tip, 0.16), (root, 0.30)]
    corners = [(r, (k + part) * turn) for k in range(teeth) for r, part in parts]
    return [at(r, a) for r, a in corners], [at(bore, a) for _, a in corners]


def wheel(paddles, hub, tip, thick, bore):
    """Outline of a wheel whose paddles are as thick at the tip as at the hub."""
    outline, hole = [], []
    for k in range(paddles):
        a = 2 * math.pi * k / paddles
        c, s = math.cos(a), math.sin(a)
        for along, across in ((hub, -0.5), (tip, -0.5), (tip, 0.5), (hub, 0.5)):
            outline.append((along * c - across * thick * s, along * s + across * thick * c))
            angle = a + across * math.pi / paddles * (1.0 if along == hub else 0.6)
            hole.append(at(bore, angle))
    return outline, hole


def lathe(profile, segments, closed):
    """The surface of revolution of [(r, y)] about y: from axis to axis, or a closed loop of it."""
    points, rings = [], []
    for r, y in profile:
        if r == 0.0:
            rings.append([len(points)] * segments)
            points.append((0.0, y, 0.0))
            continue
        rings.append(list(range(len(points), len(points) + segments)))
        for s in range(segments):
            x, z = at(r, -2 * math.pi * s / segments)
            points.append((x, y, z))
    faces = []
    for i in range(len(rings) if closed else len(rings) - 1):
        low, high = rings[i], rings[(i + 1) % len(rings)]
        for s in range(segments):
            t = (s + 1) % segments
            for face in ((low[s], low[t], high[t]), (low[s], high[t], high[s])):
                if len(set(face)) == 3:
                    faces.append(face)
    return points, faces


def arc(centre, radius, low, high, steps):
    """Points (r, y) of a circle about (0, centre), from the angle `low` above the horizon to `high`, degrees."""
    for i in range(steps + 1):
        a = math.radians(low + (high - low) * i / steps)
        yield (abs(radius * math.cos(a)) if abs(abs(a) - math.pi / 2) > 1e-9 else 0.0, centre + radius * math.sin(a))


def hourglass(bulb, lower, upper, neck, wall, open_at):
    """A wall around two balls and a neck, open above the height `open_at`."""

    def inner(y, grow):
        ball = max(0.0, *((bulb + grow) ** 2 - (y - c) ** 2 for c in (lower, upper))) ** 0.5
        return max(ball, neck + grow) if lower < y < upper else ball

    inside = [lower - bulb + (open_at - lower + bulb) * i / 48 for i in range(1, 49)]
    outside = [lower - bulb - wall + (open_at - lower + bulb + wall) * i / 48 for i in range(1, 49)]
    up = [(0.0, lower - bulb - wall)] + [(inner(y, wall), y) for y in outside]
    down = [(inner(y, 0.0), y) for y in reversed(inside)] + [(0.0, lower - bulb)]
    return lathe(up + down, 48, False)


def bottle(outer, wall, neck, high, shoulder):
    """A bottle that stands on y = 0: its outer radius, its wall, the radius of its bore, its height, that of its shoulder."""
    up = [(0.0, 0.0), (0.8 * outer, 0.0), (outer, 0.2 * outer), (outer, shoulder)]
    rise = high - 1.6 * neck - shoulder
    step = lambda i: 0.5 - 0.5 * math.cos(math.pi * i / 6)
    narrow = lambda wide, slim: [(wide + (slim - wide) * step(i), shoulder + rise * i / 6) for i in range(1, 7)]
    up += narrow(outer, neck + wall) + [(neck + wall, high)]
    inner = outer - wall
    down = [(neck, high)] + list(reversed(narrow(inner, neck))) + [(inner, shoulder), (inner, wall + 0.2 * inner)]
    down += [(0.8 * inner, wall), (0.0, wall)]
    return lathe(up + down, 40, False)


def bunny(cells):
    """A rabbit of soft balls (centre, radii, tilt about z in degrees): the surface where they add up to one, by surface nets."""
    balls = [
        ((0.00, 0.34, 0.00), (0.40, 0.32, 0.30), 8),
        ((0.24, 0.26, 0.12), (0.24, 0.24, 0.16), 0),
        ((0.24, 0.26, -0.12), (0.24, 0.24, 0.16), 0),
        ((-0.38, 0.62, 0.00), (0.22, 0.20, 0.18), -10),
        ((-0.24, 0.94, 0.11), (0.08, 0.28, 0.07), -18),
        ((-0.24, 0.94, -0.11), (0.08, 0.28, 0.07), -18),
        ((-0.30, 0.12, 0.13), (0.18, 0.10, 0.09), 0),
        ((-0.30, 0.12, -0.13), (0.18, 0.10, 0.09), 0),
        ((0.48, 0.36, 0.00), (0.11, 0.11, 0.11), 0),
    ]
    turned = [(c, r, math.cos(math.radians(t)), math.sin(math.radians(t))) for c, r, t in balls]

    def value(p):
        total = 0.0
        for (cx, cy, cz), (rx, ry, rz), c, s in turned:
            x, y, z = p[0] - cx, p[1] - cy, p[2] - cz
            d = ((c * x + s * y) / rx) ** 2 + ((c * y - s * x) / ry) ** 2 + (z / rz) ** 2
            total += math.exp(2.2 * (1.0 - d)) if d < 6.0 else 0.0
        return total - 1.0

    low, step = (-0.85, -0.15, -0.55), 1.55 / cells
    corner = lambda i: tuple(low[k] + i[k] * step for k in range(3))
    size = (cells + 1, cells + 1, int(1.1 / step) + 2)
    values = {}
    for i in range(size[0]):
        for j in range(size[1]):
            for k in range(size[2]):
                values[i, j, k] = value(corner((i, j, k)))
    points, number, faces = [], {}, []
    unit = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
    add = lambda p, q: (p[0] + q[0], p[1] + q[1], p[2] + q[2])

    def vertex(cell):
        """The mean of the places where the edges of a cell cross the surface."""
        if cell in number:
            return number[cell]
        found = []
        for axis in range(3):
            for a in (0, 1):
                for b in (0, 1):
                    first = list(cell)
                    first[(axis + 1) % 3] += a
                    first[(axis + 2) % 3] += b
                    first = tuple(first)
                    u, v = values[first], values[add(first, unit[axis])]
                    if (u > 0) != (v > 0):
                        t, p = u / (u - v), list(corner(first))
                        p[axis] += t * step
                        found.append(p)
        number[cell] = len(points)
        points.append(tuple(sum(p[k] for p in found) / len(found) for k in range(3)))
        return number[cell]

    for at_corner, u in values.items():
        for axis in range(3):
            other = add(at_corner, unit[axis])
            v = values.get(other)
            if v is None or (u > 0) == (v > 0):
                continue
            b, c = unit[(axis + 1) % 3], unit[(axis + 2) % 3]
            minus = lambda p, q: (p[0] - q[0], p[1] - q[1], p[2] - q[2])
            ring = [minus(minus(at_corner, b), c), minus(at_corner, c), at_corner, minus(at_corner, b)]
            quad = [vertex(cell) for cell in ring]
            if u <= 0:
                quad.reverse()
            faces += [(quad[0], quad[1], quad[2]), (quad[0], quad[2], quad[3])]
    return points, faces


def scaled(mesh, factor):
    """A mesh scaled, its lowest point at y = 0 and its middle on the axis."""
    points, faces = mesh
    ends = [(min(p[k] for p in points), max(p[k] for p in points)) for k in range(3)]
    off = (0.5 * sum(ends[0]), ends[1][0], 0.5 * sum(ends[2]))
    return [tuple(factor * (p[k] - off[k]) for k in range(3)) for p in points], faces


write("gear.obj", "a gear of ten teeth", *plate(*gear(10, 0.075, 0.105, 0.03), 0.05))
write("wheel.obj", "a water wheel of eight paddles", *plate(*wheel(8, 0.12, 0.30, 0.04, 0.04), 0.24))
write("bunny.obj", "a rabbit", *scaled(bunny(26), 0.20))
gem = [(0.0, -0.12), (0.05, -0.06), (0.10, 0.0), (0.10, 0.02), (0.06, 0.05), (0.0, 0.05)]
write("gem_a.obj", "a gem cut to a point", *lathe(gem, 8, False))
crystal = [(0.0, -0.14), (0.055, -0.08), (0.07, 0.05), (0.03, 0.12), (0.0, 0.12)]
points, faces = lathe(crystal, 5, False)
write("gem_b.obj", "a crystal, leaning", [(x + 0.25 * y, y, 0.8 * z) for x, y, z in points], faces)
write("bottle.obj", "a thick bottle", *bottle(0.12, 0.04, 0.04, 0.38, 0.2))
write("hourglass.obj", "an open hourglass", *hourglass(0.13, 0.16, 0.42, 0.03, 0.03, 0.46))
