"""How full was the pool, what came from a cache, what was set?

Measures of one track that need no look at its queue.
Left out: the three signs of an L1 bottleneck (signs.py).
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise

from .samples import Recording, Track

_NOTHING = 0.01
"""Part of what was written, up to which next to nothing comes back."""


class Measures:
    """What one track measures. Everything is computed when first asked for."""

    def __init__(self, track: Track, recording: Recording) -> None:
        self.track = track
        self.recording = recording
        self.engine = recording.engine
        self.kind = recording.kind

    @cached_property
    def usage_max(self) -> float:
        """The highest usage of the pool; 0 where none is reported."""
        return self.track.high("usage") or 0.0

    @cached_property
    def hit_rate(self) -> float | None:
        """Cached tokens over all prompt tokens inside the input; None if unsaid."""
        track = self.track
        cached, new = track.sums["cached_tokens"], track.sums["new_tokens"]
        if cached + new > 0:
            return cached / (cached + new)
        computed = track.growth("computed_total")
        found = track.growth("cached_total") or 0.0  # labelled: absent before a hit
        if computed is not None and computed + found:
            return found / (computed + found)
        for hits, asked in (
            ("hits_total", "queries_total"), ("cached_any_total", "prompt_total")
        ):  # fmt: skip
            grown, total = track.growth(hits), track.growth(asked)
            if grown is not None and total:
                return grown / total
        if self.lookups:
            return track.sums["lookup_hits"] / self.lookups
        if track.high("hit_rate_logged") == 0.0 and self.engine == "vllm":
            return 0.0
        return None

    @cached_property
    def lookups(self) -> float:
        """Tokens that a second tier was asked for inside the input."""
        asked = self.track.sums["lookup_tokens"]
        return asked or self.track.growth("external_queries_total") or 0.0

    @cached_property
    def external_hit_rate(self) -> float | None:
        """What the second tier gave of what it was asked for; None if never asked."""
        if not self.lookups:
            return self.track.last("external_hit_rate_logged")
        hits = self.track.sums["lookup_hits"]
        return (hits or self.track.growth("external_hits_total") or 0.0) / self.lookups

    @cached_property
    def comes_back(self) -> float | None:
        """What was loaded from L2 for each token or byte written to it; 0 where it is
        next to nothing, None where nothing was written."""
        grown = self.track.growth
        written = grown("backup_total") or grown("store_bytes_total")
        if not written:
            return None
        names = ("load_back_total", "load_bytes_total", "host_cached_total")
        share = sum(grown(name) or 0.0 for name in names) / written
        return share if share > _NOTHING else 0.0

    @cached_property
    def pool_tokens(self) -> float | None:
        """Tokens of L1; for V0, whose log gives blocks, of 16 tokens each."""
        track = self.track
        blocks = track.known("pool_blocks")
        if (tokens := track.known("pool_tokens")) is not None:
            return tokens
        if blocks is None:
            return track.high("pool_tokens")
        return blocks * (track.known("block_size") or 16)

    @cached_property
    def cap(self) -> float | None:
        """The configured most running requests; None if unsaid."""
        return self.track.known("max_running_requests") or None

    @cached_property
    def binding_pool(self) -> str | None:
        """Which pool's usage is the largest at the peak; None for an engine of one."""
        peak = self.track.peaks.get("usage")
        if peak is None:
            return None
        pools = {
            name.removeprefix("usage_"): value
            for name, value in peak.values.items()
            if name in ("usage_full", "usage_swa", "usage_mamba", "usage_gpu")
        }
        return max(pools, key=lambda name: pools[name]) if pools else None

    def steps(self, name: str) -> list[float]:
        """Return how far a counter grew from sample to sample; resets are left out."""
        read = [s.values[name] for s in self.track.with_field(name)]
        pairs = pairwise(read)
        return [after - before for before, after in pairs if after >= before]
