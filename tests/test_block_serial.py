"""Do serial replays through the blocks give the real engine's figures?"""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import numpy as np
import pytest

from kvlab.block_config import BlockConfig
from kvlab.cli import main
from kvlab.errors import OutOfPool, TraceError
from kvlab.record import block_events as ev
from kvlab.record.block_invariants import broken_blocks
from kvlab.record.block_replay import block_state_at
from kvlab.record.request_trace import TracedRequest
from kvlab.record.trace_file import read_block_trace, read_trace, write_trace
from kvlab.run.block_serial import BlockSerialReplay, replay_blocks

LISTS = [(1, 2, 3), (1, 2, 4), (1, 2, 3, 5), (6,)]
REQUESTS = [TracedRequest(i, 512 * len(ids), 1, ids) for i, ids in enumerate(LISTS)]


def config(blocks: int = 10, size: int = 512, **settings: object) -> BlockConfig:
    return BlockConfig(
        num_gpu_blocks=blocks + 1, block_size=size, max_model_len=10**6, **settings
    )


def figures(blocks: int = 10, size: int = 512, **how: object) -> dict[str, object]:
    return replay_blocks(REQUESTS, config(blocks, size), **how)[0]


def test_a_prefix_that_came_before_is_hit():
    assert figures()["device_hit_tokens"] == 512 * (0 + 2 + 3 + 0)


def test_input_is_hit_or_computed():
    got = figures()
    assert got["input_tokens"] == got["device_hit_tokens"] + got["computed_tokens"]


def test_a_whole_list_may_match_in_unit_mode():
    got, _ = replay_blocks(REQUESTS[:1] * 2, config(size=1), unit=True)
    assert got["device_hit_tokens"] == 3


def test_a_small_pool_evicts_what_was_freed_first():
    got = figures(blocks=4)
    assert (got["evicted_blocks"], got["device_hit_tokens"]) == (2, 512 * 5)


def test_evicted_tokens_are_lost():
    got = figures(blocks=4)
    assert got["lost_tokens"] == got["evicted_tokens"] == 2 * 512


@pytest.mark.parametrize("algo", ["sha256", "sha256_cbor", "xxhash", "chain64"])
def test_the_figures_do_not_depend_on_how_blocks_are_named(algo):
    got, _ = replay_blocks(REQUESTS, config(4, hash_algo=algo))
    kept = ("device_hit_tokens", "queue_sha256", "requests_sha256")
    assert [got[name] for name in kept] == [figures(4)[name] for name in kept]


def test_the_queue_digest_tells_an_order_apart():
    assert figures()["queue_sha256"] != figures(11)["queue_sha256"]


def test_a_prompt_larger_than_the_pool_is_refused_with_both_sizes():
    with pytest.raises(OutOfPool, match="request 0 has 1536 tokens, the pool 1024"):
        figures(blocks=2)


def test_a_recorded_replay_folds_into_the_live_pool():
    _, trace = replay_blocks(REQUESTS, config(4), record=True)
    state = block_state_at(trace, len(trace))
    live = BlockSerialReplay(config(4))
    for request in REQUESTS:
        live.serve(np.repeat(request.hash_ids, 512))
    assert list(state.tiers["L1"].free) == live.manager.pool.free_queue()
    assert broken_blocks(state) == []


def test_a_recorded_replay_tells_each_prompt_once_with_what_was_found():
    _, trace = replay_blocks(REQUESTS, config(4), record=True)
    moves = (ev.Take, ev.Forget, ev.Register, ev.Share, ev.Release, ev.Hold, ev.Vacate)
    told = [
        (type(event), *msgspec.structs.astuple(event)[1:])
        for event in trace.events
        if not isinstance(event, moves)
    ]
    expected = []
    for number, (ids, found) in enumerate(zip(LISTS, (0, 2, 3, 0), strict=True)):
        id, size = f"r{number}", 512 * len(ids)
        expected += [
            (ev.Step, number, "request", id),
            (ev.Arrive, id, size, 0, 0),
            (ev.Lookup, id, size, 512 * found, None),
            (ev.Slots, id, "this_step", len(ids), 0, 0, 4, True),
            (ev.Run, id),
            (ev.Compute, id, size),
            (ev.Finish, id),
        ]
    assert told == expected


def test_a_recorded_run_survives_the_disk(tmp_path):
    _, trace = replay_blocks(REQUESTS, config(4), record=True, name="small")
    write_trace(trace, tmp_path / "run.jsonl.gz")
    read = read_block_trace(tmp_path / "run.jsonl.gz")
    assert read.header == trace.header
    assert list(map(str, read.events)) == list(map(str, trace.events))


def test_a_run_of_vllm_is_not_taken_for_one_of_sglang(tmp_path):
    _, trace = replay_blocks(REQUESTS, config(4), record=True)
    write_trace(trace, tmp_path / "run.jsonl")
    with pytest.raises(TraceError, match="a run of vllm, not of sglang"):
        read_trace(tmp_path / "run.jsonl")


def test_a_damaged_run_is_refused_with_its_line(tmp_path):
    _, trace = replay_blocks(REQUESTS, config(4), record=True)
    write_trace(trace, tmp_path / "run.jsonl")
    text = (tmp_path / "run.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "cut.jsonl").write_text("".join(text[:-1]))
    with pytest.raises(TraceError, match="the header promises"):
        read_block_trace(tmp_path / "cut.jsonl")


# --- the command line


@pytest.fixture
def trace_file(tmp_path: Path) -> Path:
    path = tmp_path / "trace.jsonl"
    lines = [
        {
            "timestamp": 0, "input_length": 512 * len(ids), "output_length": 1,
            "hash_ids": ids,
        }
        for ids in LISTS
    ]  # fmt: skip
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_replay_through_vllm_prints_the_promised_figures(capsys, trace_file):
    options = ["--engine", "vllm", "--pool-tokens", "5120", "--page-size", "512"]
    assert main(["replay", str(trace_file), *options, "--json"]) == 0
    got = json.loads(capsys.readouterr().out)
    assert got["device_hit_tokens"] == 512 * 5
    assert "queue_sha256" in got


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--host-tokens", "9"], "vLLM's serial replay has no L2"),
        (["--policy", "lfu"], "vLLM evicts what was freed first"),
        (["--pool-tokens", "8", "--page-size", "16"], "holds no block of 16"),
        (["--unit", "--page-size", "4"], "blocks of one token"),
        (["--hash-algo", "md5"], "md5"),
        (["--page-size", "0"], "block_size is 0"),
    ],
)
def test_options_that_blocks_do_not_have_are_refused(
    capsys, trace_file, options, words
):
    assert main(["replay", str(trace_file), "--engine", "vllm", *options]) == 2
    assert words in capsys.readouterr().err
