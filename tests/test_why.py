"""Do the tests of every card decide as the engine did?

Every decision of every recorded golden of both releases, none left out. That the
numbers are those of the state is tested where they are told (test_told_*.py).
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from played import RECORDED, golden, played

from kvlab.record import events as ev
from kvlab.record.replay import Replay, states
from kvlab.record.snapshot import State
from kvlab.record.trace import Header
from kvlab.rules import Rules
from kvlab.views.block_whys import BLOCK_WHYS
from kvlab.views.frame import Frame, frame_of
from kvlab.views.player_tables import own_lines
from kvlab.views.reasons import reason_of, rule_of
from kvlab.views.terms import terms_of
from kvlab.views.theme import LOOKS
from kvlab.views.why import (
    FACTS,
    SWATCHES,
    Why,
    compares,
    evaluate,
    holds,
    not_taken,
    source_of,
    with_sums,
)
from kvlab.views.why_schedule import WHYS, why_of


def verdict(event: ev.Decision) -> list[bool | None] | None:
    """Return what the tests of the event's card must come to, by its verdict: None for
    a test that may go either way; no list where nothing is tested."""
    expected: list[bool | None] | None = None
    match event:
        case ev.Admit() if event.verdict == "OTHER" and not event.added:
            expected = [False]
        case ev.Admit():
            expected = [event.added]
        case ev.LoadBack():
            expected = _LOADS[event.verdict, event.quota is not None]
        case ev.Evicted():
            expected = [event.freed >= event.ask]
        case ev.DecodeRoom():
            expected = [event.fits]
        case ev.MakeRoom():
            expected = [False]
        case ev.Victim():
            expected = _FATES[event.fate]
    return expected


_LOADS = {
    ("load", False): [True, True],
    ("load", True): [True, True, True],
    ("make_room", False): [True, False],
    ("make_room", True): [True, True, False],
    ("no_device_memory", False): [True, False],
    ("no_device_memory", True): [True, True, False],
    ("below_threshold", False): [False, None],
    ("below_threshold", True): [False, None, None],
    ("over_quota", True): [True, False, None],
}
_FATES = {
    "demote": [True], "delete": [False, False], "backup": [False, True],
    "stays": [False, True], "drop": [False, True], "evict_host": [True],
    "reclaim": [True],
}  # fmt: skip


def weighed(event: ev.Decision, state: State) -> Frame:
    """Return the moment of a decision, which moves nothing."""
    header = Header(config=state.config, rules=Rules.named("0.5.23"))
    return Frame(header, 1, event, state, state)


def came_to(event: ev.Decision, state: State) -> list[bool]:
    """Return what the card's tests come to, those left out that are not put."""
    why = rule_of(weighed(event, state))
    terms = with_sums(why, terms_of(event, state))
    results = [holds(test, terms) for test in why.tests if test.test or test.fact]
    return [result for result in results if result is not None]


def check_card(event: ev.Decision, state: State, where: str) -> None:
    found, expected = came_to(event, state), verdict(event)
    if isinstance(event, ev.TryBackup):
        check_backup(event, found, where)
    elif isinstance(event, ev.CloseRound):
        assert False in found, where
    elif expected is not None:
        assert len(found) == len(expected), where
        for one, other in zip(found, expected, strict=True):
            assert other is None or one == other, f"{found} in {where}"
    else:
        assert found == [], where


def check_backup(event: ev.TryBackup, found: list[bool], where: str) -> None:
    """The last test decides; those before it hold."""
    assert all(found[:-1]), where
    assert found[-1] == (event.verdict == "write"), where


@pytest.mark.parametrize(
    "path", RECORDED, ids=lambda p: f"{p.parent.name}/{p.stem[:3]}"
)
def test_every_card_of_a_golden_computes_to_its_verdict(path):
    trace = played(path)
    state = State.start(trace.header.config)
    for index, event in enumerate(trace.events):
        if isinstance(event, ev.Decision):
            check_card(event, state, f"event {index} {event}")
        state.apply(event)


def test_the_card_shows_every_test_that_was_put(sample):
    replay = Replay(sample)
    for step, event in enumerate(sample.events, 1):
        if isinstance(event, ev.Decision):
            frame = frame_of(replay, step)
            found = came_to(event, frame.before)
            shown = [check.holds for check in reason_of(frame).checks]
            assert [held for held in shown if held is not None] == found


def test_a_prefill_adds_up_to_the_kv_that_its_request_will_have():
    trace = golden("r29")
    ahead: dict[str, float] = {}
    checked = 0
    for event in trace.events:
        if isinstance(event, ev.Prefill):
            terms = terms_of(event, State.start(trace.header.config))
            ahead[event.request] = with_sums(WHYS["prefill"], terms)["kv"]
        elif isinstance(event, ev.Start) and event.request in ahead:
            assert event.kv_len == ahead.pop(event.request)
            checked += 1
    assert checked > 50


def test_a_need_equal_to_the_room_is_refused():
    terms = with_sums(WHYS["admit"], {
        "extend": 16, "max_new": 4, "page": 1, "available": 15, "evictable": 6,
        "promised": 0.0,
    })  # fmt: skip
    assert (terms["need"], terms["room"]) == (21, 21)
    assert holds(WHYS["admit"].tests[0], terms) is False


def test_a_sum_is_read_from_left_to_right():
    terms = {"a": 10, "b": 4, "none": None}
    assert evaluate("a − b + 1", terms) == 7
    assert evaluate("a + none", terms) is None


def test_a_comparison_of_what_is_no_number_is_none():
    assert compares("a < none", {"a": 1, "none": None}) is None
    assert compares("a >= 10", {"a": 10}) is True


def test_of_what_was_not_taken_the_first_that_holds_is_said():
    why = WHYS["makeroom"]
    less = with_sums(why, {"need": 10, "available": 8, "ask": 10})
    whole = with_sums(why, {"need": 10, "available": 8, "ask": 2})
    assert "missing" in not_taken(why, less).en
    assert "all" in not_taken(why, whole).en
    assert not_taken(why, {**whole, "ask": 10, "missing": 10}) is None


def test_every_kind_of_decision_has_a_card():
    for kind in ev.DECISIONS:
        assert why_of(kind.__name__.lower())


def test_every_victim_of_the_host_is_told_by_the_hosts_rule():
    assert "only L2 has" in why_of("victim evict_host").rule.en
    assert "write_back" not in why_of("victim evict_host").rule.en


def test_every_card_names_a_line_of_kvlab_that_is_there():
    lost = [entry for entry, why in WHYS.items() if why.own and not own_lines(why.own)]
    assert lost == []


def test_every_card_names_the_rule_of_the_release_that_ran():
    where = {r: source_of(WHYS["makeroom"], r, "radix") for r in ("0.5.14", "0.5.23")}
    assert where["0.5.14"].startswith("SGLang 0.5.14 · mem_cache/common.py · ")
    assert where["0.5.23"].startswith("SGLang 0.5.23 · mem_cache/allocator/base.py · ")
    assert source_of(WHYS["cutprompt"], "0.5.14", "radix") == ""
    for release in ("0.5.14", "0.5.23"):
        assert all("{" not in source_of(w, release, "hiradix") for w in WHYS.values())


def words_of(why: Why):
    yield why.rule
    yield from (bar.name for bar in why.bars)
    yield from (choice.words for choice in why.instead)
    for test in why.tests:
        yield from (words for words in (test.asks, test.untested) if words)


def test_every_word_of_a_card_is_there_in_english_and_in_chinese():
    for entry, why in WHYS.items():
        for words in words_of(why):
            assert words.en.strip() and words.zh.strip(), entry
            assert words.en.count("{") == words.zh.count("{"), entry


def test_every_swatch_is_a_look_and_every_fact_is_a_term(sample):
    assert set(SWATCHES.values()) <= set(LOOKS)
    event = next(e for e in sample.events if isinstance(e, ev.Match))
    assert set(FACTS) <= set(terms_of(event, State.start(sample.header.config)))


def test_a_chunk_that_goes_on_tells_what_is_there_and_what_is_still_to_come():
    """Tokens of the chunks before are not loaded ones, and a load that has arrived is
    not on its way."""
    seen = Counter()
    for name, release in (("s29", "sglang23"), ("x11", "sglang23"), ("r29", "sglang")):
        trace = golden(name, release)
        for index, event, state in states(trace):
            if not isinstance(event, ev.Prefill):
                continue
            why = rule_of(weighed(event, state))
            terms = with_sums(why, terms_of(event, state))
            shown = [b for b in why.bars if terms[b.unless] is not None]
            assert len(shown) == 1, index
            if state.requests[event.request].stage == "chunked":
                before = event.device_hit + event.loaded
                assert terms["done"] + terms["loaded"] == before, (name, index)
                assert terms["kv_len"] == before + event.extend
                assert bool(terms["loaded"]) <= bool(state.loads)
            else:
                assert terms["kv"] == event.device_hit + event.loaded + event.extend
            stage = state.requests[event.request].stage
            seen[stage, bool(terms["loaded"])] += 1
    assert seen.keys() == {
        ("chunked", False), ("chunked", True), ("waiting", False), ("waiting", True)
    }  # fmt: skip


def test_the_match_says_why_a_request_asks_for_one_token_less():
    said = (WHYS["match"].rule, BLOCK_WHYS["lookup"].rule)
    assert all("last" in words.en and "logits" in words.en for words in said)
    assert all("最后一个 token" in words.zh for words in said)
    trace = golden("s17", "sglang23")
    (prompt,) = {e.prompt_len for e in trace.events if isinstance(e, ev.Arrive)}
    asked = [
        event.asked
        for event, after in pairwise(trace.events)
        if isinstance(event, ev.Match) and isinstance(after, ev.Candidate)
    ]
    assert asked and set(asked) == {prompt - 1}


def test_what_is_cut_to_a_chunk_says_so_where_it_is_admitted_and_where_it_is_computed():
    """Against the start that follows: it is of a chunk, or of all that was lacking."""
    seen = Counter()
    for path in RECORDED:
        trace = played(path)
        state, told = State.start(trace.header.config), {}
        for event in trace.events:
            if isinstance(event, ev.Admit) and event.added:
                told[event.request, "admit"] = terms_of(event, state)["whole"]
            elif isinstance(event, ev.Prefill) and event.request in state.requests:
                told[event.request, "prefill"] = terms_of(event, state)["later"]
            elif isinstance(event, ev.Start):
                for kind in ("admit", "prefill"):
                    if (event.request, kind) in told:
                        cut = told.pop((event.request, kind)) is not None
                        assert cut <= event.chunked, (path.stem, event, kind)
                        seen[kind, cut, event.chunked] += 1
            state.apply(event)
    for kind in ("admit", "prefill"):
        assert min(seen[kind, cut, cut] for cut in (True, False)) > 40, seen
        assert seen[kind, False, True] == 0, seen
