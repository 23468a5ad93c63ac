#!/usr/bin/env python3
"""Cooks the scenes of this folder at `preview`, each with the constraint and without, and makes from what came out the
pictures of README.md and its table of results.

    python3 examples/bubbles/results.py target/release/meniscus results.out

Shots that are there already are not cooked again. Needs numpy.
"""

import json
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
TWIN = ["air.bypass=true"]
# Scene, frames of its picture, the rows of it (each a list of --set), and how the air is called.
SCENES = [
    ("water_cooler", [12, 24, 40, 64], [[], TWIN]),
    ("wall_with_holes", [14, 27, 66, 144], [[], TWIN]),
    ("moving_platform", [14, 40, 56, 74], [[], TWIN]),
    ("rising_bubble", [4, 10, 16, 24], [[], TWIN, ["water.viscosity=100"]]),
    ("surface_tension_cube", [1, 9, 17, 25], [[], TWIN]),
]
# Frames of the moving picture, of 12 a second, the part of them that is shown, and how many shades a channel has.
MOVING = range(1, 49, 2)
PART = (slice(20, 380), slice(36, 204))
COLOURS = 24


def shot(meniscus, out, scene, settings):
    """The folder of a shot, cooked if it is not there."""
    folder = out / "-".join([scene] + [s.replace("=", "_") for s in settings])
    if not (folder / "done").exists():
        command = [meniscus, "cook", HERE / scene / f"{scene}.meniscus.json", "--quality", "preview", "--out", folder]
        for setting in settings:
            command += ["--set", setting]
        if (folder / "cook.json").exists():
            command.append("--resume")
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        (folder / "done").touch()
    return folder


def lines(folder):
    return [json.loads(line) for line in (folder / "stats.jsonl").open()]


def off(values):
    """The worst and the mean square deviation, per cent."""
    values = 100 * np.asarray(values)
    return f"{np.abs(values).max():.2f} / {np.sqrt((values**2).mean()):.2f}" if len(values) else "-"


def air(line):
    """Volume and rest volume of all enclosed air, l."""
    bubbles = [b for b in line.get("bubbles", []) if b.get("constrained")]
    return [1e3 * sum(b.get(key, 0) for b in bubbles) for key in ("volume", "rest_volume")]


def row(scene, settings, folder):
    stats = lines(folder)
    water = [line["objects"]["water"] for line in stats]
    liquid = off([w["volume"] / w["rest_volume"] - 1 for w in water])
    found = off([w["found_volume"] / w["rest_volume"] - 1 for w in water])
    of_air = [air(line) for line in stats]
    most = max(rest for _, rest in of_air)
    enclosed = off([(volume - rest) / most for volume, rest in of_air if most > 0])
    name = scene.replace("_", " ") + (f", {settings[0].split('.')[-1].replace('=', ' ')}" if settings else "")
    kept = f"{of_air[0][1]:.2f} to {of_air[-1][1]:.2f}" if of_air[0][1] > 0 else "-"
    cells = [name, stats[-1]["frame"], len(stats), liquid, found, enclosed, kept]
    return "| " + " | ".join(str(c) for c in cells) + " |"


def read_png(path):
    """Pixels `[y][x][rgb]` of a PNG of eight bits a channel."""
    data, at, packed = path.read_bytes(), 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + size]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", body[:10])
            assert (depth, colour) == (8, 2), path
        packed += body if kind == b"IDAT" else b""
        at += 12 + size
    rows = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, 1 + 3 * width)
    out = np.zeros((height, 3 * width), np.uint8)
    for y, (kind, raw) in enumerate(zip(rows[:, 0], rows[:, 1:])):
        above = out[y - 1].astype(int) if y else np.zeros(3 * width, int)
        if kind in (0, 2):
            out[y] = raw + (above if kind == 2 else 0)
            continue
        line = out[y].reshape(width, 3)
        upper = np.vstack([np.zeros((1, 3), int), above.reshape(width, 3)])
        left = np.zeros(3, int)
        for x, pixel in enumerate(raw.reshape(width, 3).astype(int)):
            a, b, c = left, upper[x + 1], upper[x]
            if kind == 1:
                guess = a
            elif kind == 3:
                guess = (a + b) // 2
            else:
                p = a + b - c
                pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
                guess = np.where((pa <= pb) & (pa <= pc), a, np.where(pb <= pc, b, c))
            left = (pixel + guess) & 255
            line[x] = left
    return out.reshape(height, width, 3)


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def packed(pixels):
    return zlib.compress(b"".join(b"\0" + line.tobytes() for line in pixels), 9)


def write_png(path, frames, fps=12):
    """A PNG of one picture; of several, one that moves, in few colours."""
    height, width = frames[0].shape[:2]
    head = lambda colour: chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0))
    data = b"\x89PNG\r\n\x1a\n"
    if len(frames) == 1:
        path.write_bytes(data + head(2) + chunk(b"IDAT", packed(frames[0])) + chunk(b"IEND", b""))
        return
    coarse = [(f.astype(int) * (COLOURS - 1) + 127) // 255 for f in frames]
    codes = [(f[..., 0] * COLOURS + f[..., 1]) * COLOURS + f[..., 2] for f in coarse]
    used, counts = np.unique(np.concatenate([c.ravel() for c in codes]), return_counts=True)
    palette = used[np.argsort(-counts)[:256]]
    split = lambda code: np.stack([code // COLOURS**2, code // COLOURS % COLOURS, code % COLOURS], -1)
    nearest = np.abs(split(used)[:, None] - split(palette)[None]).sum(-1).argmin(1).astype(np.uint8)
    colours = (split(palette) * 255 // (COLOURS - 1)).astype(np.uint8)
    data += head(3) + chunk(b"acTL", struct.pack(">II", len(frames), 0)) + chunk(b"PLTE", colours.tobytes())
    number = 0
    for n, code in enumerate(codes):
        control = struct.pack(">IIIIIHHBB", number, width, height, 0, 0, 1, fps, 0, 0)
        body = packed(nearest[np.searchsorted(used, code)])
        data += chunk(b"fcTL", control)
        number += 1
        if n == 0:
            data += chunk(b"IDAT", body)
        else:
            data += chunk(b"fdAT", struct.pack(">I", number) + body)
            number += 1
    path.write_bytes(data + chunk(b"IEND", b""))


def picture(folder, frame):
    return read_png(folder / "preview" / f"preview.{frame:04}.png")


def main():
    meniscus, out = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    pictures = HERE / "pictures"
    print("| shot | last frame | substeps | liquid, worst / rms % | as found | air, worst / rms % | air, l |")
    print("|---|---|---|---|---|---|---|")
    for scene, frames, variants in SCENES:
        folders = [shot(meniscus, out, scene, settings) for settings in variants]
        for settings, folder in zip(variants, folders):
            print(row(scene, settings, folder), flush=True)
        rows = [np.hstack([picture(folder, f) for f in frames]) for folder in folders]
        write_png(pictures / f"{scene}.png", [np.vstack(rows)])
        if scene == "water_cooler":
            moving = [np.hstack([picture(folder, f)[PART] for folder in folders]) for f in MOVING]
            write_png(pictures / f"{scene}_moving.png", moving)


if __name__ == "__main__":
    main()
