"""How is a result written so that nothing partial is ever left behind?

Into a file beside the target first, then in one move.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from .errors import InputError


def replace_file(path: Path, content: bytes) -> None:
    """Write the content, all of it or nothing. Changes: the file.

    Raises: InputError if the folder or the disk does not take it.
    """
    part = path.with_name(f".kvlab-{uuid4().hex}.part")
    try:
        with open(part, "xb") as file:
            file.write(content)
        os.replace(part, path)
    except OSError as problem:
        raise InputError(
            str(path),
            f"cannot be written ({problem.strerror})",
            "give a file name in a folder that exists and has room",
        ) from None
    finally:
        with suppress(OSError):  # after the move, or if it was never made
            part.unlink()
