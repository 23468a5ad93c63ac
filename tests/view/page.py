#!/usr/bin/env python3
"""The page of `meniscus view` in a headless Chromium: what stands there, and pictures for someone to look at.

    apt-get install chromium
    tests/view/page.py target/release/meniscus PICTURES

Cooks two small variants of a shot and one that fails, shows them finished, side by side, failed, live and read-only, plays
them, and begins a changed cook from the page. It is run by hand and by `make scenes`, not by `make check`: a browser is no
part of CI's machines.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import Browser

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def shot(frames, spacing=0.02):
    """A block of water falls into a basin with a block of wood, beside a bell that keeps its air."""
    return {
        "format": "meniscus.graph/1", "fps": 24, "frames": [1, frames], "substeps": {"max": 6},
        "nodes": [
            {"name": "pool_box", "type": "box", "params": {"size": [0.98, 0.3, 0.58], "center": [0, 0.16, 0]}},
            {"name": "drop_box", "type": "box", "params": {"size": [0.24, 0.24, 0.24], "center": [-0.34, 0.6, 0]}},
            {"name": "start", "type": "merge", "inputs": ["pool_box", "drop_box"]},
            {"name": "water", "type": "liquid_object", "inputs": ["start"], "params": {"particle_separation": spacing}},
            {"name": "cube", "type": "box", "params": {"size": [0.16, 0.16, 0.16], "center": [0.3, 0.42, 0], "rotate": [20, 30, 0]}},
            {"name": "wood", "type": "rigid_object", "inputs": ["cube"], "params": {"density": 500, "division_size": 2 * spacing}},
            {"name": "bell_mesh", "type": "tube", "params": {"radius_bottom": 0.17, "radius_top": 0.14, "height": 0.36, "center": [-0.02, 0.36, 0],
                                                             "thickness": 0.08, "lid": True}},
            {"name": "bell", "type": "static_object", "inputs": ["bell_mesh"], "params": {"division_size": 2 * spacing}},
            {"name": "gravity", "type": "gravity"},
            {"name": "rigid", "type": "rigid_solver", "inputs": ["wood", "bell", "gravity"], "params": BASIN},
            {"name": "flip", "type": "flip_solver", "inputs": ["water", "bell", "wood", "gravity"], "params": BASIN},
            {"name": "air", "type": "constraint_bubbles", "inputs": ["rigid", "flip"]},
            {"name": "surface", "type": "vdb_cache", "inputs": ["air"]},
            {"name": "meshes", "type": "geometry_cache", "inputs": ["air"]},
            {"name": "look", "type": "preview", "inputs": ["air"], "params": {"resolution": [240, 180]}},
        ],
    }


BASIN = {"limit_center": [0, 0.5, 0], "limit_size": [1, 1, 0.6], **{
    f"side_{side}": "closed" for side in ["neg_x", "pos_x", "neg_y", "neg_z", "pos_z"]}}


class View:
    """A running `meniscus view`."""

    def __init__(self, program, *args, cwd):
        self.process = subprocess.Popen([program, "view", *args], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=cwd)
        self.address = self.process.stdout.readline().strip()
        assert self.address.startswith("http://127.0.0.1:"), self.address

    def close(self):
        self.process.terminate()
        self.process.wait()


def cook(program, graph, out, *more, wait=True):
    begun = subprocess.Popen([program, "cook", graph, "--out", out, "--quiet", *more], stderr=subprocess.PIPE, text=True)
    return begun.wait() if wait else begun


DRAWN = "document.querySelector('#stage').dataset.drawn"
STATE = "[...document.querySelectorAll('header .state')].map(e => e.textContent).join()"


def quiet(browser):
    """Nothing went wrong in the page, and it asked nobody else for anything."""
    assert not browser.errors, browser.errors
    host = browser.run("location.host")
    strange = [a for a in browser.asked if not a.startswith((f"http://{host}/", "blob:", "about:"))]
    assert not strange, strange
    assert browser.run("location.hash") == "", "the token stays out of the address"




def finished(browser, view, pictures):
    browser.go(view.address)
    browser.wait(f"{DRAWN} && {STATE} === 'finished'")
    browser.wait("document.querySelectorAll('.plot[data-key] path').length >= 5")
    names = browser.run("[...document.querySelectorAll('.node')].map(n => n.dataset.name)")
    assert {"water", "flip", "air", "surface"} <= set(names), names
    states = browser.run("[...document.querySelectorAll('.node.cached')].map(n => n.dataset.name)")
    assert set(states) == {"surface", "meshes", "look"}, states
    assert "triangles" in browser.run("document.querySelector('.overlay.a').textContent")
    browser.click("[data-name=flip]")
    browser.wait("document.querySelector('[data-param=\"flip.surface_tension\"] .unit')?.textContent === 'N/m'")
    time.sleep(1)
    browser.picture(os.path.join(pictures, "finished.png"))
    # Another frame, by key and by a click on a plot.
    before = int(browser.run(DRAWN))
    browser.call("Input.dispatchKeyEvent", type="keyDown", key="ArrowRight", windowsVirtualKeyCode=39)
    browser.wait(f"{DRAWN} === '{before + 1}'")
    browser.click(".plot[data-key] svg")
    browser.wait(f"{DRAWN} !== '{before + 1}'")
    browser.click("[data-layer=surface]")
    browser.wait("document.querySelector('[data-layer=surface]').getAttribute('aria-pressed') === 'false'")
    browser.click("[data-layer=surface]")
    browser.click(".play")
    browser.wait("document.querySelector('.play').textContent === '❚❚'")
    shown = {browser.run(DRAWN) for _ in range(60) if not time.sleep(0.1)}
    assert len(shown) > 3, shown
    quiet(browser)


def side_by_side(browser, view, pictures):
    browser.go(view.address)
    browser.wait(f"{DRAWN} && {STATE} === 'finished,finished'")
    browser.wait("document.querySelectorAll('.plot[data-key] .line.b').length >= 3")
    both = browser.run("['a', 'b'].map(m => document.querySelector('.overlay.' + m).textContent)")
    assert all("triangles" in text for text in both) and both[0] != both[1], both
    browser.click("[data-name=water]")
    browser.wait("document.querySelector('[data-param=\"water.particle_separation\"] .was')")
    time.sleep(1)
    browser.picture(os.path.join(pictures, "compare.png"))
    quiet(browser)


def failed(browser, view, pictures):
    browser.go(view.address)
    browser.wait(f"{STATE} === 'failed'")
    assert "surface" in browser.wait("document.querySelector('.banner:not([hidden])')?.textContent")
    assert browser.run("document.querySelector('.node.failed')?.dataset.name") == "surface"
    browser.wait(DRAWN)
    browser.picture(os.path.join(pictures, "failed.png"))
    quiet(browser)


def live(browser, view, job, pictures):
    browser.go(view.address)
    browser.wait(f"{DRAWN} && {STATE}.startsWith('cooking')")
    first = int(browser.run(DRAWN))
    browser.wait(f"Number({DRAWN}) > {first + 2}", 120)
    assert browser.run("document.querySelectorAll('.node.cooking').length") > 1
    browser.picture(os.path.join(pictures, "live.png"))
    # A cook that dies is a cook that has ended.
    job.kill()
    browser.wait(f"{STATE} === 'stopped'", 60)
    assert "--resume" in browser.wait("document.querySelector('.banner:not([hidden])')?.textContent")
    quiet(browser)


def change(browser, view, pictures):
    browser.go(view.address)
    browser.wait(f"{DRAWN} && document.querySelector('[data-name=water]')")
    browser.click("[data-name=water]")
    field = "document.querySelector('[data-param=\"water.particle_separation\"] input')"
    browser.wait(f"{field} && document.querySelector('[data-param=\"water.particle_separation\"] .unit')")
    write = lambda value: browser.run(f"{field}.value = '{value}'; {field}.dispatchEvent(new Event('change'))")
    # What is wrong with a value is told before anything is cooked, and what the shot would cost.
    write("-1")
    assert "particle_separation" in browser.wait("document.querySelector('.foot .sentence')?.textContent")
    browser.picture(os.path.join(pictures, "refused.png"))
    write("0.03")
    assert "memory: about" in browser.wait("document.querySelector('.foot .expected')?.textContent")
    assert not browser.run("document.querySelector('.foot .sentence')?.textContent ?? ''")
    ways = browser.run("[...document.querySelector('[data-do=fork]').options].map(o => o.textContent)")
    assert ways == ["the first frame", "the end of frame 29"], ways
    browser.picture(os.path.join(pictures, "change.png"))
    browser.click("[data-do=cook]")
    browser.wait(f"{STATE}.split(',').length === 2 && {STATE}.split(',').every(s => s === 'finished')", 240)
    quiet(browser)


def read_only(browser, view):
    browser.go(view.address)
    browser.wait(f"{DRAWN} && document.querySelector('[data-name=water]')")
    browser.click("[data-name=water]")
    assert browser.wait("document.querySelector('[data-param] input')?.disabled")
    quiet(browser)
    # Another tab has no token: nothing is shown.
    browser.run("sessionStorage.clear()")
    browser.go(view.address.split("#")[0])
    assert "token" in browser.wait("document.querySelector('#notice:not([hidden])')?.textContent")


def main(program, pictures):
    program = os.path.abspath(program)
    os.makedirs(pictures, exist_ok=True)
    folder = tempfile.mkdtemp(prefix="meniscus-page-")
    path = lambda name: os.path.join(folder, name)

    def write(name, graph):
        with open(path(name), "w") as file:
            json.dump(graph, file)
        return path(name)

    def view(*args):
        return View(program, *args, cwd=folder)

    graph, long = write("splash.meniscus.json", shot(30)), write("long.meniscus.json", shot(400))
    assert cook(program, graph, path("splash")) == 0
    assert cook(program, graph, path("coarse"), "--set", "water.particle_separation=0.03") == 0
    os.makedirs(path("bad/surface/surface.0007.vdb"))
    assert cook(program, graph, path("bad")) == 1
    browser, views = Browser(), []
    try:
        for act, args in [(finished, ["splash"]), (side_by_side, ["splash", "coarse"]), (failed, ["bad"]), (change, ["splash"])]:
            views.append(view(*[path(a) for a in args]))
            act(browser, views[-1], pictures)
            print(f"{act.__name__}: as it should be")
        job = cook(program, long, path("long"), wait=False)
        time.sleep(2)
        views.append(view(path("long")))
        live(browser, views[-1], job, pictures)
        views.append(view("--read-only", path("splash")))
        read_only(browser, views[-1])
        print("live, read_only: as they should be")
    except BaseException:
        browser.picture(os.path.join(pictures, "trouble.png"))
        raise
    finally:
        browser.close()
        for each in views:
            each.close()
        shutil.rmtree(folder, ignore_errors=True)
    print(f"look at the pictures in {pictures}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    main(sys.argv[1], sys.argv[2])
