"""What does a person see who opens a notebook, answers and clicks?

One JupyterLab serves all notebooks; each is opened in its own tab.

Needs a Chromium on the machine. In CI its absence is a failure, not a reason to skip.
The screenshots are left in the folder that KVLAB_SHOTS names, if it is set.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from lab_browser import CHROMIUM, OpenNotebook, chromium, jupyterlab
from solutions import given, solutions

from kvlab.lessons.checks import draw
from kvlab.lessons.exercises import EXERCISES
from kvlab.lessons.kinds import Fill

ROOT = Path(__file__).resolve().parents[1]
NAME = "notebooks/07_demote_or_delete.ipynb"
ALL = sorted((ROOT / "notebooks").glob("*.ipynb"))
WITHOUT_A_CARD = {"00"}
"""Their first question is the player's own."""

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        CHROMIUM is None and "CI" not in os.environ,
        reason="no chromium on this machine (Debian: apt install chromium)",
    ),
]


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """A real JupyterLab that serves the course, and a browser."""
    home = tmp_path_factory.mktemp("home")
    folder = tmp_path_factory.mktemp("work")
    for part in ("notebooks", "assets"):
        shutil.copytree(ROOT / part, folder / part)
    with jupyterlab(folder, home) as address, chromium() as browser:
        yield browser, address


@pytest.fixture(scope="module")
def notebook(lab):
    """Notebook 07, all cells run, its prediction committed: the player is there."""
    opened = OpenNotebook(*lab, NAME, width=1280)
    opened.run_all()
    answer(opened, "07.P", solutions("07.P").RIGHT["07.P"][0])
    opened.page.wait_for_selector(".kv[data-ready=true]")
    yield opened
    opened.close()


def answer(notebook: OpenNotebook, id: str, said) -> None:
    """Fill in a form and send it off."""
    form = notebook.page.locator(f".kvf[data-id='{id}']").first
    form.wait_for()
    exercise = EXERCISES[id]
    if isinstance(exercise, Fill) and not isinstance(said, dict):
        said = {next(iter(exercise.parts)): said}
    for part, value in (said if isinstance(said, dict) else {}).items():
        field = form.locator(f"[data-part='{part}']")
        if field.evaluate("x => x.tagName") == "SELECT":
            field.select_option(str(value))
        else:
            field.fill(str(value))
    if not isinstance(said, dict):
        form.locator(f"input[name$='-answer'][value='{said}']").check()
    form.locator(".go").click()


def told(notebook: OpenNotebook, id: str) -> str:
    form = notebook.page.locator(f".kvf[data-id='{id}']").first
    form.locator(".told:not(:empty)").wait_for()
    return form.locator(".told").inner_text()


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem)
def test_a_learner_can_be_wrong_and_right_and_step(lab, path, tmp_path):
    opened = OpenNotebook(*lab, f"notebooks/{path.name}", width=1280)
    try:
        opened.run_all()
        for right in (False, True):
            if path.stem[:2] in WITHOUT_A_CARD:
                ask_the_player(opened, right)
            else:
                predict(opened, f"{path.stem[:2]}.P", right)
            if not right:
                shoot(opened, f"{path.stem}.png", tmp_path)
                opened.run_cell_of(".kvf, .kv")
        assert opened.complaints() == []
        assert opened.console == []
        assert opened.foreign == []
    finally:
        opened.close()


def predict(opened: OpenNotebook, id: str, right: bool) -> None:
    """Commit a prediction, step in the run, say what was seen, read the verdict."""
    module = solutions(id)
    answer(opened, id, given(id, (module.RIGHT if right else module.WRONG)[id][0]))
    seen = f"{id[:2]}.S{id[4:]}"
    if EXERCISES[id].case(draw(id, 0)).trace is not None:
        opened.page.wait_for_selector(".kv[data-ready=true]")
        before = headline(opened)
        assert press(opened, "next") != before
    if seen in EXERCISES:
        assert "✓" not in told(opened, id)
        answer(opened, seen, given(seen, module.RIGHT[seen][0]))
        opened.page.wait_for_function(JUDGED, arg=id)
    assert ("✓" if right else "✗") in told(opened, id)
    assert opened.page.evaluate(ALL_SURE), "cards share their buttons"


ALL_SURE = """() => [...document.querySelectorAll('.kvf .conf')]
    .every(set => set.querySelector(':checked'))"""
JUDGED = """id => /[✓✗]/.test(
    document.querySelector(`.kvf[data-id='${id}'] .told`).textContent)"""


def ask_the_player(opened: OpenNotebook, right: bool) -> None:
    """Answer the player's own question and step on."""
    opened.page.wait_for_selector(".kv[data-ready=true]")
    opened.page.evaluate(f"() => {PLAYER}.show({PLAYER}.limit)")
    happened = opened.page.evaluate(f"() => {PLAYER}.run.variant({PLAYER}.asking)")
    options = opened.page.locator(".kv .ans:not(.conf) input")
    values = [options.nth(i).get_attribute("value") for i in range(options.count())]
    said = next(v for v in values if (v == happened) is right)
    opened.page.check(f".kv .ans input[value='{said}']")
    opened.page.click(".kv [data-do=commit]")
    assert opened.page.evaluate(f"() => {PLAYER}.answers.at(-1).right") is right


PLAYER = "document.querySelector('.kv').kvlab"


def shoot(notebook: OpenNotebook, name: str, tmp_path: Path) -> Path:
    folder = Path(os.environ.get("KVLAB_SHOTS", tmp_path))
    folder.mkdir(parents=True, exist_ok=True)
    notebook.page.screenshot(path=folder / name)
    return folder / name


AT_A_DECISION = """() => {
    const run = document.querySelector('.kv').kvlab.run;
    return run.isDecision(run.at - 1);
}"""


def headline(notebook: OpenNotebook) -> str:
    return notebook.page.inner_text(".kv h2")


def press(notebook: OpenNotebook, action: str) -> str:
    """Press the button that does this; return the new headline."""
    notebook.page.click(f".kv .ctl [data-do={action}]")
    return headline(notebook)


def test_every_cell_runs_without_an_error_or_a_warning(notebook):
    assert notebook.complaints() == []


def test_the_buttons_step_both_ways(notebook):
    start = headline(notebook)
    forward = press(notebook, "next")
    assert forward != start
    assert press(notebook, "previous") == start


CUT = """() => [...document.querySelectorAll('.kv .panel dt, .kv .primer dt')]
    .filter(x => x.scrollWidth > x.clientWidth
        || getComputedStyle(x).cssFloat !== 'none')
    .map(x => x.textContent)"""


def test_no_key_of_the_list_is_broken_by_the_styles_around_it(notebook, tmp_path):
    press(notebook, "first")
    notebook.page.click(".kv .ctl [data-to=help]")
    assert notebook.page.locator(".kv .panel dt").count() > 20
    shoot(notebook, "keys.png", tmp_path)
    assert notebook.page.evaluate(CUT) == []
    notebook.page.click(".kv .ctl [data-to=help]")


def test_dragging_on_the_timeline_moves_the_run(notebook, tmp_path):
    before = headline(notebook)
    line = notebook.page.locator(".kv .tl canvas.over")
    line.scroll_into_view_if_needed()
    box = line.bounding_box()
    notebook.page.mouse.move(box["x"] + 200, box["y"] + 20)
    notebook.page.mouse.down()
    notebook.page.mouse.move(box["x"] + 400, box["y"] + 20, steps=12)
    notebook.page.mouse.up()
    assert headline(notebook) != before
    assert shoot(notebook, "dragged.png", tmp_path).stat().st_size > 10_000


def test_the_double_arrows_go_from_decision_to_decision(notebook):
    press(notebook, "first")
    for _ in range(4):
        press(notebook, "decision_after")
        assert notebook.page.evaluate(AT_A_DECISION)
    there = headline(notebook)
    press(notebook, "decision_after")
    assert press(notebook, "decision_before") == there


def test_a_decision_shows_its_terms_with_numbers(notebook, tmp_path):
    notebook.page.focus(".kv")
    notebook.page.keyboard.press("Home")
    for _ in range(30):
        notebook.page.keyboard.press("Control+ArrowRight")
        if "is deleted" in headline(notebook):
            break
    says = "document.querySelector('.kv .p-why').innerText.includes('copy on L2')"
    notebook.page.wait_for_function(says)  # a card is drawn a frame after its event
    assert "12" in notebook.page.inner_text(".kv .p-why")
    shoot(notebook, "decision.png", tmp_path)


def test_the_language_switches_in_place(notebook, tmp_path):
    says = "word => document.querySelector('.kv').textContent.includes(word)"
    notebook.page.click(".kv button:has-text('中')")
    notebook.page.wait_for_function(says, arg="内存")
    shoot(notebook, "chinese.png", tmp_path)
    notebook.page.click(".kv button:has-text('EN')")
    notebook.page.wait_for_function(says, arg="Memory")


def test_a_sentence_is_written_then_sorted_and_only_then_meets_a_model(
    notebook, tmp_path
):
    form = notebook.page.locator(".kvf[data-id='07.E4']").first
    assert not form.locator(".points").is_visible()
    form.locator("textarea").fill("When no copy of it is left.")
    form.locator("[data-do=said]").click()
    for part, said in (("when", "copy"), ("how", "never")):
        form.locator(f"input[name$='-{part}'][value='{said}']").check()
    form.locator("[data-do=check]").click()
    text = told(notebook, "07.E4")
    assert "✗" in text and "One way to say it" in text
    form.scroll_into_view_if_needed()
    assert shoot(notebook, "sentence.png", tmp_path).is_file()
    form.locator("[data-do=rewrite]").click()
    assert not form.locator(".points").is_visible()
    form.locator("[data-do=said]").click()  # the same again
    form.locator("[data-do=check]").click()
    assert told(notebook, "07.E4") == text


@pytest.fixture
def presenting(lab):
    """Notebook 13, all cells run."""
    opened = OpenNotebook(*lab, "notebooks/13_present.ipynb", width=1280)
    opened.run_all()
    yield opened
    opened.close()


def test_a_tour_is_written_checked_and_saved_and_a_neighbour_marks_it(
    presenting, lab, tmp_path
):
    page = presenting.page
    draft, card = page.locator(".kv").nth(1), page.locator(".kvf[data-id='13']").nth(1)
    draft.locator(".at").wait_for()
    tour = solutions("13.E1").TOURS["wrong"]
    for event, text in tour.items():
        note(draft, event, text if event != 25 else "30 ≤ 21 is false")
    card.locator("[data-act=review]").click()
    card.locator(".told.bad").wait_for()
    assert "event 25: 21 stands neither" in card.inner_text()
    page.wait_for_function("at => document.querySelectorAll('.kv')[1].kvlab.run.at"
                           " === at", arg=25)  # fmt: skip
    note(draft, 25, tour[25])
    card.locator("[data-act=review]").click()
    card.locator(".told.yes").wait_for()
    card.scroll_into_view_if_needed()
    shoot(presenting, "tour.png", tmp_path)
    card.locator("[data-act=save]").click()
    card.locator(".told:has-text('my_tour.html')").wait_for()
    read = page.context.new_page()
    read.goto(f"{lab[1]}/files/notebooks/my_tour.html")
    read.wait_for_selector("#kvlab[data-ready]")
    assert read.evaluate("() => kvlab.run.at") == min(tour) - 1
    assert read.evaluate("() => kvlab.notes.size") == len(tour)
    read.close()
    marks = page.locator(".kvf[data-id='13']").nth(2)
    for field in marks.locator("select").all():
        field.select_option("1")
    marks.locator("[data-do=check]").click()
    marks.locator(".told:has-text('6 of 12')").wait_for()
    assert presenting.complaints() == [] and presenting.console == []


def note(player, event: int, text: str) -> None:
    """Write a note to an event of a player, by its keys."""
    player.locator(".ctl .at").fill(str(event))
    player.locator(".ctl .at").press("Enter")
    player.evaluate("root => root.focus()")
    player.press("n")
    line = player.locator(".panel .line")
    line.fill(text)
    line.press("Enter")


def test_nothing_was_said_on_the_console_and_nobody_else_was_asked(notebook):
    assert notebook.console == []
    assert notebook.foreign == []
