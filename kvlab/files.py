"""How is a result written so that nothing partial is ever left behind?

Into a file beside the target first, then in one move.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO
from uuid import uuid4

from .errors import InputError


@contextmanager
def replacing(path: Path, fault: type[InputError] = InputError) -> Iterator[IO[bytes]]:
    """Yield a file that takes the place of `path` once the block has ended well.

    Changes: the file, in one move; nothing after an error. Raises: `fault` if the path
    names no file, or the folder or the disk does not take it.
    """
    if not path.name or path.is_dir():
        raise fault(str(path), "is a directory", "name a file")
    part = path.with_name(f".kvlab-{uuid4().hex}.part")
    try:
        with open(part, "xb") as file:
            yield file
        os.replace(part, path)
    except OSError as problem:
        raise fault(
            str(path),
            f"cannot be written ({problem.strerror})",
            "give a file name in a folder that exists and has room",
        ) from None
    finally:
        with suppress(OSError):  # after the move, or if it was never made
            part.unlink()


def replace_file(path: Path, content: bytes) -> None:
    """Write the content, all of it or nothing. Raises: InputError as `replacing`."""
    with replacing(path) as file:
        file.write(content)
