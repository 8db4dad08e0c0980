"""Does each rule, switched alone, change what it says, and where first?

Every script runs twice: under 0.5.14, and with one field of its rule book turned round.
The fact is the first field of the first record in which the two runs differ.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from kvlab.cli import main
from kvlab.config import EngineConfig
from kvlab.errors import ConfigError
from kvlab.lessons.rule_scripts import ON_A_CLOCK
from kvlab.record.invariants import broken
from kvlab.record.replay import Replay
from kvlab.record.trace_file import read_trace
from kvlab.rules import Rules
from kvlab.run import script as sc
from kvlab.run.conform import first_difference, replay_op
from kvlab.run.runner import ScriptRunner

OLD = Rules.v0_5_14()
EVICT_ALL = sc.EvictOp(64)
ACK_WRITE = sc.AckWriteOp()


def switched(rule: str, base: Rules = OLD) -> Rules:
    return replace(base, **{rule: not getattr(base, rule)})


ONCE = switched("request_counts_once")
PROTECTED = switched("load_protects_source")


def played(rules: Rules, ops: list[sc.AnyOp], knobs: dict[str, Any]) -> list[Any]:
    config = EngineConfig.of({"pool_tokens": 64, "host_tokens": 96} | knobs)
    script = sc.Script(
        name="", about="", config=config, rules=rules, manual_dma=True,
        dump_slots=True, ops=ops,
    )  # fmt: skip
    runner = ScriptRunner(script, eager=True)
    return [replay_op(runner, script, number) for number in range(len(ops))]


def first(
    rule: str, *ops: sc.AnyOp, base: Rules = OLD, **knobs: Any
) -> tuple[Any, ...]:
    """Return the record, the field, and its value without and with the switch."""
    assert len(ops) <= 15, "a minimal script has at most 15 ops"
    before = played(base, list(ops), knobs)
    after = played(switched(rule, base), list(ops), knobs)
    for number, (old, new) in enumerate(zip(before, after, strict=True)):
        if found := first_difference(OLD, old, new):
            return number, *found
    return ()


def tokens(begin: int, size: int) -> list[int]:
    return list(range(begin, begin + size))


def insert(begin: int, size: int, **how: Any) -> sc.InsertOp:
    return sc.InsertOp(tokens(begin, size), **how)


def new(id: str, begin: int, size: int, **how: Any) -> sc.NewRequest:
    return sc.NewRequest(id, tokens(begin, size), **how)


def test_every_rule_has_a_script_here_that_it_changes():
    text = Path(__file__).read_text()
    rules = [name for name in Rules.__struct_fields__ if name != "name"]
    rules = [name for name in rules if name not in ON_A_CLOCK]  # test_full_batch.py
    assert [rule for rule in rules if f'"{rule}"' not in text] == []


# --- how much is asked of an eviction


def test_an_allocation_asks_for_its_whole_need_or_for_the_shortfall():
    found = first(
        "evict_whole_need",
        insert(1, 10), insert(20, 10), insert(40, 10), insert(60, 12),
        pool_tokens=40, tree="radix",
    )  # fmt: skip
    assert found == (3, "state.dev_avail", 18, 8)


def test_a_load_asks_for_all_its_tokens_or_for_the_shortfall():
    others = [insert(begin, 6) for begin in (100, 200, 300, 400)]
    found = first(
        "load_evicts_whole_need",
        insert(1, 20), ACK_WRITE, EVICT_ALL, *others, ACK_WRITE,
        sc.LoadBackOp(tokens(1, 20)), pool_tokens=40,
    )  # fmt: skip
    assert found == (8, "state.dev_avail", 20, 2)


def test_a_backup_asks_for_its_whole_node_or_for_the_shortfall():
    found = first(
        "host_evicts_whole_need",
        insert(1, 6), insert(10, 6), insert(20, 6), ACK_WRITE, EVICT_ALL,
        insert(100, 12), pool_tokens=40, host_tokens=24,
    )  # fmt: skip
    assert found == (5, "state.host_avail", 6, 0)


# --- what an insert does


def test_a_request_counts_its_prompt_twice_or_once():
    request = sc.RequestOp(tokens(1, 8), [7, 8])
    found = first("request_counts_once", request)
    assert found == (0, "state.nodes[0].hit", 2, 1)


def test_a_chunk_counts_nothing_or_like_any_insert():
    found = first("request_counts_once", insert(1, 8, chunked=True), tree="radix")
    assert found == (0, "state.nodes[0].hit", 0, 1)


def test_a_prompt_that_goes_on_is_set_apart_or_not():
    request = sc.RequestOp(tokens(1, 8), [7, 8])
    found = first("checkpoint_cuts_prompt", request, base=ONCE)
    assert found == (0, "state.nodes[0].prio", "(absent)", 1)


def test_an_insert_over_a_host_only_node_knows_it_or_not():
    found = first(
        "restore_counts_hit", insert(1, 8), ACK_WRITE, EVICT_ALL, insert(1, 8)
    )
    assert found == (3, "result.prefix_len", 0, 8)


def test_a_split_by_an_insert_raises_the_lower_half_too_or_not():
    found = first("split_raises_both", insert(1, 8), insert(1, 4, priority=3))
    assert found == (1, "state.nodes[1].prio", 3, "(absent)")


def test_the_upper_half_of_a_split_is_new_or_as_old_as_the_node():
    found = first(
        "split_keeps_creation",
        insert(1, 8), insert(20, 4), sc.MatchOp([1, 2, 3, 4]), sc.EvictOp(1),
        eviction_policy="fifo", tree="radix",
    )  # fmt: skip
    assert found == (3, "state.evict_order[0]", 1, 0)


# --- copies to the host


LATE_PARENT: list[sc.AnyOp] = [
    insert(1, 20),
    ACK_WRITE,
    sc.RequestStartOp("a", tokens(100, 12), max_new=6, first_out=1),
    EVICT_ALL,
    sc.EvictHostOp(20),
    sc.DecodeOp("a", 2),
    sc.RequestFinishOp("a"),
]
"""The host is full when a's prompt should be written, and has room when a ends."""


def test_an_unwritten_parent_keeps_its_child_from_the_host_or_goes_first():
    """It takes a request that does not count its prompt again: with a second hit the
    parent is tried a second time by itself, whatever this rule says."""
    found = first("backup_needs_parent", *LATE_PARENT, base=ONCE, host_tokens=30)
    assert found == (6, "state.evict_order", [1], [])
    assert first("backup_needs_parent", *LATE_PARENT, host_tokens=30) == ()


def test_the_writes_of_a_step_are_acknowledged_one_by_one_or_together():
    found = first(
        "writes_share_ack",
        insert(1, 8), sc.MatchOp([1, 2, 3]), insert(1, 8), sc.AckWriteOp(1),
        write_policy="write_through_selective",
    )  # fmt: skip
    assert found == (3, "result.acked", 1, 2)


def test_a_written_victim_blocks_the_host_until_the_call_ends_or_not():
    found = first(
        "written_back_waits",
        insert(1, 8), insert(20, 8), EVICT_ALL, write_policy="write_back",
        host_tokens=8,
    )  # fmt: skip
    assert found == (2, "result.evicted", 8, 16)


def test_a_victim_that_the_host_cannot_take_stays_or_is_dropped():
    found = first(
        "unwritable_victim_stays",
        insert(1, 8), EVICT_ALL, write_policy="write_back", host_tokens=4,
    )  # fmt: skip
    assert found == (1, "result.evicted", 0, 8)


def test_a_second_copy_is_no_victim_of_the_host_or_the_first():
    found = first(
        "reclaims_duplicates",
        insert(1, 12), EVICT_ALL, sc.LoadBackOp(tokens(1, 12)), sc.AckLoadOp(),
        sc.EvictHostOp(1), write_policy="write_back", base=PROTECTED,
    )  # fmt: skip
    assert found == (4, "result.freed", 0, 12)


# --- copies from the host


def test_what_is_being_loaded_may_be_dropped_on_the_way_or_is_protected():
    knobs = {"write_policy": "write_back", "pool_tokens": 32, "host_tokens": 40}
    ops = [insert(1, 20), EVICT_ALL, insert(100, 30), sc.LoadBackOp(tokens(1, 20))]
    found = first("load_protects_source", *ops, **knobs)
    assert found == (3, "result.last_len", 20, 0)
    assert played(OLD, ops, knobs)[3]["result"]["loaded_data_ok"] is False


def test_a_load_in_flight_holds_no_host_lock_or_one():
    found = first(
        "load_protects_source",
        insert(1, 12), ACK_WRITE, EVICT_ALL, sc.LoadBackOp(tokens(1, 12)),
    )  # fmt: skip
    assert found == (3, "state.nodes[0].host_ref", "(absent)", 1)


# --- admission


def test_a_spent_chunk_budget_still_tries_the_next_or_ends_the_round():
    rounds = [sc.RoundOp([new("a", 1, 40)]), sc.RoundOp([new("b", 100, 4)])]
    number, field, before, after = first(
        "spent_budget_still_tries", *rounds, chunked_prefill_size=16
    )
    assert (number, field) == (1, "result.tried")
    assert [tried["id"] for tried in before] == ["a", "b"]
    assert [tried["id"] for tried in after] == ["a"]


def test_input_is_tested_before_the_prefix_is_locked_or_room_is_first():
    longer = sc.NewRequest("b", tokens(1, 20) + tokens(300, 12), max_new=9)
    found = first(
        "tests_before_lock",
        insert(1, 20), sc.RoundOp([new("a", 100, 15), longer]),
        tree="radix", pool_tokens=60, max_prefill_tokens=25,
    )  # fmt: skip
    assert found == (1, "result.tried[1].r", "OTHER", "NO_TOKEN")


def test_a_request_that_ignores_eos_reserves_a_share_or_all():
    found = first(
        "ignore_eos_reserves_all",
        sc.RequestStartOp("a", tokens(1, 8), max_new=20, ignore_eos=True),
        sc.RequestStartOp("b", tokens(100, 4)), new_token_ratio=0.25,
    )  # fmt: skip
    assert found == (1, "result.rem_total_after", 42.25, 28.0)


# --- what is only told


def test_the_best_match_has_a_host_copy_or_is_the_deepest_node():
    found = first(
        "best_match_is_backed_up",
        insert(1, 8), sc.MatchOp(tokens(1, 8)), write_policy="write_back",
    )  # fmt: skip
    assert found == (1, "result.best_len", 0, 8)


def test_evict_host_tells_nothing_or_what_it_freed():
    found = first(
        "evict_host_returns_none", insert(1, 8), ACK_WRITE, EVICT_ALL, sc.EvictHostOp(8)
    )
    assert found == (3, "result.returned", None, 8)


def test_a_lock_tells_what_evictable_or_what_protected_gained():
    found = first(
        "lock_tells_evictable", insert(1, 8), ACK_WRITE, sc.LockOp("l", tokens(1, 8))
    )
    assert found == (2, "result.delta", -8, 8)


def test_freed_pages_are_sorted_or_keep_their_order():
    """A leaf holds pages 2, 1, 3, 4; when it has gone, the next gets page 1 or 2."""
    found = first(
        "freed_pages_sorted",
        insert(0, 4), insert(10, 4), EVICT_ALL, insert(20, 16), EVICT_ALL,
        insert(40, 4), tree="radix", page_size=4, pool_tokens=16,
    )  # fmt: skip
    assert found == (5, "state.nodes[0].slots[0]", 4, 8)


def test_a_host_smaller_than_the_device_is_refused_or_not():
    small = EngineConfig(pool_tokens=64, host_tokens=32)
    with pytest.raises(ConfigError, match="not larger than the device pool"):
        small.check_start(OLD)
    small.check_start(switched("host_must_exceed_device"))


# --- whole replays


@pytest.mark.parametrize("release", ["0.5.14", "0.5.23"])
@pytest.mark.parametrize("policy", ["write_through", "write_back"])
def test_a_trace_is_served_under_either_book(release, policy, tmp_path, capsys):
    """Three prompts, of which the third was evicted and comes back from the host."""
    trace, run = tmp_path / "trace.jsonl", tmp_path / "run.jsonl"
    facts = {"timestamp": 0, "output_length": 1}
    prompts = [(1024, [1, 2]), (1536, [3, 4, 5]), (1024, [1, 2])]
    lines = [{**facts, "input_length": n, "hash_ids": ids} for n, ids in prompts]
    trace.write_text("".join(json.dumps(line) + "\n" for line in lines))
    options = [
        "--rules", release, "--write-policy", policy, "--pool-tokens", "2000",
        "--host-tokens", "4000", "--record", str(run), "--json",
    ]  # fmt: skip
    assert main(["replay", str(trace), *options]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert (figures["host_hit_tokens"], figures["lost_tokens"]) == (1023, 0)
    replay = Replay(read_trace(run))
    assert replay.fault is None
    assert broken(replay.at(len(replay)), rules=Rules.named(release)) == []
