"""Does the log that the browser gets say what the state says, event by event?"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from kvlab.block_config import BlockConfig
from kvlab.record import block_events as be
from kvlab.record.block_replay import block_states
from kvlab.record.block_snapshot import BlockState
from kvlab.record.request_trace import TracedRequest
from kvlab.record.trace import BlockHeader, BlockTrace
from kvlab.run.accelerators import accelerator
from kvlab.run.block_run import load_blocks
from kvlab.run.block_serial import replay_blocks
from kvlab.run.block_timed_engine import TimedBlockEngine
from kvlab.run.cost import Cost
from kvlab.run.generators import poisson, unique
from kvlab.run.model_shapes import model_shape
from kvlab.run.workload import OpenLoop
from kvlab.views.block_account import block_account_text
from kvlab.views.block_frame import block_frame_at
from kvlab.views.block_log import (
    BLOCK_WATCHES,
    BY_ENTRY,
    KINDS,
    MOST_DIGITS,
    block_log,
)
from kvlab.views.block_meanings import BLOCK_MEANINGS
from kvlab.views.block_phrases import (
    BLOCK_PHRASES,
    BLOCK_VERDICTS,
    block_entry,
    block_sentence,
)
from kvlab.views.block_pool_map import block_pool_text, shown_digits
from kvlab.views.block_whys import BLOCK_LINES, BLOCK_WHYS
from kvlab.views.player_tables import own_lines
from kvlab.views.streams import unpack
from kvlab.views.why import evaluate

FOLDER = Path(__file__).parent / "goldens" / "vllm"
NAMES = [
    "t02_free_queue_two_ends.json", "t06_preempt_last_running.json",
    "t15_async_load_holds_blocks.json", "t17_reset_prefix_cache.json",
    "t18_caching_off_all_to_head.json", "t22_async_scheduling_preempt.json",
    "t23_l2_load_holds_l1.json", "r05_priority.json.gz",
]  # fmt: skip


class Columns:
    """What the browser keeps: columns of integers that patches overwrite."""

    def __init__(self, log: bytes) -> None:
        self.log, self.col = unpack(log)
        names = self.log["columns"]
        self.c = {n: np.zeros(self.log["sizes"][n], np.int64) for n in names}
        self._taken = dict.fromkeys([*names, "path", "batch"], 0)
        self._next = dict.fromkeys(self.log["runs"], 0)
        self._turns = {tier: self._handed(tier) for tier in "12"}
        self._patch = 0
        self.move(int(self.col["start"][0]))

    def _handed(self, tier: str) -> list[int]:
        """Return the blocks by turn."""
        first, count = (self.col[f"handed{tier}.{x}"] for x in ("first", "count"))
        return [
            block
            for first, count in zip(first, count, strict=True)
            for block in range(first, first + count, 1 if count > 0 else -1)
        ]

    def move(self, patches: int) -> None:
        names = [*self.log["columns"], "path", "batch"]
        for _ in range(patches):
            name = names[self.col["column"][self._patch]]
            at = self._taken[name]
            self._taken[name] += 1
            self._patch += 1
            row, value = (self.col[f"{name}.{x}"][at] for x in ("first", "value"))
            if name in self.log["runs"]:
                self._paint(name, at, row, value)
            elif name == "batch":
                running = self.c["stage"] == 3
                self.c["kv"][running] += value
                self.c["outputs"][running] += value
            else:
                self.c[name][row] = value

    def _paint(self, name: str, at: int, turn: int, value: int) -> None:
        size, code = (self.col[f"{name}.{x}"][at] for x in ("count", "position"))
        blocks = self._turns[name[-1]][turn : turn + size]
        beside = self.log["columns"][self.log["columns"].index(name) + 1]
        places = self.c[beside]
        assert len(set(self.c[name][blocks])) == 1  # so that it can be taken back
        if first := places[blocks[0]]:
            assert places[blocks].tolist() == list(range(first, first + size))
        self.c[name][blocks] = value
        if code == 1:
            places[blocks] = 0
        elif code > 1:
            first = self._next[name] if code == 2 else code - 2
            places[blocks] = range(first, first + size)
            self._next[name] = first + size

    def table(self, request: int) -> list[int]:
        """Return a block table, from its last part back to its first."""
        blocks: list[int] = []
        part = self.c["table"][request]
        while part:
            turn, size, back = (
                self.col[f"parts.{x}"][part - 1] for x in ("turn", "size", "back")
            )
            blocks = self._turns["1"][turn : turn + size] + blocks
            part = back and part - back
        return blocks

    def check(self, state: BlockState) -> None:
        for number, tier in ((1, state.tiers["L1"]), (2, state.tiers["L2"])):
            seats = self.c[f"seat{number}"]
            free = sorted(np.flatnonzero(seats).tolist(), key=lambda b: -seats[b])
            assert free == list(tier.free)
            refs = self.c[f"ref{number}"]
            assert {b: refs[b] for b in np.flatnonzero(refs)} == tier.ref_cnt
            names = self.c[f"name{number}"]
            assert (names > 0).tolist() == (self.c[f"named{number}"] > 0).tolist()
            digits = self.col["names"]
            assert {b: digits[names[b] - 1] for b in np.flatnonzero(names)} == {
                b: shown_digits(name) for b, name in tier.names.items()
            }
        account = state.tiers["L1"].account()
        free = account.evictable + account.blank
        assert self.c["account"][:3].tolist() == [free, account.evictable, account.used]
        host = state.tiers["L2"].account()
        free = host.evictable + host.blank
        assert self.c["account"][3:].tolist() == [host.evictable, free]
        self._check_requests(state)

    def _check_requests(self, state: BlockState) -> None:
        lanes = {id: place for place, id in enumerate(self.log["requests"])}
        for id, request in state.requests.items():
            at = lanes[id]
            assert self.table(at) == request.blocks
            assert self.c["held"][at] == len(request.blocks)
            told = [self.c[n][at] for n in ("kv", "outputs", "retracted")]
            assert told == [request.computed, request.outputs, request.preemptions]
            assert self.log["stages"][self.c["status"][at]] == request.stage
        for queue in (state.running, state.waiting, state.deferred):
            places = [self.c["place"][lanes[id]] for id in queue]
            assert places == sorted(set(places))


@pytest.mark.parametrize("name", NAMES, ids=lambda name: name.split("_")[0])
def test_the_columns_are_the_state_after_every_event(name):
    trace = load_blocks(FOLDER / name)
    events = min(len(trace), 2500)
    columns = Columns(block_log(trace, events))
    for index, _, state in block_states(trace):
        if index == events:
            break
        columns.move(int(columns.col["size"][index]))
        if index % 5 == 0 or index > events - 40:
            columns.check(state)
    assert columns.log["fault"] is None


def timed_run() -> BlockTrace:
    config = BlockConfig(num_gpu_blocks=151, max_model_len=2400, hash_algo="chain64")
    trace = BlockTrace(BlockHeader(config=config))
    cost = Cost(model_shape("llama-3-8b"), accelerator("a100"))
    asks = unique(6, poisson(20.0, seed=1), length=400, outputs=120)
    TimedBlockEngine(config, cost, emit=trace).run(OpenLoop(asks))
    return trace


def test_steps_that_one_event_tells_move_every_request():
    trace = timed_run()
    columns = Columns(block_log(trace))
    for index, _, state in block_states(trace):
        columns.move(int(columns.col["size"][index]))
        columns.check(state)


def test_every_kind_and_every_card_has_its_words():
    assert set(KINDS.values()) <= BLOCK_PHRASES.keys()
    decided = {kind.__name__.lower() for kind in be.BLOCK_DECISIONS}
    assert BLOCK_WHYS.keys() <= BLOCK_VERDICTS.keys()
    assert {entry.split(" ")[0] for entry in BLOCK_WHYS} >= decided
    told = (*BLOCK_PHRASES.values(), *BLOCK_VERDICTS.values(), *BLOCK_MEANINGS.values())
    assert BLOCK_MEANINGS.keys() <= BLOCK_PHRASES.keys()
    assert {kind.__name__.lower() for kind in be.BLOCK_CHANGES} <= BLOCK_MEANINGS.keys()
    for words in told:
        assert words.en
        assert words.zh


def test_in_chinese_no_word_of_a_vllm_page_is_sglangs_for_what_may_be_evicted():
    trace = load_blocks(FOLDER / "t06_preempt_last_running.json")
    log, _ = unpack(block_log(trace, 0))
    assert "空闲，有哈希" in json.dumps(log, ensure_ascii=False)
    told = ("ui", "looks", "terms", "questions", "whys", "lines", "phrases", "meanings")
    page = json.dumps([log[part] for part in (*told, "primer")], ensure_ascii=False)
    frame = block_frame_at(trace, 70)
    pools = block_pool_text(frame, "zh") + block_account_text(frame, "zh")
    assert "可逐出" not in page + pools


@pytest.mark.parametrize("entry", BLOCK_WHYS)
def test_the_line_of_kvlab_that_a_card_names_is_there(entry):
    own = BLOCK_WHYS[entry].own
    assert own is None or own_lines(own) is not None


@pytest.mark.parametrize("name", ["t06_preempt_last_running.json",
                                  "t07b_watermark_holds_admission.json",
                                  "t15_async_load_holds_blocks.json"])  # fmt: skip
def test_the_admission_card_decides_as_the_event_did(name):
    decided = set()
    for event in load_blocks(FOLDER / name).events:
        if not isinstance(event, be.Slots):
            continue
        *_, test = BLOCK_WHYS[block_entry(event)].tests
        terms = {f: getattr(event, f) for f in event.__struct_fields__}
        for row in test.rows:
            sum_, name = row.split(" = ")
            terms[name] = evaluate(sum_, terms)
        left, sign, right = test.test.split(" ")
        assert sign == "<="
        assert (terms[left] <= terms[right]) == event.fits
        decided.add(event.fits)
    assert decided == {True, False}


def test_a_hash_lost_to_a_take_is_an_eviction_and_to_a_reset_is_not():
    told = {
        block_entry(event, after, lost=1)
        for name in ("t06_preempt_last_running.json", "t17_reset_prefix_cache.json")
        for events in [load_blocks(FOLDER / name).events]
        for event, after in zip(events, [*events[1:], None], strict=True)
        if isinstance(event, be.Forget)
    }
    assert told == {"forget", "forget evicted"}


def test_no_sentence_of_a_golden_shows_a_code_or_a_wrong_number():
    for path in sorted(FOLDER.glob("t*.json")):
        if "_cpu_" in path.name:
            continue  # of the CPU pool alone
        events = load_blocks(path).events
        for event, after in zip(events, [*events[1:], None], strict=True):
            said = block_sentence(event, after=after)
            assert "_" not in said.replace("ref_cnt", "").replace(event_ids(event), "")
            assert " 1 are" not in said


def event_ids(event) -> str:
    """Return the request that an event names; its own name is no code."""
    return getattr(event, "request", "") or "-"


@pytest.mark.parametrize("why", ["no_blocks", "no_chunk", "in_flight"])
def test_why_nobody_is_tried_any_more_is_said_in_words(why):
    said = block_sentence(be.Stop(-1, "r1", why))
    assert ("got no blocks" in said) == (why == "no_blocks")
    assert ("chunked prefill is off" in said) == (why == "no_chunk")
    assert ("in the step under way" in said) == (why == "in_flight")


@pytest.mark.parametrize(
    ("name", "line"),
    [("r05_priority.json.gz", "max("), ("t06_preempt_last_running.json", "[-1]")],
)
def test_a_victims_card_shows_the_line_of_the_runs_policy(name, line):
    log, _ = unpack(block_log(load_blocks(FOLDER / name), 0))
    own = log["whys"]["pickvictim"]["own"]
    assert line in own["lines"][own["at"]]


def test_the_test_of_allocate_slots_that_decided_is_named():
    assert BLOCK_WHYS["slots none"].tests[0].told == "line"
    lines = {
        event.line
        for name in ("t06_preempt_last_running.json", "t11a_reserve_full_isl_on.json")
        for event in load_blocks(FOLDER / name).events
        if isinstance(event, be.Slots)
    }
    assert lines == set(BLOCK_LINES)


def test_a_pin_that_ends_holds_nothing():
    ends = be.Pin(-1, "r1", np.array([], np.int32))
    assert block_sentence(ends) == "L2 holds nothing for r1 any more"
    held = block_sentence(be.Pin(-1, "r1", np.array([3], np.int32)))
    assert held == "L2 holds 1 block for r1"


def test_one_block_is_told_in_the_singular():
    event = be.Take(-1, "L1", np.array([3], np.int32))
    assert "hands out 1 block from" in block_sentence(event)
    assert "1 个块" in block_sentence(event, "zh")


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (be.Hold(-1, "a", np.array([99], np.int32)), "block 99, which the pool"),
        (be.Share(-1, "L1", np.array([3, 3], np.int32)), "names a block twice"),
        (be.Register(-1, "L1", np.array([3], np.int32), (2**99,)), "no hash"),
    ],
    ids=["far", "twice", "huge"],
)
def test_what_a_page_cannot_hold_ends_it_with_a_line(event, said):
    trace = load_blocks(FOLDER / "t02_free_queue_two_ends.json")
    log, _ = unpack(block_log(BlockTrace(trace.header, [*trace.events[:9], event])))
    assert log["events"] == 9
    assert said in log["fault"][0]


def test_a_run_that_does_not_fold_is_shown_up_to_its_fault():
    trace = load_blocks(FOLDER / "t02_free_queue_two_ends.json")
    wrong = be.Release(-1, "L1", np.array([9], np.int32))
    broken = BlockTrace(trace.header, [*trace.events[:9], wrong])
    log, _ = unpack(block_log(broken))
    assert log["events"] == 9
    assert "does not fit" in log["fault"][0]


def replayed(algo: str, requests: int) -> BlockTrace:
    """Prompts of the same length, one in two new, one after the other."""
    config = BlockConfig(
        num_gpu_blocks=801, block_size=16, max_model_len=10_000, hash_algo=algo
    )
    asks = [
        TracedRequest(0, 3200, 0, tuple(range(n // 2 * 10, n // 2 * 10 + 7)))
        for n in range(requests)
    ]
    _, trace = replay_blocks(asks, config, record=True)
    assert trace is not None
    return trace


def test_a_replay_takes_at_most_ten_bytes_an_event_whatever_its_blocks():
    trace = replayed("chain64", 200)
    blocks = sum(len(e.blocks) for e in trace.events if isinstance(e, be.Take))
    assert blocks > 5 * len(trace)
    over = len(block_log(trace)) - len(block_log(trace, 0))
    assert over * 4 / 3 / len(trace) < 10  # as base64, in a page


def test_more_hashes_than_four_digits_tell_apart_are_numbered():
    few, many = (unpack(block_log(replayed("sha256", n))) for n in (20, 60))
    assert len(few[1]["names"]) < MOST_DIGITS < len(many[1]["names"])
    assert few[1]["names"].max() < 0 and few[0]["notes"] == []
    assert many[1]["names"].tolist()[:3] == [1, 2, 3]
    assert "# and its place" in many[0]["notes"][0][0]


def test_a_watch_stops_where_something_comes_back_from_l2():
    run = load_blocks(FOLDER / "t23_l2_load_holds_l1.json")
    _, columns = unpack(block_log(run))
    wanted = {
        "remote": lambda e: isinstance(e, be.Lookup) and bool(e.remote),
        "back": lambda e: isinstance(e, be.CopiedIn),
    }
    for name, is_one in wanted.items():
        hits = [i for i, event in enumerate(run.events) if is_one(event)]
        assert columns[f"watch.{name}"].tolist() == hits != []


def test_a_watch_that_follows_an_entry_names_one():
    assert set(BY_ENTRY) <= set(BLOCK_PHRASES)
    assert set(BY_ENTRY.values()) <= set(BLOCK_WATCHES)
    assert block_entry(be.Offer(-1, "a", 2, 0, False)) in BY_ENTRY
