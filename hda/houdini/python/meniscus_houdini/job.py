"""A cook in a process of its own: start, watch, stop, go on. Works wherever `meniscus` runs; Houdini stays free."""

import os
import re
import signal
import subprocess
import threading

# Exit codes of Meniscus.
DONE, FAILED, BAD, STOPPED = 0, 1, 2, 130
STATES = {DONE: "finished", STOPPED: "stopped"}
# Lines of a cook's messages that are kept.
KEPT = 200


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
    """A cook that runs, or has run."""

    def __init__(self, words):
        """Starts it; raises OSError where the program cannot be started."""
        # 0 to 100 %.
        self.progress = 0.0
        # What it says: a frame's statistics, warnings, the sentence of an error.
        self.said = ""
        self.lines = []
        self._lock = threading.Lock()
        self.process = subprocess.Popen(
            words,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        readers = [(self.process.stdout, self._of_farm), (self.process.stderr, self._of_people)]
        self._readers = [threading.Thread(target=self._read, args=of, daemon=True) for of in readers]
        for reader in self._readers:
            reader.start()

    def _read(self, stream, take):
        for line in stream:
            with self._lock:
                take(line.strip())
        stream.close()

    def _of_farm(self, line):
        """Progress, as render farms have it."""
        found = re.fullmatch(r"openjd_progress: ([0-9.]+)", line)
        if found:
            self.progress = float(found.group(1))

    def _of_people(self, line):
        if line:
            self.lines = self.lines[-KEPT + 1 :] + [line]
            self.said = line

    def state(self):
        """cooking, stopped, failed or finished."""
        code = self.process.poll()
        return "cooking" if code is None else STATES.get(code, "failed")

    def sentence(self):
        """What matters most of what it said: why it failed, else the last line."""
        with self._lock:
            errors = [line for line in self.lines if line.startswith("error: ")]
            return errors[0] if errors and self.state() == "failed" else self.said

    def stop(self):
        """Asks it to finish its substep and to save; does not wait."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)

    def wait(self, timeout=None):
        """Waits for the end, s; the state."""
        self.process.wait(timeout)
        for reader in self._readers:
            reader.join(timeout)
        return self.state()
