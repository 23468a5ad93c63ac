"""The assets: what they are called, their parameters, and the few lines of Python in each."""

from .descriptors import members, parm_name, short
from .dialog import Expression, Group, Multi, Parm, script
from .library import Asset

VERSION = "1.0"
# Node types that may be in a shot any number of times, each made of what Houdini names: in the order of the menu.
MANY = ["liquid_object", "static_object", "rigid_object", "liquid_source", "liquid_sink", "rigid_joint"]
# Types that take no geometry.
WITHOUT_GEOMETRY = ["rigid_joint"]
COUPLINGS = ["constraint_bubbles", "floating_bodies", "rigid_fluid"]
# Output nodes, and whether a new shot has them.
OUTPUTS = {"vdb_cache": True, "geometry_cache": True, "usd_shot": False, "preview": False}

MODULE = '''"""Callbacks of {label}; the code is in the Python package `meniscus_houdini`."""
from meniscus_houdini.assets import {names}
'''
COOK = "from meniscus_houdini import assets\nassets.{function}(hou.pwd())\n"


def calling(function):
    """Tags of a button that calls a function of the asset's module with the node."""
    callback = f"hou.phm().{function}(kwargs['node'])"
    return {"script_callback": callback, "script_callback_language": "python"}


def button(name, label, function, help, join_next=False):
    """A button."""
    tags = calling(function)
    return Parm(name, label, "button", ["0"], help=help, join_next=join_next, tags=tags)


def toggle(name, label, on, help):
    """A toggle."""
    return Parm(name, label, "toggle", [str(int(on))], help=help)


def node_path(name, label, help, hide_when=""):
    """A path to a SOP."""
    tags = {"opfilter": "!!SOP!!", "oprelative": "."}
    return Parm(name, label, "oppath", [""], help=help, hide_when=hide_when, tags=tags)


def said(help):
    """What the last button said."""
    return Parm("said", "Last Message", "string", [""], help=help, tags={"editor": "1", "editorlines": "2-6"})


def all_assets(nodes):
    """The three assets, made from the list that `meniscus nodes --json` prints."""
    by_name = {short(node): node for node in nodes}
    return [shot(by_name), cook(), load()]


def shot(nodes):
    """Gathers roles and writes graph and geometry."""
    wants_mesh = " ".join(f"object_type# != {name}" for name in MANY if name not in WITHOUT_GEOMETRY)
    no_mesh = f"{{ {wants_mesh} }}"
    entry = [
        Parm("object_name#", "Name", "string", [""], help="Name of its node in the graph, and of its files: letters, digits, _ and -."),
        Parm("object_type#", "Role", "ordinal", ["0"], menu=[(name, nodes[name]["label"]) for name in MANY], help="What it is in the shot."),
        node_path("object_path#", "SOP Path", "Its geometry: a SOP, or an object, whose display SOP is taken. The object's transform is applied.", no_mesh),
        Parm("object_group#", "Group", "string", [""], hide_when=no_mesh, help="Primitives of the SOP that belong to it; empty: all."),
        node_path("object_points#", "Points Path", "Places for copies: a body at each point, turned by orient, with the velocity v and the spin w. Empty: one body where its mesh is.", "{ object_type# != rigid_object }"),
    ]
    entry += [
        Group("groupsimple", f"object_{name}_#", nodes[name]["label"], members(nodes[name], "#"), f"{{ object_type# != {name} }}")
        for name in MANY
    ]
    couplings = [("none", "None: each solver for itself")] + [(name, nodes[name]["label"]) for name in COUPLINGS]
    coupling_help = "How liquid, air and bodies push on each other. " + " ".join(
        f"{nodes[name]['label']}: {nodes[name]['help']}" for name in COUPLINGS
    )
    outputs = []
    for name, on in OUTPUTS.items():
        outputs.append(toggle(f"use_{name}", nodes[name]["label"], on, nodes[name]["help"]))
        outputs.append(Group("groupcollapsible", f"in_{name}", nodes[name]["label"], members(nodes[name]), f"{{ use_{name} == 0 }}"))
    frames = [Expression("$FSTART"), Expression("$FEND")]
    tabs = [
        Group("group", "tab_objects", "Objects", [Multi("objects", "Objects", entry, 1, "What takes part in the shot.")]),
        Group("group", "tab_shot", "Shot", [
            Parm("frames", "Frames", "intvector2", frames, 2, help="First and last frame. The first is the state before anything moves."),
            Parm("substeps", "Substeps", "intvector2", ["1", "8"], 2, ("1!", "64"), help="Fewest and most substeps of a frame."),
            Parm("cfl", "CFL Condition (voxels)", "float", ["2"], range=("0.1!", "5!"), help="Voxels that the fastest liquid may cross in a substep."),
        ]),
        Group("group", "tab_liquid", "Liquid", members(nodes["flip_solver"])),
        Group("group", "tab_bodies", "Bodies", members(nodes["rigid_solver"])),
        Group("group", "tab_coupling", "Coupling", [
            Parm("coupling", "Coupling", "ordinal", ["1"], menu=couplings, help=coupling_help),
            *(Group("groupsimple", f"in_{name}", nodes[name]["label"], members(nodes[name]), f"{{ coupling != {name} }}") for name in COUPLINGS),
        ]),
        Group("group", "tab_forces", "Forces", [
            toggle("use_gravity", "Gravity", True, nodes["gravity"]["help"]),
            *members(nodes["gravity"]),
        ]),
        Group("group", "tab_output", "Output", outputs),
    ]
    top = [
        Parm("graph", "Graph File", "file", ["$HIP/meniscus/$OS/shot.meniscus.json"], help="The graph that is written; geometry lies beside it.", tags={"filechooser_mode": "write", "filechooser_pattern": "*.meniscus.json"}),
        button("write", "Write", "write_shot", "Writes the graph, and the geometry of all frames.", True),
        button("check", "Write and Check", "check_shot", "Writes, then asks Meniscus for errors, and for memory, disk space and time of the cook."),
        said("What the last button said."),
    ]
    return asset("shot", "Meniscus Shot", [], top + tabs, "show_shot", ["write_shot", "check_shot"],
                 "Gathers liquids, solids, bodies, sources, sinks and joints, and writes them as a graph with its geometry, in metres. The node itself shows what it gathers; the primitive attribute `name` says whose it is.")


def cook():
    """Cooks a shot in the background."""
    top = [
        node_path("shot", "Shot", "A Meniscus Shot, whose graph is cooked. Empty: the graph file below."),
        Parm("graph", "Graph File", "file", [""], help="A graph, where no shot is named.", disable_when='{ shot != "" }', tags={"filechooser_mode": "read", "filechooser_pattern": "*.meniscus.json"}),
        Parm("out", "Output Folder", "directory", ["$HIP/meniscus/$OS.out"], help="Folder for everything written. One cook at a time writes into it."),
        button("start", "Write and Cook", "start_cook", "Writes the shot, and cooks it from the start in the background. Frames of an earlier cook in the folder are replaced.", True),
        button("resume", "Resume", "resume_cook", "Goes on from the latest checkpoint, to the same bytes as without the stop. The shot is not written anew.", True),
        button("cancel", "Stop", "cancel_cook", "Stops after this substep and saves a checkpoint."),
        Parm("state", "State", "string", ["waiting"], help="waiting, cooking, stopped, failed or finished.", join_next=True),
        Parm("progress", "Progress (%)", "float", ["0"], range=("0!", "100!"), help="How much of the shot is on disk."),
        said("The last sentence of the cook."),
    ]
    tabs = [
        Group("group", "tab_options", "Options", [
            Parm("device", "Device", "ordinal", ["0"], menu=[("auto", "Auto"), ("cpu", "Processor"), ("cuda", "GPU")], help="Auto: a GPU if there is one, else the processor."),
            Parm("threads", "Threads", "integer", ["0"], range=("0!", "64"), help="0: as many as there are processors."),
            Parm("checkpoint_every", "Checkpoint Every (frames)", "integer", ["1"], range=("1!", "24"), help="Frames that a machine which fails may lose."),
            Parm("program", "Program", "file", ["$MENISCUS"], help="The program `meniscus`, with its plugin beside it. Empty: the one on the search path.", tags={"filechooser_mode": "read"}),
        ]),
        Group("group", "tab_wedge", "Wedge", [
            Multi("vary", "Vary", [
                Parm("vary_what#", "Parameter", "string", [""], help="As `meniscus cook --set` has it: node.param, by the node's name in the graph.", join_next=True),
                Parm("vary_values#", "Values", "string", [""], help="Separated by commas: 0.1,1,10. Vectors as [0,1,0],[0,2,0]."),
            ], 0, "Several give all combinations."),
            button("wedge", "Make TOP Network", "make_wedge", "Makes a TOP network in /tasks with a work item for every variant, and one for table and sheet."),
        ]),
    ]
    return asset("cook", "Meniscus Cook", [], top + tabs, "show_cook", ["start_cook", "resume_cook", "cancel_cook", "make_wedge"],
                 "Cooks a Meniscus shot in a process of its own: Houdini stays free, and a crash there is none here. The node gives one point with the detail attributes `state`, `progress` and `said`.")


def load():
    """Loads caches."""
    menu = ["return hou.phm().sequence_menu(kwargs['node'])"]
    top = [
        Parm("out", "Cook Folder", "directory", [""], help="Output folder of a cook; it may still be cooking."),
        Parm("sequence", "Sequence", "string", ["cache"], menu_script=menu, help="Name of the files without frame number: `cache` is the VDB sequence cache.0001.vdb, `points` the particles."),
        Parm("frame", "Frame", "float", [Expression("$F")], help="The frame that is shown. Between two frames: the earlier."),
        Parm("missing", "Missing Frame", "ordinal", ["0"], menu=[("error", "Error"), ("empty", "Nothing"), ("nearest", "Nearest Frame")], help="What stands for a frame that has no file."),
        toggle("reverse", "Turn Polygons Round", True, "Meniscus winds polygons counter-clockwise, Houdini clockwise."),
        toggle("radius", "Set Radius of Particles", True, "A liquid's particles have no size in the files: pscale becomes half of the distance between them, as the cook's cook.json says it."),
        toggle("units", "Metres to Scene Units", True, "Scales by the scene's unit of length. In a scene in metres nothing changes."),
        button("reload", "Reload", "reload_caches", "Looks for new frames.", True),
        button("stage", "Open in Solaris", "open_in_solaris", "Makes a Sublayer LOP in /stage on the shot's USD file; the graph needs the output USD Shot."),
        said("What the last button said."),
    ]
    return asset("load", "Meniscus Load", [], top, "load_cache", ["reload_caches", "open_in_solaris", "sequence_menu"],
                 "Loads what a cook has written: VDB volumes, particles, bubbles and meshes of bodies, frame by frame.")


def asset(name, label, inputs, parms, function, callbacks, help):
    """An asset from its parameters; `function` is called when the node cooks."""
    dialog = script(f"meniscus::{name}::{VERSION}", label, inputs, parms)
    module = MODULE.format(label=label, names=", ".join(callbacks))
    return Asset(name, label, VERSION, inputs, dialog, COOK.format(function=function), module, page(name, label, help, parms))


def page(name, label, help, parms):
    """The help card, in Houdini's wiki markup."""
    out = [f"#type: node", "#context: sop", f"#internal: {name}", "#namespace: meniscus", f"#version: {VERSION}", "", f"= {label} =", "", f'"""{help}"""', "", "@parameters", ""]
    return "\n".join(out + described(parms)) + "\n"


def described(parms):
    """A paragraph for each parameter; folders become headings."""
    out = []
    for parm in parms:
        if isinstance(parm, (Group, Multi)):
            out += [f"== {parm.label} ==", "", *described(parm.members)]
        elif parm.help:
            out += [f"{parm.label}:", f"    #id: {parm.name}", "", f"    {parm.help}", ""]
    return out


def run_time(nodes):
    """What the Python package needs to know of the node types: written beside it as `nodes.json`."""
    chosen = MANY + ["flip_solver", "rigid_solver", "gravity"] + COUPLINGS + list(OUTPUTS)
    kept = ("name", "kind", "components", "default", "animatable")
    types = {
        short(node): {
            "label": node["label"],
            "version": node["version"],
            "params": [
                {"parm": parm_name(node, param), **{key: param[key] for key in kept}, "menu": [item["token"] for item in param["menu"]]}
                for param in node["params"]
            ],
        }
        for node in nodes
        if short(node) in chosen
    }
    return {"many": MANY, "without_geometry": WITHOUT_GEOMETRY, "couplings": COUPLINGS, "outputs": list(OUTPUTS), "types": types}
