"""Does a film show each of its steps, and a still what its moment is?"""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from played import played

from kvlab import Workbench
from kvlab.cli import main
from kvlab.errors import InputError, TraceError
from kvlab.record.replay import Replay
from kvlab.views.export import render, render_film
from kvlab.views.film import MOST_STEPS, film, still, still_text
from kvlab.views.frame import frame_of
from kvlab.views.sentences import describe

GOLDEN = next((Path(__file__).parent / "goldens" / "sglang").glob("s10*"))


@pytest.fixture(scope="module")
def trace():
    return played(GOLDEN)


def texts(svg: str) -> list[str]:
    found = ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    return [text.text or "" for text in found]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_film_tells_its_steps_in_order(trace, lang):
    replay = Replay(trace)
    told = [describe(frame_of(replay, step), lang) for step in range(60, 65)]
    assert [
        text for text in texts(film(trace, range(60, 65), lang)) if text in told
    ] == told


def test_a_film_of_one_step_is_that_step(trace):
    assert describe(frame_of(Replay(trace), 0)) in texts(film(trace, [0]))


def test_a_decision_and_what_carries_it_out_stand_beside_its_card(trace):
    assert "22 ≥ 10 ✓ true" in texts(still(trace, 60))
    carried = texts(still(trace, 62))
    assert "A change. What event 60 decided is carried out:" in carried
    assert "22 ≥ 10 ✓ true" in carried and "Load all 22" in carried
    assert "A change. What event 60 decided" in still_text(trace, 62)
    assert not any("cause" in text for text in texts(still(trace, 2)))  # a command


def test_the_text_of_a_step_holds_tree_pools_account_and_card(trace):
    text = still_text(trace, 60)
    for part in ("event 60 · load_back", "n3", "L2", "22 ≥ 10  ✓ true"):
        assert part in text


def test_too_long_a_film_says_how_long_it_may_be(trace):
    with pytest.raises(TraceError, match=f"at most {MOST_STEPS} in all"):
        film(trace, range(MOST_STEPS + 1))


def test_a_film_that_runs_backwards_is_refused(trace):
    with pytest.raises(TraceError, match="two rising steps"):
        film(trace, range(7, 6))


def test_a_film_is_a_picture(trace, tmp_path):
    with pytest.raises(InputError, match=r"use \.svg or \.png"):
        render_film(trace, [0, 1], tmp_path / "film.txt")
    assert list(tmp_path.iterdir()) == []


def test_a_hostile_name_is_text_in_a_film():
    bench = Workbench(name="<script>alert(1)</script>\u202e", pool_tokens=8)
    bench.insert([1, 2])
    drawn = film(bench.trace, range(3))
    assert "<script" not in drawn and "\u202e" not in drawn
    assert ElementTree.fromstring(drawn) is not None


def test_the_command_line_draws_films_and_steps(tmp_path, capsys):
    out = tmp_path / "film.svg"
    assert main(["render", str(GOLDEN), "--film", "60:62", "-o", str(out)]) == 0
    assert "A copy of n1 is on its way back to L1: 8 tokens" in texts(
        out.read_text("utf-8")
    )
    png = tmp_path / "step.png"
    step = ["--step", "60", "--what", "step"]
    assert main(["render", str(GOLDEN), *step, "-o", str(png)]) == 0
    assert png.read_bytes().startswith(b"\x89PNG")


def test_steps_that_are_no_numbers_are_refused(tmp_path, capsys):
    out = str(tmp_path / "film.svg")
    with pytest.raises(SystemExit) as stopped:
        main(["render", str(GOLDEN), "--film", "10", "-o", out])
    assert stopped.value.code == 2
    assert "is not FIRST:LAST" in capsys.readouterr().err


def test_a_step_is_written_as_text(trace, tmp_path):
    out = tmp_path / "step.txt"
    render(trace, 60, "step", out)
    assert out.read_text("utf-8").startswith("event 60 · load_back\n")
