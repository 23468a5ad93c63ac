"""What the assets do when they cook and when their buttons are pressed. Needs `hou`."""

import os

import hou

from . import caches, graph, job, scene

# Cooks of this session, by the path of their node.
COOKS = {}


# ---- Meniscus Shot


def show_shot(node):
    """Cooks the node: shows what it gathers."""
    try:
        scene.gathered(node, node.geometry())
    except graph.ShotError as error:
        raise hou.NodeError(str(error)) from error


def write_shot(node):
    """Writes graph and geometry; the graph's path."""
    path = node.evalParm("graph")
    base = os.path.dirname(os.path.abspath(path))
    folder = os.path.join(base, os.path.basename(path).split(".")[0] + "_geometry")
    try:
        graph.write(path, graph.build(scene.shot(node, folder, base)))
    except graph.ShotError as error:
        say(node, str(error))
        raise hou.NodeError(str(error)) from error
    say(node, f"written: {path}")
    return path


def check_shot(node):
    """Writes, and asks Meniscus; whether the graph is sound."""
    sound, said = job.check(write_shot(node))
    say(node, said)
    return sound


# ---- Meniscus Cook


def show_cook(node):
    """Cooks the node: a point, and how far the cook is."""
    geometry = node.geometry()
    geometry.createPoint()
    for name, value in (
        ("state", node.evalParm("state")),
        ("progress", node.evalParm("progress")),
        ("said", node.evalParm("said")),
    ):
        geometry.addAttrib(hou.attribType.Global, name, type(value)())
        geometry.setGlobalAttribValue(name, value)


def start_cook(node):
    """Writes the shot and cooks it from the start."""
    return run(node, written(node), False)


def resume_cook(node):
    """Goes on from the latest checkpoint."""
    return run(node, graph_of(node), True)


def cancel_cook(node):
    """Asks the cook to save and stop."""
    if node.path() in COOKS:
        COOKS[node.path()].stop()


def graph_of(node):
    """The graph that a Meniscus Cook cooks."""
    of = node.node(node.evalParm("shot")) if node.evalParm("shot") else node
    path = (of or node).evalParm("graph")
    if not path:
        raise hou.NodeError(f"{node.path()}: there is nothing to cook; set Shot or Graph File")
    return path


def written(node):
    """The graph that a Meniscus Cook cooks; a shot is written anew."""
    of = node.node(node.evalParm("shot")) if node.evalParm("shot") else None
    return write_shot(of) if of else graph_of(node)


def run(node, path, resume):
    """Starts a cook and watches it; the cook."""
    if node.path() in COOKS and COOKS[node.path()].state() == "cooking":
        raise hou.NodeError(f"{node.path()}: it is cooking already; stop it first")
    device = ["auto", "cpu", "cuda"][int(node.evalParm("device"))]
    words = job.cook_command(
        path,
        node.evalParm("out"),
        node.evalParm("program"),
        resume,
        device,
        node.evalParm("threads"),
        node.evalParm("checkpoint_every"),
    )
    log = node.evalParm("out").rstrip("/") + ".log"
    try:
        COOKS[node.path()] = job.Cook(words, log)
    except job.JobError as error:
        raise hou.NodeError(f"{node.path()}: {error}") from error
    show(node, COOKS[node.path()])
    if hou.isUIAvailable():
        watch(node, COOKS[node.path()])
    return COOKS[node.path()]


def watch(node, cook):
    """Shows a cook whenever Houdini is idle, until it has ended."""

    def look():
        try:
            ended = show(node, cook) != "cooking"
        except hou.ObjectWasDeleted:
            ended = True
        if ended:
            hou.ui.removeEventLoopCallback(look)

    hou.ui.addEventLoopCallback(look)


def show(node, cook):
    """Writes how far a cook is into the node's parameters, where that is news; its state."""
    news = dict(zip(("state", "progress", "said"), cook.look()))
    with hou.undos.disabler():
        for name, value in news.items():
            if node.evalParm(name) != value:
                node.parm(name).set(value)
    return news["state"]


def make_wedge(node):
    """Makes a TOP network for the variants; its path."""
    vary = [
        (node.evalParm(f"vary_what{n}"), node.evalParm(f"vary_values{n}")) for n in range(1, node.evalParm("vary") + 1)
    ]
    if not vary:
        raise hou.NodeError(f"{node.path()}: there is nothing to vary; add a parameter under Vary")
    net = (hou.node("/tasks") or hou.node("/obj")).createNode("topnet", f"{node.name()}_wedge")
    top = net.createNode("meniscuswedge", "variants")
    device = ["auto", "cpu", "cuda"][int(node.evalParm("device"))]
    given = {
        "graph": written(node),
        "out": os.path.splitext(node.evalParm("out"))[0] + ".wedge",
        "program": node.evalParm("program"),
        "device": device,
        "threads": node.evalParm("threads"),
    }
    given["vary"] = "\n".join(f"{what}={text}" for what, text in vary)
    for name, value in given.items():
        top.parm(name).set(value)
    say(node, f"made {net.path()}: cook it")
    return net.path()


# ---- Meniscus Load


def load_cache(node):
    """Cooks the node: the file of the frame."""
    geometry = node.geometry()
    try:
        found = caches.sequence(node.evalParm("out"), node.evalParm("sequence"))
        missing = ["error", "empty", "nearest"][int(node.evalParm("missing"))]
        path = found.file(int(node.evalParm("frame") // 1), missing)
    except caches.CacheError as error:
        raise hou.NodeError(f"{node.path()}: {error}") from error
    if path is None:
        return
    geometry.loadFromFile(path)
    has_polygons = any(prim.type() == hou.primType.Polygon for prim in geometry.prims()[:1])
    radius = caches.point_radius(node.evalParm("out"))
    is_liquid = not has_polygons and geometry.findPointAttrib("density") and not geometry.findPointAttrib("pscale")
    if radius and is_liquid and node.evalParm("radius"):
        geometry.addAttrib(hou.attribType.Point, "pscale", radius)
    units = scene.metres_per_unit()
    if node.evalParm("units") and units != 1.0:
        geometry.transform(hou.hmath.buildScale(1 / units, 1 / units, 1 / units))
        if geometry.findPointAttrib("pscale"):
            geometry.setPointFloatAttribValues("pscale", [x / units for x in geometry.pointFloatAttribValues("pscale")])


def sequence_menu(node):
    """Names of the sequences, twice each, as Houdini's menus want them."""
    return [word for name in sorted(caches.sequences(node.evalParm("out"))) for word in (name, name)]


def reload_caches(node):
    """Looks for new frames."""
    node.cook(force=True)
    found = caches.sequences(node.evalParm("out"))
    say(node, ", ".join(f"{name}: {len(found[name].files)} frames" for name in sorted(found)) or "nothing yet")


def open_in_solaris(node):
    """Makes a Sublayer LOP on the shot's USD file; its path."""
    try:
        path = caches.usd(node.evalParm("out"))
    except caches.CacheError as error:
        raise hou.NodeError(f"{node.path()}: {error}") from error
    lop = hou.node("/stage").createNode("sublayer", f"{node.name()}_shot")
    lop.parm("filepath1").set(path)
    say(node, f"made {lop.path()}")
    return lop.path()


def say(node, sentence):
    """Shows a sentence at the node."""
    node.parm("said").set(sentence)
