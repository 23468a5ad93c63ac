"""What the interfaces of the assets are put together from, and how an asset is made of one."""

from .dialog import Group, Multi, Parm, script
from .library import Asset

VERSION = "1.0"
MODULE = '''"""Callbacks of {label}; the code is in the Python package `meniscus_houdini`."""
from meniscus_houdini.assets import {names}
'''
COOK = "from meniscus_houdini import assets\nassets.{function}(hou.pwd())\n"


def button(name, label, function, help, join_next=False):
    """A button that calls a function of the asset's module with the node."""
    callback = f"hou.phm().{function}(kwargs['node'])"
    tags = {"script_callback": callback, "script_callback_language": "python"}
    return Parm(name, label, "button", ["0"], help=help, join_next=join_next, tags=tags)


def toggle(name, label, on, help):
    """A toggle."""
    return Parm(name, label, "toggle", [str(int(on))], help=help)


def text(name, label, help, default="", **more):
    """A text."""
    return Parm(name, label, "string", [default], help=help, **more)


def menu(name, label, entries, help, at=0):
    """A menu of (token, label)."""
    return Parm(name, label, "ordinal", [str(at)], menu=entries, help=help)


def path(name, label, kind, help, default="", pattern="", mode="read", **more):
    """A path to a file or folder."""
    tags = {"filechooser_mode": mode} if kind == "file" else {}
    if pattern:
        tags["filechooser_pattern"] = pattern
    return Parm(name, label, kind, [default], help=help, tags=tags, **more)


def node_path(name, label, help, hide_when=""):
    """A path to a SOP."""
    tags = {"opfilter": "!!SOP!!", "oprelative": "."}
    return Parm(name, label, "oppath", [""], help=help, hide_when=hide_when, tags=tags)


def said(help):
    """What the last button said."""
    return text("said", "Last Message", help, tags={"editor": "1", "editorlines": "2-6"})


def asset(name, label, parms, function, callbacks, help):
    """An asset with these parameters; `function` is called when the node cooks."""
    dialog = script(f"meniscus::{name}::{VERSION}", label, [], parms)
    module = MODULE.format(label=label, names=", ".join(callbacks))
    return Asset(
        name, label, VERSION, [], dialog, COOK.format(function=function), module, page(name, label, help, parms)
    )


def page(name, label, help, parms):
    """The help card, in Houdini's wiki markup."""
    head = ["#type: node", "#context: sop", f"#internal: {name}", "#namespace: meniscus", f"#version: {VERSION}"]
    out = head + ["", f"= {label} =", "", f'"""{help}"""', "", "@parameters", ""]
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
