"""Where things are. The variable MENISCUS names the program; nothing is installed."""

import os
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
HOUDINI = os.path.join(ROOT, "hda", "houdini")
OTLS = os.path.join(HOUDINI, "otls")
LIBRARIES = sorted(os.listdir(OTLS))
MENISCUS = os.environ.get("MENISCUS") or os.path.join(ROOT, "target", "release", "meniscus")
os.environ["MENISCUS"] = MENISCUS
sys.path[:0] = [HERE, os.path.join(HERE, "stand_in"), os.path.join(HOUDINI, "python")]


def asset_folder(library):
    """The folder of the one asset in a library."""
    return next(name for name in os.listdir(os.path.join(OTLS, library)) if name.startswith("meniscus_8"))
