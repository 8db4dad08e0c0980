"""What can happen in a block engine, and which numbers tell it?

The kinds that only vLLM needs; `Step`, `Arrive`, `Output`, `Finish` and those that tell
the time are SGLang's too (events.py). A `Decode` gives its steps to every running
request that lacks one token only, so a step of a thousand requests is one event.
A block is named by its number, its content by the first 48 bits of its hash, or by
its place in the order of first registration where the hash is kvlab's own. Block
lists are in the order in which the pool treats them.
"""

from __future__ import annotations

from ..pages import Pages
from .block_names import NameRuns
from .events import (
    Arrive,
    Change,
    Clock,
    Decision,
    Decode,
    Drop,
    Finish,
    Forward,
    Output,
    Sent,
    Step,
    Tier,
    TooLarge,
)  # fmt: skip

Blocks = Pages


# --- changes: the pools


class Take(Change, frozen=True):
    """Blocks left the head of a pool's free queue for a first owner: ref_cnt 1."""

    tier: Tier
    blocks: Blocks


class Forget(Change, frozen=True):
    """Blocks lost their hash and can no longer be found: evicted, or told to."""

    tier: Tier
    blocks: Blocks


class Register(Change, frozen=True):
    """Full blocks became findable under the names of their contents."""

    tier: Tier
    blocks: Blocks
    names: NameRuns


class Share(Change, frozen=True):
    """Blocks got one more owner each; those without any left the free queue."""

    tier: Tier
    blocks: Blocks


class Release(Change, frozen=True):
    """Blocks lost one owner each. Of those left without any, the unhashed went, as a
    group, to the head of the free queue, the hashed to its tail."""

    tier: Tier
    blocks: Blocks


# --- changes: requests


class Hold(Change, frozen=True):
    """The blocks joined the end of the request's block table."""

    request: str
    blocks: Blocks


class Vacate(Change, frozen=True):
    """The request gave up its block table."""

    request: str


class Compute(Change, frozen=True):
    """From now on the first `length` tokens of the request count as computed."""

    request: str
    length: int


class Run(Change, frozen=True):
    """The request left the queues for the end of the running list."""

    request: str


class Preempt(Change, frozen=True):
    """The running request returned to the head of the waiting queue, at 0 computed
    tokens; under the priority policy, to its place."""

    request: str


class Defer(Change, frozen=True):
    """The waiting request is passed over. `why`: loading (it holds blocks, waits for
    their content and moved to the queue that is asked first) or retry (the connector
    cannot tell; it stays in its place)."""

    request: str
    why: str


class Loaded(Change, frozen=True):
    """The deferred request's content has come; it may be admitted like any other."""

    request: str


# --- changes: copies between the tiers


class Pin(Change, frozen=True):
    """The connector holds L2 blocks that it found for the request; none: no more."""

    request: str
    blocks: Blocks


class CopyOut(Change, frozen=True):
    """The connector holds these blocks for a store: each L1 block is copied to the L2
    block in the same place. A job may be told in several events."""

    job: int
    l1: Blocks
    l2: Blocks


class CopiedOut(Change, frozen=True):
    """The store is done."""

    job: int


class CopyIn(Change, frozen=True):
    """A load began for the request: what was pinned in L2 is copied to L1 blocks."""

    request: str
    l1: Blocks
    l2: Blocks


class CopiedIn(Change, frozen=True):
    """The request's load is done."""

    request: str


# --- changes: the CPU pool of chunks


class ChunkHold(Change, frozen=True):
    """The chunks are held `ref` times from now on: -1 while their store is pending,
    0 when nobody reads them, None when they are gone."""

    keys: tuple[int | str, ...]
    ref: int | None


class ChunkMove(Change, frozen=True):
    """The keys, one after the other, went to the end of an order of the policy: t1 or
    t2 (here), b1 or b2 (lately gone), or out of all of them."""

    keys: tuple[int | str, ...]
    place: str


class ChunkAim(Change, frozen=True):
    """From now on t1 should hold `target_t1` chunks."""

    target_t1: float


# --- decisions


class Lookup(Decision, frozen=True):
    """How much of `asked` tokens can be found? `local` in L1, `remote` beyond in L2;
    None without a connector. `asked` is 0 where the request reads no cache."""

    request: str
    asked: int
    local: int
    remote: int | None


class Slots(Decision, frozen=True):
    """May the request get `need` blocks? Yes if need + watermark <= free - reserved.
    `line` names the test that decided: full_sequence (the gate) or this_step."""

    request: str
    line: str
    need: int
    watermark: int
    reserved: int
    free: int
    fits: bool


class Offer(Decision, frozen=True):
    """`chunks` new chunks of the request were offered to a CPU pool with `free` places
    free; it `took` them, or could not evict enough and will be asked again."""

    request: str
    chunks: int
    free: int
    took: bool


class Schedule(Decision, frozen=True):
    """The request gets `tokens` tokens of this step's budget; `left` remain."""

    request: str
    tokens: int
    left: int


class Stop(Decision, frozen=True):
    """Nobody behind this request is tried: `why` is no_blocks or no_chunk for a waiting
    one, in_flight for a running one whose victim is in the step under way."""

    request: str
    why: str


class PickVictim(Decision, frozen=True):
    """`victim` is preempted so that `request` may go on: the last that was admitted,
    or the largest (priority, arrival)."""

    victim: str
    request: str
    computed: int


BLOCK_CHANGES: tuple[type[Change], ...] = (
    Take, Forget, Register, Share, Release, Hold, Vacate, Compute, Run, Preempt, Defer,
    Loaded, Pin, CopyOut, CopiedOut, CopyIn, CopiedIn, Arrive, Output, Finish, Drop,
    Sent, Clock, Forward, Decode, ChunkHold, ChunkMove, ChunkAim,
)  # fmt: skip
BLOCK_DECISIONS: tuple[type[Decision], ...] = (
    Step, Lookup, Slots, Offer, Schedule, Stop, PickVictim, TooLarge,
)  # fmt: skip
