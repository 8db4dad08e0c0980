"""Has every event a sentence, in both languages, with its numbers?"""

from __future__ import annotations

import re
import string

import pytest
from moments import about, at, step_of
from played import GOLDENS, golden, played

from kvlab.record import events as ev
from kvlab.record.replay import Replay
from kvlab.record.snapshot import State
from kvlab.views.frame import frame_at, frame_of
from kvlab.views.phrases import PHRASES
from kvlab.views.sentences import describe, entry_of, verdict
from kvlab.views.theme import LANGS
from kvlab.views.verdicts import VERDICTS
from kvlab.views.watches import seen


def fields(text):
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize("lang", LANGS)
def test_every_kind_of_event_has_a_sentence(sample, every_kind, lang):
    for event in every_kind:
        text = describe(about(sample, event), lang)
        assert text, event
        assert "{" not in text and "–" not in text, text


@pytest.mark.parametrize("lang", LANGS)
def test_every_kind_of_decision_has_a_verdict(sample, every_kind, lang):
    for event in every_kind:
        if isinstance(event, ev.Decision):
            assert "–" not in verdict(about(sample, event), lang), event


def test_both_languages_tell_the_same_numbers():
    for table in (PHRASES, VERDICTS):
        for name, words in table.items():
            assert fields(words.en) == fields(words.zh), name


def test_no_entry_is_left_without_an_event_that_tells_it():
    kinds = {kind.__name__.lower() for kind in (*ev.CHANGES, *ev.DECISIONS)}
    assert {name.split(" ")[0] for name in PHRASES if name} == kinds
    assert set(VERDICTS) <= set(PHRASES)


def test_no_sentence_praises_or_shouts():
    text = " ".join(words.en for words in PHRASES.values())
    assert not re.search(r"!|\b(great|nice|simply|just|successfully)\b", text)


def test_a_headline_says_what_is_so_where_the_engine_counts_on_a_copy_that_is_gone():
    steps = (41, 44, 53, 54, 59, 60)
    said = {at: describe(frame_at(golden("s25"), at)) for at in steps}
    assert said == {
        41: "n1 has left the tree, and its load begins all the same: what its 20 slots "
            "of L2 hold by now is copied to L1",
        44: "The load down to n1 has arrived, but n1 has left the tree: no match finds "
            "its 20 tokens",
        53: "n1 is next to leave L1, and is demoted, though its copy on L2 is gone: no "
            "copy of its 20 tokens is left",
        54: "n1 gives up 20 slots of L1; its copy on L2 is gone too: no copy is left",
        59: "n1 is next to leave L2, which no longer has its 20 tokens",
        60: "L2 gets 20 slots back that it had got back before, and counts 30 free",
    }  # fmt: skip
    assert verdict(frame_at(golden("s25"), 53)) == "n1 is demoted: no copy is left"
    assert (
        verdict(frame_at(golden("s25"), 59)) == "n1 leaves L2, which no longer has it"
    )


def test_the_last_chunk_of_a_prompt_starts_nothing():
    trace = golden("s29")
    chunked, whole = step_of(trace, ev.Start), step_of(trace, ev.Start, 2)
    assert "prefills a chunk" in describe(frame_at(trace, chunked))
    assert "prefills all that it still lacks" in describe(frame_at(trace, whole))


def test_who_has_nothing_in_the_tree_locks_no_node(sample):
    said = describe(about(sample, ev.Cached(-1, "a", 0, 0)))
    assert said == "The tree owns no token of a, which locks no node"
    assert "locks n1" in describe(about(sample, ev.Cached(-1, "a", 1, 4)))


def test_one_step_is_told_in_the_singular(sample):
    said = describe(about(sample, ev.Decode(-1, 1, 48_000_000_000)))
    assert said == "The batch decodes 1 step; the clock reads 48 s"


def test_a_time_is_told_in_seconds(sample):
    forward = ev.Forward(-1, 126_496_986_110, 102_400, 425_824_991)
    assert describe(about(sample, forward)) == (
        "A prefill from 126.497 s on: 0.102 ms waiting for KV, 0.426 s of work"
    )


@pytest.mark.parametrize(
    ("left", "spent"),
    [((8192, 0), "chunk"), ((0, 8192), "input"), ((0, None), "input")],
)
def test_a_round_that_is_over_says_which_budget_is_spent(sample, left, spent):
    said = describe(about(sample, ev.CloseRound(-1, "a", *left)))
    assert said == (
        f"a is not tried: the {spent} budget of this prefill is spent, "
        "0 tokens are left of it"
    )


@pytest.mark.parametrize("release", ["sglang", "sglang23"])
def test_an_eviction_names_its_level_and_whether_a_copy_is_left(release):
    """Against the states: what the node has before, and what is left of it after."""
    seen = set()
    for path in sorted((GOLDENS / release).glob("*.json*")):
        trace = played(path)
        goes = (ev.Victim, ev.Demote, ev.Delete, ev.EvictHost, ev.Reclaim)
        steps = [i for i, e in enumerate(trace.events, 1) if isinstance(e, goes)]
        replay = Replay(trace)
        for step in steps[:60]:
            frame = frame_of(replay, step)
            node = frame.before.nodes.get(frame.event.node)
            said = describe(frame)
            if node is None or getattr(frame.event, "fate", "") in ("backup", "stays"):
                continue
            fate = getattr(frame.event, "fate", type(frame.event).__name__)
            seen.add(fate)
            one, two = node.pages is not None, node.host_pages is not None
            level = "L2" if not one or fate in ("reclaim", "Reclaim") else "L1"
            assert re.search(f"(leaves?|slots? of) {level}", said), said
            left = one and two
            assert ("L2 stays" in said or "L1 stays" in said) == left, said
            assert bool(re.search("no copy|without a copy", said)) != left, said
    assert seen >= {"demote", "delete", "evict_host", "Demote", "Delete", "EvictHost"}
    assert release == "sglang" or seen >= {"drop", "reclaim", "Reclaim"}


def test_a_refusal_says_need_and_room(sample):
    frame = at(sample, ev.Admit, 1)
    said = "c waits: it needs 21 tokens, only 10 can be promised"
    assert describe(frame) == said
    assert describe(frame, "zh") == "c 继续等待：需要 21 个 token，只能承诺 10 个"


def test_an_eviction_that_freed_more_than_asked_says_why(sample):
    said = "L1 was asked for 8 tokens and freed 16: leaves go whole"
    assert describe(at(sample, ev.Evicted, 3)) == said


def test_a_loss_says_how_many_tokens(sample):
    said = "n1 leaves L2 and the tree, and no copy is left: 18 tokens lost for good"
    assert describe(at(sample, ev.EvictHost)) == said


def test_a_lock_says_what_it_takes_from_evictable(sample):
    assert "takes 14 tokens from evictable" in describe(at(sample, ev.Lock, 2))
    assert "takes 0 tokens" in describe(at(sample, ev.Lock, 7))


def test_one_of_something_is_not_many(sample):
    said = "A copy of n6 is on its way to L2: 1 token"
    assert describe(at(sample, ev.Backup, 4)) == said


def test_a_retraction_says_how_much_kv_it_gives_up(sample):
    assert "the KV of 4 tokens" in describe(at(sample, ev.Retract))


def test_the_root_has_a_name_in_both_languages(sample):
    frame = at(sample, ev.Add)
    assert describe(frame) == "n1 joins the tree under the root: 18 tokens"
    assert describe(frame, "zh") == "n1 挂到根之下：18 个 token"


@pytest.mark.parametrize(
    ("event", "entry"),
    [
        (ev.TryBackup(-1, 3, 4, 1, 1, 2, "host_full"), "trybackup host_full"),
        (ev.TryBackup(-1, 3, 4, 1, 1, 2, "news"), "trybackup"),
        (ev.LoadBack(-1, 3, 4, 9, None, 0, 2, "over_quota"), "loadback over_quota"),
        (ev.Evicted(-1, "L1", 4, 2), "evicted less"),
        (ev.DecodeRoom(-1, 2, 2, 1, False), "decoderoom short"),
        (ev.Start(-1, "d", 2, True), "start chunked"),
    ],
)
def test_a_verdict_has_a_sentence_of_its_own_and_a_new_one_the_general(event, entry):
    assert entry_of(event, PHRASES) == entry


def test_page_sized_fields_are_told_in_tokens(sample):
    frame = at(sample, ev.Row, 1)
    assert describe(frame) == "The row of a gets 1 slot, from token 12 on"


def test_every_sentence_of_a_hostile_run_is_one_line(hostile):
    replay = Replay(hostile)
    for step in range(len(hostile) + 1):
        for lang in LANGS:
            assert "\n" not in describe(frame_of(replay, step), lang)


def test_a_split_says_whether_it_overtakes_a_copy_as_its_watch_does():
    told = set()
    for path in sorted((GOLDENS / "sglang23").glob("s*")):
        trace = played(path)
        replay, state = Replay(trace), State.start(trace.header.config)
        for step, event in enumerate(trace.events, 1):
            if isinstance(event, ev.Split):
                overtaken = "overtaken" in seen(event, state)
                said = describe(frame_of(replay, step))
                assert ("on its way" in said) == overtaken, (path.stem, step)
                told.add(overtaken)
            state.apply(event)
    assert told == {True, False}


def test_who_is_admitted_with_a_chunk_is_told_with_all_that_it_lacked():
    trace = golden("s29")
    admitted = (n for n, e in enumerate(trace.events, 1) if isinstance(e, ev.Admit))
    said = [describe(frame_at(trace, step)) for step in admitted]
    assert any("is admitted with a chunk of 16 tokens, of 40" in one for one in said), (
        said
    )


def test_under_write_back_a_demoted_node_is_said_to_have_its_copy_from_before():
    trace = golden("s09")
    at = step_of(trace, ev.Demote)
    assert any(isinstance(event, ev.BackupDone) for event in trace.events[:at])
    said = describe(frame_at(trace, at))
    assert said.endswith("its earlier copy on L2 stays")


def test_what_an_operation_takes_is_counted_in_the_readers_language():
    frame = frame_at(golden("s25"), 1)
    assert describe(frame).endswith("insert 1..20 (20 tokens)")
    assert describe(frame, "zh").endswith("insert 1..20（20 个 token）")
