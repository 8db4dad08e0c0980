"""Is a loop without end stopped, and is a learner told where it was?"""

from __future__ import annotations

import signal
import threading
import time

import pytest

import kvlab
from kvlab.lessons import budget
from kvlab.lessons.budget import OutOfTime, limited, line_of


@pytest.fixture
def brief(monkeypatch):
    """A judgement has a fifth of a second."""
    monkeypatch.setattr(budget.limited.__wrapped__, "__defaults__", (0.2,))


def test_a_loop_without_end_is_stopped_with_its_line(brief):
    def evict(desk, ask):
        freed = 0
        while freed < ask:
            pass
        return freed

    told = kvlab.check("07.E3", evict)
    assert told.right is False
    assert (
        "in line 3: while freed < ask:" in told.why.en or "line 4: pass" in told.why.en
    )
    assert "停在第" in told.why.zh and "停不下来" in told.why.zh


def test_a_learner_s_own_except_does_not_keep_it_alive(brief):
    def evict(desk, ask):
        while True:
            try:
                desk.missing()
            except Exception:
                continue

    assert "does not end" in kvlab.check("07.E3", evict).why.en


def test_what_ends_in_time_is_left_alone_and_the_timer_is_put_back():
    before = signal.getsignal(signal.SIGVTALRM)
    with limited(5):
        assert signal.getitimer(signal.ITIMER_VIRTUAL)[0] > 0
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGVTALRM) is before


def test_waiting_uses_no_time():
    with limited(0.05):
        time.sleep(0.1)


def test_another_thread_is_not_limited():
    said = []

    def work():
        with limited(0.01):
            said.append(signal.getitimer(signal.ITIMER_VIRTUAL)[0])

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert said == [0.0]


def test_an_error_is_told_with_its_line():
    def evict(desk, ask):
        return desk.missing

    assert "stopped in line 2: AttributeError" in kvlab.check("07.E3", evict).why.en


def test_an_error_of_somebody_else_has_no_line():
    with pytest.raises(OutOfTime) as stopped, limited(0.01):
        while True:
            pass
    assert line_of(len, stopped.value) is None
    assert line_of(budget.line_of, stopped.value) is None
