"""A cook in a process of its own: start, watch, stop, go on. Works wherever `meniscus` runs; Houdini stays free."""

import os
import re
import signal
import subprocess

# Exit codes of Meniscus.
DONE, FAILED, BAD, STOPPED = 0, 1, 2, 130
STATES = {DONE: "finished", STOPPED: "stopped"}
# Lines of a cook's messages that are kept.
KEPT = 200


class JobError(Exception):
    """Why nothing runs, and what to do: one sentence."""


def program(given=""):
    """The program: what is given, else $MENISCUS, else `meniscus` on the search path."""
    return given or os.environ.get("MENISCUS", "") or "meniscus"


def environment(inherited=None):
    """The environment without what Houdini sets for its own libraries: Meniscus brings its own OpenVDB and TBB."""
    env = dict(os.environ if inherited is None else inherited)
    home = env.get("HFS", "")
    for name in ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "LD_PRELOAD"):
        if home and name in env:
            kept = [part for part in env[name].split(":") if part and not part.startswith(home)]
            env[name] = ":".join(kept)
            if not kept:
                del env[name]
    return env


def cook_command(graph, out, given="", resume=False, device="auto", threads=0, checkpoint_every=1):
    """The words of a cook. Frames of an earlier cook are replaced unless it is resumed."""
    words = [program(given), "cook", graph, "--out", out, "--openjd", "--device", device]
    words += ["--threads", str(threads)] if threads else []
    words += ["--checkpoint-every", str(checkpoint_every)]
    return words + (["--resume"] if resume else ["--replace"])


def ask(words):
    """Runs a short command: whether it succeeded, and what it said."""
    try:
        run = subprocess.run(
            words, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace"
        )
    except OSError as error:
        return False, cannot_start(words[0], error)
    return run.returncode == DONE, (run.stdout + run.stderr).strip()


def check(graph, given=""):
    """Errors in a graph, and what its cook will need."""
    return ask([program(given), "check", graph])


def cannot_start(name, error):
    """A sentence."""
    return (
        f"cannot start {name}: {error.strerror or error}; set Program, or the variable MENISCUS, to the program's path"
    )


class Cook:
    """A cook that runs, or has run. What it says goes to a file, so that it can go on when Houdini is closed."""

    def __init__(self, words, log):
        """Starts it. Raises JobError."""
        # 0 to 100 %.
        self.progress = 0.0
        # What it says: a frame's statistics, warnings, the sentence of an error.
        self.lines = []
        # The file, how much of it was read, bytes, and a line that is not whole yet.
        self._log, self._read, self._part = log, 0, ""
        try:
            os.makedirs(os.path.dirname(os.path.abspath(log)), exist_ok=True)
            file = open(log, "wb")
        except OSError as error:
            raise JobError(f"cannot write {log}: {error.strerror}; set Output Folder anew") from error
        streams = {"stdin": subprocess.DEVNULL, "stdout": file, "stderr": subprocess.STDOUT}
        with file:
            try:
                self.process = subprocess.Popen(words, env=environment(), start_new_session=True, **streams)
            except OSError as error:
                raise JobError(cannot_start(words[0], error)) from error

    def look(self):
        """Takes what it has said since the last look; how far it is."""
        state = self.state()
        with open(self._log, "rb") as file:
            file.seek(self._read)
            new = file.read()
        self._read += len(new)
        *lines, self._part = (self._part + new.decode("utf-8", "replace")).split("\n")
        for line in lines:
            progress = re.fullmatch(r"openjd_progress: ([0-9.]+)", line)
            if progress:
                self.progress = float(progress.group(1))
            elif line.strip() and not line.startswith("openjd_"):
                self.lines = self.lines[-KEPT + 1 :] + [line.strip()]
        return state, self.progress, self.sentence(state)

    def state(self):
        """cooking, stopped, failed or finished."""
        code = self.process.poll()
        return "cooking" if code is None else STATES.get(code, "failed")

    def sentence(self, state):
        """What matters most of what it said: why it failed, else the last line."""
        errors = [line for line in self.lines if line.startswith("error: ")] if state == "failed" else []
        return (errors + self.lines[-1:] + [""])[0]

    def stop(self):
        """Asks it to finish its substep and to save; does not wait."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)

    def wait(self, timeout=None):
        """Waits for the end, s; the state."""
        self.process.wait(timeout)
        return self.look()[0]
