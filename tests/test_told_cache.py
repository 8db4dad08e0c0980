"""Does every decision about the cache tell the numbers that were there? (SGLang.)

Each field of each decision of every recorded golden, against the state before it and
the script; never against the code that tells it.
Left out: whether anything is told too often or not at all, and what is sent together
(test_told.py); requests and their room (test_told_schedule.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from played import RECORDED
from retold import Numbers, Run, Told, Witness, check_numbers, length_of, name, retold

from kvlab.geometry import floor_page
from kvlab.record import events as ev
from kvlab.record.moment import ROOT, NodeState
from kvlab.record.snapshot import State
from kvlab.run import script as sc

KEYS: dict[str, Callable[[NodeState], tuple[int, ...]]] = {
    "lru": lambda n: (n.time,),
    "mru": lambda n: (-n.time,),
    "lfu": lambda n: (n.hit_count, n.time),
    "fifo": lambda n: (n.created,),
    "filo": lambda n: (-n.created,),
    "priority": lambda n: (n.priority, n.time),
    "slru": lambda n: (int(n.hit_count >= 2), n.time),
}


class CacheWitness(Witness):
    """What matches, inserts, evictions and copies must say."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.steps = 0

    def of_step(self, told: Told, _: ev.Step, state: State) -> Numbers:
        number, self.steps = self.steps, self.steps + 1
        op = self.run.script.ops[number]
        return {"number": number, "op": op.__struct_config__.tag, "text": title(op)}

    def of_match(self, told: Told, _: ev.Match, state: State) -> Numbers:
        path = list(state.path(end_of_walk(told)))
        device = [n for n in path if n.pages is not None]
        backed = [n for n in path if n.host_pages is not None]
        only_backed = self.rules.best_match_is_backed_up and self.config.host_pages
        length = size_of(path)
        return {
            "asked": self.asked(told, state, length),
            "device": size_of(device),
            "host": length - size_of(device),
            "last_device": first(device),
            "best": first(backed if only_backed else path),
        }

    def asked(self, told: Told, state: State, found: int) -> int:
        """A request asks for all but its last token; what it has just inserted, for
        all of it."""
        after = next(iter(told.behind), None)
        if after and isinstance(after.event, ev.Candidate):
            return length_of(state, after.event.request) - 1
        op = self.run.op(told)
        plain = isinstance(op, sc.MatchOp | sc.LockOp | sc.LoadBackOp)
        return len(op.tokens) if plain else found

    def of_insert(self, told: Told, _: ev.Insert, state: State) -> Numbers:
        op = self.run.op(told)
        if isinstance(op, sc.InsertOp):
            size, before = floor_page(len(op.tokens), self.page), 0
            priority, chunked = op.priority, op.chunked
        else:
            request = state.requests[owner(told)]
            size, before = floor_page(request.kv_len, self.page), request.inserted_len
            priority = request.priority
            chunked = request.stage == "chunked" and isinstance(op, sc.RoundOp)
            self.check_cut(told, floor_page(request.prompt_len, self.page), size)
        counted = before if self.rules.request_counts_once else size * chunked
        return {
            "tokens": size, "priority": priority, "chunked": chunked,
            "counted": counted,
        }  # fmt: skip

    def check_cut(self, told: Told, prompt: int, size: int) -> None:
        """What goes beyond the prompt is set apart from it, where the release does."""
        cut = isinstance(told.behind[0].event, ev.CutPrompt)
        assert cut == (self.rules.checkpoint_cuts_prompt and 0 < prompt < size)

    def of_cutprompt(self, told: Told, _: ev.CutPrompt, state: State) -> Numbers:
        request = state.requests[owner(told)]
        size = floor_page(request.prompt_len, self.page)
        return {"tokens": size, "priority": request.priority + 1}

    def of_evict(self, told: Told, _: ev.Evict, state: State) -> Numbers:
        cause = told.cause.event
        tier, policy = "L1", self.config.eviction_policy
        match cause:
            case ev.MakeRoom():
                ask = cause.ask
            case ev.LoadBack():
                whole = self.rules.load_evicts_whole_need
                ask = cause.tokens - (0 if whole else cause.available)
            case ev.TryBackup():
                whole = self.rules.host_evicts_whole_need
                ask = cause.tokens - (0 if whole else cause.host_available)
                tier = "L2"
            case _:
                op = self.run.op(told)
                ask, tier = op.n, "L1" if isinstance(op, sc.EvictOp) else "L2"
        return {"tier": tier, "ask": ask, "policy": policy}

    def of_victim(self, told: Told, event: ev.Victim, state: State) -> Numbers:
        """Victims of the same eviction whose copy is being written hang on no more."""
        if event.node in state.orphans:
            return {}  # a fault of 0.5.14 that ends the run
        node, tier = state.nodes[event.node], told.cause.event.tier
        key = KEYS[self.config.eviction_policy](node)
        if event.fate == "reclaim":
            key = (int(node.id in leaves_of(state, "L1", set())),)
        elif event.fate not in ("stays", "drop"):
            stay, gone = self.tried(told)
            left = leaves_of(state, tier, gone) - stay
            assert node.id == min(left, key=lambda id: self.coldness(state.nodes[id]))
        return {"tokens": len(node.tokens), "key": key}

    def coldness(self, node: NodeState) -> tuple[Any, ...]:
        return KEYS[self.config.eviction_policy](node), node.time, node.id

    def tried(self, told: Told) -> tuple[set[int], set[int]]:
        """Return who was a victim of this eviction before and stays, and who goes."""
        victims = [o.event for o in told.before if isinstance(o.event, ev.Victim)]
        stay = {victim.node for victim in victims if victim.fate == "stays"}
        return stay, {victim.node for victim in victims} - stay

    def of_evicted(self, told: Told, event: ev.Evicted, state: State) -> Numbers:
        """A victim that stays or is dropped was counted once, as one to be written."""
        evict, signs = told.cause.event, {"stays": -1, "drop": 0}
        victims = [o.event for o in told.before if isinstance(o.event, ev.Victim)]
        freed = sum(v.tokens * signs.get(v.fate, 1) for v in victims)
        stay, gone = self.tried(told)
        assert freed >= evict.ask or not leaves_of(state, evict.tier, gone) - stay
        return {"tier": evict.tier, "ask": evict.ask, "freed": freed}

    def of_trybackup(self, told: Told, event: ev.TryBackup, state: State) -> Numbers:
        node, available = state.nodes[event.node], state.host_account().available
        parent = state.nodes.get(node.parent)
        through = self.config.write_policy != "write_back"
        if [type(o.event) for o in told.before[-1:]] == [ev.TryBackup]:
            verdict = "host_full"
        elif through and parent is not None and parent.host_pages is None:
            needs = self.rules.backup_needs_parent
            verdict = "parent_not_backed_up" if needs else "ancestors_first"
        else:
            verdict = "write" if available >= len(node.tokens) else "make_room"
        return {
            "tokens": len(node.tokens), "hits": node.hit_count,
            "threshold": self.config.backup_threshold, "host_available": available,
            "verdict": verdict,
        }  # fmt: skip

    def of_loadback(self, told: Told, event: ev.LoadBack, state: State) -> Numbers:
        """The path is locked by now: whoever has this one lock was evictable."""
        path, available = list(state.path(event.node)), state.account().available
        tokens = size_of([n for n in path if n.pages is None])
        mine = [n for n in path if n.pages is not None and n.lock_ref == 1]
        op = self.run.op(told)
        quota = op.quota if isinstance(op, sc.LoadBackOp) else None
        if [type(o.event) for o in told.before[-1:]] == [ev.LoadBack]:
            verdict = "no_device_memory"
        elif tokens < self.config.load_threshold:
            verdict = "below_threshold"
        elif quota is not None and tokens > quota - size_of(mine):
            verdict = "over_quota"
        else:
            verdict = "load" if available >= tokens else "make_room"
        return {
            "tokens": tokens, "threshold": self.config.load_threshold,
            "quota": quota, "delta": -size_of(mine), "available": available,
            "verdict": verdict,
        }  # fmt: skip


def end_of_walk(told: Told) -> int:
    """Return the node at which the walk before a match ended."""
    last = told.before[-1].event if told.before else None
    if isinstance(last, ev.Split):
        return last.upper
    return last.node if isinstance(last, ev.Touch) else ROOT


def owner(told: Told) -> str:
    """Return the request whose tokens are inserted: it is named next."""
    kinds = (ev.Row, ev.Finish)
    return next(o.event.request for o in told.behind if isinstance(o.event, kinds))


def size_of(nodes: list[NodeState]) -> int:
    return sum(len(node.tokens) for node in nodes)


def first(nodes: list[NodeState]) -> int:
    """Return the deepest node of a path, or the root."""
    return nodes[0].id if nodes else ROOT


def leaves_of(state: State, tier: str, gone: set[int]) -> set[int]:
    """Return who could be evicted from the tier, if those named were gone."""
    nodes = [n for n in state.nodes.values() if n.id not in gone]
    if tier == "L1":
        free = {n.id for n in nodes if n.pages is not None and not n.lock_ref}
        return free - {n.parent for n in nodes if n.pages is not None}
    alone = [n for n in nodes if n.pages is None and not n.lock_ref]
    free = {n.id for n in alone if not n.host_lock_ref}
    return free - {n.parent for n in nodes if n.host_pages is not None}


def title(op: sc.AnyOp) -> str:
    """Return the words that a step's headline gets: a name, tokens, or a number."""
    match op:
        case sc.AckWriteOp() | sc.AckLoadOp():
            return "all" if op.k is None else f"{op.k}"
        case sc.EvictOp() | sc.EvictHostOp():
            return f"{op.n}"
        case sc.UnlockOp() | sc.DecodeOp() | sc.RequestFinishOp():
            return op.id
        case sc.RoundOp() | sc.DecodeStepOp() | sc.CheckEventsOp():
            return ""
    name = f"{op.id} " if isinstance(op, sc.LockOp | sc.RequestStartOp) else ""
    if len(op.tokens) == 1:
        return f"{name}{op.tokens[0]} (1 token)"
    return f"{name}{op.tokens[0]}..{op.tokens[-1]} ({len(op.tokens)} tokens)"


@pytest.mark.parametrize("path", RECORDED, ids=name)
def test_every_decision_about_the_cache_tells_what_was_there(path):
    run = retold(path)
    check_numbers(run, CacheWitness(run))
