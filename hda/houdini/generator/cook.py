"""Meniscus Cook: cooks a shot in the background."""

from .dialog import Group, Multi, Parm
from .pieces import asset, button, menu, node_path, path, said, text

DEVICES = [("auto", "Auto"), ("cpu", "Processor"), ("cuda", "GPU")]
CALLBACKS = ["start_cook", "resume_cook", "cancel_cook", "make_wedge"]
HELP = (
    "Cooks a Meniscus shot in a process of its own: Houdini stays free, and a crash there is none here. "
    "The node gives one point with the detail attributes `state`, `progress` and `said`."
)


def cook():
    """The asset."""
    return asset("cook", "Meniscus Cook", top() + [options(), wedge()], "show_cook", CALLBACKS, HELP)


def top():
    """What is cooked, where to, and how far it is."""
    return [
        node_path("shot", "Shot", "A Meniscus Shot, whose graph is cooked. Empty: the graph file below."),
        path(
            "graph",
            "Graph File",
            "file",
            "A graph, where no shot is named.",
            pattern="*.meniscus.json",
            disable_when='{ shot != "" }',
        ),
        path(
            "out",
            "Output Folder",
            "directory",
            "Folder for everything written. One cook at a time writes into it.",
            "$HIP/meniscus/$OS.out",
        ),
        button(
            "start",
            "Write and Cook",
            "start_cook",
            "Writes the shot, and cooks it from the start in the background. "
            "Frames of an earlier cook in the folder are replaced.",
            True,
        ),
        button(
            "resume",
            "Resume",
            "resume_cook",
            "Goes on from the latest checkpoint, to the same bytes as without the stop. The shot is not written anew.",
            True,
        ),
        button("cancel", "Stop", "cancel_cook", "Stops after this substep and saves a checkpoint."),
        text("state", "State", "waiting, cooking, stopped, failed or finished.", "waiting", join_next=True),
        Parm(
            "progress",
            "Progress (%)",
            "float",
            ["0"],
            range=("0!", "100!"),
            help="How much of the shot is on disk.",
        ),
        said("The last sentence of the cook."),
    ]


def options():
    """How it is cooked."""
    program = "The program `meniscus`, with its plugin beside it. Empty: the one on the search path."
    every = "Frames that a machine which fails may lose."
    threads = "0: as many as there are processors."
    return Group(
        "group",
        "tab_options",
        "Options",
        [
            menu("device", "Device", DEVICES, "Auto: a GPU if there is one, else the processor."),
            Parm("threads", "Threads", "integer", ["0"], range=("0!", "64"), help=threads),
            Parm("checkpoint_every", "Checkpoint Every (frames)", "integer", ["1"], range=("1!", "24"), help=every),
            path("program", "Program", "file", program, "$MENISCUS"),
        ],
    )


def wedge():
    """What is varied in TOPs."""
    what = "As `meniscus cook --set` has it: node.param, by the node's name in the graph."
    values = "Separated by commas: 0.1,1,10. Vectors as [0,1,0],[0,2,0]."
    made = "Makes a TOP network in /tasks with a work item for every variant, and one for table and sheet."
    entry = [text("vary_what#", "Parameter", what, join_next=True), text("vary_values#", "Values", values)]
    varied = Multi("vary", "Vary", entry, 0, "Several give all combinations.")
    return Group("group", "tab_wedge", "Wedge", [varied, button("wedge", "Make TOP Network", "make_wedge", made)])
