"""Is a cause a property of the server, whatever the length of its log?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from engine_text import decode, log, prefill, retract, start
from lengthen import middle, repeated, repeated_scrapes

from kvlab.lessons.mirrors import MIRRORS, play, write_forms
from kvlab.observe.diagnose import diagnose

TIMES = 50
NO_ENGINE = {"13", "16"}
"""Request traces."""
NO_MORE_THAN_ONE = {"15"}
"""A reading given twice shows growth, or that there is none."""
NOT_IN_THE_MIDDLE = {"10", "11"}
"""Thirds without a whole report, or with a single one."""
CASES = {
    case.name[:2]: case
    for case in sorted((Path(__file__).parent / "cases").iterdir())
    if case.name[:2] not in NO_ENGINE
}
LOGS = [number for number, case in CASES.items() if (case / "input.log").exists()]
MANY = [number for number in CASES if number not in NO_MORE_THAN_ONE]
BY_NAME = {mirror.name: mirror for mirror in MIRRORS}


def texts(number: str) -> list[str]:
    files = sorted(p for p in CASES[number].iterdir() if p.name != "expect.json")
    return [path.read_text() for path in files]


def said(folder: Path, given: list[str]) -> tuple[str, str]:
    paths = [folder / f"{number:05}" for number in range(len(given))]
    for path, text in zip(paths, given, strict=True):
        path.write_text(text)
    told = diagnose(paths)
    return told.verdict, told.cause


def expected(number: str) -> tuple[str, str]:
    want = json.loads((CASES[number] / "expect.json").read_text())
    return want["verdict"], want["cause"]


@pytest.mark.parametrize("number", MANY)
def test_a_case_fifty_times_as_long_gets_the_same_cause(tmp_path, number):
    given = texts(number)
    if number in LOGS:
        longer = [repeated(given[0], TIMES)]
    else:
        longer = repeated_scrapes(given, TIMES)
    assert said(tmp_path, longer) == expected(number)


@pytest.mark.parametrize("number", [n for n in LOGS if n not in NOT_IN_THE_MIDDLE])
def test_the_middle_third_of_a_case_gets_the_same_cause(tmp_path, number):
    (text,) = texts(number)
    assert said(tmp_path, [middle(text)]) == expected(number)


# --- the mirrors


@pytest.fixture(scope="module")
def forms(tmp_path_factory):
    """The log and the scrapes of each mirror."""
    made = {}
    for mirror in MIRRORS:
        files = write_forms(play(mirror, 11), tmp_path_factory.mktemp("mirror"))
        made[mirror.name] = (
            files["log"][0].read_text(),
            [path.read_text() for path in files["metrics"]],
        )
    return made


def halves(text: str) -> tuple[str, str]:
    """Cut a log where it says nothing for longest."""
    lines = text.splitlines()
    return "\n".join(lines[: len(lines) // 2]), "\n".join(lines[len(lines) // 2 :])


@pytest.mark.parametrize("name", BY_NAME)
def test_a_mirrors_log_ten_times_as_long_gets_the_same_cause(tmp_path, forms, name):
    text, _ = forms[name]
    if name == "a broken prefix":  # before the change for long, and after it for long
        longer = "".join(repeated(half, 10) for half in halves(text))
    else:
        longer = repeated(text, 10)
    assert said(tmp_path, [longer])[1] == BY_NAME[name].causes[1]


@pytest.mark.parametrize("name", [n for n in BY_NAME if n != "a broken prefix"])
def test_a_mirrors_scrapes_for_longer_get_the_same_cause(tmp_path, forms, name):
    _, series = forms[name]
    cause = said(tmp_path, repeated_scrapes(series, 3))[1]
    assert cause == BY_NAME[name].causes[2]


@pytest.mark.parametrize("name", [n for n in BY_NAME if n != "a leak"])
def test_the_middle_third_of_a_mirrors_log_gets_the_same_cause(tmp_path, forms, name):
    """A leak shows where nothing runs, which is at the ends."""
    text, _ = forms[name]
    assert said(tmp_path, [middle(text)])[1] == BY_NAME[name].causes[1]


@pytest.mark.parametrize("name", [n for n in BY_NAME if n != "a cap"])
def test_the_middle_third_of_a_mirrors_scrapes_gets_the_same_cause(
    tmp_path, forms, name
):
    """Behind the cap the two minutes of silence are in the middle."""
    _, series = forms[name]
    third = len(series) // 3
    cause = said(tmp_path, series[third : len(series) - third])[1]
    assert cause == BY_NAME[name].causes[2]


# --- what a long log has by chance


def busy(seconds: int, full_every: int) -> list[str]:
    """Prefill at its ceiling for so long, and the pool full for moments."""
    lines = []
    for t in range(0, seconds, 5):
        usage = 0.97 if t % full_every == 100 else 0.55
        lines.append(prefill(t, 4096, 0, usage, 30, 40))
        if t % full_every == 100:
            lines.append(decode(t + 1, 30, usage, 0))
            lines.append(retract(t + 2, 1, ratio=0.1 + t / 1e6))
    return lines


@pytest.mark.parametrize("seconds", [600, 6000, 60000])
def test_moments_of_a_full_pool_do_not_add_up_to_l1(tmp_path, seconds):
    told = log(tmp_path, start(), *busy(seconds, 1000))
    assert told.cause == "prefill_throughput"


def test_a_single_retraction_of_a_day_is_no_third_sign(tmp_path):
    lines = [decode(t, 30, 0.98, 20) for t in range(0, 20000, 10)]
    assert log(tmp_path, *lines, retract(500, 1)).cause == "two_of_three_signs"


@pytest.mark.parametrize("calm", [0, 20000])
def test_a_cap_is_seen_whatever_went_before(tmp_path, calm):
    lines = [decode(t, t % 7, 0.2, t % 400 < 20) for t in range(0, calm, 10)]
    lines += [decode(calm + t, 32, 0.4, 9 + t // 9) for t in range(5, 600, 5)]
    assert log(tmp_path, start(cap=32), *lines).cause == "max_running_cap"


@pytest.mark.parametrize("calm", [0, 20000])
def test_one_runner_is_seen_though_prompts_were_computed_before(tmp_path, calm):
    lines = [
        prefill(t, 800, 0, 0.2 + t % 70 / 500, t % 7 + 1, 0) for t in range(0, calm, 10)
    ]
    lines += [decode(calm + t, 1, 0.6, 9) for t in range(5, 600, 5)]
    assert log(tmp_path, *lines).cause == "one_runner_blocks_queue"


def test_one_burst_of_a_long_healthy_day_is_no_verdict_on_it(tmp_path):
    calm = [decode(t, 20, 0.4, 0) for t in range(0, 9000, 10)]
    burst = [decode(9000 + t, 40, 0.7, 40 - t) for t in range(0, 40, 5)]
    after = [decode(9100 + t, 20, 0.4, 0) for t in range(0, 900, 10)]
    told = log(tmp_path, *calm, *burst, *after)
    assert told.verdict == "healthy"
    assert any("it drains" in other.why for other in told.considered)
