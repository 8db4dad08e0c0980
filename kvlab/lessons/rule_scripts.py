"""What is the shortest run in which a rule of SGLang makes a difference?

One script for each rule that differs between 0.5.14 and 0.5.23, named after it. Played
under both releases it first parts where that rule, and no other, says something else:

        kvlab compare load_protects_source --rules 0.5.14 --rules 0.5.23

One exception: in any load_back the lock of `load_protects_source` comes first, so the
script of `load_evicts_whole_need` parts from a 0.5.14 that has it (`base_of`).
Left out: rules that only a queue on a clock shows (`ON_A_CLOCK`); playing the scripts
(what_changed.py), and the rules' texts (kvlab/rules.py).
"""

from __future__ import annotations

from typing import Any

from ..config import EngineConfig
from ..rule import DEFAULT, OLD
from ..rules import Rules
from ..run import script as sc

_ACK = sc.AckWriteOp()
_EVICT_ALL = sc.EvictOp(64)


def _tokens(begin: int, size: int) -> list[int]:
    return list(range(begin, begin + size))


def _insert(begin: int, size: int, **how: Any) -> sc.InsertOp:
    return sc.InsertOp(_tokens(begin, size), **how)


def _new(id: str, begin: int, size: int, **how: Any) -> sc.NewRequest:
    return sc.NewRequest(id, _tokens(begin, size), **how)


_PLAYS: dict[str, tuple[dict[str, Any], list[sc.AnyOp]]] = {
    "evict_whole_need": (
        {"pool_tokens": 40, "tree": "radix"},
        [_insert(1, 10), _insert(20, 10), _insert(40, 10), _insert(60, 12)],
    ),
    "load_evicts_whole_need": (
        {"pool_tokens": 40},
        [
            _insert(1, 16), _ACK, _EVICT_ALL, _insert(20, 6), _insert(30, 6),
            _insert(40, 6), _insert(50, 6), _insert(60, 6), _ACK,
            sc.LoadBackOp(_tokens(1, 16)),
        ],
    ),
    "host_evicts_whole_need": (
        {"pool_tokens": 40, "host_tokens": 24},
        [
            _insert(1, 6), _insert(10, 6), _insert(20, 6), _ACK, _EVICT_ALL,
            _insert(100, 12),
        ],
    ),
    "request_counts_once": ({}, [sc.RequestOp(_tokens(1, 8), [7, 8])]),
    "checkpoint_cuts_prompt": (
        {"write_policy": "write_back"},
        [sc.RequestOp(_tokens(1, 8), [7, 8])],
    ),
    "restore_counts_hit": (
        {},
        [_insert(1, 8), _ACK, _EVICT_ALL, _insert(1, 8)],
    ),
    "split_raises_both": ({}, [_insert(1, 8), _insert(1, 4, priority=3)]),
    "split_keeps_creation": (
        {"tree": "radix", "eviction_policy": "fifo"},
        [_insert(1, 8), _insert(20, 4), sc.MatchOp([1, 2, 3, 4]), sc.EvictOp(5)],
    ),
    "backup_needs_parent": (
        {"host_tokens": 12},
        [_insert(20, 12), _insert(1, 8), _insert(1, 10)],
    ),
    "writes_share_ack": (
        {"write_policy": "write_through_selective"},
        [_insert(1, 8), sc.MatchOp([1, 2, 3]), _insert(1, 8), sc.AckWriteOp(1)],
    ),
    "written_back_waits": (
        {"write_policy": "write_back", "host_tokens": 8},
        [_insert(1, 8), _insert(20, 8), _EVICT_ALL],
    ),
    "unwritable_victim_stays": (
        {"write_policy": "write_back", "host_tokens": 4},
        [_insert(1, 4), _EVICT_ALL, _insert(20, 8), _EVICT_ALL],
    ),
    "reclaims_duplicates": (
        {"write_policy": "write_back"},
        [_insert(1, 12), _EVICT_ALL, _insert(1, 12), sc.EvictHostOp(1)],
    ),
    "load_protects_source": (
        {"write_policy": "write_back", "pool_tokens": 32, "host_tokens": 40},
        [
            _insert(1, 20), _EVICT_ALL, _insert(100, 30),
            sc.LoadBackOp(_tokens(1, 20)), sc.AckLoadOp(), sc.MatchOp(_tokens(1, 20)),
            _EVICT_ALL, sc.EvictHostOp(64),
        ],
    ),
    "spent_budget_still_tries": (
        {"chunked_prefill_size": 16, "write_policy": "write_back"},
        [sc.RoundOp([_new("a", 1, 40)]), sc.RoundOp([_new("b", 100, 4)])],
    ),
    "tests_before_lock": (
        {"tree": "radix", "pool_tokens": 60, "max_prefill_tokens": 25},
        [
            _insert(1, 20),
            sc.RoundOp([
                _new("a", 100, 15),
                sc.NewRequest("b", _tokens(1, 20) + _tokens(300, 12), max_new=9),
            ]),
        ],
    ),
    "ignore_eos_reserves_all": (
        {"tree": "radix", "new_token_ratio": 0.25},
        [
            sc.RequestStartOp("a", _tokens(1, 8), max_new=20, ignore_eos=True),
            sc.RequestStartOp("b", _tokens(100, 4), max_new=40),
        ],
    ),
    "best_match_is_backed_up": (
        {"write_policy": "write_back"},
        [_insert(1, 8), sc.MatchOp(_tokens(1, 8))],
    ),
    "evict_host_returns_none": (
        {},
        [_insert(1, 8), _ACK, _EVICT_ALL, sc.EvictHostOp(8)],
    ),
    "lock_tells_evictable": (
        {},
        [_insert(1, 8), _ACK, sc.LockOp("l", _tokens(1, 8))],
    ),
    "freed_pages_sorted": (
        {"tree": "radix", "page_size": 4, "pool_tokens": 16},
        [
            _insert(0, 4), _insert(10, 4), _EVICT_ALL, _insert(20, 16), _EVICT_ALL,
            _insert(40, 4),
        ],
    ),
    "host_must_exceed_device": ({"host_tokens": 32}, [_insert(1, 8)]),
}  # fmt: skip
"""Settings (others: L1 of 64 tokens, L2 of 96) and ops, by rule."""


def rule_script(rule: str, rules: Rules | None = None) -> sc.Script:
    """Return the script of a rule, to be played under the default rules or these.

    Raises: KeyError if there is no such rule.
    """
    knobs, ops = _PLAYS[rule]
    return sc.Script(
        name=rule,
        about=f"the shortest run that {rule} changes",
        about_zh=f"使规则 {rule} 起作用的最短运行",
        config=EngineConfig.of({"pool_tokens": 64, "host_tokens": 96} | knobs),
        rules=rules or Rules.named(DEFAULT),
        manual_dma=True,
        ops=ops,
    )


def base_of(rule: str) -> Rules:
    """Return the old rules that the script is played under: 0.5.14's, for all but one.
    The new ones are 0.5.23's."""
    protected = "+load_protects_source" if rule == "load_evicts_whole_need" else ""
    return Rules.named(OLD + protected)


RULE_SCRIPTS = tuple(_PLAYS)
"""The names of the scripts: every rule but those of `ON_A_CLOCK`."""

ON_A_CLOCK = ("refreshes_waiting", "finished_leave_late", "chunk_takes_two_seats")
"""Rules that no script shows: its rounds are the recordings', which leave them out."""
