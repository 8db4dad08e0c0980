"""What would the engine have logged?

SGLang's lines: one for every prefill, one for every 40 decode steps, one for every
retraction, and one if an idle engine finds that its account does not add up. Times are
the run's clock, from a date on; readers of real logs take them.
Left out: start-up lines beyond the pool's size; `#pending-token` counts prompts whole.
Source: SGLang 0.5.14, managers/scheduler_components/metrics_reporter.py; scheduler.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from ..record import events as ev
from ..record.trace import Trace
from .meter import Meter

INTERVAL = 40
"""Decode steps between two lines (SGLang: decode_log_interval)."""
START = datetime(2026, 1, 1)
MOST_RUNNING = 4096
"""What the engine derives for max_running_requests at most, where none is set."""


def log_lines(trace: Trace) -> Iterator[str]:
    """Yield the log of a recorded run on a clock, oldest first.

    Raises: ValueError or KeyError where the trace does not fold. Cost: O(events).
    """
    meter = Meter(trace.header)
    config = trace.header.config
    yield (
        f"{_stamp(0)} max_total_num_tokens={config.device_pages * config.page_size}, "
        f"chunked_prefill_size={config.chunked_prefill_size or -1}, "
        f"max_prefill_tokens={config.max_prefill_tokens}, "
        f"max_running_requests={trace.header.max_running or MOST_RUNNING}, "
        "context_len=131072"
    )
    victims: list[tuple[str, int]] = []
    leaks: list[str] = []
    for event in trace.events:
        if isinstance(event, ev.Forward):
            yield _prefill_line(meter, event)
        elif isinstance(event, ev.Decode):
            yield from _decode_lines(meter, event)
        elif isinstance(event, ev.Retract):
            victims.append((event.request, meter.state.requests[event.request].kv_len))
        elif isinstance(event, ev.Ratio):
            yield _retract_line(meter, event, victims)
            victims = []
        elif isinstance(event, ev.Clock) and not leaks:
            leaks = _leak_line(meter)
            yield from leaks
        meter.take(event)
    if not leaks:
        yield from _leak_line(meter)


def _stamp(nanoseconds: int) -> str:
    at = START + timedelta(microseconds=nanoseconds // 1000)
    return f"[{at:%Y-%m-%d %H:%M:%S}]"


def _prefill_line(meter: Meter, event: ev.Forward) -> str:
    """The line of the batch that this forward runs; its members are placed by now."""
    batch, state = meter.batch, meter.state
    new = sum(placed.new for placed in batch)
    cached = sum(placed.cached for placed in batch)
    ran = {placed.request for placed in batch}
    running = sum(id not in ran for id in state.running)
    pending = sum(state.requests[id].prompt_len for id in state.waiting)
    seconds = (event.load + event.compute) / 1e9
    return (
        f"{_stamp(event.begin)} Prefill batch, #new-seq: {len(batch)}, "
        f"#new-token: {new}, #cached-token: {cached}, "
        f"token usage: {meter.usage:.2f}, #running-req: {running}, "
        f"#queue-req: {len(state.waiting)}, #pending-token: {pending}, "
        f"cuda graph: False, input throughput (token/s): {new / seconds:.2f}"
    )


def _decode_lines(meter: Meter, event: ev.Decode) -> Iterator[str]:
    """One line for every 40th step that the jump passes."""
    state, steps = meter.state, meter.counts["steps"]
    begin, running = state.now, len(state.running)
    total = state.account().total
    for at in range(INTERVAL - steps % INTERVAL, event.steps + 1, INTERVAL):
        now = begin + (event.now - begin) * at // event.steps
        tokens = min(meter.used + running * at, total)
        rate = running * event.steps / max(event.now - begin, 1) * 1e9
        yield (
            f"{_stamp(now)} Decode batch, #running-req: {running}, "
            f"#token: {tokens}, token usage: {tokens / total:.2f}, "
            f"cuda graph: True, gen throughput (token/s): {rate:.2f}, "
            f"#queue-req: {len(state.waiting)}"
        )


def _retract_line(meter: Meter, event: ev.Ratio, victims: list[tuple[str, int]]) -> str:
    gained = sum(kv_len for _, kv_len in victims)
    return (
        f"{_stamp(meter.now)} KV cache pool is full. Retract requests. "
        f"#retracted_reqs: {len(victims)}, #new_tokens_gained: {gained}, "
        f"#new_token_ratio: {event.before:.4f} -> {event.after:.4f}"
    )


def _leak_line(meter: Meter) -> list[str]:
    """What the check of an idle engine says: nothing where the account adds up."""
    account = meter.state.account()
    if meter.state.running or meter.state.waiting or not account.held:
        return []
    return [
        f"{_stamp(meter.now)} pool memory leak detected! [full] total={account.total}, "
        f"available={account.available}, evictable={account.evictable}, "
        f"protected={account.protected}, session_held=0, uncached=0"
    ]
