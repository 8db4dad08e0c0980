"""How do hits and writes grow with the cache, on a trace?

        python -m kvlab.lessons.curves TRACE [TRACE] -o assets

prints hits by size and procedure, and draws three figures from plain numbers: hit
ratios beside those that FAST'25 published, LRU under Belady, and what each write policy
writes. TRACE is one of Mooncake's two, or any trace that `kvlab replay` takes:

        https://github.com/kvcache-ai/Mooncake, FAST25-release/traces
        conversation_trace.jsonl  sha256 b8cbb061...b9df
        synthetic_trace.jsonl     sha256 bd070915...c131

The figures in assets are those of both, conversation first.
Left out: the procedures (block_caches.py), the drawing (curve_figures.py).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path

from ..config import WritePolicy
from ..record.request_trace import BLOCK, TracedRequest, read_requests
from ..rule import DEFAULT, OLD
from .block_caches import Procedure, belady, count, flat_lru, leaf_lru
from .checks import language
from .command import command, parser
from .curve_figures import Points, ceiling_curves, hit_curves, save, write_curves
from .drawn import Drawn
from .scenarios.nb12 import written

KNOWN = {
    "b8cbb061a85206d729d91cdc2981f43c9e0d99209dce588d3af5f7934408b9df": "conversation",
    "bd070915a98fc0ed264d7cfef2ce746002eb3076a695ec31ba2674c0111ec131": "synthetic",
}
"""Mooncake's traces by the SHA-256 of their files."""

SIZES = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000)
"""Blocks for which the table is printed."""

TOKENS = (100_000, 300_000, 1_000_000, 2_000_000, 3_000_000, 5_000_000, 10_000_000,
          20_000_000, 50_000_000, 100_000_000)  # fmt: skip
BLOCKS = (500, *SIZES)
POOLS = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000)
HOW: dict[str, tuple[WritePolicy, str]] = {
    "write_through": ("write_through", OLD),
    "selective": ("write_through_selective", OLD),
    "write_back 0.5.14": ("write_back", OLD),
    "write_back 0.5.23": ("write_back", DEFAULT),
}
"""What the figures are drawn for, in tokens, blocks, blocks of L1, policy and rules."""

PROCEDURES: dict[str, Procedure] = {
    "flat LRU": flat_lru, "leaf-LRU": leaf_lru, "Belady": belady,
}  # fmt: skip


def name_of(path: Path) -> str:
    """Return which of Mooncake's traces the file is; else the file's own name."""
    digest = sha256(path.read_bytes()).hexdigest()
    return KNOWN.get(digest, path.stem)


def table(requests: Sequence[TracedRequest], sizes: Sequence[int] = SIZES) -> str:
    """Return hits and ratio by size and procedure, as text."""
    lines = [f"{'blocks':>9}" + "".join(f"{name:>20}" for name in PROCEDURES)]
    for size in sizes:
        line = f"{size:9,}"
        for procedure in PROCEDURES.values():
            found = count(procedure, requests, size)
            line += f"{found.hits:12,} {found.ratio:6.2%} "
        lines.append(line)
    return "\n".join(lines)


# --- the figures


def sizes_of(requests: Sequence[TracedRequest]) -> list[int]:
    """Return doubling sizes, from a hundredth of the distinct blocks to all of them.

    >>> sizes_of([TracedRequest(0, 512 * 6400, 1, range(6400))])
    [50, 100, 200, 400, 800, 1600, 3200, 6400]
    """
    all_of_them = len({block for request in requests for block in request.hash_ids})
    unit = next((10**k for k in range(9, 0, -1) if 100 * 10**k <= all_of_them), 1)
    least = unit // 2 or 1
    sizes = [least]
    while sizes[-1] < all_of_them:
        sizes.append(2 * sizes[-1])
    return sizes


def ceiling_of(requests: Sequence[TracedRequest], name: str) -> Drawn:
    """Return LRU and Belady by size as a picture, in the folder's language."""
    sizes = sizes_of(requests)
    lru, best = (points(each, requests, sizes) for each in (flat_lru, belady))
    picture = ceiling_curves(name, lru, best, language() or "en", sizes[3])
    return Drawn(picture, table(requests, sizes))


def points(
    procedure: Procedure, requests: Sequence[TracedRequest], sizes: Iterable[int]
) -> list[tuple[float, float]]:
    """Return (blocks, share of blocks hit) by size."""
    return [(size, count(procedure, requests, size).ratio) for size in sizes]


def write_figures(
    read: Mapping[str, Sequence[TracedRequest]], folder: Path
) -> list[Path]:
    """Draw the hit curves of all traces, and of the first its ceiling and its writes,
    in both languages; return the files. Changes: the files. Cost: minutes."""
    ours: dict[str, Points] = {}
    for name, requests in read.items():
        found = ((size, count(flat_lru, requests, size // BLOCK)) for size in TOKENS)
        ours[name] = [(size, figures.token_ratio) for size, figures in found]
    files = save("12-hits", partial(hit_curves, ours), folder)
    name, requests = next(iter(read.items()))
    lru, best = (points(each, requests, BLOCKS) for each in (flat_lru, belady))
    files += save("12-ceiling", partial(ceiling_curves, name, lru, best), folder)
    writes = {
        policy: [(size, written(requests, size, *how).ratio) for size in POOLS]
        for policy, how in HOW.items()
    }
    return files + save("12-writes", partial(write_curves, name, writes), folder)


@command
def main(argv: Sequence[str] | None = None) -> int:
    """Print the table and write the figures; return the exit status."""
    options = parser("curves", __doc__)
    options.add_argument("traces", type=Path, nargs="+", metavar="TRACE")
    options.add_argument("-o", type=Path, metavar="FOLDER", help="write the figures")
    arguments = options.parse_args(argv)
    read = {name_of(path): read_requests(path).requests for path in arguments.traces}
    for name, requests in read.items():
        print(f"{name}\n{table(requests)}")
    if arguments.o is not None:
        for path in write_figures(read, arguments.o):
            print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
