"""Does the command line say which rule parts two runs, and name every rule?"""

from __future__ import annotations

import html
import json
from pathlib import Path

import pytest

from kvlab.cli import main
from kvlab.lessons.rule_scripts import rule_script
from kvlab.lessons.what_changed import explainer
from kvlab.rules import Rules, facts
from kvlab.run.whole import fork_of, run_whole
from kvlab.views.export import render
from kvlab.views.log import player_log
from kvlab.views.rule_table import mixed_note, rules_markdown, rules_text
from kvlab.views.streams import unpack
from kvlab.views.widget import play

GOLDENS = Path(__file__).parent / "goldens"
(S25,) = (GOLDENS / "sglang").glob("s25_*.json")
BOTH = ("--rules", "0.5.14", "--rules", "0.5.23")
MIXED = "0.5.14-evict_whole_need"


def run(capsys, *argv: object) -> tuple[int, str, str]:
    status = main([str(word) for word in argv])
    out, err = capsys.readouterr()
    return status, out, err


def told(capsys, *argv: object) -> dict[str, object]:
    status, out, _ = run(capsys, "compare", *argv, "--json")
    assert status in (0, 1)
    return json.loads(out)


# --- kvlab rules


def test_the_table_names_every_rule_with_both_answers_and_its_golden(capsys):
    status, out, _ = run(capsys, "rules")
    assert status == 0
    table = out.split("\n\ncheckpoint_cuts_prompt needs")[0].splitlines()
    for name, rule in facts().items():
        (line,) = (each for each in table if each.startswith(name + " "))
        words = line.split()
        answers = ["yes", "no"] if rule.old else ["no", "yes"]
        assert [words[2], words[4]] == answers
        assert words[5] == (rule.golden or "–")


def test_the_table_is_no_wider_than_a_terminal():
    assert max(map(len, rules_text().splitlines())) <= 88


def test_rules_are_told_to_programs_and_one_alone_can_be_asked_for(capsys):
    _, out, _ = run(capsys, "rules", "reclaims_duplicates", "--json")
    (rule,) = json.loads(out)
    assert (rule["0.5.14"], rule["0.5.23"]) == (False, True)
    assert rule["needs"] == ["load_protects_source"]
    assert len(json.loads(run(capsys, "rules", "--json")[1])) == len(facts())


def test_a_rule_that_is_none_is_refused_in_one_line(capsys):
    assert run(capsys, "rules", "shortfall") == (
        2, "", "kvlab: rule 'shortfall': is none; `kvlab rules` lists them\n",
    )  # fmt: skip


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_table_of_the_notebook_has_a_row_a_rule(lang):
    rows = rules_markdown(lang).splitlines()[2:]
    assert [row.split("`")[1] for row in rows] == list(facts())


# --- kvlab compare SCRIPT --rules A --rules B


def test_s25_parts_where_the_newer_release_locks_what_it_loads(capsys):
    status, out, _ = run(capsys, "compare", S25, *BOTH)
    assert status == 1
    assert "B  host_lock: The copy of n1 on L2 has to stay" in out
    assert "Rule load_protects_source: A no, B yes (yes since 0.5.23)" in out
    assert facts()["load_protects_source"].effect in out
    assert "A ends early: operation 9" in out
    assert "led to it: 22 step: Operation 4: load_back" in out
    assert "\nA  0.5.14\nL1  used 0" in out and "\nB  0.5.23\nL1  used 0" in out


def test_the_comparison_is_told_to_programs(capsys):
    found = told(capsys, S25, *BOTH)
    assert found["responsible"] == ["load_protects_source"]
    assert (found["level"], found["index"]) == ("event", found["at"])
    assert found["knobs"] == "rules 0.5.14 → 0.5.23"
    assert "dropped while it was being loaded" in found["a"]["fault"]
    assert found["b"]["fault"] is None


def test_a_single_rule_can_be_compared(capsys):
    found = told(capsys, "evict_whole_need", "--rules", "0.5.14", "--rules", MIXED)
    assert found["responsible"] == ["evict_whole_need"]
    assert (found["a"]["release"], found["b"]["release"]) == (True, False)
    same = told(capsys, "request_counts_once", "--rules", "0.5.14", "--rules", MIXED)
    assert (same["level"], same["responsible"]) == (None, [])


def test_what_only_a_call_tells_is_shown_with_both_answers(capsys):
    status, out, _ = run(capsys, "compare", "evict_host_returns_none", *BOTH)
    assert status == 1
    assert "No event differs; op 3 returned something else" in out
    assert '"returned": null' in out and '"returned": 8' in out


def test_a_lesson_is_played_under_both_by_its_name(capsys):
    found = told(capsys, "three_fates", *BOTH)
    assert found["responsible"] == ["request_counts_once"]


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        ((S25,), "nothing to compare with; name a second run, or --rules twice"),
        ((S25, "--rules", "0.5.14"), "goes with one script, and twice"),
        ((S25, S25, *BOTH), "goes with one script, and twice"),
        ((S25, "--rules", "0.5.14", "--rules", "0.4"), "no rule book for SGLang '0.4'"),
    ],
)
def test_a_comparison_that_is_none_is_refused_in_one_line(capsys, argv, message):
    status, out, err = run(capsys, "compare", *argv)
    assert (status, out) == (2, "")
    assert message in err and len(err.splitlines()) == 1


def test_a_recorded_run_cannot_be_run_under_other_rules(capsys, tmp_path):
    path = tmp_path / "run.jsonl"
    assert run(capsys, "export", "three_fates", "--to", "jsonl", "-o", path)[0] == 0
    assert "cannot be run again" in run(capsys, "compare", path, *BOTH)[2]
    refusal = run(capsys, "play", path, "--rules", "0.5.14", "-o", tmp_path / "p.html")
    assert "no script to run again" in refusal[2]
    assert not (tmp_path / "p.html").exists()


def test_a_rule_plays_by_its_name_under_the_rules_asked_for(capsys, tmp_path):
    path = tmp_path / "run.html"
    assert (
        run(capsys, "play", "load_protects_source", "--rules", "0.5.14", "-o", path)[0]
        == 0
    )
    assert path.stat().st_size > 10_000


# --- in the player


def test_a_fork_on_the_rules_says_which_rule_it_was():
    script = rule_script("load_protects_source", Rules.v0_5_14())
    player = play(run_whole(script)[0], fork=fork_of(script), explain=explainer(script))
    player.fork(rules="0.5.23")
    because = unpack(bytes(player.log_b))[0]["difference"]["because"]
    assert because[0][0].startswith("Rule load_protects_source: A no, B yes")
    assert because[0][1].startswith("规则 load_protects_source：A 否，B 是")
    player.fork(rules="0.5.23", load_back_threshold=64)
    two_knobs = unpack(bytes(player.log_b))[0]["difference"]["because"]
    assert two_knobs == []


# --- what no release had is labelled


@pytest.fixture(scope="module")
def mixed():
    return run_whole(rule_script("evict_whole_need", Rules.named(MIXED)))[0]


NOTE = f"No release had these rules: {MIXED}"


@pytest.mark.parametrize("name", [
    "tree.svg", "tree.txt", "tree.dot", "pool.svg", "pool.txt", "timeline.svg",
    "timeline.txt", "account.svg", "account.txt",
])  # fmt: skip
def test_every_picture_of_a_combination_says_so(mixed, name, tmp_path):
    render(mixed, len(mixed), name.split(".")[0], tmp_path / name)
    assert NOTE in html.unescape((tmp_path / name).read_text())


def test_a_release_is_not_labelled(tmp_path):
    trace = run_whole(rule_script("evict_whole_need", Rules.v0_5_14()))[0]
    assert mixed_note(trace.header.rules) == []
    render(trace, len(trace), "pool", tmp_path / "a.svg")
    assert "release had" not in (tmp_path / "a.svg").read_text()


def test_the_label_is_in_the_picture_and_does_not_cover_it(mixed, tmp_path):
    plain = run_whole(rule_script("evict_whole_need", Rules.v0_5_14()))[0]
    for name, trace in (("a", plain), ("b", mixed)):
        render(trace, 1, "pool", tmp_path / f"{name}.svg")
    heights = [_height((tmp_path / f"{name}.svg").read_text()) for name in "ab"]
    assert heights[1] == heights[0] + 24


def _height(svg: str) -> float:
    return float(svg.split('viewBox="0 0 ')[1].split('"', maxsplit=1)[0].split()[1])


def test_the_player_has_the_label_in_both_languages(mixed):
    contents = unpack(player_log(mixed))[0]
    assert contents["notes"] == [list(mixed_note(mixed.header.rules)[0])]
    assert contents["engine"] == f"sglang {MIXED}"


def test_a_comparison_with_a_combination_says_it_of_either(capsys):
    argv = ("compare", "evict_whole_need", *BOTH[:2], "--rules", MIXED)
    assert NOTE in run(capsys, *argv)[1]
    because = json.loads(run(capsys, *argv, "--json")[1])["because"]
    assert because[-1][0] == NOTE
