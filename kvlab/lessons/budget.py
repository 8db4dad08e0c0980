"""What stops a learner's function whose loop does not end?

`limited` runs something for so many seconds of the process's own CPU time, so that a
busy machine stops nobody, and then interrupts it with `OutOfTime`, wherever it is.
`line_of` says at which line of the learner's function an error or that stop came,
`endless` and `stopped` tell it.
Left out: a function that sleeps or waits for input, which the notebook's stop button
ends; a thread other than the main one and systems without this timer (Windows), where
nothing is limited.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from linecache import getline
from types import CodeType, FrameType, FunctionType, TracebackType
from typing import Any

from ..views.theme import Words

SECONDS = 10.0
"""CPU time for one judgement; the slowest right answer of the course takes two."""


class OutOfTime(BaseException):
    """The time is over. No `except Exception` of a learner's stops it."""


@contextmanager
def limited(seconds: float = SECONDS) -> Iterator[None]:
    """Let what stands in the block use so many seconds of CPU time.

    Changes: the process's virtual timer, which is put back. Raises: OutOfTime.
    """
    if not _can_limit():
        yield
        return
    before = signal.signal(signal.SIGVTALRM, _stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, seconds / 10)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, before)


def _can_limit() -> bool:
    main = threading.current_thread() is threading.main_thread()
    return main and hasattr(signal, "setitimer")


def _stop(number: int, frame: FrameType | None) -> None:
    raise OutOfTime


def line_of(function: Any, problem: BaseException) -> tuple[int, str] | None:
    """Return which line of the function the error came from, counted from 1 in it, and
    its text; None if it came from elsewhere."""
    if not isinstance(function, FunctionType):
        return None
    code, found = function.__code__, None
    trail: TracebackType | None = problem.__traceback__
    while trail is not None:
        if _within(trail.tb_frame.f_code, code):
            found = trail.tb_lineno
        trail = trail.tb_next
    if found is None:
        return None
    text = getline(code.co_filename, found).strip()
    return found - code.co_firstlineno + 1, text


def _within(code: CodeType, function: CodeType) -> bool:
    """Return whether the code is the function's, or of one written inside it."""
    if code is function:
        return True
    inner = (each for each in function.co_consts if isinstance(each, CodeType))
    return any(_within(code, each) for each in inner)


def endless(at: tuple[int, str] | None) -> Words:
    """Return what is said of a function that was stopped, and where it was."""
    here = Words("", "")
    if at is not None:
        here = Words(f", in line {at[0]}: {at[1]}", f"，停在第 {at[0]} 行：{at[1]}")
    return Words(
        f"Still at work after {SECONDS:.0f} s{here.en}. A loop there does not end: "
        "what has to change in it for it to stop?",
        f"运行 {SECONDS:.0f} 秒仍未结束{here.zh}。有循环停不下来："
        "循环里要改变什么，它才会结束？",
    )


def stopped(problem: Exception, at: tuple[int, str] | None) -> Words:
    """Return what is said of a function that raised an error, and where."""
    said = f"{type(problem).__name__}: {problem}"
    where = Words(f" in line {at[0]}", f"在第 {at[0]} 行") if at else Words("", "")
    return Words(
        f"Your function stopped{where.en}: {said}", f"你的函数{where.zh}中断了：{said}"
    )
