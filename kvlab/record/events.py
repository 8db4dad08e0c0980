"""What can happen in an engine, and which numbers tell it?

*Changes* move state, one kind for each way a thing can change; folding them rebuilds
the state (snapshot.py uses nothing else). *Decisions* explain: what was asked, the
terms with their numbers, the verdict. Every event names the event that led to it.

Events name ids, tokens and pages, never objects. Node 0 is the root. Sizes are tokens
unless a field says pages. Tier "L1" is the device, "L2" the host.
Left out: vLLM's blocks.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from ..pages import Pages

Tier = Literal["L1", "L2"]
Tokens = Pages
"""Token ids: an int32 array that nobody writes to, like a list of pages."""


class Event(Struct, frozen=True, array_like=True, gc=False, tag=str.lower):
    """One thing that happened. `cause` is the index of what led to it, -1 for none."""

    cause: int


class Change(Event, frozen=True):
    """An event that moves state."""


class Decision(Event, frozen=True):
    """An event that explains and moves nothing."""


# --- changes: the pools


class Alloc(Change, frozen=True):
    """Pages left the head of a tier's free list, for whoever asked."""

    tier: Tier
    pages: Pages


class Free(Change, frozen=True):
    """Pages that nobody holds any more joined a tier's free list: at its tail, but at
    its head on a device whose pages are larger than a token."""

    tier: Tier
    pages: Pages


class SortFree(Change, frozen=True):
    """A tier's free list was put in ascending order (need_sort)."""

    tier: Tier


# --- changes: the tree


class Touch(Change, frozen=True):
    """A walk from the root reached `node`: it got access time `time`, and each
    ancestor `step` less than its child (0: one stamp for the whole path)."""

    node: int
    time: int
    step: int


class Add(Change, frozen=True):
    """A new leaf; the tree took over the pages of its tokens."""

    node: int
    parent: int
    space: str
    tokens: Tokens
    pages: Pages
    priority: int
    time: int
    created: int


class Split(Change, frozen=True):
    """`upper` took the first `at` tokens of `node` and became its parent."""

    node: int
    upper: int
    at: int
    time: int
    created: int


class Hit(Change, frozen=True):
    """An insert passed through the node: hit_count + 1."""

    node: int


class Raise(Change, frozen=True):
    """The node's priority rose to `priority`."""

    node: int
    priority: int


class Lock(Change, frozen=True):
    """lock_ref + 1 on the path from the node to the root, root excluded."""

    node: int


class Unlock(Change, frozen=True):
    """lock_ref - 1 on the path from the node to the root, root excluded."""

    node: int


class HostLock(Change, frozen=True):
    """host_lock_ref + 1 on the node alone: its host copy has to stay. When the node is
    split, both halves keep the count."""

    node: int


class HostUnlock(Change, frozen=True):
    """host_lock_ref - 1 on the last `tokens` tokens of the path to the node: those that
    the lock covered, in one node or in several since it was split."""

    node: int
    tokens: int


class Delete(Change, frozen=True):
    """A leaf without host copy left the tree; its pages are free to go."""

    node: int


class Demote(Change, frozen=True):
    """The node gave up its device pages; its host copy stays."""

    node: int


class Restore(Change, frozen=True):
    """A host-only node took freshly computed device pages."""

    node: int
    pages: Pages


class Backup(Change, frozen=True):
    """The node got host pages; the copy L1 to L2 is under way."""

    node: int
    pages: Pages


class BackupDone(Change, frozen=True):
    """The copy of the node to the host was acknowledged."""

    node: int


class Load(Change, frozen=True):
    """A host-only node got device pages; the copy L2 to L1 is under way, as part of
    the load whose deepest node is `end`."""

    node: int
    end: int
    pages: Pages


class LoadDone(Change, frozen=True):
    """The load that ends at the node was acknowledged."""

    node: int


class EvictHost(Change, frozen=True):
    """A host-only leaf left the tree for good; its host pages are free to go."""

    node: int


class Reclaim(Change, frozen=True):
    """A node on both tiers gave up its host copy; its host pages are free to go."""

    node: int


# --- changes: requests


class Arrive(Change, frozen=True):
    """A request joined the tail of the waiting queue."""

    request: str
    prompt_len: int
    max_new: int
    priority: int


class Row(Change, frozen=True):
    """The request's row of req_to_token holds `pages` from page `start` on."""

    request: str
    start: int
    pages: Pages


class Cached(Change, frozen=True):
    """The tree owns the request's first `owned_len` tokens; it locks `node`. The
    request has inserted `inserted_len` tokens itself: they count no hit again."""

    request: str
    node: int
    owned_len: int
    inserted_len: int = 0


class Start(Change, frozen=True):
    """The request was taken into a prefill: `kv_len` tokens will have KV after it.
    `chunked`: more of its prompt remains."""

    request: str
    kv_len: int
    chunked: bool


class Output(Change, frozen=True):
    """The request got its next token."""

    request: str
    token: int


class Grow(Change, frozen=True):
    """A decode step wrote the KV of one more token of the request."""

    request: str


class Batch(Change, frozen=True):
    """The decode batch runs in this order from now on (after a retraction)."""

    requests: tuple[str, ...]


class Queue(Change, frozen=True):
    """The waiting requests stand in this order from now on: a policy sorted them."""

    requests: tuple[str, ...]


class Retract(Change, frozen=True):
    """The running request gave up its KV and joined the tail of the waiting queue."""

    request: str


class Finish(Change, frozen=True):
    """The request is done and its row is free."""

    request: str


class Drop(Change, frozen=True):
    """The request left without being done: refused on arrival or aborted."""

    request: str


# --- changes: time, in runs that have a clock


class Sent(Change, frozen=True):
    """The request was sent to the engine when the clock read `at` nanoseconds, before
    the round that noticed it."""

    request: str
    at: int


class Clock(Change, frozen=True):
    """The engine had nothing to run until the clock read `now` nanoseconds."""

    now: int


class Forward(Change, frozen=True):
    """A prefill ran: it began at `begin` nanoseconds, stood `load` nanoseconds for KV
    that was still on its way, and computed for `compute` nanoseconds."""

    begin: int
    load: int
    compute: int


class Decode(Change, frozen=True):
    """The decode batch made `steps` steps, one token a request and step, with nothing
    else between them; then the clock read `now` nanoseconds."""

    steps: int
    now: int


# --- decisions


class Step(Decision, frozen=True):
    """The driver asked for operation number `number`."""

    number: int
    op: str
    text: str


class Match(Decision, frozen=True):
    """A prefix match: of `asked` tokens, `device` lie in L1 and `host` more in L2.
    `last_device` is the deepest node on the device, `best` where a load would end."""

    asked: int
    device: int
    host: int
    last_device: int
    best: int


class Insert(Decision, frozen=True):
    """An insert of `tokens` tokens begins; nodes that end within the first `counted`
    count no hit (they did when this request came before, or a chunk counts none)."""

    tokens: int
    priority: int
    chunked: bool
    counted: int = 0


class CutPrompt(Decision, frozen=True):
    """The tree is cut at the end of a cached prompt of `tokens` tokens, and the
    prompt's path raised to `priority`: what follows it may go without it."""

    tokens: int
    priority: int


class MakeRoom(Decision, frozen=True):
    """`need` tokens are wanted and `available` is less: evict(`ask`) follows."""

    tier: Tier
    need: int
    available: int
    ask: int


class Evict(Decision, frozen=True):
    """Eviction of at least `ask` tokens from a tier begins, coldest leaf first."""

    tier: Tier
    ask: int
    policy: str


class Victim(Decision, frozen=True):
    """The heap gave `node` with its key; `fate` says what becomes of it:
    demote, delete, backup (write, then demote), stays (host full), drop (host full: it
    goes with all below it), evict_host, reclaim (only the host copy goes; the key says
    whether device leaves are spared, 0, or not, 1)."""

    node: int
    tokens: int
    key: tuple[float, ...]
    fate: str


class Evicted(Decision, frozen=True):
    """An eviction ended: `freed` tokens for the `ask` of the event that caused it."""

    tier: Tier
    ask: int
    freed: int


class TryBackup(Decision, frozen=True):
    """Is the node written to the host? `verdict`: write, make_room (evict_host, then
    try again), parent_not_backed_up, ancestors_first (each is tried before it),
    host_full (tried again in vain)."""

    node: int
    tokens: int
    hits: int
    threshold: int
    host_available: int
    verdict: str


class SendWrites(Decision, frozen=True):
    """The writes of these nodes, two or more, go as one transfer, and will be
    acknowledged as one."""

    nodes: tuple[int, ...]


class LoadBack(Decision, frozen=True):
    """May `tokens` host-only tokens down to `node` come back? `quota` is None when no
    caller set one; `delta` is what locking the ancestor took from evictable (<= 0).
    `verdict`: load, make_room (evict, then try again), below_threshold, over_quota,
    no_device_memory (tried again in vain)."""

    node: int
    tokens: int
    threshold: int
    quota: int | None
    delta: int
    available: int
    verdict: str


class Candidate(Decision, frozen=True):
    """The adder turns to a waiting request: `extend` tokens have no copy on L1, and
    `host_hit` of them have one on L2. What follows is its admission, or not."""

    request: str
    extend: int
    host_hit: int


class Admit(Decision, frozen=True):
    """May the request join this prefill? Admitted only if
    extend + max_new + page < available + evictable - promised (`line` names the test
    that decided; `verdict` CONTINUE, NO_TOKEN or OTHER; `added` whether it joined).
    `asked` is what was not less than rem_input, None where that was not the line."""

    request: str
    line: str
    extend: int
    max_new: int
    page: int
    available: int
    evictable: int
    promised: float
    rem_input: int
    rem_chunk: int | None
    device_hit: int
    host_hit: int
    verdict: str
    added: bool
    asked: int | None = None


class TooLarge(Decision, frozen=True):
    """The request was refused on arrival: its admission test needs `need` tokens, more
    than the whole pool of `total` could ever offer."""

    request: str
    need: int
    total: int


class CloseRound(Decision, frozen=True):
    """The round ends before the request is matched: the input or the chunk budget of
    the prefill is spent (0 or less remains)."""

    request: str
    rem_input: int
    rem_chunk: int | None


class Prefill(Decision, frozen=True):
    """A prefill computes `extend` tokens of the request: behind `device_hit` tokens
    matched in L1 and `loaded` of the `host_hit` tokens matched beyond them in L2."""

    request: str
    device_hit: int
    host_hit: int
    loaded: int
    extend: int


class Chunk(Decision, frozen=True):
    """The chunked request goes on with `extend` tokens; `unfinished`: more remain."""

    request: str
    extend: int
    unfinished: bool
    rem_chunk: int | None


class DecodeRoom(Decision, frozen=True):
    """Does the next decode step fit? `need` tokens against `available`."""

    batch: int
    need: int
    available: int
    fits: bool


class PickRetract(Decision, frozen=True):
    """The request is retracted: fewest outputs, then longest prompt, then latest."""

    request: str
    outputs: int
    prompt_len: int
    survivors: int


class Ratio(Decision, frozen=True):
    """new_token_ratio was estimated anew from the survivors of a retraction."""

    before: float
    after: float


class Compared(Decision, frozen=True):
    """Somebody who sees the bytes compared `slots` slots of both tiers with the prefix
    that each should end: `wrong` of them hold another. A `Wrong` for each follows."""

    slots: int
    wrong: int


class Wrong(Decision, frozen=True):
    """A slot holds another prefix than its `holder` (a node "n3", or a request) has
    there. It should hold the first `at` tokens, `expected`; it holds `found` ("": it
    was never written). Event number `by`, counted from 1, wrote the slot last or handed
    it out; 0 for none."""

    tier: Tier
    slot: int
    holder: str
    at: int
    expected: str
    found: str
    by: int


CHANGES: tuple[type[Change], ...] = tuple(Change.__subclasses__())
DECISIONS: tuple[type[Decision], ...] = tuple(Decision.__subclasses__())
