"""Opens an HTML report in a browser: run by a developer, as it needs Chromium.

It has a persona of hostile words audited, opens the report's page in Chromium without a window, and fails on any
request but the one for the page itself, on any message to the console, and where the page is wider than the window.
Pictures and a PDF go to a folder, for a person to look at.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import aiohttp

from tests.tui.web_check import BROWSERS, PATIENCE, expect, free_port, until_there

SECTIONS = "probes,traps,questionnaire,microprobe,anchor"
WIDTHS = (1280, 400)
_LOUD = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded", "Page.javascriptDialogOpening")
_OPEN_IN_PRINT = (
    "[...document.querySelectorAll('details')].filter("
    "one => one.offsetHeight < one.querySelector('summary').offsetHeight + 5).length"
)


class Browser:
    """A page in Chromium, told what to do through its channel for developers; keeps what it reports."""

    def __init__(self, channel: aiohttp.ClientWebSocketResponse) -> None:
        self._channel = channel
        self._last = 0
        self.events: list[dict[str, Any]] = []

    async def tell(self, method: str, **parameters: object) -> dict[str, Any]:
        """Return the reply to one command."""
        self._last += 1
        await self._channel.send_json({"id": self._last, "method": method, "params": parameters})
        async with asyncio.timeout(PATIENCE):
            while True:
                message = await self._channel.receive_json()
                if message.get("id") == self._last:
                    if "error" in message:
                        expect(False, f"{method}: {message['error']}")
                    return dict(message["result"])
                self.events.append(message)

    async def value(self, expression: str) -> Any:
        """Return what an expression in the page comes to."""
        found = await self.tell("Runtime.evaluate", expression=expression, returnByValue=True)
        return found.get("result", {}).get("value")

    def named(self, *methods: str) -> list[dict[str, Any]]:
        """Return the events of these kinds so far."""
        return [event for event in self.events if event.get("method") in methods]


def make_report(folder: Path) -> Path:
    """Have a persona audited and return the page of its report."""
    env = {**os.environ, "SELFDIAG_HOME": str(folder / "home")}
    command = [sys.executable, "-m", "selfdiag"]
    run = [*command, "run", "persona:hostile", "--sections", SECTIONS, "--yes", "--plain"]
    subprocess.run(run, check=True, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    page = folder / "report.html"
    write = [*command, "report", "latest", "--format", "html", "-o", str(page)]
    subprocess.run(write, check=True, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return page


async def check(page: Path, browser: str, pictures: Path | None) -> None:
    port = free_port()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "about:blank"]
        command += [f"--user-data-dir={profile}", f"--remote-debugging-port={port}"]
        running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            await until_there(f"http://127.0.0.1:{port}/json")
            async with aiohttp.ClientSession() as client:
                async with client.get(f"http://127.0.0.1:{port}/json") as listed:
                    tab = next(tab for tab in await listed.json() if tab["type"] == "page")
                async with client.ws_connect(tab["webSocketDebuggerUrl"], max_msg_size=0) as channel:
                    await look(Browser(channel), page, pictures)
        finally:
            running.terminate()
            running.wait(PATIENCE)


async def look(browser: Browser, page: Path, pictures: Path | None) -> None:
    for domain in ("Network", "Runtime", "Log", "Page"):
        await browser.tell(f"{domain}.enable")
    await browser.tell("Page.navigate", url=page.as_uri())
    deadline = time.monotonic() + PATIENCE
    while not browser.named("Page.loadEventFired") and time.monotonic() < deadline:
        await asyncio.sleep(0.2)
        await browser.value("1")
    expect(await browser.value("document.querySelectorAll('svg').length") > 4, "the page and its drawings are there")
    for width in WIDTHS:
        await browser.tell(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 500
        )
        wide = await browser.value("document.documentElement.scrollWidth")
        expect(wide <= width, f"at {width} pixels nothing is wider than the window ({wide})")
        for shade in ("light", "dark"):
            features = [{"name": "prefers-color-scheme", "value": shade}]
            await browser.tell("Emulation.setEmulatedMedia", media="screen", features=features)
            if pictures is not None:
                await picture(browser, pictures / f"report-{width}-{shade}.png", width)
    await browser.tell("Emulation.setEmulatedMedia", media="print", features=[])
    expect(await browser.value(_OPEN_IN_PRINT) == 0, "in print every detail is open")
    printed = await browser.tell("Page.printToPDF", preferCSSPageSize=True, printBackground=True)
    if pictures is not None:
        (pictures / "report.pdf").write_bytes(base64.b64decode(printed["data"]))
    asked = [event["params"]["request"]["url"] for event in browser.named("Network.requestWillBeSent")]
    expect(asked == [page.as_uri()], f"nothing but the page is asked for {asked if len(asked) != 1 else ''}".rstrip())
    loud = browser.named(*_LOUD)
    expect(not loud, f"nothing is said on the console {loud or ''}".rstrip())


async def picture(browser: Browser, path: Path, width: int) -> None:
    height = await browser.value("document.documentElement.scrollHeight")
    clip = {"x": 0, "y": 0, "width": width, "height": min(height, 16_000), "scale": 1}
    taken = await browser.tell("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)
    path.write_bytes(base64.b64decode(taken["data"]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pictures", nargs="?", type=Path, help="a folder for the pictures and the PDF")
    parser.add_argument("--page", type=Path, help="a report that is there already")
    chosen = parser.parse_args()
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        print("- Chromium is not installed: the report was not opened in a browser")
        return
    if chosen.pictures is not None:
        chosen.pictures.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        page = chosen.page or make_report(Path(folder))
        asyncio.run(check(page.resolve(), browser, chosen.pictures))


if __name__ == "__main__":
    main()
