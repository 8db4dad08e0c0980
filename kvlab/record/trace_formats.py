"""Which request trace is this?

Formats are told apart by the names of their fields, never by position: Mooncake and its
dialects, Qwen-Bailian, BurstGPT with 6 or 8 columns, the Azure LLM traces. Each says
its unit of time and its block size, and a row that contradicts itself is refused.
Rows are handed on one by one, so a trace of any length takes little memory.
Left out: what a row means (trace_json.py, trace_csv.py); the requests that `kvlab
replay` serves (request_trace.py); parquet.
"""

from __future__ import annotations

import re
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path

from ..errors import InputError
from .text_lines import numbered_lines
from .trace_csv import azure, burstgpt
from .trace_json import json_trace
from .trace_row import WRITE_IT, OpenTrace


def open_requests(
    path: str | Path, *, limit: int | None = None, block: int | None = None
) -> OpenTrace:
    """Return the trace, recognised by the names of its fields; its first `limit` rows,
    those beyond unread. `block` says a dialect's block size where several fit.

    Raises: InputError with file and line where the file is no such trace, now or when
    the rows get there.
    """
    _refuse_parquet(path)
    lines = ((n, line) for n, line in numbered_lines(path) if line.strip())
    first = next(lines, None)
    if first is None:
        raise InputError(str(path), "has no requests", WRITE_IT)
    number, line = first
    text = line.removeprefix(b"\xef\xbb\xbf")
    if text.lstrip().startswith(b"{"):
        return json_trace(path, islice(chain([(number, text)], lines), limit), block)
    header = [name.strip() for name in text.decode("utf-8", "replace").split(",")]
    names = {name.lower() for name in header}
    if block is not None:
        raise InputError(str(path), "has no blocks", "leave out the block size")
    if {"request tokens", "response tokens"} <= names:
        return burstgpt(path, header, islice(lines, limit))
    if {"contexttokens", "generatedtokens"} <= names:
        return azure(path, header, islice(lines, limit))
    raise InputError(f"{path}:{number}", "is no request trace that is known", WRITE_IT)


def _refuse_parquet(path: str | Path) -> None:
    if not Path(path).is_file():
        return  # a pipe gives its bytes once
    with suppress(OSError), open(path, "rb") as file:
        if file.read(4) == b"PAR1":
            raise InputError(
                str(path), "is a parquet file, which is not read here",
                "write it as JSONL or CSV (DuckDB and pandas do)",
            )  # fmt: skip


def is_trace(head: bytes) -> bool:
    """Say whether the first line of a file is that of a request trace."""
    line = head.removeprefix(b"\xef\xbb\xbf").lstrip().split(b"\n", 1)[0]
    if line.startswith(b"{"):
        return bool(_ROW_NAMES.search(line)) and not line.startswith(b'{"log"')
    low = line.lower()
    return b"response tokens" in low or b"generatedtokens" in low


_ROW_NAMES = re.compile(
    rb'"(?:input_length|input_tokens|hash_ids|text_input|conversations|llm_calls|'
    rb'ttfts|total_input_tokens)"\s*:'
)
