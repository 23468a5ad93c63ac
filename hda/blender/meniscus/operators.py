# SPDX-License-Identifier: GPL-3.0-or-later
"""What the buttons do."""

import os

import bpy

from . import cook, load, preferences, scene
from .descriptors import Trouble, find_program

# Seconds between two looks at a cook.
_PAUSE = 0.25
# Seconds that a cook has to save when Blender ends.
_LAST = 10.0

# The cook that goes on, or went on last.
job = None


def is_cooking():
    return job is not None and job.state == "running"


def end():
    """Asks a cook to save before Blender ends."""
    if is_cooking():
        job.cancel()
        job.wait(_LAST)


class _Told:
    """Reports trouble as one sentence."""

    bl_options = {"REGISTER"}

    def execute(self, context):
        try:
            return self.do(context)
        except Trouble as trouble:
            self.report({"ERROR"}, str(trouble))
            return {"CANCELLED"}


def _begin(context, resume):
    """Starts a cook of the scene, or goes on with the one that was stopped."""
    global job
    if is_cooking():
        raise Trouble("a cook is going on: cancel it, or wait for its end")
    program = find_program(preferences.program(context))
    current = context.scene
    where = scene.paths(current)
    if resume:
        if not cook.can_resume(where.out):
            raise Trouble(f"there is no checkpoint in {where.out}: cook from the start")
    else:
        scene.write(context)
        current.meniscus.report = cook.check(program, where.graph)
    frames = current.frame_start, current.frame_end
    job = cook.Job(program, where.graph, where.out, frames, resume=resume, threads=current.meniscus.threads)
    return job


class MENISCUS_OT_check(_Told, bpy.types.Operator):
    """Write meshes and graph, find errors in them, and estimate time, memory and disk space"""

    bl_idname = "meniscus.check"
    bl_label = "Check"

    def do(self, context):
        _, where = scene.write(context)
        text = cook.check(find_program(preferences.program(context)), where.graph)
        context.scene.meniscus.report = text
        for line in text.splitlines():
            if line.startswith(("advice: ", "warning: ")):
                self.report({"WARNING"}, line.split(": ", 1)[1])
        self.report({"INFO"}, "the shot is sound")
        return {"FINISHED"}


class MENISCUS_OT_cook(_Told, bpy.types.Operator):
    """Write the scene as a graph and cook it in a process of its own. Esc saves and stops"""

    bl_idname = "meniscus.cook"
    bl_label = "Cook"
    bl_options = {"REGISTER", "UNDO"}

    resume: bpy.props.BoolProperty(name="Resume", options={"SKIP_SAVE"}, description="Go on from the last checkpoint, with the graph as it was")

    def do(self, context):
        """Waits for the end."""
        _begin(context, self.resume).wait()
        return self._end(context)

    def invoke(self, context, _event):
        try:
            _begin(context, self.resume)
        except Trouble as trouble:
            self.report({"ERROR"}, str(trouble))
            return {"CANCELLED"}
        manager = context.window_manager
        self._timer = manager.event_timer_add(_PAUSE, window=context.window)
        manager.progress_begin(0.0, 1.0)
        manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        if event.type == "ESC" and event.value == "PRESS" and is_cooking():
            job.cancel()
            return {"RUNNING_MODAL"}
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        context.window_manager.progress_update(job.fraction)
        context.workspace.status_text_set(f"Meniscus: {job.line} (Esc saves and stops)")
        _redraw(context)
        if is_cooking():
            return {"PASS_THROUGH"}
        context.window_manager.event_timer_remove(self._timer)
        context.window_manager.progress_end()
        context.workspace.status_text_set(None)
        try:
            return self._end(context)
        except Trouble as trouble:
            self.report({"ERROR"}, str(trouble))
            return {"CANCELLED"}

    def _end(self, context):
        """Tells how the cook ended, and loads what it wrote."""
        for warning in job.warnings:
            self.report({"WARNING"}, warning)
        if job.state == "failed":
            raise Trouble(job.sentence)
        if job.state == "stopped":
            self.report({"INFO"}, f"stopped and saved at frame {job.frame}: Resume goes on")
            return {"CANCELLED"}
        if context.scene.meniscus.load_after:
            load.load(context, job.out)
        self.report({"INFO"}, f"cooked: {job.out}")
        return {"FINISHED"}


class MENISCUS_OT_cancel(_Told, bpy.types.Operator):
    """Ask the cook to save and stop; asked again, it stops at once"""

    bl_idname = "meniscus.cancel"
    bl_label = "Cancel"

    @classmethod
    def poll(cls, _context):
        return is_cooking()

    def do(self, _context):
        job.cancel()
        return {"FINISHED"}


class MENISCUS_OT_load(_Told, bpy.types.Operator):
    """Load what was cooked, in place of what was loaded before"""

    bl_idname = "meniscus.load"
    bl_label = "Load"
    bl_options = {"REGISTER", "UNDO"}

    directory: bpy.props.StringProperty(name="Folder", subtype="DIR_PATH", options={"SKIP_SAVE"},
                                        description="Folder of a cook; empty: that of the scene")

    def do(self, context):
        load.load(context, os.path.abspath(bpy.path.abspath(self.directory)) if self.directory else None)
        return {"FINISHED"}


class MENISCUS_OT_unload(_Told, bpy.types.Operator):
    """Take away what was loaded, and let bodies go back to where they were"""

    bl_idname = "meniscus.unload"
    bl_label = "Unload"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        return load.loaded(context.scene) is not None

    def do(self, context):
        load.unload(context)
        return {"FINISHED"}


def _redraw(context):
    for window in context.window_manager.windows:
        for area in window.screen.areas:
            if area.type in ("PROPERTIES", "VIEW_3D"):
                area.tag_redraw()


classes = (MENISCUS_OT_check, MENISCUS_OT_cook, MENISCUS_OT_cancel, MENISCUS_OT_load, MENISCUS_OT_unload)
