"""Does the player work inside a real JupyterLab, and leave the notebook alone?

Needs a Chromium; in CI its absence is a failure, not a reason to skip.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import nbformat
import pytest
from lab_browser import CHROMIUM, IDLE, OpenNotebook, chromium, jupyterlab
from test_notes import marks_in

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        CHROMIUM is None and "CI" not in os.environ,
        reason="no chromium on this machine (Debian: apt install chromium)",
    ),
]
GOLDEN = Path(__file__).parent / "goldens" / "sglang" / "s10_chain_load_back.json"
CELLS = [
    "import kvlab\nfrom pathlib import Path\nfrom kvlab.run.script import "
    "read_script\nfrom kvlab.run.whole import fork_of, run_whole\nfrom "
    "kvlab.lessons.what_changed import explainer\n"
    f"script = read_script(Path({str(GOLDEN)!r}))\n"
    "trace, _ = run_whole(script)",
    "player = kvlab.play(trace, lang='en', predict=True, fork=fork_of(script),\n"
    "                    explain=explainer(script))\nplayer",
    "print('not run yet')",
]


def wait_for(notebook, selector: str) -> None:
    """Wait for an element, without a handle, which would keep it alive."""
    notebook.page.wait_for_function(
        "selector => !!document.querySelector(selector)", arg=selector, timeout=60_000
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder that JupyterLab shows."""
    return tmp_path_factory.mktemp("work")


@pytest.fixture(scope="module")
def notebook(tmp_path_factory, folder):
    """A notebook with a player in it, open in a real JupyterLab, all cells run; what
    is saved of it holds its widgets."""
    home = tmp_path_factory.mktemp("home")
    cells = [nbformat.v4.new_code_cell(source, id=f"c{n}")
             for n, source in enumerate(CELLS)]  # fmt: skip
    written = nbformat.v4.new_notebook(cells=cells)
    written.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(written, folder / "play.ipynb")
    with jupyterlab(folder, home) as address, chromium() as browser:
        opened = OpenNotebook(browser, address, "play.ipynb", width=1400)
        opened.run_all()
        wait_for(opened, ".kv[data-ready=true]")
        yield opened
        opened.close()


PLAYER = "document.querySelector('.kv').kvlab"


def js(notebook, code: str):
    return notebook.page.evaluate(f"() => {code}")


def press(notebook, *keys: str) -> None:
    notebook.page.focus(".kv")
    for key in keys:
        notebook.page.keyboard.press(key)


def in_python(notebook, code: str) -> str:
    """Run code in the kernel; return what it prints."""
    return notebook.page.evaluate(
        """async code => {
            const kernel = window.jupyterapp.shell.currentWidget.sessionContext
                .session.kernel;
            let text = '';
            const done = kernel.requestExecute({code});
            done.onIOPub = m => { text += m.content.text ?? m.content.evalue ?? '' };
            await done.done;
            return text.trim() }""",
        code,
    )


def ask_python(notebook, expression: str) -> str:
    return in_python(notebook, f"print({expression})")


def test_the_player_opens_without_a_complaint(notebook):
    assert notebook.complaints() == []
    assert js(notebook, f"{PLAYER}.run.count") > 100


def test_keys_move_the_player_and_not_the_notebook(notebook):
    cells = """window.jupyterapp.shell.currentWidget.content.widgets
        .map(c => c.model.type + c.model.sharedModel.getSource()).join()"""
    active = "window.jupyterapp.shell.currentWidget.content.activeCellIndex"
    press(notebook, "Home", "ArrowRight", "ArrowRight")
    before, at = js(notebook, cells), js(notebook, active)
    assert js(notebook, f"{PLAYER}.run.at") == 2
    press(notebook, "x", "a", "b", "d", "d", "m", "m", "1", "y", "Enter", "0", "0")
    notebook.page.keyboard.press("ArrowLeft")
    assert js(notebook, cells) == before
    assert js(notebook, active) == at
    assert js(notebook, f"{PLAYER}.run.at") == 1
    press(notebook, "b", "b")


def test_a_prediction_is_read_in_python(notebook):
    press(notebook, "End")
    event = js(notebook, f"{PLAYER}.asking") + 1
    notebook.page.check(".kv .ans:not(.conf) label:nth-child(1) input")
    press(notebook, "Enter")
    js(notebook, f"{PLAYER}.show({PLAYER}.answers[0].until)")
    notebook.page.click(".kv [data-do=saw][data-to=stays]")
    said = "[(answer['event'], answer['saw']) for answer in player.answers]"
    wait_for_python(notebook, said, f"[({event}, 'stays')]")


def test_a_fork_by_button_shows_both_runs_at_their_first_difference(notebook):
    js(notebook, f"{PLAYER}.setMode('watch')")
    press(notebook, "f")
    notebook.page.fill(".kv [data-knob=pool_tokens]", "20")
    notebook.page.click(".kv [data-do=fork]")
    wait_for(notebook, ".kv.two")
    note = notebook.page.inner_text(".kv .note")
    assert "pool_tokens 64 → 20" in note
    assert ask_python(notebook, "player.difference.at + 1") in note.replace(",", "")
    assert "first difference" in ask_python(notebook, "player.report()")


def test_a_fork_on_the_rules_names_the_rule_that_parts_them(notebook):
    js(notebook, f"{PLAYER}.compare({PLAYER}.b, {{index: null, events: 1}})")
    press(notebook, "f")
    notebook.page.select_option(".kv [data-knob=rules]", "0.5.23")
    notebook.page.click(".kv [data-do=fork]")
    wait_for(notebook, ".kv .because")
    card = notebook.page.inner_text(".kv .because")
    assert card.startswith("Rule load_protects_source: A no, B yes")
    assert "rules 0.5.14 → 0.5.23" in notebook.page.inner_text(".kv .note")


def test_a_fork_that_cannot_start_says_why(notebook):
    js(notebook, f"{PLAYER}.compare({PLAYER}.b, {{index: null, events: 1}})")
    press(notebook, "f")
    notebook.page.fill(".kv [data-knob=pool_tokens]", "0")
    notebook.page.click(".kv [data-do=fork]")
    notebook.page.wait_for_function(
        "() => document.querySelector('.kv .forked')?.innerText.includes('at least 1')"
    )


def test_a_fork_without_any_effect_is_said_plainly(notebook):
    found = ask_python(notebook, "player.fork(host_tokens=960)")
    assert found.startswith("Difference(at=None")
    notebook.page.wait_for_function(
        "() => document.querySelector('.kv .note')?.textContent.includes('No diff')"
    )


def test_the_player_saves_itself_as_a_page(notebook, tmp_path):
    js(notebook, f"{PLAYER}.root.querySelector('[data-to=export]').click()")
    with notebook.page.expect_download() as coming:
        notebook.page.click(".kv [data-do=save][data-to=html]")
    coming.value.save_as(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert page.count('id="kvlab-log"') == 1 and "default-src 'none'" in page


def wait_for_python(notebook, expression: str, value: str) -> None:
    """Wait until an expression has a value in the kernel."""
    said = ""
    for _ in range(400):
        said = ask_python(notebook, expression)
        if said == value:
            return
        notebook.page.wait_for_timeout(50)
    raise AssertionError(f"{expression} is {said}, not {value}")


VIEWS = "[...document.querySelectorAll('.kv')].map(root => root.kvlab)"


def wait_for_views(notebook, said: str) -> None:
    """Wait until something holds for every view of the player, of which there are 2."""
    notebook.page.wait_for_function(
        f"() => {VIEWS}.length === 2 && {VIEWS}.every(view => {said})"
    )


def run_last_cell(notebook, source: str, shown: int) -> None:
    """Run the last cell with this in it; wait until so many players are shown."""
    notebook.page.evaluate(
        """source => {
            const book = window.jupyterapp.shell.currentWidget.content;
            book.activeCellIndex = 2;
            book.activeCell.model.sharedModel.setSource(source);
            return window.jupyterapp.commands.execute('notebook:run-cell') }""",
        source,
    )
    notebook.page.wait_for_function(
        "n => document.querySelectorAll('.kv[data-ready=true]').length === n",
        arg=shown,
    )


@pytest.fixture
def twice(notebook):
    """The same player in two outputs, at event 12 in both."""
    js(notebook, f"{PLAYER}.setMode('watch')")
    js(notebook, f"{PLAYER}.show(12)")
    wait_for_python(notebook, "player.step", "12")
    run_last_cell(notebook, "player", 2)
    yield notebook
    run_last_cell(notebook, "print('gone')", 1)


def test_a_second_view_opens_as_the_first_stands_and_follows_it(twice):
    wait_for_views(twice, "view.run.at === 12 && view.b && view.answers.length === 1")
    press(twice, "ArrowRight", "b")
    wait_for_views(twice, "view.run.at === 13 && view.bookmarks.has(12)")
    js(twice, f"{VIEWS}[1].show(20)")
    wait_for_views(twice, "view.run.at === 20")
    twice.page.click(".kv [data-do=lang][data-to=zh]")
    wait_for_views(twice, "view.lang === 'zh'")
    press(twice, "Home", "p")
    wait_for_views(twice, "view.run.at === 0 && view.mode === 'predict'")


def test_what_python_sets_is_shown_in_every_view(twice):
    twice.page.wait_for_timeout(200)  # what the page still had to tell
    in_python(twice, "player.lang, player.mode, player.step = 'en', 'watch', 7")
    in_python(twice, "player.notes = {7: 'from <b>Python</b>'}")
    wait_for_views(twice, "view.run.at === 7 && view.lang + view.mode === 'enwatch'")
    wait_for_views(twice, "view.$('.caption').innerText === 'from <b>Python</b>'")
    assert ask_python(twice, "7 in player.bookmarks") == "True"
    in_python(twice, "player.answers, player.bookmarks, player.notes = [], [], {}")
    in_python(twice, "player.mode, player.step = 'predict', 90")
    wait_for_views(twice, "view.asking >= 0 && view.bookmarks.size === 0")
    wait_for_python(twice, "player.step", str(js(twice, f"{PLAYER}.asking")))
    in_python(twice, "player.mode = 'watch'")
    wait_for_views(twice, "view.mode === 'watch'")


def test_that_all_is_asked_is_told_to_python_and_to_every_view(twice):
    js(
        twice,
        f"""{{ const button = document.createElement('button');
        Object.assign(button.dataset, {{ do: 'every', to: '5' }});
        {PLAYER}.root.append(button);
        button.click();
        button.remove() }}""",
    )
    wait_for_python(twice, "player.ask_all", "5")
    wait_for_views(twice, "view.every === 5")
    in_python(twice, "player.ask_all = 7")
    wait_for_views(twice, "view.every === 7")
    in_python(twice, "player.ask_all = None")
    wait_for_views(twice, "view.every === null")


def test_a_note_is_read_in_python_and_saved_with_the_page(notebook):
    js(notebook, f"{PLAYER}.show(3)")
    press(notebook, "n")
    notebook.page.keyboard.type("dd </script> 为什么")
    notebook.page.keyboard.press("Enter")
    said = "{3: 'dd </script> 为什么'} True"
    wait_for_python(notebook, "player.notes, 3 in player.bookmarks", said)
    if "KVLAB_SHOTS" in os.environ:
        notebook.page.screenshot(path=Path(os.environ["KVLAB_SHOTS"], "lab-note.png"))
    page = ask_python(notebook, "player.to_html()")
    assert [3, "dd </script> 为什么"] in marks_in(page)


def test_the_player_is_dark_as_the_notebook_is_until_somebody_chooses(notebook):
    def themed(name: str) -> bool:
        js(notebook, "window.jupyterapp.commands.execute("
           f"'apputils:change-theme', {{theme: 'JupyterLab {name}'}})")  # fmt: skip
        light = "true" if name == "Light" else "false"
        notebook.page.wait_for_function(
            f"() => document.body.dataset.jpThemeLight === '{light}'"
            " && !document.getElementById('jupyterlab-splash')"
        )
        return js(notebook, f"{PLAYER}.dark")

    assert [themed("Dark"), themed("Light")] == [True, False]
    notebook.page.click(".kv [data-do=dark]")
    assert [themed("Dark"), themed("Light")] == [True, True]
    notebook.page.click(".kv [data-do=dark]")


def test_escape_gives_the_keys_to_the_notebook_and_ctrl_s_saves_it(notebook):
    saved = "!window.jupyterapp.shell.currentWidget.context.model.dirty"
    active = "window.jupyterapp.shell.currentWidget.content.activeCellIndex"
    js(
        notebook,
        "{ window.jupyterapp.shell.currentWidget.content.activeCellIndex = 1 }",
    )
    press(notebook, "Control+s")
    notebook.page.wait_for_function(f"() => {saved}")
    press(notebook, "Escape", "ArrowDown")
    assert js(notebook, active) == 2


def test_a_player_saved_with_its_state_opens_as_it_was_left_with_a_new_kernel(
    notebook, folder
):
    left = js(notebook, f"{PLAYER}.run.at")
    assert left > 0
    js(notebook, "window.jupyterapp.commands.execute('docmanager:save')")
    shutil.copy(folder / "play.ipynb", folder / "again.ipynb")
    browser, address = notebook.page.context.browser, notebook.page.url.split("/lab")[0]
    again = OpenNotebook(browser, address, "again.ipynb", width=1400)
    wait_for(again, ".kv[data-ready=true]")
    assert js(again, f"{PLAYER}.run.at") == left
    press(again, "ArrowLeft")
    assert js(again, f"{PLAYER}.run.at") == left - 1
    assert again.console == []
    again.close()


def test_the_output_has_a_twin_for_where_no_widget_runs(notebook):
    bundle = js(
        notebook,
        """JSON.stringify(window.jupyterapp.shell.currentWidget.content.widgets[1]
            .model.outputs.toJSON()[0].data)""",
    )
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert "<iframe sandbox" in bundle and "kvlab-log" in bundle


def alive(notebook, selector: str) -> int:
    """Return how many elements there are, those that no page shows any more among
    them."""
    cdp = notebook.page.context.new_cdp_session(notebook.page)
    cdp.send("HeapProfiler.collectGarbage")
    kind = cdp.send("Runtime.evaluate", {"expression": "HTMLDivElement.prototype"})
    asked = {"prototypeObjectId": kind["result"]["objectId"]}
    found = cdp.send("Runtime.queryObjects", asked)["objects"]["objectId"]
    count = f"function () {{ return this.filter(e => e.matches({selector!r})).length }}"
    asked = {"objectId": found, "functionDeclaration": count}
    number = cdp.send("Runtime.callFunctionOn", asked)["result"]["value"]
    cdp.detach()
    return number


def test_a_player_whose_cell_is_run_again_is_let_go(notebook):
    for _ in range(3):
        js(notebook, "{ document.querySelector('.kv').dataset.old = 'true' }")
        js(notebook, "{ window.jupyterapp.shell.currentWidget.content"
           ".activeCellIndex = 1 }")  # fmt: skip
        js(notebook, "window.jupyterapp.commands.execute('notebook:run-cell')")
        wait_for(notebook, ".kv[data-ready=true]:not([data-old])")
    assert alive(notebook, "[data-old]") <= 1  # the browser itself may keep the last


def test_without_its_kernel_the_player_plays_on_and_says_what_it_cannot(notebook):
    js(notebook, "window.jupyterapp.shell.currentWidget.sessionContext.restartKernel()")
    notebook.page.wait_for_function(IDLE)
    press(notebook, "Home", "ArrowRight")
    assert js(notebook, f"{PLAYER}.run.at") == 1
    said = "The kernel that made this player is gone: run its cell again."
    js(notebook, f"{PLAYER}.root.querySelector('[data-to=fork]').click()")
    notebook.page.click(".kv [data-do=fork]")
    assert notebook.page.inner_text(".kv .forked") == said
    js(notebook, f"{PLAYER}.root.querySelector('[data-to=export]').click()")
    notebook.page.click(".kv [data-do=save][data-to=html]")
    assert notebook.page.inner_text(".kv .forked") == said


def test_nothing_was_said_on_the_console_and_nobody_else_was_asked(notebook):
    assert notebook.console == []
    assert notebook.foreign == []
