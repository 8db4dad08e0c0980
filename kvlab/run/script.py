"""What can a script ask of an engine?

A script is `{config, ops}`; a recorded golden is one. Each op is a record below, named
in the file by its `op`. A file is checked as a whole before anything runs.
Left out: carrying the ops out (runner.py).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

import msgspec
from msgspec import Struct

from ..cache.key import as_tokens
from ..config import EngineConfig
from ..errors import ConfigError, InputError
from ..rule import DEFAULT
from ..rules import Rules
from .abouts import ABOUT_ZH
from .json_file import read_json


class Op(Struct, frozen=True, forbid_unknown_fields=True, tag_field="op"):
    """One operation of a script."""


class MatchOp(Op, frozen=True, tag="match"):
    """Match a prefix; `extra` is the namespace."""

    tokens: list[int]
    extra: str | None = None


class InsertOp(Op, frozen=True, tag="insert"):
    """Make room, allocate, and insert the tokens' whole pages."""

    tokens: list[int]
    priority: int = 0
    chunked: bool = False
    extra: str | None = None


class LockOp(Op, frozen=True, tag="lock"):
    """Match, then lock the last device node under a name."""

    id: str
    tokens: list[int]


class UnlockOp(Op, frozen=True, tag="unlock"):
    """Undo the lock of that name."""

    id: str


class EvictOp(Op, frozen=True, tag="evict"):
    """Evict at least n device tokens."""

    n: int


class EvictHostOp(Op, frozen=True, tag="evict_host"):
    """Evict at least n host tokens."""

    n: int


class AckWriteOp(Op, frozen=True, tag="ack_write"):
    """Finish the first k copies to the host, or all."""

    k: int | None = None


class AckLoadOp(Op, frozen=True, tag="ack_load"):
    """Finish the first k load batches, or all."""

    k: int | None = None


class CheckEventsOp(Op, frozen=True, tag="check_events"):
    """Take note of every copy that is done."""


class LoadBackOp(Op, frozen=True, tag="load_back"):
    """Match, then bring the host part back."""

    tokens: list[int]
    quota: int | None = None


class RequestStartOp(Op, frozen=True, tag="request_start"):
    """Admit one request by itself and run its prefill."""

    id: str
    tokens: list[int]
    max_new: int = 4
    priority: int = 0
    ignore_eos: bool = False
    first_out: int = 0
    finish_at_prefill: bool = False


class DecodeOp(Op, frozen=True, tag="decode"):
    """One decode step of one request."""

    id: str
    token: int = 0


class RequestFinishOp(Op, frozen=True, tag="request_finish"):
    """Finish a request; without `is_insert` its KV is given up."""

    id: str
    is_insert: bool = True


class RequestOp(Op, frozen=True, tag="request"):
    """One whole life: start, a decode for each further output, finish."""

    tokens: list[int]
    out: list[int]
    max_new: int | None = None
    priority: int = 0


class NewRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """A request that joins the queue in a round."""

    id: str
    tokens: list[int]
    max_new: int = 4
    first_out: int = 0
    priority: int = 0
    ignore_eos: bool = False


class RoundOp(Op, frozen=True, tag="round"):
    """One prefill round with the waiting queue and chunking."""

    new: list[NewRequest] = []


class DecodeStepOp(Op, frozen=True, tag="decode_step"):
    """One decode of the whole running batch, with retraction."""

    token: int = 0


AnyOp = (
    MatchOp | InsertOp | LockOp | UnlockOp | EvictOp | EvictHostOp | AckWriteOp
    | AckLoadOp | CheckEventsOp | LoadBackOp | RequestStartOp | DecodeOp
    | RequestFinishOp | RequestOp | RoundOp | DecodeStepOp
)  # fmt: skip


class Script(Struct, frozen=True, kw_only=True):
    """A checked script, and what a recording adds to it.

    `about` is what the script is about, `about_zh` the same in Chinese, if known.
    `initial` and `records` are None for a script that is not a golden; `totals` are
    the sizes, in tokens, that a recording gives for its pools.
    """

    name: str
    about: str
    config: EngineConfig
    rules: Rules
    manual_dma: bool
    dump_slots: bool = False
    ops: list[AnyOp]
    totals: dict[str, int] = {}
    initial: dict[str, Any] | None = None
    records: list[dict[str, Any]] | None = None
    about_zh: str = ""


class _Driver(Struct, frozen=True):
    """What a script's config says of the recording, not of the engine."""

    manual_dma: bool | None = None
    dump_slots: bool | None = None
    pool_total: int | None = None
    host_total: int | None = None


class _File(Struct, frozen=True):
    """A script as it stands in its file; fields of other tools are ignored."""

    config: dict[str, Any]
    ops: list[AnyOp]
    name: str = ""
    about: str = ""
    about_zh: str = ""
    sglang: str = DEFAULT
    initial: dict[str, Any] | None = None
    records: list[dict[str, Any]] | None = None


def read_script(path: Path, rules: Rules | None = None) -> Script:
    """Read and check a script or golden, `.json` or `.json.gz`.

    `rules` overrides the release that the file names; without either: 0.5.23.
    Raises: InputError with file, place, what is wrong and what to do.
    """
    data = read_json(path)
    if not isinstance(data, dict) or "ops" not in data or "config" not in data:
        shape = 'write {"config": {"pool_tokens": 64}, "ops": [...]}'
        raise InputError(str(path), "no script", shape)
    try:
        file = msgspec.convert(data, _File)
        driver = msgspec.convert(file.config, _Driver)
        names = _Driver.__struct_fields__
        config = EngineConfig.of(
            {key: value for key, value in file.config.items() if key not in names}
        )
        rules = rules or Rules.named(file.sglang)
    except msgspec.ValidationError as error:
        remedy = _remedy(error, data["ops"])
        raise InputError(str(path), str(error), remedy) from None
    except ConfigError as error:
        raise InputError(str(path), str(error), "mend the script") from None
    _check_ops(path, file)
    totals = {"pool_total": driver.pool_total, "host_total": driver.host_total}
    return Script(
        name=file.name or path.name,
        about=file.about,
        about_zh=file.about_zh or ABOUT_ZH.get(file.name, ""),
        config=config,
        rules=rules,
        manual_dma=driver.manual_dma is not False,
        dump_slots=bool(driver.dump_slots),
        ops=file.ops,
        totals={key: size for key, size in totals.items() if size is not None},
        initial=file.initial,
        records=file.records,
    )


def _remedy(error: msgspec.ValidationError, ops: Any) -> str:
    """Return what to do where an op does not fit: which ops there are, or its fields.

    >>> _remedy(msgspec.ValidationError("... - at `$.ops[0]`"), [{"op": "evict"}])
    'evict takes n'
    """
    found = re.search(r"at `\$\.ops\[(\d+)\](\.new\[)?", str(error))
    if found is None:
        return "mend the script"
    op = ops[int(found[1])]
    name = str(op.get("op")) if isinstance(op, dict) else ""
    kinds = {kind.__struct_config__.tag: kind for kind in get_args(AnyOp)}
    if name not in kinds:
        return f"an op is one of {', '.join(kinds)}"
    fields = (NewRequest if found[2] else kinds[name]).__struct_fields__
    what = "a request of a round" if found[2] else name
    return f"{what} takes {', '.join(fields) or 'nothing'}"


def _check_ops(path: Path, file: _File) -> None:
    if file.records is not None and len(file.records) > len(file.ops):
        raise InputError(
            str(path), f"{len(file.records)} records of {len(file.ops)} ops",
            "record the script again",
        )  # fmt: skip
    for number, op in enumerate(file.ops):
        check_op(f"{path}: ops[{number}]", op)


def check_op(where: str, op: AnyOp | NewRequest) -> None:
    """Raises: InputError for a size or a token that is none, or a request of nothing;
    also where the op was made by hand, of other types."""
    if not isinstance(op, Op | NewRequest):
        told = f"{str(op)[:40]!r} is no op"
        raise InputError(where, told, "make one of kvlab.run.script, as EvictOp(4)")
    if not isinstance(name := getattr(op, "id", ""), str):
        raise InputError(where, f"id is {name!r}", "use a name in quotes")
    for size in ("n", "k", "quota", "max_new"):
        value = getattr(op, size, 0)
        if value is None and size != "n":
            continue  # all of them, or as many as the engine would
        if type(value) is not int:
            raise InputError(where, f"{size} is {value!r}", "use an int")
        if value < 0:
            raise InputError(where, f"{size} is {value}", "use 0 or more")
    for field in ("tokens", "out", "token", "first_out"):
        ids = getattr(op, field, [])
        try:
            as_tokens(ids if isinstance(ids, list) else [ids])
        except InputError as error:
            raise InputError(where, str(error)) from None
    if isinstance(op, RequestOp) and not op.out:
        raise InputError(where, "a request without outputs", "give one or more in out")
    if isinstance(op, RequestOp | RequestStartOp) and not op.tokens:
        raise InputError(where, "a request without tokens", "give one or more")
    for new in getattr(op, "new", []):
        if not new.tokens or new.max_new < 1:
            raise InputError(
                f"{where}: request {new.id!r}", "no tokens or max_new below 1",
                "give at least one of each",
            )  # fmt: skip
        check_op(f"{where}: request {new.id!r}", new)
