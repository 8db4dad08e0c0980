"""Does a run come back from disk as it was, and is a damaged file told from a run?"""

from __future__ import annotations

import gzip
import os
import typing

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kvlab.config import EngineConfig
from kvlab.errors import TraceError
from kvlab.pages import as_pages
from kvlab.record.events import CHANGES, DECISIONS, Alloc, Arrive, Event, Hit, Step
from kvlab.record.trace import Header, Trace
from kvlab.record.trace_file import read_prefix, read_trace, write_trace
from kvlab.rules import Rules

SAMPLES = {
    int: 3,
    str: "r1",
    bool: True,
    float: 1.5,
    int | None: None,
    tuple[float, ...]: (1.0, 2.5),
    tuple[int, ...]: (4, 7),
    tuple[str, ...]: ("r1", "r2"),
}


def trace_of(*events: Event) -> Trace:
    config = EngineConfig(pool_tokens=64, page_size=4)
    header = Header(name="hand", config=config, rules=Rules.v0_5_14(), seed=7)
    return Trace(header, list(events))


def small_run() -> Trace:
    trace = trace_of()
    with trace.of(Step, 0, "insert", "3 tokens"):
        trace(Alloc, "L1", as_pages([1, 2, 3, 9]))
        trace(Hit, 1)
    trace(Arrive, "r1", 5, 1, 0)
    return trace


def sample(kind: type[Event]) -> Event:
    """Return an event of the kind with some value in every field."""
    hints = typing.get_type_hints(kind)
    fields = []
    for name in kind.__struct_fields__[1:]:
        is_tier = typing.get_origin(hints[name]) is typing.Literal
        fields.append(
            "L2" if is_tier else SAMPLES.get(hints[name], as_pages([7, 4, 5, 6]))
        )
    return kind(-1, *fields)


def plain(trace: Trace) -> list[tuple[object, ...]]:
    """Return the events with lists in the place of arrays, which do not compare."""
    return [
        (
            type(event),
            *(
                value.tolist() if isinstance(value, np.ndarray) else value
                for value in (getattr(event, n) for n in event.__struct_fields__)
            ),
        )
        for event in trace.events
    ]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.jsonl"


@pytest.fixture
def lines(path):
    """The lines of a small run's file, to be damaged."""
    write_trace(small_run(), path)
    return path.read_bytes().splitlines(keepends=True)


# --- there and back


@pytest.mark.parametrize("kind", CHANGES + DECISIONS, ids=lambda kind: kind.__name__)
def test_every_kind_of_event_survives_the_disk(kind, path):
    trace = trace_of(sample(kind))
    write_trace(trace, path)
    assert plain(read_trace(path)) == plain(trace)


def test_the_header_survives_the_disk(path):
    write_trace(small_run(), path)
    assert read_trace(path).header == small_run().header


@given(st.lists(st.integers(0, 2**31 - 1), max_size=40))
@example([1, 3, 2, 4])
def test_any_list_of_pages_survives_the_disk(tmp_path_factory, numbers):
    path = tmp_path_factory.getbasetemp() / "any.jsonl"
    write_trace(trace_of(Alloc(-1, "L1", as_pages(numbers))), path)
    assert read_trace(path).events[0].pages.tolist() == numbers


@given(st.integers(0, 2**31 - 60), st.integers(0, 60))
def test_a_stretch_of_pages_survives_the_disk(tmp_path_factory, first, size):
    path = tmp_path_factory.getbasetemp() / "stretch.jsonl"
    pages = as_pages(range(first, first + size))
    write_trace(trace_of(Alloc(-1, "L1", pages)), path)
    assert read_trace(path).events[0].pages.tolist() == pages.tolist()


def test_lists_of_pages_are_written_as_runs(lines):
    assert lines[2] == b'["alloc",0,"L1",[[1,3],9]]\n'


@pytest.mark.parametrize("numbers", [[], [4], [4, 5, 6], [4, 5, 9]])
def test_lists_of_pages_come_back_read_only(path, numbers):
    write_trace(trace_of(Alloc(-1, "L1", as_pages(numbers))), path)
    pages = read_trace(path).events[0].pages
    assert not pages.flags.writeable
    assert pages.dtype == np.int32


def test_a_path_that_ends_in_gz_is_compressed_and_read_back(path, tmp_path):
    packed = tmp_path / "run.jsonl.gz"
    write_trace(small_run(), packed)
    write_trace(small_run(), path)
    assert gzip.decompress(packed.read_bytes()) == path.read_bytes()
    assert plain(read_trace(packed)) == plain(small_run())


def test_gzip_is_recognised_whatever_its_name(path, tmp_path):
    write_trace(small_run(), tmp_path / "run.gz")
    os.replace(tmp_path / "run.gz", path)
    assert plain(read_trace(path)) == plain(small_run())


def test_the_same_run_gives_the_same_bytes(tmp_path):
    one, two = tmp_path / "one.gz", tmp_path / "two.gz"
    write_trace(small_run(), one)
    write_trace(small_run(), two)
    assert one.read_bytes() == two.read_bytes()
    assert one.read_bytes()[4:8] == bytes(4), "the time stands in the gzip header"


def test_a_run_of_many_events_takes_under_ten_bytes_each_compressed(tmp_path):
    trace = trace_of()
    for i in range(20_000):
        with trace.of(Step, i, "decode", ""):
            trace(Alloc, "L1", as_pages([i % 977]))
            trace(Hit, i % 300)
    path = tmp_path / "run.gz"
    write_trace(trace, path)
    assert path.stat().st_size < 10 * len(trace)


# --- writing whole or not at all


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(path, lines):
    before = path.read_bytes()
    with pytest.raises(NotImplementedError, match="an event holds a object"):
        write_trace(trace_of(Hit(-1, object())), path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_an_interrupt_leaves_nothing_behind(path, monkeypatch):
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("kvlab.files.os.replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_trace(small_run(), path)
    assert list(path.parent.iterdir()) == []


def test_a_missing_folder_is_told(tmp_path):
    path = tmp_path / "nowhere" / "run.jsonl"
    with pytest.raises(TraceError) as told:
        write_trace(small_run(), path)
    assert str(told.value) == (
        f"{path}: cannot be written (No such file or directory); "
        "give a file name in a folder that exists and has room"
    )


def test_a_run_is_not_written_over_a_folder(tmp_path):
    with pytest.raises(TraceError, match="is a directory"):
        write_trace(small_run(), tmp_path)
    assert list(tmp_path.iterdir()) == []


# --- what is no run


def foreign(path, content: bytes) -> str:
    path.write_bytes(content)
    with pytest.raises(TraceError) as told:
        read_prefix(path)
    assert "\n" not in str(told.value)
    return str(told.value).replace(str(path), "run.jsonl")


def test_an_empty_file_is_told(path):
    told = foreign(path, b"")
    assert told == "run.jsonl: is empty; give a run that kvlab recorded"


def test_a_file_of_something_else_is_told(path):
    assert foreign(path, b'{"timestamp": 0}\n') == (
        "run.jsonl:1: does not begin like a recorded run of kvlab; give a file that "
        "kvlab recorded; request traces have their own reader"
    )


@pytest.mark.parametrize(
    "content",
    [b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", bytes(range(128, 256)), b"PAR1\x15\x00"],
    ids=["png", "latin", "parquet"],
)
def test_binary_data_is_told(path, content):
    told = foreign(path, content)
    assert told == (
        "run.jsonl: is binary data, not text; give a JSONL file, plain or .gz"
    )


def test_a_newer_format_asks_for_an_update(path, lines):
    newer = lines[0].replace(b'{"kvlab":1,', b'{"kvlab":2,"colour":"red",')
    assert foreign(path, newer) == (
        "run.jsonl:1: is a run of format 2, newer than this kvlab's 1; update kvlab"
    )


def test_a_header_with_an_impossible_config_is_told(path, lines):
    told = foreign(path, lines[0].replace(b'"pool_tokens":64', b'"pool_tokens":0'))
    assert told == (
        "run.jsonl:1: the header is damaged (pool_tokens is 0; use at least 1); "
        "record the run again"
    )


def test_a_header_with_a_missing_field_is_told(path, lines):
    told = foreign(path, lines[0].replace(b'"rules"', b'"rulez"'))
    assert "the header is damaged (Object " in told


def test_a_folder_is_told(tmp_path):
    with pytest.raises(TraceError) as told:
        read_trace(tmp_path)
    assert str(told.value) == (
        f"{tmp_path}: cannot be read (Is a directory); "
        "give the path of a file that exists and may be read"
    )


def test_a_missing_file_is_told(path):
    with pytest.raises(TraceError, match=r"cannot be read \(No such file or directory"):
        read_trace(path)


# --- what was a run


def damaged(path, content: bytes) -> tuple[list[tuple[object, ...]], str]:
    """Return what a damaged file still tells, and why reading it whole is refused."""
    path.write_bytes(content)
    with pytest.raises(TraceError) as told:
        read_trace(path)
    trace, damage = read_prefix(path)
    assert str(damage) == str(told.value)
    assert "\n" not in str(damage)
    assert plain(read_trace(path, prefix=True)) == plain(trace)
    return plain(trace), str(damage).replace(str(path), "run.jsonl")


AGAIN = (
    "; record the run again, or open the part before it in Python: "
    "read_trace(path, prefix=True)"
)


def test_a_whole_file_has_no_damage(path, lines):
    trace, damage = read_prefix(path)
    assert damage is None
    assert plain(trace) == plain(small_run())


def test_a_file_cut_inside_a_line_opens_up_to_it(path, lines):
    trace, damage = damaged(path, b"".join(lines)[:-4])
    assert trace == plain(small_run())[:3]
    assert damage == "run.jsonl:5: the file ends in the middle of an event" + AGAIN


def test_a_file_cut_between_lines_is_noticed(path, lines):
    trace, damage = damaged(path, b"".join(lines[:3]))
    assert trace == plain(small_run())[:2]
    assert damage == (
        "run.jsonl:4: the header promises 4 events, the file has 2" + AGAIN
    )


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"[\n", "is not an event (Input data was truncated)"),
        (b"\n", "is not an event (Input data was truncated)"),
        (b'["hid",0,1]\n', "is not an event (Invalid value 'hid' - at `$[0]`)"),
        (b'["hit",0]\n', "is not an event (Expected `array` of at least length 3"),
        (b'["hit",0,"x"]\n', "is not an event (Expected `int`, got `str`"),
        (b'["alloc",0,"L3",[1]]\n', "is not an event (Invalid enum value 'L3'"),
        (b'["alloc",0,"L1",7]\n', "is not an event ('int' object is not iterable"),
        (b'["alloc",0,"L1",[-1]]\n', "(-1 is not a number or [first, length]"),
        (b'["alloc",0,"L1",[1.5]]\n', "is not an event (cannot unpack"),
        (b'["alloc",0,"L1",[[1,0]]]\n', "([1, 0] is not a number or [first, length]"),
        (b'["alloc",0,"L1",[[1,2,3]]]\n', "is not an event (too many values to unpack"),
        (b'["alloc",0,"L1",["ab"]]\n', "('ab' is not a number or [first, length]"),
        (b'["alloc",0,"L1",[[1,999]]]\n', "(a list is longer than the 132 tokens of"),
        (b'["alloc",0,"L1",[2147483648]]\n', "(2147483648 goes beyond 2147483647"),
    ],
)
def test_a_damaged_line_is_told_and_the_part_before_it_opens(
    path, lines, line, problem
):
    trace, damage = damaged(path, b"".join([*lines[:2], line, *lines[3:]]))
    assert trace == plain(small_run())[:1]
    assert damage.startswith("run.jsonl:3: ")
    assert problem in damage
    assert damage.endswith(AGAIN)


@pytest.mark.parametrize("cause", [1, 2, -2])
def test_a_cause_that_does_not_come_before_its_event_is_damage(path, lines, cause):
    lines[2] = b'["hit",%d,1]\n' % cause
    trace, damage = damaged(path, b"".join(lines))
    assert trace == plain(small_run())[:1]
    assert damage == (
        f"run.jsonl:3: event 1 names event {cause} as its cause, which does not come "
        "before it" + AGAIN
    )


def test_a_gzip_that_was_cut_short_opens_up_to_the_cut(path):
    trace = trace_of(*[Hit(-1, i * i % 9973) for i in range(9000)])
    write_trace(trace, path.with_suffix(".gz"))
    content = path.with_suffix(".gz").read_bytes()
    found, damage = damaged(path, content[: len(content) // 2])
    assert 4000 < len(found) < 5000
    assert found == plain(trace)[: len(found)]
    assert damage == (
        f"run.jsonl:{len(found) + 2}: the gzip data is damaged or cut short here; "
        "fetch or write the file again"
    )


def test_a_gzip_with_a_flipped_byte_is_damage(path):
    write_trace(trace_of(*[Hit(-1, i) for i in range(900)]), path.with_suffix(".gz"))
    content = bytearray(path.with_suffix(".gz").read_bytes())
    content[-6] ^= 255
    found, damage = damaged(path, bytes(content))
    assert len(found) > 500
    assert "the gzip data is damaged" in damage


def test_gzip_files_that_were_joined_are_read_as_one(path, lines):
    path.write_bytes(b"".join(gzip.compress(line) for line in lines))
    assert plain(read_trace(path)) == plain(small_run())


@pytest.mark.parametrize("ending", [".jsonl", ".gz"])
def test_no_cut_of_a_file_is_taken_for_the_whole(tmp_path, ending):
    path = tmp_path / f"run{ending}"
    write_trace(small_run(), path)
    content = path.read_bytes()
    for size in range(len(content) - 1):
        path.write_bytes(content[:size])
        with pytest.raises(TraceError):
            read_trace(path)
