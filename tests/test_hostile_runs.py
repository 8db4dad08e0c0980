"""Can an edited run make a command fall over, or write half a file?"""

from __future__ import annotations

import base64
import json
import random
import re
from pathlib import Path

import pytest
from played import golden

from kvlab.cli import main
from kvlab.errors import TraceError
from kvlab.pages import as_pages
from kvlab.record import events as ev
from kvlab.record.trace import Trace
from kvlab.record.trace_file import read_trace, write_trace
from kvlab.views.log import player_log
from kvlab.views.streams import unpack

NUMBERS = (-1, 0, 1, 7, 999, 10**6, 2**31, 2**53 + 1, 2**64, 10**30)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory) -> Path:
    """A run with loads, evictions of both tiers and a chunk, as kvlab records it."""
    path = tmp_path_factory.mktemp("run") / "x11.jsonl"
    write_trace(golden("x11"), path)
    return path


def edited(lines: list[str], draw: random.Random) -> list[str]:
    """Return the lines with one to three of them dropped, doubled, moved or changed;
    causes are cut, so that the edit and not a cause is what is wrong."""
    head, *events = map(json.loads, lines)
    for event in events:
        event[1] = -1
    for _ in range(draw.choice((1, 1, 2, 3))):
        at, other = draw.randrange(len(events)), draw.randrange(len(events))
        what = draw.choice(("drop", "double", "move", "change", "change", "change"))
        if what == "drop":
            del events[at]
        elif what == "double":
            events.insert(at, events[other])
        elif what == "move":
            events.insert(at, events.pop(other))
        else:
            events[at] = changed(events[at], draw)
    head["events"] = len(events)
    return [json.dumps(line) for line in (head, *events)]


def changed(value: object, draw: random.Random) -> object:
    """Return it with one number in it replaced by another, or a text by a text."""
    if isinstance(value, list) and value:
        at = draw.randrange(len(value))
        return [*value[:at], changed(value[at], draw), *value[at + 1 :]]
    if isinstance(value, int):
        near = value + draw.choice((-2, -1, 1, 2))
        return near if draw.random() < 0.5 else draw.choice(NUMBERS)
    return draw.choice(("x", "L2", "admit")) if isinstance(value, str) else value


def commands(run: Path, other: Path, out: Path, draw: random.Random) -> list[list]:
    what = draw.choice(("tree", "pool", "timeline", "account"))
    to = draw.choice(("perfetto", "csv", "jsonl"))
    return [
        ["play", run, "-o", out], ["compare", run, other],
        ["render", run, "--what", what, "-o", out.with_suffix(".svg")],
        ["export", run, "--to", to, "-o", out.with_suffix(".x")],
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(0, 60, 10))
def test_an_edited_run_is_shown_or_refused_in_one_line(
    recorded, tmp_path, capsys, seed
):
    lines = recorded.read_text().splitlines()
    for number in range(seed, seed + 10):
        draw = random.Random(number)
        run, out = tmp_path / "edited.jsonl", tmp_path / "out.html"
        run.write_text("\n".join(edited(lines, draw)) + "\n")
        for command in commands(run, recorded, out, draw):
            status = main(list(map(str, command)))
            said = capsys.readouterr().err
            if status == 2:
                assert said.startswith("kvlab: ") and said.count("\n") == 1, said
                assert "Traceback" not in said and "is it the right file" not in said
        leftovers = [p.name for p in tmp_path.iterdir() if ".part" in p.name]
        assert leftovers == []


def broken(sample: Trace, event: ev.Event) -> str:
    """Return what the log says of a run to which this event was added."""
    trace = Trace(sample.header, [*sample.events, event])
    contents, columns = unpack(player_log(trace))
    assert contents["events"] == len(sample) == len(columns["variant"])
    return contents["fault"][0]


def test_pages_that_the_pool_does_not_have_are_told(sample):
    event = ev.Row(-1, "d", 0, as_pages([999]))
    said = broken(sample, event)
    assert f"event {len(sample)} (Row)" in said
    assert "names page 999, which the pool does not have" in said


def test_a_node_that_no_count_has_come_to_is_told(sample):
    event = ev.Split(-1, 4, 10**9, 4, 1, 1)
    assert "node 1000000000 is new, in 143 events" in broken(sample, event)


def test_more_than_the_player_counts_is_told(sample):
    assert "more than the player counts" in broken(sample, ev.Raise(-1, 3, 2**40))


def test_a_number_that_no_column_holds_is_told(sample):
    assert "event 142 (Sent)" in broken(sample, ev.Sent(-1, "d", 2**70))


@pytest.mark.parametrize(
    "line", [b'["hit",-1,9007199254740993]', b'["victim",-1,1,3,[1e300],"demote"]']
)
def test_a_number_beyond_what_json_holds_is_refused_with_its_line(
    recorded, tmp_path, line
):
    head = json.loads(recorded.read_text().splitlines()[0])
    run = tmp_path / "huge.jsonl"
    run.write_bytes(json.dumps({**head, "events": 1}).encode() + b"\n" + line + b"\n")
    with pytest.raises(TraceError, match=r"huge.jsonl:2: .*beyond 9,007,199"):
        read_trace(run)


def test_a_run_that_was_cut_off_is_played_up_to_there_and_says_so(
    recorded, tmp_path, capsys
):
    run, out = tmp_path / "cut.jsonl", tmp_path / "cut.html"
    lines = recorded.read_bytes().splitlines(keepends=True)
    run.write_bytes(b"".join(lines[:72]) + lines[72][:-9])
    assert main(["play", str(run), "-o", str(out)]) == 0
    said = capsys.readouterr().err
    assert "the file ends in the middle of an event" in said.splitlines()[0]
    log = re.search(r'id="kvlab-log">([^<]*)<', out.read_text("utf-8"))
    contents, _ = unpack(base64.b64decode(log[1]))
    assert contents["cut"].startswith("cut.jsonl:73: the file ends in the middle")
    assert contents["events"] == 71
    assert main(["compare", str(run), str(recorded)]) == 2
