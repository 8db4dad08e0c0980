"""What do these files say about an engine?

Each file is recognised by its first lines: a log, scrapes of /metrics, a run of kvlab,
a request trace. Logs and scrapes may come together; each kind is judged by itself, and
the more telling one speaks. Whatever cannot be used is counted and named.
Left out: its words (telling.py), printing (report.py), the page
(views/diagnosis_page.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

import msgspec

from ..errors import InputError
from ..record.diagnosis import Diagnosis
from ..record.trace import BlockTrace, Trace
from ..record.trace_file import read_block_trace, read_trace
from .block_run_samples import record_block_run
from .inputs import WANTED, Input, open_all, remarks
from .lines import LogReader
from .order import turn_backwards
from .run_samples import record_run
from .said import Lang, Text, say
from .samples import Recording
from .scrape import ScrapeReader
from .source import STDIN, Block, Say, silent, stem_of
from .telling import tell
from .trace_facts import diagnose_trace
from .verdict import Judgement, judge

MOST_SILENT = 256 << 20
"""Bytes of a pipe in which a line of an engine must come."""


def diagnose(
    paths: Iterable[Path], progress: Say = silent, lang: Lang = "en"
) -> Diagnosis:
    """Return what the files say. `progress` is told the bytes read.

    Raises: InputError naming file, place and remedy where nothing can be used.
    Cost: O(bytes), in bounded memory, but for runs and block ids of traces.
    """
    given = list(paths)
    inputs = open_all(given, progress)
    sorts = {one.sort for one in inputs}
    if "run" in sorts or "trace" in sorts:
        (first, *more) = inputs
        if more:
            raise InputError(
                str(more[0].path), "comes with a run or a trace", "give that one alone"
            )
        if not first.path.is_file():  # a pipe gives its bytes once
            raise InputError(
                "stdin" if str(first.path) == STDIN else str(first.path),
                f"is a {first.sort}, which is read twice", "save it in a file",
            )  # fmt: skip
        if first.sort == "trace":
            return diagnose_trace(first.path, lang)
        return _diagnose_file(first, lang)
    found = [
        recording
        for sort in ("log", "metrics")
        if (mine := [one for one in inputs if one.sort == sort])
        for recording in [_record(sort, mine)]
    ]
    return _choose(found, inputs, remarks(given, inputs), lang)


def diagnose_run(trace: Trace | BlockTrace, name: str, lang: Lang = "en") -> Diagnosis:
    """Return what a run of kvlab looks like to the same rules.

    Raises: TraceError where the run does not fold, InputError where it holds nothing.
    """
    if isinstance(trace, BlockTrace):
        recording = record_block_run(trace, name)
    else:
        recording = record_run(trace, name)
    recording.settle()
    judgement = judge(recording)
    if judgement is None:
        raise InputError(
            name, "holds no step of an engine", "record a run with requests"
        )
    track = judgement.about.track
    notes: list[Text] = []
    if track.num_samples and track.first_time is None:
        notes.append("this run has no clock: reports are counted, not timed")
    return tell(recording, judgement, (name,), notes, lang)


class _Stamp(msgspec.Struct):
    engine: str = "sglang"


def _diagnose_file(one: Input, lang: Lang) -> Diagnosis:
    """Read the run with the reader of its engine, which names what is damaged."""
    first = next((line.data for line in one.lines if line.data.strip()), b"")
    try:
        engine = msgspec.json.decode(first, type=_Stamp).engine
    except msgspec.DecodeError:
        engine = "sglang"
    read = read_block_trace if engine == "vllm" else read_trace
    return diagnose_run(read(one.path), one.path.name, lang)


# --- reading and judging


def _record(sort: Literal["log", "metrics"], inputs: list[Input]) -> Recording:
    """Return everything that the files of one kind say. A log is a server's own, and so
    is each of several folders of scrapes."""
    recording = Recording(sort)
    reader = (LogReader if sort == "log" else ScrapeReader)(recording)
    own = stem_of if sort == "log" else _folder
    servers = Counter(own(one.path) for one in inputs)
    apart = len(servers) > 1 and (sort == "log" or min(servers.values()) > 1)
    for one in inputs:
        name = one.path.name if str(one.path) != STDIN else "stdin"
        before = recording.lines, recording.engines.total()
        try:
            given = _while_it_tells(one, recording)
            reader.read_blocks(name, given, own(one.path) if apart else "")
        except InputError as problem:
            recording.unusable.append(str(problem))
        if not recording.engines and len(inputs) == 1 and recording.unusable:
            raise InputError(*_parts(recording.unusable[0]))
        if recording.engines.total() == before[1]:
            fresh = recording.lines - before[0]
            recording.note(
                say("{}: no line of an engine in {} lines", name, fresh)
                if sort == "log"
                else say("{}: no metric of an engine", name)
            )
    if sort == "log":
        turn_backwards(recording)
    recording.settle()
    return recording


def _folder(path: Path) -> str:
    return str(path.parent)


def _while_it_tells(one: Input, recording: Recording) -> Iterator[Block]:
    """Yield the blocks of a file; a pipe or a device, which may have no end, is given
    up where its first `MOST_SILENT` bytes say nothing of an engine.

    Raises: InputError there.
    """
    left, known = MOST_SILENT, recording.engines.total()
    for block in one.blocks:
        yield block
        left -= len(block.data)
        silent = left < 0 and recording.engines.total() == known
        if silent and not one.path.is_file():
            raise InputError(
                str(one.path), f"says nothing of an engine in {MOST_SILENT >> 20} MiB",
                WANTED,
            )  # fmt: skip


def _parts(message: str) -> tuple[str, str, str]:
    where, _, rest = message.partition(": ")
    problem, _, remedy = rest.partition("; ")
    return where, problem, remedy


def _choose(
    recordings: list[Recording], inputs: list[Input], notes: list[Text], lang: Lang
) -> Diagnosis:
    """Return the diagnosis of the recording that tells more.

    Raises: InputError where no recording holds anything of an engine.
    """
    judged = [(r, j) for r in recordings if (j := judge(r)) is not None]
    if not judged:
        _refuse(recordings, inputs)
    judged.sort(key=lambda pair: _telling(pair[1]))
    (recording, judgement), *others = judged
    for other, opinion in others:
        notes.append(say("the {} alone say {}", other.kind, opinion.finding.cause))
    names = tuple(path.name for one in inputs for path in (one.path, *one.also))
    return tell(recording, judgement, names, notes, lang)


def _telling(found: Judgement) -> int:
    if found.verdict == "not_enough_evidence":
        return 2
    return 1 if found.verdict == "healthy" else 0


def _refuse(recordings: list[Recording], inputs: list[Input]) -> None:
    first = str(inputs[0].path)
    damaged = sum(r.damaged for r in recordings)
    if damaged:
        place = next(r.damaged_at[0] for r in recordings if r.damaged_at)
        raise InputError(
            f"{inputs[0].path.parent / place.file}:{place.line}",
            f"every engine line is cut or damaged ({damaged})",
            "take the log without a terminal in between"
            if any(r.kind == "log" for r in recordings)
            else "take the scrape as it comes (curl -s URL/metrics > 1.txt)",
        )
    for engine, lines in sum((r.named for r in recordings), Counter()).most_common(1):
        raise InputError(
            first,
            f"holds {lines:,} lines of {engine} and no report of its state",
            _REPORTS,
        )
    if accesses := sum(r.accesses for r in recordings):
        raise InputError(
            first,
            f"holds {accesses:,} lines on HTTP requests and none on the engine's state",
            _REPORTS,
        )
    if any(r.engines for r in recordings):
        raise InputError(first, "says nothing of an engine's state", WANTED)
    if all(r.kind == "metrics" for r in recordings):
        raise InputError(first, "holds no value of a metric of an engine", WANTED)
    raise InputError(first, "holds no line of SGLang, vLLM or LMCache", WANTED)


_REPORTS = (
    "bring SGLang's batch lines (--log-level info), vLLM's stats lines (no "
    "--disable-log-stats), or two scrapes of /metrics (SGLang: --enable-metrics)"
)


def failed(problem: InputError) -> Diagnosis:
    """Return the diagnosis of an input that cannot be used at all."""
    return msgspec.structs.replace(_NOTHING, reasons=(str(problem),))


_NOTHING = Diagnosis(
    status="error",
    engine="unknown",
    kind="unknown",
    verdict="not_enough_evidence",
    cause="input_damaged",
    confidence="certain",
    facts={},
    reasons=(),
    next=(WANTED,),
)
