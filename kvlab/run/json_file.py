"""What does a JSON file from outside hold?"""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

import msgspec

from ..errors import InputError

MOST_BYTES = 256 << 20
"""A JSON file is held whole; more than this is no script of an engine."""


def read_json(path: Path) -> Any:
    """Return what the file holds, `.json` or `.json.gz`.

    Raises: InputError if it cannot be read, is damaged, is no JSON, or is or unpacks to
    more than `MOST_BYTES`, of which no more is held.
    """
    try:
        with open(path, "rb") as file:
            raw = file.read(MOST_BYTES + 1)
        if raw[:2] == b"\x1f\x8b":
            raw = _unpacked(raw)
        if len(raw) > MOST_BYTES:
            raise InputError(
                str(path), f"holds more than {MOST_BYTES >> 20} MiB", "name a script"
            )
        return msgspec.json.decode(raw)
    except IsADirectoryError:
        raise InputError(str(path), "a directory", "name a file in it") from None
    except (EOFError, zlib.error):
        raise InputError(str(path), "damaged gzip", "fetch the file again") from None
    except OSError as error:
        raise InputError(str(path), error.strerror or str(error)) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(str(path), f"not JSON: {error}", "mend the file") from None


def _unpacked(packed: bytes) -> bytes:
    """Return the contents of the gzip members, up to one byte beyond `MOST_BYTES`."""
    parts, size = [], 0
    while packed and size <= MOST_BYTES:
        unpack = zlib.decompressobj(zlib.MAX_WBITS | 16)
        parts.append(unpack.decompress(packed, MOST_BYTES + 1 - size))
        size += len(parts[-1])
        if not unpack.eof and size <= MOST_BYTES:
            raise EOFError
        packed = unpack.unused_data.lstrip(b"\0")
    return b"".join(parts)
