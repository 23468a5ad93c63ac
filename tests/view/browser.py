"""A headless Chromium, driven by its own protocol with nothing but Python's library."""

import base64
import json
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import time

FLAGS = [
    "--headless=new", "--no-first-run", "--disable-extensions", "--disable-background-networking", "--mute-audio",
    "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--hide-scrollbars",
    "--remote-debugging-port=0", "--disable-dev-shm-usage",
]


class Browser:
    """One page of a Chromium with a profile of its own."""

    def __init__(self, size=(1500, 900)):
        program = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
        if not program:
            raise SystemExit("there is no chromium: apt-get install chromium, or name it in CHROMIUM")
        self.profile = tempfile.mkdtemp(prefix="meniscus-view-")
        flags = FLAGS + [f"--user-data-dir={self.profile}", f"--window-size={size[0]},{size[1]}"]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            flags.append("--no-sandbox")
        self.process = subprocess.Popen([program, *flags, "about:blank"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        port_file = os.path.join(self.profile, "DevToolsActivePort")
        for _ in range(300):
            if os.path.exists(port_file) and os.path.getsize(port_file):
                break
            time.sleep(0.1)
        port, path = open(port_file).read().split("\n")[:2]
        self.port = int(port)
        self.socket = Socket(self.port, path)
        target = [t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page"][0]
        attached = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self.session = attached["sessionId"]
        self.errors = []
        for domain in ["Page", "Runtime", "Log", "Network"]:
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=size[0], height=size[1], deviceScaleFactor=1, mobile=False)

    session = None
    count = 0

    def call(self, method, **params):
        self.count += 1
        message = {"id": self.count, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        self.socket.send(json.dumps(message))
        while True:
            answer = json.loads(self.socket.receive())
            if answer.get("id") == self.count:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.hear(answer)

    def hear(self, event):
        """Keeps what goes wrong in the page, and every address that it asks for."""
        method, params = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description") or details.get("text"))
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.errors.append(f"{params['entry']['text']} {params['entry'].get('url', '')}")
        elif method == "Network.requestWillBeSent":
            self.asked.append(params["request"]["url"])

    asked = []

    def go(self, address):
        self.call("Page.navigate", url="about:blank")
        # What the page before this one asked for or said last is not this one's.
        self.errors, self.asked = [], []
        self.call("Page.navigate", url=address)

    def run(self, script):
        """The value of an expression."""
        result = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"])
        return result["result"].get("value")

    def wait(self, script, seconds=60):
        """Waits until an expression is true, or an element of the page."""
        until = time.time() + seconds
        while time.time() < until:
            try:
                value = self.run(f"((value) => value instanceof Element || value)({script})")
            except RuntimeError:
                value = None
            if value:
                return value
            time.sleep(0.1)
        raise AssertionError(f"in {seconds} s this never was true: {script}; errors: {self.errors}")

    def click(self, selector):
        found = self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); if (!e) return null;"
            " e.scrollIntoView({block: 'nearest'}); const b = e.getBoundingClientRect();"
            " return [b.x + b.width / 2, b.y + b.height / 2]; })()")
        assert found, f"there is no {selector}"
        for kind in ["mousePressed", "mouseReleased"]:
            self.call("Input.dispatchMouseEvent", type=kind, x=found[0], y=found[1], button="left", buttons=1, clickCount=1)

    def picture(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def close(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)


class Socket:
    """A WebSocket of this machine, text alone."""

    def __init__(self, port, path):
        self.raw = socket.create_connection(("127.0.0.1", port), timeout=120)
        key = base64.b64encode(os.urandom(16)).decode()
        self.raw.sendall((f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                          f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n").encode())
        self.rest = b""
        while b"\r\n\r\n" not in self.rest:
            self.rest += self.raw.recv(4096)
        head, self.rest = self.rest.split(b"\r\n\r\n", 1)
        assert b" 101 " in head, head

    def send(self, text):
        data, mask = text.encode(), os.urandom(4)
        length = len(data)
        size = struct.pack("!B", 0x80 | length) if length < 126 else (
            struct.pack("!BH", 0x80 | 126, length) if length < 1 << 16 else struct.pack("!BQ", 0x80 | 127, length))
        body = bytes(b ^ mask[i % 4] for i, b in enumerate(data))
        self.raw.sendall(b"\x81" + size + mask + body)

    def take(self, count):
        while len(self.rest) < count:
            more = self.raw.recv(1 << 16)
            if not more:
                raise ConnectionError("the browser is gone")
            self.rest += more
        part, self.rest = self.rest[:count], self.rest[count:]
        return part

    def receive(self):
        text = b""
        while True:
            first, second = self.take(2)
            length = second & 127
            if length == 126:
                length = struct.unpack("!H", self.take(2))[0]
            elif length == 127:
                length = struct.unpack("!Q", self.take(8))[0]
            part = self.take(length)
            if first & 15 == 9:
                continue
            text += part
            if first & 0x80:
                return text.decode()
