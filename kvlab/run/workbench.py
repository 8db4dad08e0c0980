"""How does one try an engine by hand?

A `Workbench` is one engine with its trace: every call is an op of a script, carried out
at once and recorded. Copies wait for `ack_write` / `ack_load`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec
import numpy as np

from ..config import EngineConfig
from ..errors import ConfigError, InputError
from ..record.moment import Account, HostAccount
from ..record.snapshot import State
from ..record.trace import Header, Trace
from ..rule import DEFAULT
from ..rules import Rules
from . import script as sc
from .engine import Engine
from .runner import ScriptRunner
from .tree_ops import Result


class Workbench:
    """One traced SGLang engine, of release 0.5.23 unless given other rules, or the name
    of another release; knobs are those of `EngineConfig`. `build` makes the engine, as
    in `ScriptRunner`.

    Raises: ConfigError for knobs with which the release would not start.

    >>> bench = Workbench(pool_tokens=16, host_tokens=32)
    >>> bench.insert(range(6)), bench.account().protected
    ({'prefix_len': 0, 'allocated': 6}, 6)
    >>> bench.ack_write(), bench.evict(4), bench.match(range(6))["host_hit"]
    (1, 6, 6)
    """

    def __init__(
        self,
        rules: Rules | str | None = None,
        name: str = "",
        *,
        build: Callable[..., Engine] = Engine,
        **knobs: Any,
    ) -> None:
        if not isinstance(rules, Rules):
            rules = Rules.named(str(rules or DEFAULT))
        if not isinstance(name, str):
            raise ConfigError(f"name is {name!r}; use a text")
        config = EngineConfig.of(knobs)
        config.check_start(rules)
        self._script = sc.Script(
            name=name, about="", config=config, rules=rules, manual_dma=True, ops=[]
        )
        self.trace = Trace(Header(name=name, config=config, rules=rules))
        self._runner = ScriptRunner(self._script, self.trace, build=build)
        self._state = State.start(config)
        self._folded = 0

    def do(self, op: sc.AnyOp) -> Result:
        """Carry out any op of a script; return what happened.

        Changes: the engine and its trace. Raises: InputError, before anything changes,
        for an op that no script may hold.
        """
        sc.check_op("workbench", op)
        self._script.ops.append(op)
        return self._runner.step(len(self._script.ops) - 1, op)

    def insert(self, tokens: Iterable[int], **fields: Any) -> Result:
        """Cache the tokens, as a finished prompt would be."""
        return self.do(sc.InsertOp(listed(tokens), **fields))

    def match(self, tokens: Iterable[int]) -> Result:
        """Find the longest cached prefix; splits a node where it ends inside one."""
        return self.do(sc.MatchOp(listed(tokens)))

    def lock(self, id: str, tokens: Iterable[int]) -> Result:
        """Lock the cached prefix of the tokens under a name."""
        return self.do(sc.LockOp(id, listed(tokens)))

    def unlock(self, id: str) -> Result:
        """Undo the lock of that name."""
        return self.do(sc.UnlockOp(id))

    def evict(self, num_tokens: int) -> int:
        """Evict at least so many device tokens; return how many went."""
        evicted: int = self.do(sc.EvictOp(num_tokens))["evicted"]
        return evicted

    def load_back(self, tokens: Iterable[int], quota: int | None = None) -> Result:
        """Bring the host part of the tokens' prefix back to the device."""
        return self.do(sc.LoadBackOp(listed(tokens), quota))

    def ack_write(self, count: int | None = None) -> int:
        """Finish the first `count` copies to the host, or all; return how many."""
        acked: int = self.do(sc.AckWriteOp(count))["acked"]
        return acked

    def ack_load(self, count: int | None = None) -> int:
        """Finish the first `count` load batches, or all; return how many loads."""
        acked: int = self.do(sc.AckLoadOp(count))["acked"]
        return acked

    @property
    def engine(self) -> Engine:
        """The engine that the calls work on."""
        return self._runner.engine

    @property
    def script(self) -> sc.Script:
        """All that was done so far, to be done again under other settings or rules."""
        return msgspec.structs.replace(self._script, ops=self._script.ops[:])

    @property
    def state(self) -> State:
        """The state that the trace folds into now. It moves on with the trace."""
        for event in self.trace.events[self._folded :]:
            self._state.apply(event)
        self._folded = len(self.trace)
        return self._state

    def account(self) -> Account:
        """The device account, in tokens."""
        return self.state.account()

    def host_account(self) -> HostAccount:
        """The host account, in tokens."""
        return self.state.host_account()


def listed(tokens: Iterable[int]) -> list[int]:
    """Return token ids as a script lists them, numbers of numpy as Python's own.

    Raises: InputError for no list.
    """
    if isinstance(tokens, np.ndarray):
        return tokens.tolist()  # type: ignore[no-any-return]
    if not isinstance(tokens, Iterable):
        remedy = "use one such as range(100, 112)"
        raise InputError(repr(tokens)[:40], "is no list of token ids", remedy)
    return [i.item() if isinstance(i, np.generic) else i for i in tokens]
