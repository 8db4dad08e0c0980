"""What does `kvlab diagnose` print, write and answer?"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from engine_text import decode, judged, log, retract, stats

from kvlab.cli import main
from kvlab.observe.report import report
from kvlab.views.diagnosis_page import page

CASES = Path(__file__).parent / "cases"


def case(number: str) -> list[str]:
    (folder,) = CASES.glob(f"{number}-*")
    return sorted(str(p) for p in folder.iterdir() if p.name != "expect.json")


def test_json_has_every_field_of_the_contract(capsys):
    assert main(["diagnose", *case("01"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    wanted = {
        "status",
        "engine",
        "kind",
        "verdict",
        "cause",
        "facts",
        "reasons",
        "next",
    }
    assert wanted <= told.keys()


def test_the_text_says_what_why_where_and_next(capsys):
    assert main(["diagnose", *case("01")]) == 0
    out = capsys.readouterr().out
    for heading in ("why", "where", "considered, and why not", "next", "numbers"):
        assert f"\n{heading}\n" in out
    assert "input.log:8" in out
    assert "09:14:03" in out


def test_a_partial_result_exits_0(capsys):
    assert main(["diagnose", *case("10"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["status"] == "partial"


def test_a_useless_file_exits_2_with_one_line(capsys, tmp_path):
    path = tmp_path / "x.log"
    path.write_text("hello\n")
    assert main(["diagnose", str(path), "--json"]) == 2
    out, err = capsys.readouterr()
    assert json.loads(out)["status"] == "error"
    assert len(err.splitlines()) == 1
    assert str(path) in err


def test_a_missing_file_is_named(capsys):
    assert main(["diagnose", "nowhere.log"]) == 2
    assert "nowhere.log" in capsys.readouterr().err


def test_logs_and_scrapes_together_are_each_judged(capsys):
    assert main(["diagnose", *case("12"), *case("15"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["cause"] == "one_runner_blocks_queue"
    assert any("metrics alone say single_scrape" in note for note in told["notes"])


def test_two_servers_are_kept_apart_and_the_sick_one_speaks(tmp_path):
    well, sick = tmp_path / "a.log", tmp_path / "b.log"
    well.write_text("\n".join(decode(t, 3, 0.2, 0) for t in range(9)))
    lines = [decode(t, 30, 0.99, t) for t in range(1, 9)] + [retract(9)]
    sick.write_text("\n".join(lines))
    from kvlab.observe.diagnose import diagnose

    told = diagnose([well, sick])
    assert told.cause == "pool_exhausted_retract"
    assert told.facts["binding_rank"].startswith("b.log")


# --- the page


@pytest.mark.parametrize("number", ["01", "03", "06", "10", "13"])
def test_the_page_is_whole_by_itself(tmp_path, number):
    target = tmp_path / "out.html"
    assert main(["diagnose", *case(number), "--html", str(target)]) == 0
    text = target.read_text()
    assert "default-src &#x27;none&#x27;" in text
    assert "<script" not in text
    links = re.findall(r"""(?:src|href)=|url\((?!#)|@import""", text)
    assert links == []


def test_the_page_says_in_a_sentence_what_the_cause_means(tmp_path):
    path = tmp_path / "out.html"
    main(["diagnose", *case("03"), "--html", str(path)])
    assert "L1 is the limit: the pool is full" in path.read_text()
    assert "<td>yes</td>" in path.read_text()


def test_the_page_opens_with_the_sentence_and_folds_what_can_wait(tmp_path):
    path = tmp_path / "out.html"
    main(["diagnose", *case("03"), "--html", str(path)])
    text = path.read_text()
    assert re.search(r"<h1>.*L1 is the limit: the pool is full", text)
    shown = text.index("<h2>Why"), text.index("<h2>Next"), text.index("<figure>")
    assert shown == tuple(sorted(shown))
    assert text.count("<details>") == 2


def test_the_timeline_says_where_the_pool_is_full(tmp_path):
    usages = [0.5, 0.96, 0.99, 0.7, 0.5, 0.97]
    lines = [decode(10 * t, 30, u, 3 + t) for t, u in enumerate(usages)]
    drawn = page(log(tmp_path, *lines)).partition("<figure>")[2]
    (thick,) = re.findall(r'd="([^"]*)"[^>]*stroke-width="4"', drawn)
    assert thick.count("M") == 2
    assert thick.count("L") == 1
    assert ">full<" in drawn
    calm = page(log(tmp_path, *(decode(t, 3, 0.94, 0) for t in range(5))))
    assert ">full<" not in calm


def test_evidence_is_told_in_the_order_of_the_input(tmp_path):
    told = log(tmp_path, *(decode(t, 30, 0.99, t) for t in range(9)), retract(9))
    lines = [int(quote.place.rpartition(":")[2]) for quote in told.evidence]
    assert len(lines) > 2
    assert lines == sorted(lines)


def test_the_page_marks_the_evidence_on_the_timeline(tmp_path):
    told = log(tmp_path, *(decode(t, 30, 0.99, t) for t in range(9)), retract(9))
    text = page(told)
    assert told.marks
    assert "<figure>" in text
    assert text.count('stroke-dasharray="3 2"') >= len({x for x, _ in told.marks}) > 0


def test_text_from_a_log_cannot_become_markup(tmp_path):
    line = decode(1, 3, 0.2, 0)
    wrapped = [json.dumps({"message": line, "pod_name": f"<script>{n}</script>"})
               for n in (1, 2)]  # fmt: skip
    path = tmp_path / "<img src=x>.log"
    path.write_text("\n".join(wrapped * 2))
    from kvlab.observe.diagnose import diagnose

    text = page(diagnose([path]))
    assert "<script" not in text
    assert "<img" not in text


def test_lanes_show_what_the_input_has(tmp_path):
    lines = [stats(t, 9, t, 99.0, extra="Deferred: 1 reqs, Preemptions: 2, ")
             for t in range(10, 90, 10)]  # fmt: skip
    told = log(tmp_path, *lines)
    labels = {lane.label for lane in told.lanes}
    assert {"usage", "queue", "running", "deferred", "preemptions so far"} <= labels


def test_a_page_goes_nowhere_else_than_asked(capsys, tmp_path):
    target = tmp_path / "no" / "out.html"
    assert main(["diagnose", *case("01"), "--html", str(target)]) == 2
    assert "folder does not exist" in capsys.readouterr().err


def test_the_report_fits_a_terminal(tmp_path):
    told = judged(tmp_path, "\n".join(decode(t, 9, 0.3, 0) for t in range(9)))
    assert max(map(len, report(told).splitlines())) <= 80


def test_the_page_has_a_dark_colour_for_each_that_it_draws(tmp_path):
    target = tmp_path / "out.html"
    main(["diagnose", *case("03"), "--html", str(target)])
    _, _, night = target.read_text().partition("prefers-color-scheme:dark")
    drawn = re.sub(r"<defs>.*?</defs>", "", night.partition("</style>")[2])
    used = set(re.findall(r'(?:fill|stroke)="#\w{6}"', drawn))
    assert len(used) > 4
    assert [one for one in used if f"[{one}]{{" not in night] == []
