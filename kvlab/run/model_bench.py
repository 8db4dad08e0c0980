"""How does one try an engine whose pools hold real K and V?

A `ModelBench` is a workbench with a model: what it inserts is computed, what it is
asked is answered with logits, and at any moment every slot can be compared with what it
should hold. Copies wait for `ack_write` / `ack_load`, and their bytes move then; only a
pass that reads a past does not wait for the hand (`HandTransfer.wait_layer`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import torch

from ..cache.hiradix import HiRadixCache
from ..cache.key import as_tokens
from ..config import EngineConfig
from ..errors import OutOfPool
from ..memory.kv_tensors import KVTensors, Order
from ..memory.pools import Tensors
from ..memory.transfer import HandTransfer
from ..pages import slots_of
from ..record import events as ev
from ..record.trace import Emitter
from ..rules import Rules
from . import script as sc
from .checker import Checker
from .engine import Engine
from .model import Model
from .model_engine import ModelRun
from .tree_ops import Result
from .workbench import Workbench, listed


class Answer(NamedTuple):
    """What a prompt came to. Units: tokens found in L1, loaded back, and computed.

    Shapes: logits (256,) of the prompt's last token.
    """

    device_hit: int
    loaded: int
    computed: int
    logits: torch.Tensor


class ModelBench(Workbench):
    """One traced engine with a model; knobs are those of `EngineConfig`.

    `link` moves the bytes, by hand if None; `host_cache_type` is as in `Engine`. With
    `checked` every op is followed by a check, and `found` collects what is wrong.
    Raises: ConfigError as `Workbench`, or where the pools do not fit.

    >>> from kvlab.run.model import Spec, as_bytes
    >>> bench = ModelBench(Model(Spec(layers=1)), pool_tokens=32, host_tokens=64)
    >>> bench.ask(as_bytes("a shared prefix"))[:3]
    (0, 0, 15)
    >>> bench.ask(as_bytes("a shared prefix, and a tail"))[:3], bench.check()
    ((15, 0, 12), [])
    """

    def __init__(
        self,
        model: Model,
        rules: Rules | None = None,
        name: str = "",
        *,
        host_order: Order = "layer_first",
        link: HandTransfer | None = None,
        host_cache_type: type[HiRadixCache] = HiRadixCache,
        run: ModelRun | None = None,
        checked: bool = False,
        **knobs: Any,
    ) -> None:
        self.run = run or ModelRun(model)
        tensors = Tensors(
            form=model.spec.form, device=model.device, host_order=host_order
        )
        by_hand = link

        def build(
            config: EngineConfig, rules: Rules, *, emit: Emitter, link: HandTransfer
        ) -> Engine:
            return Engine(
                config,
                rules,
                emit=emit,
                link=by_hand or link,
                tensors=tensors,
                mode="tensors",
                forward=self.run,
                host_cache_type=host_cache_type,
            )

        super().__init__(rules, name, build=build, **knobs)
        self.checker = Checker(self.engine, self.trace)
        self.checked = checked
        self.found: list[ev.Wrong] = []
        self._asked = 0

    def do(self, op: sc.AnyOp) -> Result:
        """Carry out any op of a script; return what happened.

        Changes: the engine and its trace.
        """
        result = super().do(op)
        if self.checked:
            self.found += self.check()
        return result

    def ask(self, tokens: Iterable[int]) -> Answer:
        """Serve a prompt as a request of one output token, in as many prefill rounds as
        it takes, and cache it.

        Changes: the engine and its trace. Raises: OutOfPool if it is not admitted.
        """
        self._asked += 1
        id, before = f"ask{self._asked}", self.run.computed
        prompt = listed(tokens)
        first = len(self.trace)
        new = [sc.NewRequest(id, prompt, max_new=1)]
        result = self.do(sc.RoundOp(new))
        while id not in result.get("finished", []):
            if not result["ran"]:
                raise OutOfPool(
                    f"{id} of {len(prompt)} tokens is not admitted: "
                    f"{self.engine.cache.allocator.available} are free and "
                    f"{self.engine.cache.evictable_size} evictable"
                )
            result = self.do(sc.RoundOp())
        event = next(e for e in self.trace.events[first:] if isinstance(e, ev.Prefill))
        computed = self.run.computed - before
        return Answer(event.device_hit, event.loaded, computed, self.run.logits[id])

    def check(self) -> list[ev.Wrong]:
        """Compare every settled slot with what it should hold. Changes: the trace."""
        return self.checker.check()

    def rows(self, tokens: Iterable[int]) -> list[torch.Tensor]:
        """Return the bits of K and V of the cached prefix in L1, as `KVTensors.raw`.

        Changes: the tree, as a match does.
        """
        cache = self.engine.cache
        match = cache.match_prefix(as_tokens(listed(tokens)))
        kv = self.engine.device_pool.kv
        assert isinstance(kv, KVTensors), "a pool of tensors holds some"
        return kv.raw(torch.from_numpy(slots_of(match.pages, cache.page_size)))
