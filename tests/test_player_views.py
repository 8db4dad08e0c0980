"""Does a view show what holds, in whatever order its model's messages come?

A model of our own stands for ipywidgets', so that a test says what comes when.
"""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path

import pytest
from played import golden
from player_tab import needs_chromium

import kvlab
from kvlab.lessons import form
from kvlab.record.trace import Trace
from kvlab.views.player_script import script

pytestmark = needs_chromium
FORM = Path(form.__file__).with_name("form.js").read_text("utf-8")
OPEN = """async ([source, state, logs]) => {
    const bytes = text => new DataView(
        Uint8Array.from(atob(text), letter => letter.charCodeAt(0)).buffer);
    for (const [name, text] of Object.entries(logs)) state[name] = bytes(text);
    const calls = [];
    globalThis.model = {
        sent: [],
        get: name => state[name],
        set(name, value) {
            state[name] = name.startsWith("log") ? bytes(value) : value;
            for (const [names, call] of calls)
                if (names.split(" ").includes(`change:${name}`)) call();
        },
        on: (names, call) => calls.push([names, call]),
        save_changes() {},
        send: what => model.sent.push(what),
    };
    globalThis.inflated = [];
    const { arrayBuffer } = Response.prototype;
    if (logs.log) Response.prototype.arrayBuffer = async function () {
        const raw = await arrayBuffer.call(this);
        await new Promise(done => inflated.push(done));
        return raw;
    };
    const file = new Blob([source], { type: "text/javascript" });
    const { default: view } = await import(URL.createObjectURL(file));
    view.render({ model, el: document.body });
}"""
"""Open a view; each log is held where it is inflated, until `inflated` lets it go."""


@pytest.fixture
def view_of(browser):
    """Opens a view of a widget; returns its page."""
    pages = []

    def opened(source: str, widget):
        held = widget.get_state(widget.keys)
        state = {name: held[name] for name in held if name[0] != "_"}
        logs = {name: coded(log) for name, log in state.items() if type(log) is bytes}
        pages.append(browser.new_page())
        pages[-1].evaluate(OPEN, [source, {**state, **logs}, logs])
        return pages[-1]

    yield opened
    for page in pages:
        page.close()


def coded(log: bytes) -> str:
    return b64encode(log).decode()


@pytest.fixture
def forks():
    """A player whose run stands beside another one, and the logs of three such."""
    trace = golden("s10")
    player = kvlab.play(trace)
    logs = []
    for length in (90, 60, 30):
        player.compare(Trace(trace.header, trace.events[:length]))
        logs.append(player.log_b)
    return player, logs


def let_go(page, *numbers: int) -> None:
    """Let logs be opened, in this order, by the order in which they were asked for."""
    for number in numbers:
        page.wait_for_function("n => inflated.length > n", arg=number)
        page.evaluate("n => { inflated[n]() }", number)


SHOWN = "() => document.querySelector('.kv')?.kvlab?.b?.count"
"""How many events the run has that is shown beside the first."""


def fork(page, log: bytes) -> None:
    page.evaluate("log => model.set('log_b', log)", coded(log))


def test_of_two_forks_the_last_is_shown_though_it_opens_first(view_of, forks):
    player, logs = forks
    page = view_of(script(), player)
    let_go(page, 0, 1)
    page.wait_for_function(f"() => ({SHOWN})() === 30")
    fork(page, logs[0])
    fork(page, logs[1])
    let_go(page, 3)
    page.wait_for_function(f"() => ({SHOWN})() === 60")
    let_go(page, 2)
    page.evaluate("() => new Promise(done => setTimeout(done, 50))")
    assert page.evaluate(SHOWN) == 60


def test_a_fork_that_comes_while_a_view_opens_is_shown_in_it(view_of, forks):
    player, logs = forks
    page = view_of(script(), player)
    let_go(page, 0)
    page.wait_for_function("() => inflated.length === 2")
    fork(page, logs[0])
    let_go(page, 1, 2)
    page.wait_for_function(f"() => ({SHOWN})() === 90")


PUT_IN = """() => [...document.querySelectorAll("[data-part], input:checked")].map(
    input => input.value)"""


def put_in(page, number: int) -> list[str]:
    """Put in the answer of that number, and be as sure as that; return all that
    stands there."""
    for field in page.query_selector_all("[data-part]"):
        if field.evaluate("field => field.tagName") == "SELECT":
            field.select_option(index=1 + number)
        else:
            field.fill(str(number))
    for group in ("answer", "sure"):
        for field in page.query_selector_all(f"[name$={group}]")[number:][:1]:
            field.check()
    return page.evaluate(PUT_IN)


@pytest.mark.parametrize("id", ["01.P", "07.P", "07.P2"])
def test_a_card_shows_what_was_committed_not_what_was_put_in_since(view_of, id):
    page = view_of(FORM, kvlab.predict(id).card)
    sent = put_in(page, 0)
    page.click("[data-do=commit]")
    assert put_in(page, 1) != sent  # while the kernel is busy
    page.evaluate(
        """() => { const [{commit, confidence}] = model.sent;
            model.set("answer", commit);
            model.set("confidence", confidence);
            model.set("locked", true) }"""
    )
    assert page.evaluate(PUT_IN) == sent


PLAYS = "() => Boolean(document.querySelector('.kv').kvlab.timer)"


def test_a_run_that_plays_by_itself_waits_until_it_is_in_view(view_of):
    page = view_of(script(), kvlab.play(golden("s10"), autoplay=True))
    page.evaluate("() => { document.body.style.paddingTop = '3000px' }")
    let_go(page, 0)
    page.wait_for_selector(".kv[data-ready]", state="attached")
    page.wait_for_timeout(300)
    assert not page.evaluate(PLAYS)
    page.evaluate("() => scrollTo(0, 3000)")
    page.wait_for_function(PLAYS)


def test_a_number_is_typed_where_another_part_is_picked(view_of):
    page = view_of(FORM, kvlab.check("05.E5", lang="en").card)
    fields = page.eval_on_selector_all("[data-part]", "x => x.map(y => y.tagName)")
    assert fields == ["INPUT", "SELECT"]
