"""Is the grade of an event what the states say of it, whatever its words are?"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from itertools import repeat
from pathlib import Path

import pytest
from played import GOLDENS, golden, played

from kvlab.errors import InputError
from kvlab.record import block_events as be
from kvlab.record import events as ev
from kvlab.record.block_replay import block_states
from kvlab.record.block_snapshot import BlockState
from kvlab.record.replay import state_at, states
from kvlab.record.snapshot import State
from kvlab.run.block_run import load_blocks
from kvlab.views.block_log import block_log
from kvlab.views.block_phrases import block_entry, block_sentence
from kvlab.views.block_whys import BLOCK_WHYS
from kvlab.views.grades import BlockGrades, grade_of, lost_by
from kvlab.views.log import player_log
from kvlab.views.phrases import PHRASES
from kvlab.views.sentences import entry_of
from kvlab.views.streams import unpack
from kvlab.views.why_schedule import why_of

BLOCKS = Path(__file__).parent / "goldens" / "vllm"
SIGNS = {"loss": "lost", "refusal": "no"}


def runs():
    for release in ("sglang", "sglang23"):
        for path in sorted((GOLDENS / release).glob("*.json*")):
            yield path.name, played(path)


def block_runs():
    for path in sorted(BLOCKS.glob("[rt]*.json*")):
        with suppress(InputError):  # of the CPU pool alone
            yield path.name, load_blocks(path)


def graded(trace):
    """Return number, event and grade of every event of a run of the tree."""
    for index, event, state in states(trace):
        yield index + 1, event, grade_of(event, state)


def cached(state: State) -> int:
    """Return how many tokens of the tree lie on some tier."""
    kept = [
        n
        for n in state.nodes.values()
        if n.pages is not None or n.host_pages is not None
    ]
    return sum(len(node.tokens) for node in kept)


def test_a_change_of_the_tree_is_a_loss_exactly_where_fewer_tokens_are_in_any_cache():
    lost = Counter()
    for name, trace in runs():
        had = 0
        for index, event, state in states(trace):
            if index > 600:
                break
            has = cached(state) if isinstance(event, ev.Change) else had
            orphaned = isinstance(event, ev.Demote | ev.Load | ev.LoadDone)
            if isinstance(event, ev.Change) and not orphaned and has < had:
                assert grade_of(event, state) == "loss", (name, event)
                lost[type(event)] += 1
            elif isinstance(event, ev.Delete | ev.EvictHost):
                assert event.node in state.orphans or not had, (name, event)
            had = has
    assert lost.keys() == {ev.Delete, ev.EvictHost}


def test_an_eviction_from_l1_that_l2_outlives_is_none():
    s10 = [grade for _, _, grade in graded(golden("s10"))]
    assert {*s10} == {""}


def test_kv_that_a_load_wanted_is_a_loss_where_it_goes_and_wherever_it_is_counted_on():
    trace = golden("s25")
    losses = [step for step, _, grade in graded(trace) if grade == "loss"]
    assert losses == [30, 31, 41, 44, 53, 54, 59]
    befores = enumerate(map(state_at, repeat(trace), range(len(trace))), 1)
    assert losses == [
        step for step, before in befores if grade_of(trace.events[step - 1], before)
    ]


def test_a_write_back_that_is_lost_is_a_loss_and_one_that_stays_harms_nobody():
    dropped, stays = (
        {
            (event.fate, grade)
            for _, trace in runs()
            for _, event, grade in graded(trace)
            if isinstance(event, ev.Victim) and event.fate == fate
        }
        for fate in ("drop", "stays")
    )
    assert (dropped, stays) == ({("drop", "loss")}, {("stays", "")})


@pytest.mark.parametrize(
    ("event", "grade"),
    [
        (ev.TryBackup(-1, 0, 2, 1, 1, 0, "host_full"), ""),
        (ev.TryBackup(-1, 0, 2, 1, 1, 0, "parent_not_backed_up"), ""),
        (ev.LoadBack(-1, 0, 9, 10, None, 0, 99, "below_threshold"), ""),
        (ev.LoadBack(-1, 0, 20, 10, 9, 0, 99, "over_quota"), "refusal"),
        (ev.LoadBack(-1, 0, 20, 10, None, 0, 9, "no_device_memory"), "refusal"),
        (ev.Evicted(-1, "L1", 4, 0), ""),
        (ev.DecodeRoom(-1, 2, 2, 1, False), "refusal"),
        (ev.DecodeRoom(-1, 2, 2, 2, True), ""),
        (ev.PickRetract(-1, "a", 1, 2, 3), "loss"),
        (ev.Retract(-1, "a"), "loss"),
        (ev.TooLarge(-1, "a", 9, 8), "loss"),
        (ev.Drop(-1, "a"), "loss"),
        (ev.CloseRound(-1, "a", 0, None), ""),
        (ev.Compared(-1, 4, 0), ""),
        (ev.Compared(-1, 4, 1), "loss"),
        (ev.Wrong(-1, "L1", 4, "a", 1, "x", "y", 3), "loss"),
    ],
)
def test_who_waits_is_refused_and_who_loses_has_lost(event, grade):
    state = State.start(golden("s10").header.config)
    assert grade_of(event, state) == grade


def test_the_sign_of_a_decision_is_that_of_its_grade():
    found = set()
    for name, trace in runs():
        for step, event, grade in graded(trace):
            if not isinstance(event, ev.Decision):
                continue
            entry = entry_of(event, PHRASES)
            sign = why_of(entry, getattr(event, "tier", None)).sign
            orphan = entry == "victim demote" and grade == "loss"
            if not orphan:
                assert SIGNS.get(grade, sign) == sign, (name, step, entry)
                assert grade or sign not in SIGNS.values(), (name, step, entry)
            found.add(grade)
    assert found == {"", "refusal", "loss"}


# --- blocks


def contents(state: BlockState) -> set[int]:
    return {name for tier in state.tiers.values() for name in tier.names.values()}


def test_a_block_event_is_a_loss_where_a_content_is_found_on_no_tier_any_more():
    told = Counter()
    for name, trace in block_runs():
        grades, had = BlockGrades(), set()
        for index, event, state in block_states(trace):
            grade = grades.of(event)
            named = isinstance(event, be.Forget | be.Register)
            has = contents(state) if named else had
            gone = had - has
            assert grades.lost == len(gone), (name, index)
            assert index > 300 or grades.lost == lost_by(trace, index), (name, index)
            if isinstance(event, be.Forget):
                assert (grade == "loss") == bool(gone), (name, index)
                told[event.tier, grade] += 1
            had = has
    assert {key for key, n in told.items() if n} == {
        ("L1", "loss"), ("L1", ""), ("L2", "loss"), ("L2", "")
    }  # fmt: skip


def test_who_gives_way_or_leaves_is_a_loss_and_who_gets_no_blocks_is_refused():
    told = {
        (type(event), getattr(event, "fits", None), grade)
        for _, trace in block_runs()
        for grades in [BlockGrades()]
        for event in trace.events
        for grade in [grades.of(event)]
        if not isinstance(event, be.Forget)
    }
    assert {(kind, grade) for kind, _, grade in told if grade} == {
        (be.PickVictim, "loss"), (be.Preempt, "loss"), (ev.Drop, "loss"),
        (be.Slots, "refusal"), (be.Stop, "refusal"),
    }  # fmt: skip
    assert {(fits, grade) for kind, fits, grade in told if kind is be.Slots} == {
        (True, ""), (False, "refusal")
    }  # fmt: skip


@pytest.mark.parametrize(
    ("why", "grade"), [("no_blocks", ""), ("in_flight", ""), ("no_chunk", "refusal")]
)
def test_the_end_of_a_turn_is_a_refusal_only_where_none_came_before(why, grade):
    assert BlockGrades().of(be.Stop(-1, "a", why)) == grade


def test_before_a_turn_that_ends_for_want_of_blocks_somebody_was_refused():
    ends = Counter()
    for name, trace in block_runs():
        asked = None
        for event in trace.events:
            if isinstance(event, be.Slots):
                asked = event
            if isinstance(event, be.Stop) and event.why != "no_chunk":
                assert (asked.request, asked.fits) == (event.request, False), name
                ends[event.why] += 1
    assert ends["no_blocks"]


def test_the_sign_of_a_block_decision_is_that_of_its_grade():
    for name, trace in block_runs():
        grades = BlockGrades()
        events = trace.events
        for event, after in zip(events, [*events[1:], None], strict=True):
            grade = grades.of(event)
            why = BLOCK_WHYS.get(block_entry(event, after, grades.lost))
            if why is not None:
                assert SIGNS.get(grade, why.sign) == why.sign, (name, event)
                assert grade or why.sign not in SIGNS.values(), (name, event)


def test_an_evicted_block_says_its_tier_and_whether_a_copy_is_left():
    trace = load_blocks(BLOCKS / "r12_l2_eager.json.gz")
    grades, said = BlockGrades(), {}
    for event, after in zip(trace.events, [*trace.events[1:], None], strict=True):
        grades.of(event)
        if isinstance(event, be.Forget):
            told = block_sentence(event, after=after, lost=grades.lost)
            said.setdefault((event.tier, grades.lost > 0), told)
    assert said["L1", False].startswith("L1 evicts")
    assert said["L1", False].endswith("another copy of the content stays")
    assert said["L2", True].startswith("L2 evicts")
    assert "contents lost for good: 3" in said["L2", True]


# --- as the browser gets it


def test_the_log_holds_the_grade_of_every_event():
    trace = golden("s25")
    log, col = unpack(player_log(trace))
    told = [log["grades"][variant] for variant in col["variant"]]
    assert told == [grade for _, _, grade in graded(trace)]
    blocks = load_blocks(BLOCKS / "r12_l2_eager.json.gz")
    log, col = unpack(block_log(blocks))
    grades = BlockGrades()
    expected = [(grades.of(event), grades.lost) for event in blocks.events]
    assert [log["grades"][v] for v in col["variant"]] == [
        grade for grade, _ in expected
    ]
    lost = [
        lost
        for event, (_, lost) in zip(blocks.events, expected, strict=True)
        if isinstance(event, be.Forget)
    ]
    assert col["forget.lost"].tolist() == lost
