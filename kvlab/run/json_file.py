"""What does a JSON file from outside hold?"""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from typing import Any

import msgspec

from ..errors import InputError


def read_json(path: Path) -> Any:
    """Return what the file holds, `.json` or `.json.gz`.

    Raises: InputError if it cannot be read, is damaged, or is no JSON.
    """
    try:
        raw = path.read_bytes()
        if raw[:2] == b"\x1f\x8b":
            raw = gzip.decompress(raw)
        return msgspec.json.decode(raw)
    except IsADirectoryError:
        raise InputError(str(path), "a directory", "name a file in it") from None
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise InputError(str(path), "damaged gzip", "fetch the file again") from None
    except OSError as error:
        raise InputError(str(path), error.strerror or str(error)) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(str(path), f"not JSON: {error}", "mend the file") from None
