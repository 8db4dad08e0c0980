"""Does an engine answer a script's ops in the words of the recordings?"""

from __future__ import annotations

from typing import Any

import folding
import pytest
from played import GOLDENS, replayed

from kvlab.config import EngineConfig
from kvlab.errors import EngineFault, InputError
from kvlab.record import events as ev
from kvlab.record.replay import state_at
from kvlab.record.trace import QUIET, Emitter, Header, Trace
from kvlab.rules import Rules
from kvlab.run import script as sc
from kvlab.run.runner import ScriptRunner
from kvlab.run.whole import run_script
from kvlab.run.workbench import Workbench


class Player:
    """Carries ops out one by one."""

    def __init__(
        self,
        *,
        manual: bool = True,
        eager: bool = False,
        rules: Rules | None = None,
        emit: Emitter = QUIET,
        **knobs: Any,
    ) -> None:
        config = EngineConfig(**{"pool_tokens": 64, "host_tokens": 128, **knobs})
        script = sc.Script(
            name="test", about="", config=config, ops=[],
            rules=rules or Rules.v0_5_14(), manual_dma=manual,
        )  # fmt: skip
        self.runner = ScriptRunner(script, emit, eager=eager)
        self.engine = self.runner.engine
        self.number = 0

    def do(self, op: sc.AnyOp) -> dict[str, Any]:
        result = self.runner.step(self.number, op)
        self.number += 1
        return result

    def hosted(self, size: int = 12) -> Player:
        """Let range(size) lie on the host alone."""
        self.do(sc.InsertOp(list(range(size))))
        self.do(sc.AckWriteOp())
        self.do(sc.EvictOp(size))
        return self


def start(id: str = "a", size: int = 3, **fields: Any) -> sc.RequestStartOp:
    return sc.RequestStartOp(id, list(range(size)), **fields)


# --- the tree


def test_an_insert_tells_what_was_there_and_what_it_took():
    player = Player()
    player.do(sc.InsertOp([1, 2, 3]))
    result = player.do(sc.InsertOp([1, 2, 3, 4]))
    assert result == {"prefix_len": 3, "allocated": 4}


def test_an_insert_of_less_than_a_page_does_nothing():
    player = Player(page_size=4)
    assert player.do(sc.InsertOp([1, 2])) == {"prefix_len": 0, "allocated": 0}


def test_an_insert_makes_room_for_itself():
    player = Player(pool_tokens=4, tree="radix")
    player.do(sc.InsertOp([1, 2, 3]))
    assert player.do(sc.InsertOp([5, 6])) == {"prefix_len": 0, "allocated": 2}
    assert player.do(sc.MatchOp([1]))["device_hit"] == 0


def test_an_insert_without_room_tells_need_and_available():
    player = Player(pool_tokens=4, tree="radix")
    player.do(sc.InsertOp([1, 2]))
    player.do(sc.LockOp("l", [1, 2]))
    assert player.do(sc.InsertOp([5, 6, 7])) == {
        "oom": True,
        "need": 3,
        "available": 2,
    }


def test_a_match_tells_hits_and_how_deep_they_reach():
    player = Player().hosted(12)
    player.do(sc.InsertOp([*range(4)]))
    assert player.do(sc.MatchOp([*range(10), 99])) == {
        "device_hit": 4,
        "host_hit": 6,
        "last_device_len": 4,
        "best_len": 10,
    }


def test_a_match_looks_into_one_namespace():
    player = Player()
    player.do(sc.InsertOp([1, 2], extra="x"))
    assert player.do(sc.MatchOp([1, 2]))["device_hit"] == 0
    assert player.do(sc.MatchOp([1, 2], extra="x"))["device_hit"] == 2


@pytest.mark.parametrize(
    ("rules", "told"), [(Rules.v0_5_14(), (-3, 3)), (Rules.v0_5_23(), (3, None))]
)
def test_a_lock_and_its_unlock_tell_what_the_release_tells(rules, told):
    player = Player(rules=rules, tree="radix")
    player.do(sc.InsertOp([1, 2, 3]))
    locked = player.do(sc.LockOp("l", [1, 2, 3]))
    assert locked == {"locked_len": 3, "delta": told[0]}
    assert player.do(sc.UnlockOp("l")) == {"delta": told[1]}


@pytest.mark.parametrize(
    "op", [sc.UnlockOp("x"), sc.DecodeOp("x"), sc.RequestFinishOp("x")]
)
def test_an_unknown_name_is_skipped(op):
    assert Player().do(op) == {"skipped": True}


def test_an_evict_tells_what_it_freed():
    player = Player(tree="radix")
    player.do(sc.InsertOp([1, 2, 3]))
    assert player.do(sc.EvictOp(1)) == {"evicted": 3}


# --- the host tier


@pytest.mark.parametrize(
    ("rules", "told"), [(Rules.v0_5_14(), None), (Rules.v0_5_23(), 12)]
)
def test_a_host_eviction_tells_what_the_release_tells(rules, told):
    player = Player(rules=rules).hosted(12)
    assert player.do(sc.EvictHostOp(5)) == {"freed": 12, "returned": told}


def test_acks_finish_the_oldest_copies_and_tell_how_many():
    player = Player()
    for first in (10, 20, 30):
        player.do(sc.InsertOp([first, first + 1]))
    assert player.do(sc.AckWriteOp(2)) == {"acked": 2}
    assert player.do(sc.AckWriteOp()) == {"acked": 1}


def test_a_load_is_acknowledged_too():
    player = Player().hosted()
    player.do(sc.LoadBackOp(list(range(12))))
    assert player.do(sc.AckLoadOp()) == {"acked": 1}


@pytest.mark.parametrize("op", [sc.AckWriteOp(), sc.AckLoadOp()])
def test_a_plain_tree_has_nothing_to_acknowledge(op):
    assert Player(tree="radix").do(op) == {"acked": 0}


def test_a_plain_tree_has_no_host_to_evict_from():
    result = Player(tree="radix").do(sc.EvictHostOp(5))
    assert result == {"freed": 0, "returned": None}


def test_without_manual_acks_every_copy_is_done_by_the_next_check():
    player = Player(manual=False)
    player.do(sc.InsertOp([1, 2]))
    assert player.do(sc.CheckEventsOp()) == {}
    assert player.engine.cache.protected_size == 0


def test_with_manual_acks_a_check_finishes_nothing():
    player = Player()
    player.do(sc.InsertOp([1, 2]))
    player.do(sc.CheckEventsOp())
    assert player.engine.cache.protected_size == 2


def loaded(player: Player, size: int = 12, **fields: Any) -> dict[str, Any]:
    result = player.do(sc.LoadBackOp(list(range(size)), **fields))
    return {key: result[key] for key in ("loaded", "refused", "why")}


def test_a_load_back_tells_what_it_loaded_and_how_deep():
    result = Player(eager=True).hosted().do(sc.LoadBackOp(list(range(12))))
    assert result == {
        "device_hit": 0, "host_hit": 12, "loaded": 12, "refused": False, "why": None,
        "last_len": 12, "loaded_data_ok": True,
    }  # fmt: skip


def test_bytes_that_move_later_are_not_judged_at_once():
    result = Player().hosted().do(sc.LoadBackOp(list(range(12))))
    assert result["loaded_data_ok"] is None


def test_a_load_back_of_what_the_host_does_not_have_is_no_refusal():
    player = Player()
    player.do(sc.InsertOp([1, 2]))
    assert player.do(sc.LoadBackOp([1, 2])) == {
        "device_hit": 2, "host_hit": 0, "loaded": 0, "refused": False,
        "why": "nothing on host beyond device prefix",
    }  # fmt: skip


def test_a_load_back_below_the_threshold_is_refused():
    said = loaded(Player().hosted(9), 9)
    assert said == {"loaded": 0, "refused": True, "why": "below_threshold"}


def test_a_load_back_over_quota_is_refused():
    said = loaded(Player().hosted(), quota=11)
    assert said == {"loaded": 0, "refused": True, "why": "over_quota_or_no_memory"}


def test_a_load_back_without_room_is_refused():
    player = Player(pool_tokens=16).hosted()
    player.do(sc.InsertOp(list(range(50, 60))))
    said = loaded(player)
    assert said == {"loaded": 0, "refused": True, "why": "no_device_memory"}


def test_a_load_of_nodes_that_were_dropped_ends_in_the_engines_fault():
    player = Player(pool_tokens=32, host_tokens=40, write_policy="write_back")
    first, other = list(range(1, 21)), list(range(100, 130))
    for op in (
        sc.InsertOp(first), sc.EvictOp(64), sc.InsertOp(other), sc.LoadBackOp(first),
        sc.AckLoadOp(), sc.MatchOp(other), sc.EvictOp(64),
    ):  # fmt: skip
        player.do(op)
    with pytest.raises(EngineFault):
        player.do(sc.EvictHostOp(5))


# --- one request


def test_an_admitted_request_tells_its_hits_and_the_budgets():
    player = Player(tree="radix", pool_tokens=20)
    player.do(sc.InsertOp([0, 1]))
    assert player.do(start(size=6, max_new=5)) == {
        "device_hit": 2, "host_hit": 0, "rem_total_before": 20, "admit": "CONTINUE",
        "admitted": True, "loaded": 0, "extend": 4, "rem_total_after": 20 - 2 - 10,
        "cur_rem_after": 20 - 2 - 5, "rem_input_after": 16384 - 4,
        "evictable_drop_in_alloc": 0,
    }  # fmt: skip


def test_a_refused_request_tells_only_why_and_is_gone():
    player = Player(tree="radix", pool_tokens=8)
    assert player.do(start(size=6)) == {
        "device_hit": 0, "host_hit": 0, "rem_total_before": 8, "admit": "NO_TOKEN",
        "admitted": False,
    }  # fmt: skip
    assert player.do(sc.DecodeOp("a")) == {"skipped": True}


def test_what_is_evicted_for_a_request_is_told():
    player = Player(tree="radix", pool_tokens=12)
    player.do(sc.InsertOp(list(range(50, 60))))
    assert player.do(start())["evictable_drop_in_alloc"] == 10


def test_a_request_that_finishes_at_prefill_does_not_run():
    player = Player(tree="radix")
    player.do(start(finish_at_prefill=True))
    assert player.do(sc.DecodeOp("a")) == {"skipped": True}
    assert player.engine.cache.evictable_size == 3


def test_a_decode_tells_how_many_tokens_have_kv():
    player = Player()
    player.do(start())
    assert player.do(sc.DecodeOp("a", 9)) == {"kv_len": 4}


def test_a_decode_without_room_would_retract():
    player = Player(tree="radix", pool_tokens=9)
    player.do(start())
    player.do(sc.InsertOp(list(range(50, 56))))
    player.do(sc.LockOp("l", list(range(50, 56))))
    assert player.do(sc.DecodeOp("a")) == {"would_retract": True}


def test_a_finish_tells_what_had_kv():
    player = Player()
    player.do(start())
    player.do(sc.DecodeOp("a"))
    assert player.do(sc.RequestFinishOp("a")) == {"kv_len": 4}


def test_a_finish_without_insert_caches_no_output():
    player = Player(tree="radix")
    player.do(start())
    player.do(sc.DecodeOp("a"))
    player.do(sc.RequestFinishOp("a", is_insert=False))
    assert player.engine.cache.evictable_size == 3


def test_a_whole_request_decodes_once_for_each_further_output():
    player = Player(tree="radix")
    result = player.do(sc.RequestOp([1, 2, 3], [7, 8, 9]))
    assert result["decoded"] == 2
    assert player.do(sc.MatchOp([1, 2, 3, 7, 8, 9]))["device_hit"] == 5


def test_a_whole_request_of_one_output_finishes_at_prefill():
    player = Player()
    assert "decoded" not in player.do(sc.RequestOp([1, 2, 3], [7]))
    assert player.engine.scheduler.running == []


def test_a_whole_request_asks_for_as_many_outputs_as_it_gets():
    player = Player(tree="radix", pool_tokens=8)
    assert player.do(sc.RequestOp([1, 2, 3], [7, 8, 9, 9]))["admit"] == "NO_TOKEN"
    assert player.do(sc.RequestOp([1, 2, 3], [7, 8, 9]))["admitted"]


def test_a_name_that_is_still_in_the_engine_is_refused():
    player = Player()
    player.do(start())
    with pytest.raises(InputError) as refused:
        player.do(start())
    assert str(refused.value) == (
        "test: ops[1]: request 'a': is still in the engine; "
        "give each request a name of its own"
    )


def test_the_name_of_a_chunked_request_is_taken_too():
    player = Player(chunked_prefill_size=8)
    player.do(arrive(a=12))
    with pytest.raises(InputError, match="request 'a': is still in the engine"):
        player.do(arrive(a=2))


def test_a_name_may_be_used_again_when_its_request_is_done():
    player = Player()
    player.do(start(finish_at_prefill=True))
    assert player.do(start())["admitted"]


# --- the whole queue


def arrive(**sizes: int) -> sc.RoundOp:
    """Return a round in which requests of such names and prompt lengths arrive."""
    return sc.RoundOp(
        [
            sc.NewRequest(id, list(range(100 * at, 100 * at + size)), first_out=5)
            for at, (id, size) in enumerate(sizes.items())
        ]
    )


def test_a_round_tells_the_budgets_every_try_and_who_ran():
    player = Player(tree="radix", pool_tokens=20)
    result = player.do(arrive(a=6, b=12))
    assert result["start"] == {
        "rem_total": 20, "cur_rem": 20, "rem_input": 16384, "rem_chunk": None,
    }  # fmt: skip
    assert [(t["id"], t["r"], t["added"]) for t in result["tried"]] == [
        ("a", "CONTINUE", True),
        ("b", "NO_TOKEN", False),
    ]
    assert result["tried"][0]["rem_total"] == 20 - 6 - 4 - 1
    assert result["ran"] == ["a"]


def test_a_round_with_nobody_to_run_tells_so():
    result = Player().do(sc.RoundOp())
    assert (result["tried"], result["ran"]) == ([], [])


def test_a_chunked_request_goes_on_in_the_next_round():
    player = Player(chunked_prefill_size=8)
    player.do(arrive(a=12))
    (tried,) = player.do(sc.RoundOp())["tried"]
    assert (tried["r"], tried["extend"], tried["unfinished"]) == (
        "chunked_continue",
        4,
        False,
    )


def test_who_wants_one_output_finishes_in_its_round():
    player = Player()
    new = sc.NewRequest("a", [1, 2], max_new=1)
    assert player.do(sc.RoundOp([new]))["finished"] == ["a"]
    assert "finished" not in player.do(arrive(b=2))


def test_a_decode_step_of_nobody_has_a_batch_of_none():
    assert Player().do(sc.DecodeStepOp()) == {"bs": 0}


def test_a_decode_step_tells_its_need_and_who_finished():
    player = Player()
    player.do(arrive(a=2, b=3))
    player.runner.engine.scheduler.running[1].max_new = 2
    assert player.do(sc.DecodeStepOp(9)) == {"need": 2, "bs": 2, "finished": ["b"]}


def test_a_decode_step_without_room_tells_who_gave_way():
    player = Player(tree="radix", pool_tokens=24, new_token_ratio=0.25)
    player.do(arrive(a=3, b=4))
    player.do(sc.InsertOp(list(range(500, 517))))
    player.do(sc.LockOp("l", list(range(500, 517))))
    result = player.do(sc.DecodeStepOp())
    assert (result["retracted"], result["aborted"], result["bs"]) == (["b"], [], 1)
    assert (result["need"], result["gained"]) == (2, 4)
    assert result["ratio_before"] == 0.25
    assert result["ratio_after"] == 1.0


def test_a_request_started_by_itself_comes_back_in_a_round():
    player = Player(tree="radix", pool_tokens=24)
    for id, size in (("a", 3), ("b", 4)):
        player.do(sc.RequestStartOp(id, list(range(size)), first_out=7))
    player.do(sc.InsertOp(list(range(500, 519))))
    player.do(sc.LockOp("l", list(range(500, 519))))
    assert player.do(sc.DecodeStepOp())["retracted"] == ["b"]
    player.do(sc.UnlockOp("l"))
    assert player.do(sc.RoundOp())["ran"] == ["b"]
    b = player.runner.engine.scheduler.running[-1]
    assert (b.id, b.outputs) == ("b", [7, 7])


# --- what is told


def test_a_refused_request_is_told_to_leave():
    header = Header(config=EngineConfig(pool_tokens=8), rules=Rules.v0_5_14())
    player = Player(tree="radix", pool_tokens=8, emit=(trace := Trace(header)))
    player.do(start(size=6))
    assert trace.events[-1] == ev.Drop(0, "a")


@pytest.mark.parametrize(
    ("op", "tag", "text"),
    [
        (sc.InsertOp([1, 2, 3]), "insert", "1..3 (3 tokens)"),
        (sc.MatchOp([4]), "match", "4 (1 token)"),
        (sc.LockOp("l", [1, 2]), "lock", "l 1..2 (2 tokens)"),
        (sc.UnlockOp("l"), "unlock", "l"),
        (sc.EvictOp(3), "evict", "3"),
        (sc.AckWriteOp(), "ack_write", "all"),
        (sc.AckLoadOp(2), "ack_load", "2"),
    ],
)
def test_every_op_is_told_with_its_operands(op, tag, text):
    header = Header(config=EngineConfig(pool_tokens=8), rules=Rules.v0_5_14())
    player = Player(emit=(trace := Trace(header)))
    player.do(op)
    assert trace.events[0] == ev.Step(-1, 0, tag, text)


@pytest.mark.parametrize(
    ("config", "ops"),
    [
        (  # returned pages rest behind those at hand, not before all
            {"pool_tokens": 12, "page_size": 2, "need_sort": True},
            [sc.InsertOp([1, 2, 3, 4]), sc.EvictOp(4), sc.InsertOp([5, 6])],
        ),
        (  # a prompt that its chunk budget cuts runs all the same
            {"pool_tokens": 12, "chunked_prefill_size": 3},
            [sc.RequestStartOp("a", [1, 2, 3, 4, 5])],
        ),
    ],
    ids=["need_sort", "cut"],
)
def test_what_no_recording_does_folds_to_the_live_engine(config, ops):
    bench = Workbench(tree="radix", **config)
    for op in ops:
        bench.do(op)
    state = state_at(bench.trace, len(bench.trace))
    assert folding.differences(state, bench.engine) == []


def test_an_empty_namespace_is_a_namespace():
    player = Player()
    player.do(sc.InsertOp([1, 2, 3]))
    found = [player.do(sc.MatchOp([1, 2, 3], extra)) for extra in ("", None)]
    assert [result["device_hit"] for result in found] == [0, 3]


def test_a_script_that_ends_in_the_engines_fault_says_at_which_op():
    script = replayed(next((GOLDENS / "sglang").glob("s25*"))).script
    with pytest.raises(EngineFault, match=r"^operation 9 \(evict_host\): n1 was drop"):
        run_script(script)
