"""Which rules differ between the versions of SGLang?

Each difference is one named field; the code asks the field, never the version.
`Rules.v0_5_14()` is the release that the article on the L1-L2 data flow reads.
Left out so far: the preset of 0.5.23 and the fields that only it needs.
"""

from __future__ import annotations

from typing import Self

from msgspec import Struct

from .errors import ConfigError


class Rules(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One release's answers, one field a rule.

    Source: the released wheels, as summarised in the project's rule tables.
    """

    name: str
    evict_whole_need: bool
    """Too little room for an allocation asks eviction for the whole need, not for the
    shortfall (mem_cache/common.py, evict_from_tree_cache)."""
    load_evicts_whole_need: bool
    """The same for a load_back (hiradix_cache.py, load_back)."""
    host_evicts_whole_need: bool
    """The same for a backup that finds too little host room (write_backup)."""
    chunk_counts_no_hit: bool
    """A middle chunk's insert counts no hit, so it triggers no backup
    (hiradix_cache.py, _inc_hit_count)."""
    restore_counts_hit: bool
    """Inserting over a host-only node counts a hit and is part of prefix_len."""
    split_raises_both: bool
    """A HiRadix insert that splits a node raises the priority of both halves."""
    split_keeps_creation: bool
    """The upper half of a split inherits the creation time (matters to fifo, filo)."""
    backup_needs_parent: bool
    """A node is not backed up while its parent has no host copy; otherwise the
    ancestors are written first (hiradix_cache.py, write_backup)."""
    written_back_waits: bool
    """write_back: victims keep their slots until the end of the evict call."""
    unwritable_victim_stays: bool
    """write_back: a victim that the host cannot take stays on the device."""
    loading_nodes_unprotected: bool
    """Only the device ancestor is locked while a load_back makes room, so the host
    may drop the very nodes being loaded (fault; golden s25)."""
    spent_chunk_still_tries: bool
    """A candidate is matched and tried although the chunk budget is spent."""
    tests_before_lock: bool
    """Admission tests room once before its own prefix is locked and once after."""
    best_match_is_backed_up: bool
    """A match's best node is the deepest with a host copy, not the deepest."""
    host_must_exceed_device: bool
    """Start-up refuses a host pool that is not larger than the device's."""
    evict_host_returns_none: bool
    """evict_host tells its caller nothing; kvlab's always counts (report only)."""

    @classmethod
    def named(cls, release: str) -> Self:
        """Return the rules of a release.

        Raises: ConfigError for a release that kvlab has no rule book for.
        """
        books = {"0.5.14": cls.v0_5_14}
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
            chunk_counts_no_hit=True,
            restore_counts_hit=False,
            split_raises_both=True,
            split_keeps_creation=False,
            backup_needs_parent=True,
            written_back_waits=True,
            unwritable_victim_stays=True,
            loading_nodes_unprotected=True,
            spent_chunk_still_tries=True,
            tests_before_lock=True,
            best_match_is_backed_up=True,
            host_must_exceed_device=True,
            evict_host_returns_none=True,
        )
