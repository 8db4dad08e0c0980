"""Is a request trace read for what it is, and everything else refused in one line?"""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvlab.errors import ConfigError, InputError, OutOfPool
from kvlab.record.request_trace import (
    RequestTrace,
    TracedRequest,
    check_prompts,
    read_requests,
    tokens_of,
    unique,
    unit_tokens_of,
)

MAX_ID = 2**31 // 512 - 1
"""The last id of a block of 512 whose tokens are 32-bit numbers."""

ASK = (
    "; give a Mooncake, Qwen-Bailian, BurstGPT or Azure LLM trace (JSONL or CSV with "
    "its header)"
)


def line(
    length: int = 514, ids: tuple[int, ...] = (0, 1), out: int = 9, **others: object
) -> dict[str, object]:
    return {
        "timestamp": 27, "input_length": length, "output_length": out,
        "hash_ids": list(ids), **others,
    }  # fmt: skip


@pytest.fixture
def path(tmp_path):
    return tmp_path / "trace.jsonl"


def write(path, *lines: object) -> None:
    texts = (x if isinstance(x, str) else json.dumps(x) for x in lines)
    path.write_text("".join(f"{text}\n" for text in texts))


def refused(path, *lines: object) -> str:
    """Return why a file of these lines is refused."""
    write(path, *lines)
    with pytest.raises(InputError) as told:
        read_requests(path)
    assert "\n" not in str(told.value)
    return str(told.value).replace(str(path), "trace.jsonl")


# --- reading


def test_requests_are_read_in_order_and_their_times_count_from_the_first(path):
    write(path, line(timestamp=29), line(512, (0,), 3), line(1, (7,), 0))
    assert read_requests(path).requests == (
        TracedRequest(2, 514, 9, (0, 1), where=f"{path}:1"),
        TracedRequest(0, 512, 3, (0,), where=f"{path}:2"),
        TracedRequest(0, 1, 0, (7,), where=f"{path}:3"),
    )


def test_the_format_the_unit_and_the_block_size_are_named(path):
    write(path, line())
    trace = read_requests(path)
    assert (trace.format, trace.unit, trace.block_size) == ("mooncake", "ms", 512)


def test_fields_of_dialects_are_ignored(path):
    write(path, line(session_id="s1", delay=3, messages=[{"role": "user"}]))
    assert read_requests(path).requests[0].input_length == 514


def test_a_limit_leaves_later_lines_unread(path):
    write(path, line(), line(512, (4,)), "no JSON at all")
    assert len(read_requests(path, limit=2).requests) == 2


def test_a_limit_beyond_the_file_reads_all(path):
    write(path, line())
    assert len(read_requests(path, limit=5).requests) == 1


def test_a_limit_below_one_is_refused(path):
    with pytest.raises(ConfigError, match="limit is 0; use 1 to 2147483647"):
        read_requests(path, limit=0)


def test_gzip_is_read(path):
    path.write_bytes(gzip.compress(json.dumps(line()).encode()))
    assert len(read_requests(path).requests) == 1


def test_blank_lines_are_passed_over(path):
    write(path, "", line(), "  ", line())
    assert len(read_requests(path).requests) == 2


# --- refusing


def test_an_empty_file_is_refused(path):
    assert refused(path) == "trace.jsonl: has no requests" + ASK
    assert refused(path, "", " ") == "trace.jsonl: has no requests" + ASK


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"cannot be read \(Is a directory\)"):
        read_requests(tmp_path)


def test_binary_data_is_refused(path):
    path.write_bytes(b"PAR1\x15\x00\x15")
    with pytest.raises(InputError, match="is a parquet file, which is not read here"):
        read_requests(path)
    path.write_bytes(b"\x00\x15\x00\x15")
    with pytest.raises(InputError, match="is binary data, not text; give a JSONL"):
        read_requests(path)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Timestamp,Request tokens", "is not JSON (JSON is malformed: invalid char"),
        (
            {"input_tokens": 9, "hash_ids": [4]},
            "has no timestamp; give one, or the session_id",
        ),
        ({"timestamp": 1}, "has no input_length"),
        ("{", "is not JSON (Input data was truncated)"),
        ("[1, 2]", "is not a request (Expected `object`, got `array`)"),
        (line(length="514"), "(Expected `int`, got `str` - at `$.input_length`)"),
        (line(length=514.5), "(Expected `int`, got `float` - at `$.input_length`)"),
        (line(length=None), "(Expected `int`, got `null` - at `$.input_length`)"),
        (line(ids=(0, "x")), "(Expected `int`, got `str` - at `$.hash_ids[1]`)"),
    ],
)
def test_a_line_that_is_no_request_is_refused_by_its_number(path, text, problem):
    told = refused(path, line(), text)
    assert told.startswith("trace.jsonl:2: ")
    assert problem in told
    assert told.endswith(ASK) or "turn it is" in told


@pytest.mark.parametrize(
    ("request_", "problem"),
    [
        (line(timestamp=-1), "timestamp is -1; it must be 0 or more and below 1e12 s"),
        (line(timestamp=1e308), "timestamp is 1e+308; it must be 0 or more and below"),
        (line(-5), "input_length is -5; use 0 to 2147483647 tokens; mend the line"),
        (line(0, ()), "input_length is 0; a prompt has 1 token or more; mend or"),
        (line(out=-1), "output_length is -1; use 0 to 2147483647 tokens; mend the"),
        (line(ids=(0, -2)), "hash id -2 is negative; number blocks from 0"),
        (line(10**12), "input_length is 1000000000000; use 0 to 2147483647 tokens"),
        (line(out=10**30), f"output_length is {10**30}; use 0 to 2147483647 tokens"),
        (line(input_tokens=3), "input_length is 514 and, by its other name, 3; keep"),
    ],
)
def test_a_number_that_no_engine_could_serve_is_refused(path, request_, problem):
    assert refused(path, line(), request_).startswith(f"trace.jsonl:2: {problem}")


def test_lengths_that_disagree_with_the_blocks_are_refused(path):
    assert refused(path, line(), line(513, (0,))) == (
        "trace.jsonl:2: input_length 513 makes 2 blocks of 512, hash_ids has 1; "
        "this is no trace of equal blocks; mend or remove the line"
    )


@pytest.mark.parametrize("block", [16, 64, 256, 1024])
def test_a_trace_of_other_blocks_is_read_in_those(path, block):
    write(path, *(line(n * block + 1, tuple(range(n + 1))) for n in range(1, 40)))
    trace = read_requests(path)
    assert trace.block_size == block
    tokens = tokens_of(trace.requests[0])
    assert (len(tokens), tokens[-1]) == (block + 1, block)


def test_a_block_size_that_is_told_wins_over_the_one_that_fits(path):
    write(path, line(16, (0,)))
    assert read_requests(path, block=16).block_size == 16
    with pytest.raises(InputError, match="makes 2 blocks of 8, hash_ids has 1"):
        read_requests(path, block=8)


@pytest.mark.parametrize("block", [0, 2**20 + 1])
def test_a_block_size_out_of_range_is_refused(path, block):
    with pytest.raises(ConfigError, match=f"block size is {block}; use 1 to 1048576"):
        read_requests(path, block=block)


def test_ids_too_large_for_tokens_are_numbered_as_they_appear(path):
    write(path, line(514, (2**60, 5)), line(1025, (2**60, 7, 5)))
    told = [list(request.hash_ids) for request in read_requests(path).requests]
    assert told == [[0, 1], [0, 2, 1]]


def test_times_far_apart_are_refused(path):
    write(path, line(timestamp=0), line(timestamp=1e13))
    with pytest.raises(InputError, match=r"has times 1e\+10 seconds apart; mend its"):
        read_requests(path)


# --- other formats


def test_a_later_turn_waits_for_the_turn_before_it(path):
    turn = {"session_id": "s", "input_length": 5, "output_length": 1}
    write(
        path, {**turn, "timestamp": 100}, {**turn, "session_id": "t", "timestamp": 40},
        {**turn, "delay": 7}, {**turn, "delay_ms": 8},
    )  # fmt: skip
    trace = read_requests(path)
    assert [(r.timestamp, r.after) for r in trace.requests] == [
        (60, None), (0, None), (7, 0), (8, 2)
    ]  # fmt: skip
    assert trace.about == (
        "mooncake-dialect, 4 requests, arrivals in ms, no prefix identity, so every "
        "prompt is unique, later turns sent when the turn before has left"
    )


def test_rows_without_prefix_identity_become_unique_prompts(path):
    path.write_text(
        "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
        "19440110.5,GPT-4,600,7,607,API log\n19440112.0,GPT-4,600,0,600,API log\n"
    )
    trace = read_requests(path)
    first, second = trace.requests
    assert (trace.format, trace.unit, trace.block_size) == ("burstgpt", "s", None)
    assert (first.timestamp, second.timestamp, first.output_length) == (0, 1500, 7)
    assert [len(tokens_of(r)) for r in (first, second)] == [600, 600]
    assert not set(tokens_of(first).tolist()) & set(tokens_of(second).tolist())


def test_bailian_has_seconds_and_blocks_of_16(path):
    row = line(33, (4, 5, 6), chat_id=1, parent_chat_id=-1, type="text", turn=1)
    write(path, {**row, "timestamp": 1.5}, {**row, "timestamp": 2.0})
    trace = read_requests(path)
    assert trace.about == "bailian, 2 requests, arrivals in s, blocks of 16 tokens"
    assert trace.requests[1].timestamp == 500
    assert tokens_of(trace.requests[0])[[0, 16, 32]].tolist() == [64, 80, 96]


def test_a_prompt_beyond_the_pool_is_told_before_any_is_made():
    requests = [TracedRequest(0, 512, 1, (0,)), TracedRequest(0, 10**9, 1, (1,))]
    with pytest.raises(OutOfPool, match="request 1 has 1000000000 tokens, the pool 64"):
        check_prompts(requests, 640, 1, unit=False)
    check_prompts(requests, 640, 1, unit=True)


def test_a_prompt_beyond_the_pool_is_told_with_its_line(path):
    write(path, line(512, (0,)), line(1024, (1, 2)))
    with pytest.raises(OutOfPool, match=rf"{path.name}:2: request 1 has 1024 tokens"):
        check_prompts(read_requests(path).requests, 640, 1, unit=False)


def test_the_largest_id_that_fits_is_taken(path):
    write(path, line(512, (MAX_ID,)))
    tokens = tokens_of(read_requests(path).requests[0])
    assert tokens[-1] == 2**31 - 1


# --- tokens

REQUESTS = st.builds(
    lambda ids, cut: TracedRequest(0, 512 * len(ids) - cut, 1, tuple(ids)),
    st.lists(st.integers(0, MAX_ID), min_size=1, max_size=5),
    st.integers(0, 511),
)


@given(REQUESTS)
def test_a_prompt_is_its_blocks_cut_to_its_length(request_):
    whole = [h * 512 + i for h in request_.hash_ids for i in range(512)]
    tokens = tokens_of(request_)
    assert tokens.tolist() == whole[: request_.input_length]
    assert tokens.dtype == np.int32
    assert not tokens.flags.writeable


@given(REQUESTS)
def test_in_unit_mode_a_prompt_is_its_hash_ids(request_):
    tokens = unit_tokens_of(request_)
    assert tuple(tokens.tolist()) == request_.hash_ids
    assert tokens.dtype == np.int32
    assert not tokens.flags.writeable


@given(st.lists(REQUESTS, max_size=5))
def test_a_unique_trace_shares_nothing_and_keeps_the_rest(requests):
    trace = RequestTrace(requests=tuple(requests))
    alone = unique(trace)
    ids = [h for request in alone.requests for h in request.hash_ids]
    assert ids == list(range(sum(-(-r.input_length // 512) for r in requests)))
    for before, after in zip(trace.requests, alone.requests, strict=True):
        assert len(after.hash_ids) == len(before.hash_ids)
        assert after.input_length == before.input_length


def test_more_blocks_than_token_ids_cannot_be_unique(monkeypatch):
    monkeypatch.setattr("kvlab.record.request_trace.MAX_TOKENS", 3 * 512 - 1)
    once = TracedRequest(0, 1024, 1, (0, 1))
    with pytest.raises(InputError) as told:
        unique(RequestTrace(requests=(once, once)))
    assert str(told.value) == (
        "the trace: has 4 blocks, and 32-bit token ids are enough for 3; "
        "replay fewer requests (--limit)"
    )
