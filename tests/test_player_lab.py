"""Does the player work inside a real JupyterLab, and leave the notebook alone?

Needs a Chromium; in CI its absence is a failure, not a reason to skip.
"""

from __future__ import annotations

import os
from pathlib import Path

import nbformat
import pytest
from lab_browser import CHROMIUM, OpenNotebook, chromium, jupyterlab
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


@pytest.fixture(scope="module")
def notebook(tmp_path_factory):
    """A notebook with a player in it, open in a real JupyterLab, all cells run."""
    folder, home = tmp_path_factory.mktemp("work"), tmp_path_factory.mktemp("home")
    cells = [nbformat.v4.new_code_cell(source, id=f"c{n}")
             for n, source in enumerate(CELLS)]  # fmt: skip
    written = nbformat.v4.new_notebook(cells=cells)
    written.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(written, folder / "play.ipynb")
    with jupyterlab(folder, home) as address, chromium() as browser:
        opened = OpenNotebook(browser, address, "play.ipynb", width=1400)
        opened.run_all()
        opened.page.wait_for_selector(".kv[data-ready=true]", timeout=60_000)
        yield opened
        opened.close()


PLAYER = "document.querySelector('.kv').kvlab"


def js(notebook, code: str):
    return notebook.page.evaluate(f"() => {code}")


def press(notebook, *keys: str) -> None:
    notebook.page.focus(".kv")
    for key in keys:
        notebook.page.keyboard.press(key)


def ask_python(notebook, expression: str) -> str:
    """Run an expression in the kernel; return what it prints."""
    return notebook.page.evaluate(
        """async code => {
            const kernel = window.jupyterapp.shell.currentWidget.sessionContext
                .session.kernel;
            let text = '';
            const done = kernel.requestExecute({code: `print(${code})`});
            done.onIOPub = m => { text += m.content.text ?? m.content.evalue ?? '' };
            await done.done;
            return text.trim() }""",
        expression,
    )


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
    notebook.page.wait_for_timeout(300)
    said = ask_python(notebook, "player.answers[0]['event'], player.answers[0]['saw']")
    assert said == f"{event} stays"


def test_a_fork_by_button_shows_both_runs_at_their_first_difference(notebook):
    js(notebook, f"{PLAYER}.setMode('watch')")
    press(notebook, "f")
    notebook.page.fill(".kv [data-knob=pool_tokens]", "20")
    notebook.page.click(".kv [data-do=fork]")
    notebook.page.wait_for_selector(".kv.two", timeout=20_000)
    note = notebook.page.inner_text(".kv .note")
    assert "pool_tokens 64 → 20" in note
    assert ask_python(notebook, "player.difference.at + 1") in note.replace(",", "")
    assert "first difference" in ask_python(notebook, "player.report()")


def test_a_fork_on_the_rules_names_the_rule_that_parts_them(notebook):
    js(notebook, f"{PLAYER}.compare({PLAYER}.b, {{index: null, events: 1}})")
    press(notebook, "f")
    notebook.page.select_option(".kv [data-knob=rules]", "0.5.23")
    notebook.page.click(".kv [data-do=fork]")
    notebook.page.wait_for_selector(".kv .because", timeout=20_000)
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


def test_a_note_is_read_in_python_and_saved_with_the_page(notebook):
    js(notebook, f"{PLAYER}.show(3)")
    press(notebook, "n")
    notebook.page.keyboard.type("dd </script> 为什么")
    notebook.page.keyboard.press("Enter")
    notebook.page.wait_for_timeout(300)
    said = ask_python(notebook, "player.notes, 3 in player.bookmarks")
    assert said == "{3: 'dd </script> 为什么'} True"
    if "KVLAB_SHOTS" in os.environ:
        notebook.page.screenshot(path=Path(os.environ["KVLAB_SHOTS"], "lab-note.png"))
    page = ask_python(notebook, "player.to_html()")
    assert [3, "dd </script> 为什么"] in marks_in(page)


def test_the_output_has_a_twin_for_where_no_widget_runs(notebook):
    bundle = js(
        notebook,
        """JSON.stringify(window.jupyterapp.shell.currentWidget.content.widgets[1]
            .model.outputs.toJSON()[0].data)""",
    )
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert "<iframe sandbox" in bundle and "kvlab-log" in bundle


def test_nothing_was_said_on_the_console_and_nobody_else_was_asked(notebook):
    assert notebook.console == []
    assert notebook.foreign == []
