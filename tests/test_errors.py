"""Do errors say where, what and what to do?"""

from __future__ import annotations

import pytest

from kvlab.errors import (
    ConfigError,
    EngineFault,
    InputError,
    KvlabError,
    OutOfPool,
    TraceError,
)


def test_an_input_error_says_where_what_and_what_to_do():
    error = InputError("a.json: ops[3]", "n is -1", "use 0 or more")
    assert str(error) == "a.json: ops[3]: n is -1; use 0 or more"


def test_an_input_error_without_a_remedy_ends_with_the_problem():
    assert str(InputError("a.json", "no such file")) == "a.json: no such file"


@pytest.mark.parametrize(
    "kind", [ConfigError, InputError, TraceError, OutOfPool, EngineFault]
)
def test_every_mistake_can_be_caught_as_one_root(kind):
    assert issubclass(kind, KvlabError)


def test_a_damaged_run_is_bad_input():
    assert issubclass(TraceError, InputError)
