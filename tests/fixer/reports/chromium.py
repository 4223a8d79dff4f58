"""A headless Chromium that is spoken to over a pipe: https://chromedevtools.github.io/devtools-protocol/"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

_OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")


BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
"""The browser of this machine."""


class Chromium:
    """One page in one browser, which ends with the `with` statement."""

    def __enter__(self) -> Chromium:
        if BROWSER is None:
            raise SystemExit("no chromium here: apt-get install chromium")
        self._profile = tempfile.mkdtemp(prefix="look-")
        theirs_in, self._out = os.pipe()
        self._in, theirs_out = os.pipe()
        script = 'exec 3<&"$1" 4>&"$2"; shift 2; exec "$@"'  # the browser reads from 3 and writes to 4
        ends = [str(theirs_in), str(theirs_out)]
        options = [*_OPTIONS, "--remote-debugging-pipe", f"--user-data-dir={self._profile}", "about:blank"]
        self._process = subprocess.Popen(
            ["bash", "-c", script, "chromium", *ends, BROWSER, *options],
            pass_fds=(theirs_in, theirs_out),
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in), os.close(theirs_out)
        self._rest, self._number, self._session = b"", 0, None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Page.enable")
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(30)
        os.close(self._in), os.close(self._out)
        shutil.rmtree(self._profile, ignore_errors=True)

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """The result of a method of the protocol; what is told besides is passed over."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        answer = self._until(lambda said: said.get("id") == self._number)
        assert "error" not in answer, (method, answer["error"])
        return answer["result"]

    def _until(self, wanted: Any) -> dict[str, Any]:
        while True:
            while b"\0" not in self._rest:
                read = os.read(self._in, 1 << 16)
                assert read, "the browser ended"
                self._rest += read
            text, _, self._rest = self._rest.partition(b"\0")
            said: dict[str, Any] = json.loads(text)
            if wanted(said):
                return said

    def open(self, page: Path, width: int, dark: bool = False) -> None:
        """Opens a file in a window of a width, in light or dark."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Page.navigate", url=page.as_uri())
        self._until(lambda said: said.get("method") == "Page.loadEventFired")

    def value(self, expression: str) -> Any:
        """What an expression of JavaScript is on the page."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def press(self, key: str, code: int, text: str = "") -> None:
        """A key that goes down and up."""
        given: dict[str, Any] = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        self.call("Input.dispatchKeyEvent", type="keyDown", **given, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **given)
