"""In which words does an engine say that it cannot start, or cannot go on?

Each sentence is one of SGLang's or vLLM's own, or of the framework below them. A server
that is down prints no report, so without these its last ones would look healthy.
Left out: what follows (rules_end.py), leaks (leak_lines.py).
"""

from __future__ import annotations

import re
from typing import NamedTuple

from .samples import Values

NO_ROOM = "no room for the pool at the start"
NO_HOST_ROOM = "no room for the host tier at the start"
REFUSED = "the pool refused an allocation"
REFUSED_NUMBERS = "numbers of a refused allocation"
OUT_OF_MEMORY = "out of device memory"
WATCHDOG = "watchdog timeout"
SILENT = "a worker does not answer"
DIED = "engine died"
TRANSFER = "a KV transfer failed"
ENDS = (NO_ROOM, NO_HOST_ROOM, REFUSED, OUT_OF_MEMORY, WATCHDOG, SILENT, DIED)
"""Kinds of events, the one that explains most first. `TRANSFER` is none of them: a
server goes on without the requests that it lost; one that a client took back is not
lost."""

_WORDS = (
    (
        NO_ROOM,
        r"Please try to increase --mem-fraction-static|Loaded weights leave no GPU "
        r"memory for the KV cache|No available memory for the cache blocks|"
        r"larger than the (?:maximum number of tokens that can be stored in KV|"
        r"available KV) cache|on startup is less than desired GPU memory|"
        r"larger than the profiled value -\d",
    ),
    (NO_HOST_ROOM, r"Not enough host memory available\. Requesting "),
    (REFUSED, r"(?:Decode|Prefill) out of memory\. Try to lower your batch size"),
    (REFUSED_NUMBERS, r"^(?:Try to allocate \d+ tokens|Ava\w{3,5}ble tokens: \d)"),
    (
        OUT_OF_MEMORY,
        r"(?:CUDA|HIP|NPU|XPU) out of memory|torch\.\S*OutOfMemoryError|"
        r"Cuda failure '?out of memory",
    ),
    (WATCHDOG, r"(?:Scheduler w|\bW)atchdog timeout"),
    (
        SILENT,
        r"No available shared memory broadcast block found|"
        r"couldn't get a response from detokenizer for last",
    ),
    (
        DIED,
        r"EngineCore (?:encountered a fatal error|failed to start|hit an exception)|"
        r"EngineDeadError|"
        r"Received sigquit from a child proces|Scheduler hit an exception|"
        r"WorkerProc hit an exception|Worker proc \S+ died unexpectedly|"
        r"Engine background task failed|Engine loop (?:has died|is not running)",
    ),
    (
        TRANSFER,
        r"(?:Prefill|Decode) (?:transfer|bootstrap|handshake) failed for request "
        r"(?!.*Aborted by)|"
        r"Some requests (?:fail to receive KV Cache|timed out when bootstrapping)",
    ),
)
_ANY = [(kind, re.compile(words)) for kind, words in _WORDS]
MARKS = (
    b"mem-fraction-static.", b"no GPU memory", b"No available memory",
    b"larger than the ", b"less than desired", b"ut of memory", b"OutOfMemoryError",
    b"atchdog timeout", b"EngineCore ", b"EngineDeadError", b"sigquit",
    b"hit an exception", b"host memory available", b"Try to allocate", b"ble tokens: ",
    b"broadcast block", b"died unexpectedly", b"from detokenizer",
    b"background task failed", b"Engine loop ", b" failed for request",
    b"Some requests ",
)  # fmt: skip
"""Each such line holds one of these."""
_NUMBERS = (
    ("needed_gib", r"\(([\d.]+) GiB KV cache is needed"),
    ("available_gib", r"available KV cache memory \(([\d.]+) GiB\)"),
    ("fits_tokens", r"estimated maximum model length is (\d+)"),
    ("asked_tokens", r"max seq len \((\d+)\)"),
    ("fits_tokens", r"stored in KV cache \((\d+)\)"),
    ("tried_gib", r"Tried to allocate ([\d.]+) GiB"),
    ("free_gib", r"of which ([\d.]+) GiB is free"),
    ("timeout_s", r"watchdog_timeout=(\d+)"),
    ("waited_s", r"timed out after (\d+)(?:\.\d+)?s in KVPoll"),
    ("timeout_s", r"broadcast block found in (\d+) s|detokenizer for last (\d+) s"),
    ("profiled_tokens", r"the profiled value (-\d+)"),
    ("wanted_tokens", r"^Try to allocate (\d+) tokens"),
    ("free_tokens", r"^Ava\w{3,5}ble tokens: (\d+)"),
    ("host_wanted_gb", r"Requesting ([\d.]+) GB but only"),
    ("host_free_gb", r"but only have ([\d.]+) GB free"),
)
_SAID = [(name, re.compile(words)) for name, words in _NUMBERS]
_SGLANG = re.compile(
    r"\[\d{4}-\d\d-\d\d |--mem-fraction-static|watchdog|sigquit|hierarchical cache|"
    r"lower your batch size|detokenizer|failed for request |Some requests ",
    re.I,
)
_VLLM = re.compile(
    r"Engine(?:Core|Dead)|cache blocks|seq len|\bpid=|shm_broadcast|VllmWorker"
)


class End(NamedTuple):
    """One such sentence. `engine` is "" where its words are of neither."""

    kind: str
    engine: str
    values: Values


def read_end(text: str) -> End | None:
    """Return what a line says of the engine's end; None if it says nothing of it.

    >>> read_end("OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB")
    End(kind='out of device memory', engine='', values={'tried_gib': 2.0})
    """
    kind = next((kind for kind, words in _ANY if words.search(text)), None)
    if kind is None:
        return None
    engine = "vllm" if _VLLM.search(text) else "sglang" if _SGLANG.search(text) else ""
    values = {name: float(found[1] or found[2]) for name, words in _SAID
              if (found := words.search(text))}  # fmt: skip
    return End(kind, engine, values)
