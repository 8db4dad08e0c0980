"""Does markup change what stands in the page in place, and nothing else?"""

from __future__ import annotations

import pytest
from player_tab import needs_chromium, open_script

pytestmark = needs_chromium
PATCH = """([before, after, svg]) => {
    const space = svg ? "http://www.w3.org/2000/svg" : "http://www.w3.org/1999/xhtml";
    const at = document.createElementNS(space, svg ? "g" : "div");
    patch.patch(at, before);
    const nodes = new Set(at.querySelectorAll("*"));
    patch.patch(at, after);
    const stayed = [...at.querySelectorAll("*")].filter(x => nodes.has(x));
    return [at.innerHTML, stayed.map(x => x.localName)];
}"""


@pytest.fixture(scope="module")
def patched(browser):
    """Return what stands there after two markups, and which elements stayed."""
    page = open_script(browser, "patch")
    yield lambda before, after, svg=False: page.evaluate(PATCH, [before, after, svg])
    page.close()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<b>1</b>", "<b>2</b>"),
        ("<b>1</b> tokens", "<b>1</b>"),
        ("<b>1</b>", "<i>0</i><b>1</b><b>2</b>"),
        ('<b title="a" lang="en">1</b>', '<b lang="zh" dir="ltr">1</b>'),
        ("text<!--x-->", "text<!--y--><b>1</b>"),
        ("<b>1</b>", ""),
        ("", "<p><b>1</b></p>"),
    ],
)
def test_what_stands_there_is_the_new_markup(patched, before, after):
    assert patched(before, after)[0] == after


def test_an_element_that_says_something_else_stays(patched):
    before, after = '<p><b title="a">1</b></p>', '<p><b title="b">2</b></p>'
    assert patched(before, after) == [after, ["p", "b"]]


def test_an_svg_element_stays_one(patched):
    before, after = '<rect x="1"></rect>', '<rect x="2"></rect>'
    assert patched(before, after, True) == [after, ["rect"]]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('<b data-request="1">a</b>', '<b data-request="2">a</b>'),
        ('<b class="z">a</b>', "<b>a</b>"),
        ('<b class="gap">a</b>', '<b class="gap">b</b>'),
        ('<input name="a">', '<input name="a">'),
    ],
)
def test_what_is_another_does_not_take_its_place(patched, before, after):
    assert patched(before, after) == [after, []]
