"""On which small engine of vLLM's is a story played?

The same for scenarios, exercises and claims: steps on request, the trace, the state.
Left out: SGLang's, which is a `Workbench` (run/workbench.py).
"""

from __future__ import annotations

from typing import Any, TypeVar

from ..block_config import BlockConfig
from ..record.block_replay import block_state_at
from ..record.block_snapshot import BlockState
from ..record.events import Event
from ..record.trace import BlockHeader, BlockTrace
from ..run.block_runner import BlockRunner
from ..run.block_script import RequestSpec, Scenario

Kind = TypeVar("Kind", bound=Event)


class Blocks:
    """A vLLM engine under way, of 16 blocks of 4 tokens unless `knobs` say otherwise.

    >>> engine = Blocks(RequestSpec("a", list(range(9)), out=2))
    >>> engine.step()["after_schedule"]["used"], len(engine.run())
    (3, 1)
    """

    def __init__(self, *requests: RequestSpec, called: str = "", **knobs: Any) -> None:
        config = BlockConfig.of(
            {"num_gpu_blocks": 17, "block_size": 4, "max_model_len": 256} | knobs
        )
        scenario = Scenario(
            name=called, mode="sched", config=config, requests=list(requests)
        )
        self.trace = BlockTrace(BlockHeader(name=called, config=config))
        self.runner = BlockRunner(scenario, self.trace)
        self.records: list[dict[str, Any]] = []

    def step(self) -> dict[str, Any]:
        """Live through one step; return its record, which `records` keeps."""
        self.records.append(self.runner.step())
        return self.records[-1]

    def run(self) -> list[dict[str, Any]]:
        """Live on to the end; return the records of the steps that it took."""
        done = len(self.records)
        while not self.runner.is_over:
            self.step()
        return self.records[done:]

    @property
    def state(self) -> BlockState:
        """The state that the trace folds into."""
        return block_state_at(self.trace, len(self.trace))

    def seen(self, kind: type[Kind]) -> list[Kind]:
        """Return the events of one kind, in order."""
        return [event for event in self.trace.events if isinstance(event, kind)]
