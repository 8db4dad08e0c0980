"""What does a row of BurstGPT's or Azure's tables ask for?

Columns are found by the names in the header, never by position: BurstGPT 3 put two of
its own in the middle. Neither says which prompts share a prefix.
Source: HPMLL/BurstGPT; Azure/AzurePublicDataset, AzureLLMInferenceDataset2023 and 2024.
Left out: parquet.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path

from ..config import MAX_TOKENS
from ..errors import InputError
from .trace_row import MOST_SECONDS, WRITE_IT, Lines, OpenTrace, TraceRow


def burstgpt(path: str | Path, header: list[str], lines: Lines) -> OpenTrace:
    """BurstGPT, 6 columns (1, 2) or 8 (3): seconds, no prefix identity.

    Raises: InputError with file and line, now or when the rows get there.
    """
    columns = _columns(path, header, ("Timestamp", "Request tokens", "Response tokens"))
    total = _columns(path, header, ("Total tokens",), optional=True)
    session = _columns(path, header, ("Session ID",), optional=True)

    def rows() -> Iterator[TraceRow]:
        for where, cells in _cells(path, header, lines):
            asked, made = (_count(where, cells[at]) for at in columns[1:])
            if total and cells[total[0]]:
                whole = _count(where, cells[total[0]])
                if whole != asked + made:
                    raise InputError(
                        where,
                        f"Total tokens {whole} is not {asked} + {made}",
                        "columns are shifted or the line is damaged; mend it",
                    )
            named = cells[session[0]] if session else ""
            at = _seconds(where, cells[columns[0]])
            yield TraceRow(where, at, asked, made, (), named)

    return OpenTrace("burstgpt", "s", None, rows())


def azure(path: str | Path, header: list[str], lines: Lines) -> OpenTrace:
    """Azure LLM inference 2023 and 2024, LMM 2025: dates with up to 100 ns.

    Raises: InputError with file and line, now or when the rows get there.
    """
    at, asked_at, made_at = _columns(
        path, header, ("TIMESTAMP", "ContextTokens", "GeneratedTokens")
    )
    cells = _cells(path, header, lines)
    first = next(cells, None)
    if first is None:
        raise InputError(str(path), "has no requests", WRITE_IT)
    year = first[1][at][:4]

    def rows() -> Iterator[TraceRow]:
        for where, row in chain([first], cells):
            asked, made = _count(where, row[asked_at]), _count(where, row[made_at])
            yield TraceRow(where, _date(where, row[at]), asked, made)

    return OpenTrace(f"azure-{year}", "date", None, rows())


def _columns(
    path: str | Path, header: list[str], wanted: Iterable[str], optional: bool = False
) -> list[int]:
    """Return where the wanted columns are."""
    low = [name.lower() for name in header]
    missing = [name for name in wanted if name.lower() not in low]
    if missing and not optional:
        raise InputError(
            f"{path}:1", f"has no column {missing[0]}", "give the file with its header"
        )
    return [low.index(name.lower()) for name in wanted if name.lower() in low]


def _cells(
    path: str | Path, header: list[str], lines: Lines
) -> Iterator[tuple[str, list[str]]]:
    """Yield place and cells of every row; a row of another width is refused."""
    for number, line in lines:
        where = f"{path}:{number}"
        try:
            cells = next(csv.reader([line.decode("utf-8", "replace").strip()]), [])
        except csv.Error as problem:
            remedy = "mend or remove the line"
            raise InputError(where, f"is no line of CSV ({problem})", remedy) from None
        if len(cells) != len(header):
            raise InputError(
                where,
                f"has {len(cells)} columns, the header {len(header)}",
                "mend or remove the line",
            )
        yield where, [cell.strip() for cell in cells]


def _count(where: str, text: str) -> int:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= MAX_TOKENS or value != int(value):
        raise InputError(where, f"{text[:40]!r} is no count of tokens", "mend the line")
    return int(value)


def _seconds(where: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not 0 <= value < MOST_SECONDS:
        raise InputError(where, f"{text[:40]!r} is no time in seconds", "mend the line")
    return value


_DATE = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d):(\d\d)(\.\d{1,9})?"
    r"(?:Z|(?P<sign>[+-])(?P<h>\d\d):?(?P<m>\d\d))?"
)


def _date(where: str, text: str) -> float:
    """Return seconds; any number of fraction digits, with or without an offset."""
    found = _DATE.fullmatch(text)
    if found is None:
        raise InputError(where, f"{text[:40]!r} is no date and time", "mend the line")
    parts = [int(found[i]) for i in range(1, 7)]
    try:
        whole = datetime(*parts, tzinfo=UTC).timestamp()  # type: ignore[arg-type,misc]
    except ValueError as problem:
        told = f"{text[:40]!r} is no date and time ({problem})"
        raise InputError(where, told, "mend the line") from None
    if found["sign"]:
        offset = int(found["h"]) * 3600 + int(found["m"]) * 60
        whole -= offset if found["sign"] == "+" else -offset
    return whole + float(found[7] or 0)
