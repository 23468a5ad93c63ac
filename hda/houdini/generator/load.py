"""Meniscus Load: shows what a cook has written, frame by frame."""

from .dialog import Expression, Parm
from .pieces import asset, button, menu, path, said, text, toggle

MISSING = [("error", "Error"), ("empty", "Nothing"), ("nearest", "Nearest Frame")]
CALLBACKS = ["reload_caches", "open_in_solaris", "sequence_menu"]
HELP = "Loads what a cook has written: VDB volumes, particles, bubbles and meshes of bodies, frame by frame."


def load():
    """The asset."""
    frame = "The frame that is shown. Between two frames: the earlier."
    parms = [
        path("out", "Cook Folder", "directory", "Output folder of a cook; it may still be cooking."),
        text(
            "sequence",
            "Sequence",
            "Name of the files without frame number: `cache` is the VDB sequence cache.0001.vdb, "
            "`points` the particles.",
            "cache",
            menu_script=["return hou.phm().sequence_menu(kwargs['node'])"],
        ),
        Parm("frame", "Frame", "float", [Expression("$F")], help=frame),
        menu("missing", "Missing Frame", MISSING, "What stands for a frame that has no file."),
        toggle(
            "radius",
            "Set Radius of Particles",
            True,
            "A liquid's particles have no size in the files: pscale becomes half of the distance between them, "
            "as the cook's cook.json says it.",
        ),
        toggle(
            "units",
            "Metres to Scene Units",
            True,
            "Scales by the scene's unit of length. In a scene in metres nothing changes.",
        ),
        button("reload", "Reload", "reload_caches", "Looks for new frames.", True),
        button(
            "stage",
            "Open in Solaris",
            "open_in_solaris",
            "Makes a Sublayer LOP in /stage on the shot's USD file; the graph needs the output USD Shot.",
        ),
        said("What the last button said."),
    ]
    return asset("load", "Meniscus Load", parms, "load_cache", CALLBACKS, HELP)
