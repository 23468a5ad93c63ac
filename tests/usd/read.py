"""Reads a shot with Pixar's USD and prints what is in it as JSON.

usage: read.py SHOT.usda

Each prim has its type, and each attribute with values its values by time; `world` is where a prim's points are in the world.
"""

import json
import math
import sys

from pxr import Gf, Usd, UsdGeom

from complaints import complaints


def plain(value):
    """A value of USD as JSON has it."""
    if isinstance(value, (Gf.Quatf, Gf.Quatd)):
        return [value.GetReal(), *value.GetImaginary()]
    if isinstance(value, Gf.Matrix4d):
        return [list(row) for row in value]
    if hasattr(value, "resolvedPath"):
        return {"path": value.path, "resolved": value.resolvedPath}
    if hasattr(value, "__len__") and not isinstance(value, str):
        return [plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise SystemExit(f"{value} is no finite number")
    return value


def attributes(prim, times):
    found = {}
    for attribute in prim.GetAttributes():
        samples = attribute.GetTimeSamples()
        values = {str(t): plain(attribute.Get(t)) for t in samples}
        if not samples and attribute.HasAuthoredValue():
            values = {"always": plain(attribute.Get())}
        if values:
            found[attribute.GetName()] = values
    return found


def world(prim, times):
    """Where its points, or it itself, are in the world."""
    found = {}
    for time in times:
        to_world = UsdGeom.XformCache(time).GetLocalToWorldTransform(prim)
        points = prim.GetAttribute("points").Get(time) if prim.HasAttribute("points") else [Gf.Vec3d(0)]
        found[str(time)] = [list(to_world.Transform(Gf.Vec3d(p))) for p in points or []]
    return found


def visible(prim, times):
    image = UsdGeom.Imageable(prim)
    return {str(t): image.ComputeVisibility(t) != "invisible" for t in times}


def main():
    stage = Usd.Stage.Open(sys.argv[1])
    first, last = stage.GetStartTimeCode(), stage.GetEndTimeCode()
    times = [first + n for n in range(int(last - first) + 1)]
    prims = {}
    for prim in stage.Traverse(Usd.TraverseInstanceProxies(Usd.PrimDefaultPredicate)):
        entry = {"type": str(prim.GetTypeName()), "attributes": attributes(prim, times)}
        if prim.IsA(UsdGeom.Xformable):
            entry["world"] = world(prim, times)
            entry["visible"] = visible(prim, times)
        prims[str(prim.GetPath())] = entry
    camera = UsdGeom.Camera(next(p for p in stage.Traverse() if p.IsA(UsdGeom.Camera)))
    frustum = camera.GetCamera(first).frustum
    box = UsdGeom.BBoxCache(first, ["default"]).ComputeWorldBound(stage.GetDefaultPrim())
    print(json.dumps({
        "complaints": complaints(stage),
        "default": str(stage.GetDefaultPrim().GetPath()),
        "metres": UsdGeom.GetStageMetersPerUnit(stage),
        "up": str(UsdGeom.GetStageUpAxis(stage)),
        "fps": [stage.GetTimeCodesPerSecond(), stage.GetFramesPerSecond()],
        "times": [first, last],
        "seen": frustum.Intersects(box),
        "prims": prims,
    }))


main()
