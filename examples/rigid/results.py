#!/usr/bin/env python3
"""Makes a picture of README.md from what a cook left: four frames side by side, and prints what its stats.jsonl says of volumes.

    target/release/meniscus cook balls.meniscus.json --quality preview --out balls.out
    python3 results.py balls.out pictures/balls.png 1 6 16 26
"""

import json
import struct
import sys
import zlib
from pathlib import Path


def paeth(a, b, c):
    p = a + b - c
    pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
    return a if pa <= pb and pa <= pc else b if pb <= pc else c


def read_png(path):
    """Width and lines (bytes, rgb) of a PNG of eight bits a channel."""
    data, at, packed, width = path.read_bytes(), 8, b"", 0
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + size]
        if kind == b"IHDR":
            width = struct.unpack(">I", body[:4])[0]
            assert body[8:10] == bytes((8, 2)), path
        packed += body if kind == b"IDAT" else b""
        at += 12 + size
    raw, step, lines = zlib.decompress(packed), 3 * width + 1, []
    above = bytes(3 * width)
    for first in range(0, len(raw), step):
        kind, line = raw[first], bytearray(raw[first + 1 : first + step])
        for i in range(len(line) if kind else 0):
            left, corner = (line[i - 3], above[i - 3]) if i >= 3 else (0, 0)
            guess = (left, above[i], (left + above[i]) // 2, paeth(left, above[i], corner))[kind - 1]
            line[i] = (line[i] + guess) & 255
        lines.append(bytes(line))
        above = lines[-1]
    return width, lines


def write_png(path, lines):
    filtered, above = [], bytes(len(lines[0]))
    for line in lines:
        up = bytes((v - a) & 255 for v, a in zip(line, above))
        left = bytes((v - l) & 255 for v, l in zip(line, bytes(3) + line))
        cost = lambda part: sum(min(v, 256 - v) for v in part)
        filtered.append(b"\2" + up if cost(up) < cost(left) else b"\1" + left)
        above = line
    chunk = lambda kind, body: struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    head = struct.pack(">IIBBBBB", len(lines[0]) // 3, len(lines), 8, 2, 0, 0, 0)
    body = zlib.compress(b"".join(filtered), 9)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b""))


def main():
    folder, picture = Path(sys.argv[1]), Path(sys.argv[2])
    shown = [read_png(folder / "preview" / f"preview.{int(n):04}.png")[1] for n in sys.argv[3:]]
    write_png(picture, [b"".join(parts) for parts in zip(*shown)])
    stats = [json.loads(line) for line in (folder / "stats.jsonl").open()]
    water = [line["objects"]["water"] for line in stats]
    off = lambda key: 100 * max(abs(w[key] / w["rest_volume"] - 1) for w in water)
    print(f"{folder.name}: {len(stats)} substeps, liquid {off('volume'):.2f} % off, {off('found_volume'):.2f} % as found")


if __name__ == "__main__":
    main()
