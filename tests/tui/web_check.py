"""Checks the app in a browser: run by a developer, as it wants a free port, and Chromium for its last part.

It starts ``selfdiag serve``, asks for the page under its own and under a foreign name, drives the app through the
page's own channel until it quits, and has Chromium, where there is one, show it.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aiohttp

PATIENCE = 30.0
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def expect(condition: object, what: str) -> None:
    print(f"{'✓' if condition else '✗'} {what}", flush=True)
    if not condition:
        sys.exit(1)


async def until_there(address: str) -> None:
    deadline = time.monotonic() + PATIENCE
    async with aiohttp.ClientSession() as client:
        while time.monotonic() < deadline:
            try:
                async with client.get(address) as page:
                    await page.read()
                    return
            except aiohttp.ClientConnectionError:
                await asyncio.sleep(0.2)
    expect(False, "the server listens")


async def check_names(address: str, port: int) -> None:
    async with aiohttp.ClientSession() as client:
        async with client.get(address) as page:
            text = await page.text()
            expect(page.status == 200 and "textual" in text, "the page is there")
        async with client.get(address, headers={"Host": f"elsewhere.example:{port}"}) as page:
            expect(page.status == 403, "under a foreign name it is refused")
        try:
            async with client.ws_connect(f"{address}/ws", origin="http://elsewhere.example"):
                refused = False
        except aiohttp.WSServerHandshakeError as error:
            refused = error.status == 403
        expect(refused, "a page from elsewhere gets no app")


async def drive(address: str) -> None:
    async with (
        aiohttp.ClientSession() as client,
        client.ws_connect(f"{address}/ws?width=100&height=30", origin=address) as channel,
    ):
        seen = await receive(channel, lambda text: "which model?" in text)
        expect("which model?" in seen, "the home screen is painted")
        await channel.send_str(json.dumps(["stdin", "q"]))
        await receive(channel, lambda _: False)
        expect(channel.closed, "q ends the app and closes its channel")


async def receive(channel: aiohttp.ClientWebSocketResponse, enough: Callable[[str], bool]) -> str:
    """Return what the app paints until it is enough, the channel closes, or patience ends."""
    seen = ""
    try:
        async with asyncio.timeout(PATIENCE):
            async for message in channel:
                if message.type == aiohttp.WSMsgType.BINARY:
                    seen += message.data.decode("utf-8", "replace")
                if enough(seen):
                    break
    except TimeoutError:
        pass
    return seen


async def check_browser(address: str, picture: str) -> None:
    """Have Chromium show the app, told what to do through its own channel for developers."""
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        print("- Chromium is not installed: the page was not loaded in a browser")
        return
    port = free_port()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1200,760"]
        command += [f"--user-data-dir={profile}", f"--remote-debugging-port={port}", address]
        running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            await until_there(f"http://127.0.0.1:{port}/json")
            async with aiohttp.ClientSession() as client:
                async with client.get(f"http://127.0.0.1:{port}/json") as listed:
                    page = next(tab for tab in await listed.json() if tab["type"] == "page")
                async with client.ws_connect(page["webSocketDebuggerUrl"], max_msg_size=0) as channel:
                    await look(channel, picture)
        finally:
            running.terminate()
            running.wait(PATIENCE)


async def look(channel: aiohttp.ClientWebSocketResponse, picture: str) -> None:
    """Wait until the app has painted in the page, and take a picture of it."""
    deadline = time.monotonic() + PATIENCE
    painted = False
    while not painted and time.monotonic() < deadline:
        await asyncio.sleep(0.5)
        found = await told(channel, "Runtime.evaluate", {"expression": "document.body.className"})
        painted = "-first-byte" in str(found.get("result", {}).get("value", ""))
    expect(painted, "the app paints in Chromium")
    if picture:
        await asyncio.sleep(2)
        taken = await told(channel, "Page.captureScreenshot", {})
        Path(picture).write_bytes(base64.b64decode(taken["data"]))


async def told(channel: aiohttp.ClientWebSocketResponse, method: str, parameters: dict[str, str]) -> dict[str, Any]:
    await channel.send_json({"id": 1, "method": method, "params": parameters})
    async with asyncio.timeout(PATIENCE):
        while True:
            reply = await channel.receive_json()
            if reply.get("id") == 1:
                return dict(reply["result"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--selfdiag", default=f"{shlex.quote(sys.executable)} -m selfdiag", help="how it is started")
    parser.add_argument("--picture", default="", help="where Chromium's picture of the app goes, a PNG file")
    chosen = parser.parse_args()
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    server = subprocess.Popen([*shlex.split(chosen.selfdiag), "serve", "--port", str(port)], stdout=subprocess.PIPE)
    try:
        asyncio.run(until_there(address))
        asyncio.run(check_names(address, port))
        asyncio.run(drive(address))
        asyncio.run(check_browser(address, chosen.picture))
    finally:
        server.terminate()
        printed = server.communicate(timeout=PATIENCE)[0].decode()
    expect(printed.strip() == address, "its address is all that it prints on standard output")


if __name__ == "__main__":
    main()
