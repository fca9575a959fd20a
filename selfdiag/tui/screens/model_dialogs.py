"""What a person is asked about a model: its file, its address and name, or whether to fetch it."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static

from selfdiag.safety import SelfdiagError
from selfdiag.tui.background import begin, in_background
from selfdiag.tui.discovery import check, key_source
from selfdiag.tui.screens.dialog import Dialog, Hint
from selfdiag.tui.text import line

Named = tuple[str, str]
"""A model string and the address of its server, empty where it needs none."""
OPENAI = "openai"
"""Whose way of asking the servers of other addresses speak."""


class FileDialog(Dialog[Named]):
    """Asks for the path of a GGUF file."""

    def compose(self) -> ComposeResult:
        """Return a line to write the path in."""
        with Vertical():
            yield Static("which file?", classes="question")
            yield Static("path of a GGUF file; ~ is your home folder", classes="label")
            yield Input(placeholder="~/models/model.gguf", id="path")
            yield Static(classes="fault", markup=False)
            yield Hint(("enter", "choose"), ("esc", "back"))

    @on(Input.Changed)
    def forget_fault(self) -> None:
        """Take back what was said of another path."""
        self.tell_fault(None)

    @on(Input.Submitted)
    def submit(self, event: Input.Submitted) -> None:
        """Look at the file."""
        path = event.value.strip()
        if path:
            begin(self, self._look, path)
        else:
            self.tell_fault(Content("write the path of a file"))

    async def _look(self, path: str) -> None:
        try:
            await in_background(check, f"gguf:{path}", "")
        except SelfdiagError as error:
            self.tell_fault(line(str(error), 300))
        else:
            self.dismiss((f"gguf:{path}", ""))


class AddressDialog(Dialog[Named]):
    """Asks for the address of a server and the name of its model.

    Args:
        provider: whose service it is, empty for any server that speaks as OpenAI's does.
    """

    def __init__(self, provider: str = "") -> None:
        super().__init__()
        self._service = provider
        self._provider = provider or OPENAI

    def compose(self) -> ComposeResult:
        """Return lines for the address and the name, and where the key comes from."""
        own = f"empty: {self._service}'s own service"
        with Vertical():
            question = f"which model of {self._service}?" if self._service else "which server?"
            yield Static(question, classes="question", markup=False)
            yield Static("address", classes="label")
            yield Input(placeholder=own if self._service else "http://127.0.0.1:8080/v1", id="address")
            yield Static("model", classes="label")
            yield Input(placeholder="its name there", id="name")
            yield Static(id="key", classes="hint", markup=False)
            yield Static(classes="fault", markup=False)
            yield Hint(("enter", "choose"), ("tab", "next line"), ("esc", "back"))

    def on_mount(self) -> None:
        """Begin where something must be written."""
        self.query_one("#name" if self._service else "#address").focus()
        self._tell_key()

    @on(Input.Changed)
    def forget_fault(self) -> None:
        """Take back what was said of another address or name."""
        self.tell_fault(None)

    @on(Input.Changed, "#address")
    def address_changed(self) -> None:
        """Say which key an address gets: a service's own key never goes elsewhere."""
        self._tell_key()

    @on(Input.Submitted, "#address")
    def next_line(self) -> None:
        """Go on to the name."""
        self.query_one("#name").focus()

    @on(Input.Submitted, "#name")
    def submit(self) -> None:
        """Look at what was written."""
        address = self.query_one("#address", Input).value.strip()
        name = self.query_one("#name", Input).value.strip()
        if not address and not self._service:
            self.tell_fault(Content("write the server's address, such as http://127.0.0.1:8080/v1"))
            self.query_one("#address").focus()
        elif not name:
            self.tell_fault(Content("write the model's name, as the server knows it"))
        else:
            model = f"{self._provider}:{name}"
            begin(self, self._look, model, address, group="look")

    async def _look(self, model: str, address: str) -> None:
        try:
            await in_background(check, model, address)
        except SelfdiagError as error:
            self.tell_fault(line(str(error), 300))
        else:
            self.dismiss((model, address))

    def _tell_key(self) -> None:
        server = bool(self.query_one("#address", Input).value.strip()) or not self._service
        begin(self, self._show_key, server, group="key")

    async def _show_key(self, server: bool) -> None:
        words = await in_background(lambda: key_source(self._provider, server=server))
        self.query_one("#key", Static).update(line(words, 300))


class FetchDialog(Dialog[bool]):
    """Fetches the embedded model once, when the person says so; escape gives up at any moment."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "fetch", "fetch", id="fetch.begin")]

    def __init__(self) -> None:
        super().__init__()
        self._stopped = threading.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._said = ""
        self._began: float | None = None

    def compose(self) -> ComposeResult:
        """Return what it costs, and how far it is."""
        with Vertical():
            yield Static("fetch the embedded model?", classes="question")
            yield Static(
                "SmolLM2-135M-Instruct: 93 MB to download, once; 98 MB on disk. A small, real model that runs on this "
                "machine, published by Hugging Face under the Apache-2.0 licence.",
                markup=False,
            )
            yield Static(id="progress", classes="hint", markup=False)
            yield Static(classes="fault", markup=False)
            yield Hint(("enter", "fetch"), ("esc", "back"), id="keys")

    def on_mount(self) -> None:
        """Count the seconds while it is being fetched."""
        self.query_one("#progress").display = False
        self.set_interval(0.5, self._count)

    def on_unmount(self) -> None:
        """Leave no download behind that nobody waits for."""
        self._stopped.set()

    def action_fetch(self) -> None:
        """Begin, unless it has begun."""
        if self._began is None:
            self._stopped = threading.Event()
            self._began = time.monotonic()
            self._idle.clear()
            self.tell_fault(None)
            begin(self, self._fetch)

    def action_leave(self) -> None:
        """Give up while it is being fetched, else go back."""
        if self._began is None:
            self.dismiss(False)
        else:
            self._stopped.set()
            self._said = "stopping…"
            self._count()

    async def leaving(self) -> bool:
        """Stop the download before the app ends; nothing is lost that could not be fetched again."""
        await self.closing()
        return True

    async def closing(self) -> None:
        """Stop the download."""
        self._stopped.set()
        await self._idle.wait()

    async def _fetch(self) -> None:
        from selfdiag.models.weights import obtain

        self._said = "looking for it on this machine…"
        self._count()
        self.query_one("#keys", Hint).tell(("esc", "give up"))
        try:
            await in_background(obtain, self._say, self._stopped)
        except SelfdiagError as error:
            if self._stopped.is_set():
                self.dismiss(False)
                return
            self.tell_fault(line(str(error), 500))
            self.query_one("#progress").display = False
            self.query_one("#keys", Hint).tell(("enter", "try again"), ("esc", "back"))
        else:
            self.dismiss(True)
        finally:
            self._began = None
            self._idle.set()

    def _say(self, words: str) -> None:
        self._said = words

    def _count(self) -> None:
        if self._began is None:
            return
        progress = self.query_one("#progress", Static)
        progress.display = True
        seconds = int(time.monotonic() - self._began)
        progress.update(Content.assemble(f"{seconds} s · ", line(self._said, 400)))
