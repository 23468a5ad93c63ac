# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs `meniscus` on graph files, as a process of its own. Needs no Blender."""

import collections
import os
import signal
import subprocess
import threading

from .descriptors import Trouble

# Exit code of a cook that was asked to stop and has saved.
_INTERRUPTED = 130
# Lines of messages that are kept.
_KEPT = 200


def check(program, graph):
    """What `meniscus check` prints for a graph. Raises Trouble with its sentences."""
    try:
        said = subprocess.run([program, "check", graph], capture_output=True, text=True)
    except OSError as e:
        raise Trouble(f"{program} cannot be run: {e}") from e
    if said.returncode != 0:
        raise Trouble(sentence(said.stderr, graph))
    return said.stdout


def sentence(errors, graph):
    """Errors of the program without the words and the path that each begins with."""
    lines = [line.removeprefix("error: ").removeprefix(f"{graph}: ") for line in errors.splitlines() if line.strip()]
    return "; ".join(lines) or "the program ended without a word"


def can_resume(out):
    """Whether a cook has left a checkpoint in its folder."""
    try:
        return any(os.scandir(os.path.join(out, "checkpoints")))
    except OSError:
        return False


class Job:
    """A cook. `state` is running, done, stopped (it has saved and can be resumed) or failed (`sentence` says why)."""

    def __init__(self, program, graph, out, frames, resume=False, threads=0):
        """`frames`: the first and the last. `threads` 0: as many as there are processors."""
        self.graph, self.out = graph, out
        self.first, self.last = frames
        self.frame = self.first - 1
        self.sentence = ""
        self.line = "beginning"
        self.warnings = []
        self._fraction = 0.0
        self._errors = collections.deque(maxlen=_KEPT)
        words = [program, "cook", graph, "--out", out, "--openjd", "--resume" if resume else "--replace"]
        if threads:
            words += ["--threads", str(threads)]
        try:
            # In a session of its own: Ctrl-C in Blender's terminal is Blender's.
            self._process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                             text=True, errors="replace", start_new_session=True)
        except OSError as e:
            raise Trouble(f"{program} cannot be run: {e}") from e
        pipes = ((self._process.stdout, self._hear), (self._process.stderr, self._overhear))
        self._readers = [threading.Thread(target=_read, args=pipe, daemon=True) for pipe in pipes]
        for reader in self._readers:
            reader.start()

    @property
    def state(self):
        code = self._process.poll()
        if code is None:
            return "running"
        for reader in self._readers:
            reader.join()
        if code == 0:
            return "done"
        if code == _INTERRUPTED:
            return "stopped"
        self.sentence = self.sentence or sentence("\n".join(e for e in self._errors if e.startswith("error: ")), self.graph)
        return "failed"

    @property
    def fraction(self):
        """How much of the frames is written, from 0 to 1."""
        return 1.0 if self._process.poll() == 0 else self._fraction

    def cancel(self):
        """Asks the cook to save and end; asked a second time it ends at once."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)

    def wait(self, seconds=None):
        """Waits for the end, so many seconds at most; the state."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            pass
        return self.state

    def _hear(self, line):
        """A line in the manner of Open Job Description."""
        word, _, rest = line.partition(": ")
        if word == "openjd_progress":
            self._fraction = float(rest) / 100.0
        elif word == "openjd_status":
            self.line = rest
            self.frame = int(rest.split()[1])

    def _overhear(self, line):
        if line.startswith("warning: "):
            self.warnings.append(line.removeprefix("warning: "))
            del self.warnings[:-_KEPT]
        elif line.startswith("frame "):
            self.line = line
        else:
            self._errors.append(line)


def _read(pipe, take):
    for line in pipe:
        take(line.rstrip("\n"))
