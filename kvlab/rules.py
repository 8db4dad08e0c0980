"""Which rules differ between the versions of SGLang?

Each difference is one named field; the code asks the field, never the version.
`Rules.v0_5_14()` is the release that the article on the L1-L2 data flow reads;
`Rules.v0_5_23()` is the newer one. Nineteen fields change what an engine does or
tells; each names the recorded golden that shows it (`x03#10`: record 10 of it). Three
more are read in the source and lie outside what the recordings compare.
Left out: what both releases share (the code itself), the Rust tree core, L3.
"""

from __future__ import annotations

from typing import Self

from msgspec import Struct

from .errors import ConfigError


class Rules(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One release's answers, one field a rule.

    Sources are paths in the released wheels, under `sglang/srt/`, first 0.5.14's, then
    0.5.23's, where `core` is mem_cache/unified_cache/unified_tree_core.py.

    >>> book = Rules.v0_5_23()
    >>> book.name, book.evict_whole_need, book.checkpoint_cuts_prompt
    ('0.5.23', False, True)
    """

    name: str

    # --- how much is asked of an eviction

    evict_whole_need: bool
    """An allocation that finds too little room asks eviction for its whole need, not
    for what is missing. 0.5.14: whole need; 0.5.23: the shortfall. Every allocation
    asks this way: insert, prefill, decode, and a retraction for its survivors.
    Source: mem_cache/common.py, evict_from_tree_cache; mem_cache/allocator/base.py,
    evict_to_free_tokens. Golden: s03#3."""
    load_evicts_whole_need: bool
    """The same for the device pages of a load_back. 0.5.14: all tokens to load;
    0.5.23: the shortfall. Source: mem_cache/hiradix_cache.py, load_back;
    mem_cache/unified_radix_cache.py, _load_back_transfers. Golden: x03#10."""
    host_evicts_whole_need: bool
    """The same for the host pages of a backup. 0.5.14: the whole node; 0.5.23: the
    shortfall. Either way what was freed in vain stays freed. Source:
    mem_cache/hiradix_cache.py, write_backup; mem_cache/unified_radix_cache.py,
    _execute_kv_backup. Golden: x04#12."""

    # --- what an insert does

    request_counts_once: bool
    """A request counts a hit on a node once: its inserts count only nodes that end
    beyond what it inserted before (Request.inserted_len; a retraction forgets it).
    0.5.14: no, every insert counts every node that it passes on the device, but the
    insert of a middle chunk counts none; 0.5.23: yes, chunks included. Source:
    mem_cache/hiradix_cache.py, _inc_hit_count; core, _finish_insert_walk_node.
    Golden: s36#2 (a node's count), s29#1 (a chunk's)."""
    checkpoint_cuts_prompt: bool
    """A checkpoint that goes beyond the prompt cuts the tree at the prompt's end and
    raises the prompt's path to the request's priority + 1, so that outputs may go
    without it. 0.5.14: no; 0.5.23: yes. Source: mem_cache/unified_radix_cache.py,
    checkpoint_into_tree. Golden: s16#4 (priority), s33#19 (the cut)."""
    restore_counts_hit: bool
    """An insert over a host-only node, which takes its fresh pages, counts a hit there
    and has the node in its prefix_len. 0.5.14: no; 0.5.23: yes. Source:
    mem_cache/hiradix_cache.py, insert; core, _insert_walk_step. Golden: s22#3."""
    split_raises_both: bool
    """An insert that splits a node raises the priority of both halves, in a tree with
    a host. 0.5.14: both; 0.5.23: only the upper, which the insert passes. Source:
    mem_cache/hiradix_cache.py, insert; core, _insert_walk_step. Golden: x06#1."""
    split_keeps_creation: bool
    """The upper half of a split inherits the creation time, the key of fifo and filo.
    0.5.14: no, it is new; 0.5.23: yes. Source: mem_cache/hiradix_cache.py,
    _split_node; core, _split_node. Golden: x05#4."""

    # --- copies to the host

    backup_needs_parent: bool
    """A node whose parent has no host copy is not backed up. 0.5.14: refused; 0.5.23:
    such ancestors are written first, top down, each as a write of its own, up to the
    first that finds no room. Source: mem_cache/hiradix_cache.py, write_backup; core,
    _build_backup_kv_action. Golden: x01#7."""
    writes_share_ack: bool
    """The writes of one step travel as one transfer and are acknowledged together.
    0.5.14: no, each alone; 0.5.23: yes, submitted at the end of the step. Source:
    managers/cache_controller.py, write; mem_cache/unified_radix_cache.py,
    flush_pending_backups. Golden: x07#3."""
    written_back_waits: bool
    """write_back: victims written in an evict call keep their slots until its end.
    0.5.14: yes; 0.5.23: each is written, awaited and freed before the next is chosen,
    and may at once be dropped from the host. Source: mem_cache/hiradix_cache.py,
    evict; mem_cache/unified_radix_cache.py, _evict_components. Golden: x02#2."""
    unwritable_victim_stays: bool
    """write_back: a victim for which the host has no room stays on the device, and the
    next is tried. 0.5.14: yes; 0.5.23: it is dropped with its host-only subtree,
    unless a lock or a copy in flight holds one of them. Source:
    mem_cache/hiradix_cache.py, evict; core, drop_subtree_no_host. Golden: s24#9."""
    reclaims_duplicates: bool
    """write_back: host eviction first gives up host copies of nodes that are on the
    device too, in the order in which they became such (cache/duplicates.py).
    0.5.14: no, host-only leaves alone; 0.5.23: yes. Source:
    mem_cache/hiradix_cache.py, evict_host; core, _reclaim_full_host_duplicates.
    Golden: x08#8."""

    # --- copies from the host

    load_protects_source: bool
    """While a load_back makes room, the host-only nodes that it wants are locked, and
    the last is host-locked until the load is acknowledged. 0.5.14: no, only the
    device ancestor, so the host may drop the very nodes being loaded (a fault: wrong
    KV is served); 0.5.23: yes. Source: mem_cache/hiradix_cache.py, load_back;
    mem_cache/unified_radix_cache.py, load_back. Golden: s25#4; s10#6 (the lock)."""

    # --- admission

    spent_budget_still_tries: bool
    """A waiting request is matched and tried although the round's input or chunk
    budget is spent: it may be loaded back and then refused. 0.5.14: yes; 0.5.23: the
    round ends before it. Source: managers/scheduler.py, get_new_batch_prefill.
    Golden: x11#4."""
    tests_before_lock: bool
    """Admission tests room and input once more before the request's own prefix is
    locked, and loads before it tests input and chunk. 0.5.14: yes; 0.5.23: it locks,
    tests all with the host hit counted as loaded, loads, and tests again only if
    nothing came. Source: managers/schedule_policy.py, add_one_req. Golden: x09#1."""
    ignore_eos_reserves_all: bool
    """A running request that ignores eos reserves all tokens that it may still write,
    not new_token_ratio of them. 0.5.14: no; 0.5.23: yes. Source:
    managers/schedule_policy.py, _get_running_request_total_token_offset.
    Golden: x10#1."""

    # --- what is only told

    best_match_is_backed_up: bool
    """A match's best node is the deepest with a host copy, not the deepest. 0.5.14:
    yes; 0.5.23: no. Where something can be loaded they are the same node. Source:
    mem_cache/hiradix_cache.py, match_prefix; core, _match_prefix_helper.
    Golden: s06#1."""
    evict_host_returns_none: bool
    """evict_host tells its caller nothing (kvlab's own method always counts). 0.5.14:
    yes; 0.5.23: it tells the tokens freed. Source: mem_cache/hiradix_cache.py,
    evict_host; mem_cache/unified_radix_cache.py, evict_host. Golden: x01#4."""

    # --- outside what the recordings compare

    lock_tells_evictable: bool
    """A lock tells what evictable gained (0 or less) and so does an unlock. 0.5.14:
    yes; 0.5.23: a lock tells what protected gained, an unlock nothing. Source:
    mem_cache/hiradix_cache.py, inc_lock_ref;
    mem_cache/unified_cache/components/full.py, acquire_component_lock.
    Golden: s02#1, not compared (run/conform.py)."""
    freed_pages_sorted: bool
    """A device pool of pages larger than a token sorts the pages of a free call, and
    takes an insert's duplicates as one call. 0.5.14: yes; 0.5.23: pages return in the
    row's order, duplicates node by node. Only page numbers depend on it. Source:
    mem_cache/allocator/paged.py, free and free_segment. Golden: none."""
    host_must_exceed_device: bool
    """Start-up refuses a host pool that is not larger than the device's. 0.5.14: yes;
    0.5.23: it warns. Source: mem_cache/pool_host/base.py. Golden: none, since scripts
    are taken as they are."""

    @classmethod
    def named(cls, release: str) -> Self:
        """Return the rules of a release.

        Raises: ConfigError for a release that kvlab has no rule book for.
        """
        books = {"0.5.14": cls.v0_5_14, "0.5.23": cls.v0_5_23}
        if release not in books:
            known = ", ".join(books)
            raise ConfigError(f"no rule book for SGLang {release!r}; kvlab has {known}")
        return books[release]()

    @classmethod
    def v0_5_14(cls) -> Self:
        """Return the rules of SGLang 0.5.14."""
        return cls(
            name="0.5.14",
            evict_whole_need=True,
            load_evicts_whole_need=True,
            host_evicts_whole_need=True,
            request_counts_once=False,
            checkpoint_cuts_prompt=False,
            restore_counts_hit=False,
            split_raises_both=True,
            split_keeps_creation=False,
            backup_needs_parent=True,
            writes_share_ack=False,
            written_back_waits=True,
            unwritable_victim_stays=True,
            reclaims_duplicates=False,
            load_protects_source=False,
            spent_budget_still_tries=True,
            tests_before_lock=True,
            ignore_eos_reserves_all=False,
            best_match_is_backed_up=True,
            evict_host_returns_none=True,
            lock_tells_evictable=True,
            freed_pages_sorted=True,
            host_must_exceed_device=True,
        )

    @classmethod
    def v0_5_23(cls) -> Self:
        """Return the rules of SGLang 0.5.23: each answer is 0.5.14's turned round."""
        return cls(
            name="0.5.23",
            evict_whole_need=False,
            load_evicts_whole_need=False,
            host_evicts_whole_need=False,
            request_counts_once=True,
            checkpoint_cuts_prompt=True,
            restore_counts_hit=True,
            split_raises_both=False,
            split_keeps_creation=True,
            backup_needs_parent=False,
            writes_share_ack=True,
            written_back_waits=False,
            unwritable_victim_stays=False,
            reclaims_duplicates=True,
            load_protects_source=True,
            spent_budget_still_tries=False,
            tests_before_lock=False,
            ignore_eos_reserves_all=True,
            best_match_is_backed_up=False,
            evict_host_returns_none=False,
            lock_tells_evictable=False,
            freed_pages_sorted=False,
            host_must_exceed_device=False,
        )
