"""Is every event of SGLang's side told once, where it belongs?

Of each op of every recorded golden: what is said, and in which order, is written down
here as a grammar. Some words carry an obligation that the state before them gives: a
hit that makes a backup due (`HitDue`), a match or a candidate with tokens in L2 alone
(`MatchFar`, `CandidateFar`).
Left out: the numbers (test_told_cache.py, test_told_schedule.py); what changes say
(test_conform.py).
"""

from __future__ import annotations

import pytest
from grammar import Grammar
from played import RECORDED
from retold import Told, name, retold

from kvlab.record import events as ev
from kvlab.record.snapshot import State
from kvlab.run import script as sc

GRAMMAR = Grammar(
    {
        # a walk, an insert, a copy to the host
        "walk": "(Touch Split?)?",
        "written": "(TryBackup.write | TryBackup.make_room) Alloc.L2 Backup",
        "unwritten": "TryBackup.make_room TryBackup.host_full",
        "backup": "TryBackup.parent_not_backed_up | TryBackup.ancestors_first"
        " | written Lock | unwritten",
        "hit": "Hit | HitDue (backup)",
        "acked": "(BackupDone Unlock?)*",
        "came": "(LoadDone Unlock HostUnlock?)*",
        "noticed": "SendWrites? acked came",
        # room
        "gone": "Demote Free.L1",
        "tried": "Victim.backup (written (SendWrites? BackupDone+ gone)?"
        " | unwritten (Victim.stays | Victim.drop Delete Free.L1))",
        "victim": "Victim.demote gone | Victim.delete Delete Free.L1 | tried",
        "host_victim": "(Victim.evict_host EvictHost | Victim.reclaim Reclaim) Free.L2",
        # a load
        "brought": "SortFree? Alloc.L1 Unlock? Load+ Lock",
        "asked": "(LoadBack.load | LoadBack.make_room)"
        " (brought | LoadBack.no_device_memory Unlock? HostUnlock?)",
        "load": "HostLock? Lock? (asked"
        " | (LoadBack.below_threshold | LoadBack.over_quota) Unlock? HostUnlock?)",
        "held_load": "(HostLock Lock)? load (Unlock HostUnlock)?",
        # a request
        "try": "walk (Match Candidate | MatchFar CandidateFar)",
        "seat": "Prefill (Row? Cached)? Row Start",
        "place": "MakeRoom? SortFree? Alloc.L1? seat+",
        "given": "Insert CutPrompt?",
        "checkpoint": "given Touch? Match Row Unlock? Lock? Cached",
        "finish": "given Free.L1? Unlock? Finish",
        "give_up": "Free.L1* Unlock?",
        "decode": "MakeRoom? SortFree? Alloc.L1? Row? Grow Output",
        "start": "noticed Arrive try came",
        "served": "place Output (finish | checkpoint Batch?) SendWrites?",
        "room": "MakeRoom? DecodeRoom.fits",
        "no_room": "MakeRoom? DecodeRoom.short",
        "retract": "PickRetract Retract give_up MakeRoom?",
        "retractions": "no_room (retract no_room)* (retract room)?"
        " (room | no_room Drop give_up MakeRoom?)? Batch Ratio",
    }
)
"""Names of what is said more than once."""

STEPS = {
    "match": "walk (Match | MatchFar)",
    "lock": "walk (Match | MatchFar) Lock?",
    "unlock": "Unlock?",
    "evict": "Evict.L1",
    "evict_host": "Evict.L2?",
    "insert": "(MakeRoom? SortFree? Alloc.L1 Insert | MakeRoom)?",
    "ack_write": "acked",
    "ack_load": "came",
    "check_events": "noticed",
    "load_back": "walk (Match | MatchFar load came)",
    "request_start": "start (Drop | served)",
    "request": "start (Drop | served (decode* MakeRoom? finish)?)",
    "request_finish": "(finish | give_up Drop)?",
    "decode": "(decode | MakeRoom)?",
    "round": "noticed Arrive* checkpoint? Chunk? (try)* CloseRound? came"
    " (place (Output (finish | checkpoint))*)?",
    "decode_step": "acked ((room | retractions) (decode (finish)?)*)?",
}
"""What is said within each op; each may end with the writes that it asked for."""

CAUSES = {
    "Insert": "walk (Raise | Restore | hit)* (Add (hit)?)? Free.L1*",
    "CutPrompt": "walk Raise*",
    "MakeRoom": "Evict.L1",
    "LoadBack.make_room": "Evict.L1",
    "TryBackup.make_room": "Evict.L2",
    "TryBackup.ancestors_first": "(written Lock)+ unwritten? | unwritten",
    "Evict.L1": "(victim)* (SendWrites? BackupDone+ (gone)+)? Evicted.L1",
    "Evict.L2": "(host_victim)* Evicted.L2",
    "Candidate": "Admit.not | Lock? (Admit.not | Lock? Admit) Unlock?",
    "CandidateFar": "Admit.not | Lock? (Admit.not | held_load"
    " (Admit.not | Lock? Admit)) Unlock?",
}
"""What is said because of a decision; nothing because of any other."""

ALONE = (sc.RequestOp, sc.RequestStartOp)
"""Ops whose request has a step of its own for its prefill."""


def word(told: Told, state: State) -> str:
    """Return how the grammar calls an event that follows a state."""
    event, more = told.event, ""
    match event:
        case ev.TryBackup() | ev.LoadBack():
            more = f".{event.verdict}"
        case ev.Victim():
            more = f".{event.fate}"
        case ev.Admit():
            more = "" if event.added else ".not"
        case ev.DecodeRoom():
            more = ".fits" if event.fits else ".short"
        case ev.Alloc() | ev.Free() | ev.Evict() | ev.Evicted():
            more = f".{event.tier}"
        case ev.Match():
            more = "Far" * bool(event.host)
        case ev.Candidate():
            more = "Far" * bool(event.host_hit)
        case ev.Hit():
            more = "Due" * is_backup_due(event, state)
    return type(event).__name__ + more


def is_backup_due(event: ev.Hit, state: State) -> bool:
    """Does this hit bring a node without a host copy to the threshold?"""
    node, config = state.nodes[event.node], state.config
    through = config.tree == "hiradix" and config.write_policy != "write_back"
    often = node.hit_count + 1 >= config.backup_threshold
    return through and often and node.host_pages is None


@pytest.mark.parametrize("path", RECORDED, ids=name)
def test_every_event_is_told_once_where_it_belongs(path):
    run = retold(path)
    words = {told: word(told, state) for told, state in run.moments()}
    for told in run.told:
        rule = CAUSES.get(words[told], "")
        if told.cause is None:
            rule = f"({STEPS[told.event.op]}) SendWrites?"
        said = [words[child] for child in told.said]
        fits = GRAMMAR.allows(rule, said) or told in run.broken
        assert fits, f"event {told.index} {told.event} led to: {' '.join(said)}"


@pytest.mark.parametrize("path", RECORDED, ids=name)
def test_a_round_tells_everybody_whom_it_tried(path):
    """And that it closed, if somebody waits behind the last who might be followed."""
    run = retold(path)
    closes = not run.script.rules.spent_budget_still_tries
    for told, state in run.moments():
        if told.cause is not None or told.event.op != "round":
            continue
        answer = run.answers[told.event.number]
        kinds = (ev.Chunk, ev.Candidate, ev.CloseRound)
        said = [o.event for o in told.said if isinstance(o.event, kinds)]
        closed = [event for event in said if isinstance(event, ev.CloseRound)]
        tried = [event.request for event in said if event not in closed]
        new = [o.event.request for o in told.said if isinstance(o.event, ev.Arrive)]
        wait = [id for id in (*state.waiting, *new) if id not in tried]
        goes_on = all("ontinue" in one["r"].lower() for one in answer["tried"][-1:])
        assert tried == [one["id"] for one in answer["tried"]]
        assert len(closed) == bool(closes and goes_on and wait), f"{told.event}"


@pytest.mark.parametrize("path", RECORDED, ids=name)
def test_writes_that_share_an_acknowledgement_are_told_when_they_are_sent(path):
    """At the end of each op, of a request's prefill and of an eviction, two or more."""
    run, unsent = retold(path), list[int]()
    shares = run.script.rules.writes_share_ack
    for told in run.told:
        event, op = told.event, run.op(told)
        if isinstance(event, ev.Step):
            assert not (shares and len(unsent) > 1), f"{unsent} unsent at {event}"
            unsent = []
        elif isinstance(event, ev.Backup):
            unsent.append(event.node)
        elif isinstance(event, ev.SendWrites):
            assert shares and list(event.nodes) == unsent and len(unsent) > 1
            unsent = []
        elif isinstance(event, ev.BackupDone) and event.node in unsent:
            assert not shares or len(unsent) == 1, f"{unsent} unsent at {event}"
            unsent = []
        elif isinstance(event, ev.Cached) and len(unsent) < 2 and isinstance(op, ALONE):
            unsent = []
