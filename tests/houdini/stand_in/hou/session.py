"""Errors, time, units: the session."""

import contextlib


class Error(Exception):
    """Base of Houdini's errors."""


class NodeError(Error):
    """An error that a node shows."""


class ObjectWasDeleted(Error):
    """A node that is gone."""


scene = {}


def reset():
    """An empty scene at frame 1."""
    scene.clear()
    scene.update(nodes={}, frame=1.0, fps=24.0, hip=".", unit=1.0, start=1, end=24, pwd=None, ui=False, callbacks=[])


def pwd():
    return scene["pwd"]


def frame():
    return scene["frame"]


def setFrame(number):
    scene["frame"] = float(number)


def fps():
    return scene["fps"]


def frameToTime(number):
    return (number - 1) / fps()


def hscriptExpression(text):
    assert text == 'scaletomks("m1")', text
    return scene["unit"]


def isUIAvailable():
    return scene["ui"]


class undos:
    @staticmethod
    def disabler():
        return contextlib.nullcontext()


class ui:
    @staticmethod
    def addEventLoopCallback(callback):
        scene["callbacks"].append(callback)

    @staticmethod
    def removeEventLoopCallback(callback):
        scene["callbacks"].remove(callback)
