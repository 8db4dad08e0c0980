"""How much of what was asked for was found?

Counted in tokens, once for each admission. Requests that were ever preempted are kept
apart: they mostly find what they computed themselves.
Source: vLLM 0.33.0, v1/metrics/stats.py.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass
class PrefixStats:
    """Counts since the last report. Units: tokens, and requests."""

    requests: int = 0
    queries: int = 0
    hits: int = 0
    preempted_requests: int = 0
    preempted_queries: int = 0
    preempted_hits: int = 0

    def count(self, queries: int, hits: int, *, fresh: bool) -> None:
        """Count one request's lookup. Changes: the counts."""
        if fresh:
            self.requests += 1
            self.queries += queries
            self.hits += hits
        else:
            self.preempted_requests += 1
            self.preempted_queries += queries
            self.preempted_hits += hits

    def report(self) -> dict[str, int]:
        """Return the counts and begin anew. Changes: the counts, to zero."""
        counts = asdict(self)
        for name in counts:
            setattr(self, name, 0)
        return counts
