"""What do the two articles claim, and which of it does the engine do?

`CLAIMS` lists every claim in the order of the articles; `examine` plays one.
Articles: 1, on L1 as the limit of concurrency (SGLang and vLLM); 2, on the L1-L2 data
flow of HiCache (SGLang 0.5.14). Left out: their text; each claim is in our own words.
"""

from __future__ import annotations

from . import (
    s1_admission,
    s1_blocks,
    s1_concurrency,
    s1_latency,
    s1_loads,
    s1_metrics,
    s1_remedies,
    s1_states,
    s1_tiers,
    s1_timeline,
    s2_backup,
    s2_copy,
    s2_evict,
    s2_load,
    s2_lost,
    s2_policies,
    s2_restored,
)
from .ledger import Case, Claim, Entry, Verdict, examine

__all__ = ["CLAIMS", "Case", "Claim", "Entry", "Verdict", "examine", "known"]

CLAIMS: tuple[Claim, ...] = tuple(
    claim
    for module in (
        s1_concurrency, s1_admission, s1_states, s1_blocks, s1_metrics, s1_tiers,
        s1_loads, s1_timeline, s1_latency, s1_remedies, s2_backup, s2_copy, s2_evict,
        s2_lost, s2_load, s2_restored, s2_policies,
    )
    for claim in module.LEDGER.claims
)  # fmt: skip


def known(ids: list[str]) -> list[Claim]:
    """Return the claims whose id begins with one of these, all for none.

    >>> [claim.id for claim in known(["S2-1"])]
    ['S2-1-1', 'S2-1-2', 'S2-1-3']
    """
    return [c for c in CLAIMS if not ids or any(_is(c.id, each) for each in ids)]


def _is(id: str, asked: str) -> bool:
    return id == asked or id.startswith(asked + "-")
