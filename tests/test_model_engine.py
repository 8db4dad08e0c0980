"""Does an engine that serves a model say what the model says?"""

from __future__ import annotations

import numpy as np
import pytest

from kvlab.config import EngineConfig
from kvlab.errors import OutOfPool
from kvlab.memory.pools import Tensors
from kvlab.record.replay import Replay
from kvlab.record.trace import Header, Trace
from kvlab.rules import Rules
from kvlab.run.engine import Engine
from kvlab.run.model import Model, Spec, as_bytes
from kvlab.run.model_engine import Conversation, ModelRun, serve

SPEC = Spec(layers=1)


def served(conversations, after_step=lambda: None, **knobs):
    config = EngineConfig(**{"pool_tokens": 64, "host_tokens": 128} | knobs)
    rules = Rules.v0_5_14()
    trace, run = Trace(Header(config=config, rules=rules)), ModelRun(Model(SPEC))
    engine = Engine(
        config, rules, emit=trace, mode="tensors", forward=run,
        tensors=Tensors(form=SPEC.form),
    )  # fmt: skip
    serve(engine, run, conversations, after_step)
    return engine, run, trace


def talk(name="a", turns=("how are you", "and then"), max_new=4):
    return Conversation(name, [as_bytes(turn) for turn in turns], max_new)


def test_every_answer_is_the_models_own():
    one = talk()
    _, run, _ = served([one])
    first = run.model.speak(as_bytes("how are you"), 4)
    past = np.concatenate((as_bytes("how are you"), np.array(first, np.int32)))
    second = run.model.speak(np.concatenate((past, as_bytes("and then"))), 4)
    assert one.said == [first, second]


def test_a_later_turn_computes_only_what_is_new():
    _, run, _ = served([talk()])
    assert run.computed < len("how are you") + 4 + len("how are you") + 4 + 8 + 4


@pytest.mark.parametrize("chunk", [None, 4])
def test_chunks_change_no_answer(chunk):
    one = talk()
    _, run, _ = served([one], chunked_prefill_size=chunk)
    assert one.said[0] == run.model.speak(as_bytes("how are you"), 4)


def test_after_every_step_the_caller_may_look():
    steps = []
    served([talk(turns=("hello",))], lambda: steps.append(1))
    assert len(steps) == 3


def test_a_retracted_request_goes_on_where_it_was():
    talks = [talk(name, (f"question {name}?",), 12) for name in "abcd"]
    _, run, trace = served(talks, pool_tokens=40)
    kinds = {type(event).__name__ for event in trace.events}
    assert "Retract" in kinds
    for one in talks:
        assert one.said[0] == run.model.speak(one.turns[0], 12)


def test_the_run_folds_into_the_state_of_the_engine():
    engine, _, trace = served([talk()])
    account = Replay(trace).at(len(trace)).account()
    assert account.available == engine.cache.allocator.available


def test_a_request_that_could_never_run_is_refused_with_the_numbers():
    with pytest.raises(OutOfPool, match=r"1 requests wait .* in 16 tokens; raise"):
        served([talk(turns=("a prompt of 26 characters.",))], pool_tokens=16)
