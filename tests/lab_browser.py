"""A real JupyterLab in a real Chromium, for tests that click."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
QUIET_CHROMIUM = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--disable-dev-shm-usage",
]  # fmt: skip
START_S = 180
NOT_OURS = ("favicon", "ResizeObserver loop")

IDLE = """() => window.jupyterapp?.shell.currentWidget?.sessionContext
    ?.session?.kernel?.status === 'idle'"""
ALL_RAN = """() => {
    const cells = window.jupyterapp.shell.currentWidget.content.widgets
        .filter(c => c.model.type === 'code' && c.model.sharedModel.getSource().trim());
    const failed = c => c.model.outputs.toJSON().some(o => o.output_type === 'error');
    return cells.some(failed) || cells.every(c => c.model.executionCount !== null);
}"""
COMPLAINTS = """() => window.jupyterapp.shell.currentWidget.content.widgets
    .filter(c => c.model.type === 'code')
    .flatMap((c, i) => c.model.outputs.toJSON()
        .filter(o => o.output_type === 'error' || o.name === 'stderr')
        .map(o => `cell ${i}: ${o.ename ?? 'stderr'} ${o.evalue ?? o.text}`))"""


SETTINGS = {"notebook-extension/tracker": {"windowingMode": "none"}}
"""Keep cells in the page when they are scrolled away."""


@contextmanager
def jupyterlab(folder: Path, home: Path) -> Iterator[str]:
    """Serve `folder` as `kvlab lab` does, with every Jupyter directory under `home`;
    yield the address."""
    for name, values in SETTINGS.items():
        file = home / "settings_dir" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps(values))
    kept = {
        f"JUPYTER_{name}": str(home / name.lower())
        for name in ("CONFIG_DIR", "DATA_DIR", "RUNTIME_DIR")
    }
    kept |= {
        f"JUPYTERLAB_{name}": str(home / name.lower())
        for name in ("SETTINGS_DIR", "WORKSPACES_DIR")
    }
    command = [
        sys.executable, "-m", "kvlab.lab_app", "--allow-root", "--no-browser",
        "--ip=127.0.0.1", "--port=0",
        "--IdentityProvider.token=", "--ServerApp.password=",
        "--ServerApp.disable_check_xsrf=True", "--LabApp.expose_app_in_browser=True",
        "--LabApp.news_url=None", f"--ServerApp.root_dir={folder}",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]  # fmt: skip
    with (home / "lab.log").open("w") as log:
        lab = subprocess.Popen(
            command,
            stdout=log,
            stderr=log,
            env=os.environ | kept | {"IPYTHONDIR": str(home / "ipython")},
            start_new_session=True,
        )
        try:
            yield _address(lab, home)
        finally:
            os.killpg(lab.pid, signal.SIGTERM)
            try:
                lab.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(lab.pid, signal.SIGKILL)
                lab.wait()


def _address(lab: subprocess.Popen[bytes], home: Path) -> str:
    """Return where it answers, once it does: it looks for a free port itself."""
    log = home / "lab.log"
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        assert lab.poll() is None, log.read_text()[-2000:]
        try:
            (file,) = (home / "runtime_dir").glob("jpserver-*.json")
            address = f"http://127.0.0.1:{json.loads(file.read_text())['port']}"
            urllib.request.urlopen(f"{address}/api/status", timeout=START_S).close()
        except (ValueError, OSError):  # not there yet, or half written
            time.sleep(0.1)
        else:
            return address
    raise AssertionError(f"no JupyterLab in {START_S} s: {log.read_text()[-2000:]}")


@contextmanager
def chromium() -> Iterator[Browser]:
    """Yield a headless Chromium, the system's own."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, headless=True, args=QUIET_CHROMIUM
        )
        try:
            yield browser
        finally:
            browser.close()


class OpenNotebook:
    """One notebook in one tab. `console` and `foreign` collect what must not be:
    errors on the console, and requests to anywhere but the server."""

    def __init__(self, browser: Browser, address: str, name: str, width: int) -> None:
        self.console: list[str] = []
        self.foreign: list[str] = []
        context = browser.new_context(viewport={"width": width, "height": 1000})
        self.page: Page = context.new_page()
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.console.append(str(error)))
        self.page.on("request", lambda request: self._watch(address, request.url))
        self.page.goto(f"{address}/lab/tree/{name}?reset")
        self.page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=60_000)
        self.page.wait_for_function(IDLE, timeout=60_000)

    def _hear(self, message) -> None:
        if message.type == "error" and not any(n in message.text for n in NOT_OURS):
            self.console.append(message.text)

    def _watch(self, address: str, url: str) -> None:
        own = (address, address.replace("http", "ws", 1), "data:", "blob:")
        if not url.startswith(own):
            self.foreign.append(url)

    def run_all(self) -> None:
        """Run every cell and wait until all are done, or one has failed."""
        self.page.evaluate(
            "() => window.jupyterapp.commands.execute('notebook:run-all-cells')"
        )
        self.page.wait_for_function(ALL_RAN, timeout=120_000)

    def run_cell_of(self, selector: str) -> None:
        """Run again the cell whose output holds the first such element, and wait until
        a new one stands there."""
        self.page.evaluate(
            """selector => {
                const book = window.jupyterapp.shell.currentWidget.content;
                const old = document.querySelector(selector);
                old.dataset.old = 'true';
                book.activeCellIndex = book.widgets.findIndex(
                    cell => cell.node.contains(old));
                return window.jupyterapp.commands.execute('notebook:run-cell');
            }""",
            selector,
        )
        self.page.wait_for_function("() => !document.querySelector('[data-old]')")
        self.page.wait_for_selector(selector)

    def complaints(self) -> list[str]:
        """Return the errors and the stderr output of all cells."""
        return list(self.page.evaluate(COMPLAINTS))

    def close(self) -> None:
        """Stop the kernel and close the tab."""
        self.page.evaluate(
            "() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown()"
        )
        self.page.context.close()
