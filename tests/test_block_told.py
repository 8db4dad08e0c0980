"""Is every event of vLLM's side told once, where it belongs?

Of each step of every recorded golden: what is said, and in which order, is written down
here as a grammar.
Left out: the numbers (test_block_told_numbers.py); what changes say
(test_block_goldens.py).
"""

from __future__ import annotations

import pytest
from block_retold import retold_blocks
from grammar import Grammar
from test_block_goldens import GOLDENS, name

from kvlab.record import block_events as ev
from kvlab.record.events import Event

GRAMMAR = Grammar({
    "freed": "(Vacate Release.L1)?",
    "granted": "Slots.fits (Share.L1 Hold)? (Forget.L1? Take.L1 Hold)* Register.L1?"
    " | Register.L1?",
    "serve": "(Slots.short PickVictim freed Preempt)*"
    " (granted Schedule | Slots.short Stop.in_flight)?",
    "unpin": "Pin.none Release.L2",
    "looked": "unpin? (Share.L2 Pin)? Lookup",
    "ready": "Register.L1? freed Compute? Loaded",
    "admit": "ready? looked? granted loads? Compute?"
    " (Run Schedule | Defer.loading) | ready? Defer.retry",
    "refuse": "ready? looked? (Stop.no_chunk | Slots.short Stop.no_blocks)",
    "stored": "Forget.L2? Take.L2 Share.L1 CopyOut",
    "loads": "Share.L1 CopyIn | ChunkHold (ChunkHold | ChunkMove)* Share.L2 CopyIn",
    "chunk": "ChunkAim | ChunkMove | ChunkHold | Offer.refused"
    " | Offer.took Take.L2? (Share.L2 Forget.L2 Release.L2)* Take.L2? CopyOut",
    "late": "Vacate Release.L1",
    "leave": "unpin? stored? freed Drop",
    "out": "Output Register.L1? (unpin? stored? freed Finish)?",
    "copied": "(CopiedIn ChunkHold* Release.L2 Release.L1?)*"
    " (CopiedOut ChunkHold? Register.L2 Release.L2 Release.L1?)* late*",
})  # fmt: skip
"""Names of what is said more than once."""

STEPS = {
    "step": "Arrive* leave* serve* admit* refuse? stored* chunk* Compute* late* out*"
    " (leave | Compute)* copied",
    "new": "Arrive",
    "alloc": "Slots.short | granted Compute Run?",
    "append": "Output*",
    "cache_blocks": "Register.L1?",
    "free": "freed",
    "preempt": "freed Preempt",
    "reset": "Forget.L1?",
    "evict": "Forget.L1?",
    "lookup": "",
    "stats": "",
}
"""What is said within each step of an engine, and within each op on its blocks."""


def word(event: Event) -> str:
    """Return how the grammar calls an event."""
    more = ""
    match event:
        case ev.Slots():
            more = ".fits" if event.fits else ".short"
        case ev.Offer():
            more = ".took" if event.took else ".refused"
        case ev.Stop() | ev.Defer():
            more = f".{event.why}"
        case ev.Pin():
            more = "" if len(event.blocks) else ".none"
        case ev.Take() | ev.Forget() | ev.Register() | ev.Share() | ev.Release():
            more = f".{event.tier}"
    return type(event).__name__ + more


@pytest.mark.parametrize("path", GOLDENS, ids=name)
def test_every_event_is_told_once_where_it_belongs(path):
    for step, events in retold_blocks(path).steps:
        if retold_blocks(path).scenario.mode == "cpu":
            continue
        said = [word(event) for event in events]
        assert GRAMMAR.allows(STEPS[step.op], said), f"{step}: {' '.join(said)}"
