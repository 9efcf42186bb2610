# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Chromium without a window, driven over a pipe by its DevTools protocol; needs no package."""
import fcntl
import json
import os
import subprocess
import tempfile
import time


class Browser:
    """One page in one browser. `problems` are exceptions of its scripts, in order."""

    def __init__(self, width=1280, height=900, mobile=False):
        self.folder = tempfile.TemporaryDirectory()
        (read, self._to), (self._from, write) = os.pipe(), os.pipe()
        # The browser reads commands from 3 and writes to 4.
        from_us, to_us = (fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (read, write))
        command = ("exec chromium --headless=new --remote-debugging-pipe --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run "
                   f"--disable-extensions --force-prefers-reduced-motion --user-data-dir={self.folder.name}/user "
                   f"3<&{from_us} 4>&{to_us} {from_us}<&- {to_us}>&-")
        self.process = subprocess.Popen(["bash", "-c", command], pass_fds=(from_us, to_us), stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "HOME": self.folder.name})
        for end in (read, write, from_us, to_us):
            os.close(end)
        self._buffer, self._number, self._session, self._events, self.problems = b"", 0, None, [], []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime"):
            self.send(f"{domain}.enable")
        self.resize(width, height, mobile)

    def close(self):
        try:
            self._session = None
            self.send("Browser.close")
            self.process.wait(20)
        except (OSError, RuntimeError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self._to)
        os.close(self._from)
        self.folder.cleanup()

    def _receive(self):
        while b"\0" not in self._buffer:
            chunk = os.read(self._from, 1 << 20)
            if not chunk:
                raise RuntimeError(f"the browser ended with {self.process.wait()}")
            self._buffer += chunk
        text, _, self._buffer = self._buffer.partition(b"\0")
        message = json.loads(text)
        if message.get("method") == "Runtime.exceptionThrown":
            details = message["params"]["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description") or details["text"])
        if message.get("method") == "Inspector.targetCrashed":
            raise RuntimeError("the page ran out of memory")
        return message

    def send(self, method, **parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self._events.append(answer.get("method"))

    def resize(self, width, height, mobile=False):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)
        self.send("Emulation.setTouchEmulationEnabled", enabled=mobile, maxTouchPoints=2)

    def open(self, path):
        """Loads a file and waits for its scripts; returns the seconds that took."""
        start = time.monotonic()
        self._events.clear()
        self.send("Page.navigate", url="file://" + os.path.abspath(path))
        while "Page.loadEventFired" not in self._events:
            self._events.append(self._receive().get("method"))
        return time.monotonic() - start

    def value(self, expression):
        """The value of an expression of JavaScript; what it throws is an error here. Frames that it asks for are drawn before."""
        found = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise RuntimeError(found["exceptionDetails"]["exception"].get("description", found["exceptionDetails"]["text"]))
        return found["result"].get("value")

    def box(self, selector, index=0):
        """[left, top, width, height] of an element, scrolled into sight."""
        return self.value(f"(() => {{ const e = document.querySelectorAll({json.dumps(selector)})[{index}]; e.scrollIntoView({{block: 'center'}});"
                          " const b = e.getBoundingClientRect(); return [b.left, b.top, b.width, b.height]; })()")

    def click(self, selector, index=0):
        left, top, width, height = self.box(selector, index)
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=left + width / 2, y=top + height / 2, button="left", clickCount=1)

    def type(self, selector, text):
        """Writes into a field as a person does, over what it holds."""
        self.value(f"document.querySelector({json.dumps(selector)}).select()")
        self.click(selector)
        self.value(f"document.querySelector({json.dumps(selector)}).select()")
        self.send("Input.insertText", text=text)

    def touch(self, *fingers):
        """Moves fingers, each a list of places, at the same time."""
        for step, kind in zip(range(len(fingers[0])), ("touchStart", *["touchMove"] * (len(fingers[0]) - 1))):
            points = [{"x": finger[step][0], "y": finger[step][1], "id": number} for number, finger in enumerate(fingers)]
            self.send("Input.dispatchTouchEvent", type=kind, touchPoints=points)
        self.send("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
