"""How is a result written so that nothing partial is ever left behind?

Into a file beside the target first, then in one move. A link is followed, and a file
keeps its permissions. What is no file (a pipe, /dev/null, /dev/stdout) cannot be
replaced and is written to as it is.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO
from uuid import uuid4

from .errors import InputError


@contextmanager
def replacing(path: Path, fault: type[InputError] = InputError) -> Iterator[IO[bytes]]:
    """Yield a file that takes the place of `path` once the block has ended well.

    Changes: the file, in one move; nothing after an error. A pipe or a device is
    written to at once. Raises: `fault` if the path names no file, or the file, the
    folder or the disk does not take it; BrokenPipeError if nobody reads the pipe.
    """
    try:
        if not path.name or path.is_dir():
            raise fault(str(path), "is a directory", "name a file")
        if path.exists() and not path.is_file():
            with open(path, "wb") as file:
                yield file
            return
        with _beside(Path(os.path.realpath(path))) as file:
            yield file
    except BrokenPipeError:
        raise
    except OSError as problem:
        raise fault(
            str(path),
            f"cannot be written ({problem.strerror})",
            "give a file name in a folder that exists and has room",
        ) from None


@contextmanager
def _beside(path: Path) -> Iterator[IO[bytes]]:
    part = path.with_name(f".kvlab-{uuid4().hex}.part")
    try:
        with open(part, "xb") as file:
            if path.exists():
                open(path, "ab").close()  # a move would not ask whether it is writable
                part.chmod(stat.S_IMODE(path.stat().st_mode))
            yield file
        os.replace(part, path)
    finally:
        with suppress(OSError):  # after the move, or if it was never made
            part.unlink()


def replace_file(path: Path, content: bytes) -> None:
    """Write the content, all of it or nothing. Raises: as `replacing`."""
    with replacing(path) as file:
        file.write(content)
