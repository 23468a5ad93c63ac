"""A small stand-in for Houdini's module `hou`: what `meniscus_houdini` uses of it, with the signatures of its public
documentation. It is no Houdini: it shows that our calls fit together, not that Houdini answers them so.

A scene is made by hand: `obj(...)`, `sop(...)`, `asset(...)`. `reset()` begins anew.
"""

from .geometry import (  # noqa: F401
    Attrib,
    Geometry,
    Matrix4,
    attribData,
    attribType,
    hmath,
    placed,
    primType,
)
from .nodes import Node, ObjNode, SopNode, asset, node, obj, sop  # noqa: F401
from .session import (  # noqa: F401
    Error,
    NodeError,
    ObjectWasDeleted,
    fps,
    frame,
    frameToTime,
    hscriptExpression,
    isUIAvailable,
    pwd,
    reset,
    scene,
    setFrame,
    ui,
    undos,
)

reset()
