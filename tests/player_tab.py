"""A page of the player in a real Chromium, for tests that look and click.

In CI a missing Chromium is a failure, not a reason to skip. Screenshots are left in the
folder that KVLAB_SHOTS names, if it is set.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from lab_browser import CHROMIUM

from kvlab.views.player_script import FOLDER

NEEDS_CHROMIUM = pytest.mark.skipif(
    CHROMIUM is None and "CI" not in os.environ,
    reason="no chromium on this machine (Debian: apt install chromium)",
)
needs_chromium = [pytest.mark.browser, NEEDS_CHROMIUM]
"""What a file whose tests all look at a page has as its `pytestmark`."""


class Tab:
    """One page, opened from a file. `heard` is every complaint and every request."""

    def __init__(self, browser, folder: Path, html: str, **context) -> None:
        size = {"width": 1280, "height": 760}
        context = {"viewport": size, "accept_downloads": True, **context}
        self.heard: list[str] = []
        file = folder / "page.html"
        file.write_text(html, "utf-8")
        self.page = browser.new_context(**context).new_page()
        self.page.on("console", self._listen)
        self.page.on("pageerror", lambda error: self.heard.append(str(error)))
        self.page.on("request", lambda r: self._request(r.url, file.as_uri()))
        self.page.goto(file.as_uri())
        wait_for_player(self.page)

    def _listen(self, message) -> None:
        if message.type in ("error", "warning"):
            self.heard.append(message.text)

    def _request(self, url: str, own: str) -> None:
        if url != own and not url.startswith(("data:", "blob:")):
            self.heard.append(f"request: {url}")

    def js(self, code: str, *arguments):
        return self.page.evaluate(code, *arguments)

    def press(self, *keys: str) -> None:
        self.page.focus("#kvlab")
        for key in keys:
            self.page.keyboard.press(key)

    @property
    def headline(self) -> str:
        return self.page.inner_text("#kvlab h2")

    def shoot(self, name: str) -> None:
        if "KVLAB_SHOTS" in os.environ:
            self.page.screenshot(path=Path(os.environ["KVLAB_SHOTS"], name))


def wait_for_player(page) -> None:
    """Wait until all of the player is drawn: its cards come a frame after the rest."""
    page.wait_for_selector("[data-ready]")
    page.wait_for_function("() => globalThis.kvlab?.due == null")


def hold_frames(tab: Tab) -> Callable[[float], int]:
    """Let no frame of the page come by itself; return what draws one at a time in ms,
    and then tells the moment that is shown."""
    tab.js(
        """() => {
            globalThis.held = new Map();
            let last = 0;
            globalThis.requestAnimationFrame = draw => (held.set(++last, draw), last);
            globalThis.cancelAnimationFrame = frame => held.delete(frame);
        }"""
    )
    return lambda at: tab.js(
        """at => {
            const due = [...held.values()];
            held.clear();
            for (const draw of due) draw(at);
            return kvlab.run.at;
        }""",
        at,
    )


def show(tab: Tab, variant: str) -> int:
    """Go to the first event of this variant; return its index."""
    return tab.js(
        """variant => { for (let e = 0; e < kvlab.run.count; e++)
            if (kvlab.run.variant(e) === variant) { kvlab.show(e + 1); return e } }""",
        variant,
    )


def open_script(browser, name: str):
    """Return an empty page with one file of the player, as a global of that name."""
    page = browser.new_page()
    source = (FOLDER / f"{name}.js").read_text("utf-8")
    page.evaluate(
        """async ([name, source]) => {
            const file = new Blob([source], { type: "text/javascript" });
            globalThis[name] = await import(URL.createObjectURL(file));
        }""",
        [name, source],
    )
    return page


def saved(tab: Tab, form: str, folder: Path) -> bytes:
    """Press a button of the export panel; return what the browser saves."""
    if not tab.page.query_selector("#kvlab .panel [data-do=save]"):
        tab.page.click("#kvlab [data-do=panel][data-to=export]")
    with tab.page.expect_download() as coming:
        tab.page.click(f"#kvlab [data-do=save][data-to={form}]")
    coming.value.save_as(folder / form)
    return (folder / form).read_bytes()


def words_of(svg: bytes) -> list[str]:
    """Return every text of a picture, which has to be well-formed."""
    texts = ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    return [text.text or "" for text in texts]
