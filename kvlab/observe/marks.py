"""Which lines of a log may be an engine's, when most of them are somebody else's?

A line of an engine holds one of a few words. Looking for each word in a whole block is
several times faster than for any of them in each line, and lines without one are never
cut out of their block at all.
Left out: what the lines say (lines.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .end_lines import MARKS as END_MARKS
from .source import LONGEST, Block, RawLine

_MARKS = (
    b"batch,", b"batch.", b"batch ", b"retracted_reqs", b"eak detected",
    b"eak Detected", b"] total=", b"available_size=", b"Avg prompt", b"preemption",
    b"hit rate: GPU", b"LMCache", b"Reqid: ", b"max_total_num", b"server_args=",
    b"max_running_requests ",
    b"is allocated.", b"GPU blocks", b"KV cache ", b"Maximum concurrency",
    b"gpu_blocks", b"default args", b"stdout P ", b"stderr P ", b"V1 LLM engine",
    b"exceeds", b"cache pool is", b"of memory happened", b"hierarchical KV",
    b"Prefetch op", b"Backup to", b"==> ", *END_MARKS,
)  # fmt: skip
"""A line without any of these is passed over unread, unless a record waits for more."""


def wanted(block: Block, waits: Callable[[], bool]) -> Iterator[tuple[RawLine, bool]]:
    """Yield the lines with a mark, True beside each, and every line at which `waits()`
    says that a record may go on in it. Cost: O(bytes), O(lines yielded).

    >>> noise = b"GET /health\\n" * 3
    >>> block = Block(1, noise + b"Decode batch, #running-req: 3\\n" + noise)
    >>> [(line.number, marked) for line, marked in wanted(block, lambda: False)]
    [(4, True)]
    """
    number, at, data = block.number, 0, block.data
    for start in [*_starts(data), len(data)]:
        while at < start and waits():
            line, at = _line(number, at, block)
            yield line, False
            number += 1
        number += data.count(b"\n", at, start)
        if start < len(data):
            line, at = _line(number, start, block)
            yield line, line.whole or any(mark in line.data for mark in _MARKS)
            number += 1


def _starts(data: bytes) -> list[int]:
    """Return where the lines with a mark begin, in order."""
    starts = set()
    for mark in _MARKS:
        at = data.find(mark)
        while at >= 0:
            starts.add(data.rfind(b"\n", 0, at) + 1)
            end = data.find(b"\n", at)
            at = data.find(mark, end) if end >= 0 else -1
    return sorted(starts)


def _line(number: int, start: int, block: Block) -> tuple[RawLine, int]:
    """Return the line that begins there, and where the next does."""
    end = block.data.find(b"\n", start)
    end = len(block.data) if end < 0 else end
    stop = min(end, start + LONGEST)
    whole = block.whole and stop == end
    return RawLine(number, block.data[start:stop], whole), end + 1
