#!/usr/bin/env python3
"""Writes the Houdini assets anew from the descriptors of the nodes.

python3 hda/houdini/generate.py --meniscus target/release/meniscus           writes otls/ and nodes.json
python3 hda/houdini/generate.py --meniscus target/release/meniscus --check   says what is old, and ends with 1
"""

import argparse
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
from generator import assets, library  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))


def wanted(nodes):
    """All files that are generated: paths in this folder, and texts."""
    out = {}
    for asset in assets.all_assets(nodes):
        for path, text in library.files(asset).items():
            out[os.path.join("otls", f"meniscus_{asset.name}.hda", path)] = text
    table = json.dumps(assets.run_time(nodes), indent=1)
    out[os.path.join("python", "meniscus_houdini", "nodes.json")] = table + "\n"
    return out


def there():
    """The generated files that lie here now."""
    found = [os.path.join("python", "meniscus_houdini", "nodes.json")]
    for folder, _, names in os.walk(os.path.join(HERE, "otls")):
        found += [os.path.relpath(os.path.join(folder, name), HERE) for name in names]
    return {path: read(path) for path in found if os.path.exists(os.path.join(HERE, path))}


def read(path):
    """A file's text, line ends as they are."""
    with open(os.path.join(HERE, path), encoding="utf-8", newline="") as file:
        return file.read()


def write(path, text):
    """Writes a file and the folders that it lies in."""
    whole = os.path.join(HERE, path)
    os.makedirs(os.path.dirname(whole), exist_ok=True)
    with open(whole, "w", encoding="utf-8", newline="") as file:
        file.write(text)


def main():
    """Writes, or compares."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--meniscus", default="meniscus", help="the program whose nodes are described")
    parser.add_argument("--check", action="store_true", help="writes nothing")
    args = parser.parse_args()
    out = subprocess.run([args.meniscus, "nodes", "--json"], check=True, stdout=subprocess.PIPE)
    new, old = wanted(json.loads(out.stdout)), there()
    differ = sorted(path for path in new.keys() | old.keys() if new.get(path) != old.get(path))
    if args.check:
        for path in differ:
            print(
                f"hda/houdini/{path} is old: python3 hda/houdini/generate.py --meniscus {args.meniscus}",
                file=sys.stderr,
            )
        return 1 if differ else 0
    for path in differ:
        if path in new:
            write(path, new[path])
        else:
            os.remove(os.path.join(HERE, path))
    print(f"{len(new)} files, {len(differ)} of them changed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
