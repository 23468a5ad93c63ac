"""Meniscus Shot: gathers what takes part, and has the parameters of every node."""

from .descriptors import members
from .dialog import Expression, Group, Multi, Parm
from .pieces import asset, button, menu, node_path, path, said, text, toggle

# Node types that may be in a shot any number of times, in the order of the menu.
MANY = ["liquid_object", "static_object", "rigid_object", "liquid_source", "liquid_sink", "rigid_joint"]
# Those of them that take no geometry.
WITHOUT_GEOMETRY = ["rigid_joint"]
COUPLINGS = ["constraint_bubbles", "floating_bodies", "rigid_fluid"]
# Output nodes, and whether a new shot has them.
OUTPUTS = {"vdb_cache": True, "geometry_cache": True, "mesh_cache": False, "usd_shot": False, "preview": False}
# What is made of the liquid once it has moved: a solver, and the object that it fills.
MADE = {"whitewater_solver": "whitewater_object", "liquid_mesher": "mesh_object"}

HELP = (
    "Gathers liquids, solids, bodies, sources, sinks and joints, and writes them as a graph with its geometry, in metres. "
    "The node itself shows what it gathers; the primitive attribute `name` says whose it is."
)


def shot(nodes):
    """The asset, from node types by name."""
    top = [
        path(
            "graph",
            "Graph File",
            "file",
            "The graph that is written; geometry lies beside it.",
            "$HIP/meniscus/$OS/shot.meniscus.json",
            "*.meniscus.json",
            "write",
        ),
        button("write", "Write", "write_shot", "Writes the graph, and the geometry of all frames.", True),
        button(
            "check",
            "Write and Check",
            "check_shot",
            "Writes, then asks Meniscus for errors, and for memory, disk space and time of the cook.",
        ),
        said("What the last button said."),
    ]
    objects = Multi("objects", "Objects", entry(nodes), 1, "What takes part in the shot.")
    tabs = {
        "Objects": [objects],
        "Shot": settings(),
        "Liquid": members(nodes["flip_solver"]),
        "Bodies": members(nodes["rigid_solver"]),
        "Coupling": coupling(nodes),
        "Forces": [toggle("use_gravity", "Gravity", True, nodes["gravity"]["help"]), *members(nodes["gravity"])],
        "Whitewater": made(nodes, "whitewater_solver"),
        "Surface": made(nodes, "liquid_mesher"),
        "Output": outputs(nodes),
    }
    folders = [Group("group", f"tab_{label.lower()}", label, inside) for label, inside in tabs.items()]
    return asset("shot", "Meniscus Shot", top + folders, "show_shot", ["write_shot", "check_shot"], HELP)


def entry(nodes):
    """The parameters of one thing that takes part: those of its role are seen."""
    wants_mesh = " ".join(f"object_type# != {name}" for name in MANY if name not in WITHOUT_GEOMETRY)
    no_mesh = f"{{ {wants_mesh} }}"
    about = [
        text("object_name#", "Name", "Name of its node in the graph, and of its files: letters, digits, _ and -."),
        menu("object_type#", "Role", [(name, nodes[name]["label"]) for name in MANY], "What it is in the shot."),
        node_path(
            "object_path#",
            "SOP Path",
            "Its geometry: a SOP, or an object, whose display SOP is taken. The object's transform is applied.",
            no_mesh,
        ),
        text("object_group#", "Group", "Primitives of the SOP that belong to it; empty: all.", hide_when=no_mesh),
        node_path(
            "object_points#",
            "Points Path",
            "Places for copies: a body at each point, turned by orient, with the velocity v and the spin w. "
            "Empty: one body where its mesh is.",
            "{ object_type# != rigid_object }",
        ),
    ]
    roles = [
        Group(
            "groupsimple",
            f"object_{name}_#",
            nodes[name]["label"],
            members(nodes[name], "#"),
            f"{{ object_type# != {name} }}",
        )
        for name in MANY
    ]
    return about + roles


def settings():
    """What is said of the shot as a whole."""
    frames = [Expression("$FSTART"), Expression("$FEND")]
    frames_help = "First and last frame. The first is the state before anything moves."
    cfl_help = "Voxels that the fastest liquid may cross in a substep."
    return [
        Parm("frames", "Frames", "intvector2", frames, 2, help=frames_help),
        Parm("substeps", "Substeps", "intvector2", ["1", "8"], 2, ("1!", "64"), help="Fewest and most of a frame."),
        Parm("cfl", "CFL Condition (voxels)", "float", ["2"], range=("0.1!", "5!"), help=cfl_help),
    ]


def coupling(nodes):
    """Which coupling, and the parameters of that one."""
    entries = [("none", "None: each solver for itself")] + [(name, nodes[name]["label"]) for name in COUPLINGS]
    each = " ".join(f"{nodes[name]['label']}: {nodes[name]['help']}" for name in COUPLINGS)
    out = [menu("coupling", "Coupling", entries, f"How liquid, air and bodies push on each other. {each}", 1)]
    for name in COUPLINGS:
        hidden = f"{{ coupling != {name} }}"
        out.append(Group("groupsimple", f"in_{name}", nodes[name]["label"], members(nodes[name]), hidden))
    return out


def made(nodes, solver):
    """A toggle for what a solver makes of the liquid, and the parameters of that solver and of what it fills."""
    filled = MADE[solver]
    use = toggle(f"use_{solver}", nodes[solver]["label"], False, nodes[solver]["help"])
    hidden = f"{{ use_{solver} == 0 }}"
    return [
        use,
        *(Group("groupsimple", f"in_{name}", nodes[name]["label"], members(nodes[name]), hidden) for name in (solver, filled)),
    ]


def outputs(nodes):
    """A toggle for each output, and its parameters."""
    out = []
    for name, on in OUTPUTS.items():
        label = nodes[name]["label"]
        out.append(toggle(f"use_{name}", label, on, nodes[name]["help"]))
        out.append(Group("groupcollapsible", f"in_{name}", label, members(nodes[name]), f"{{ use_{name} == 0 }}"))
    return out
