"""Is an option that cannot be one line, and a Ctrl-C at any moment too?"""

from __future__ import annotations

import builtins
import signal

import pytest

from kvlab.cli import main
from kvlab.entry import run


@pytest.mark.parametrize(
    ("words", "start"),
    [
        ((), "kvlab: "),
        (("nope",), "kvlab: argument COMMAND"),
        (("replay",), "kvlab replay: "),
        (("replay", "x", "--limit", "many"), "kvlab replay: argument --limit"),
        (("replay", "x", "--no-such\nthing"), "kvlab: unrecognized"),
        (("conform",), "kvlab conform: "),
        (("diagnose", "--html"), "kvlab diagnose: argument --html"),
        (("capacity", "llama-3-8b", "--tp", "x"), "kvlab capacity: argument --tp"),
    ],
)
def test_bad_options_are_one_line_that_names_the_help(capsys, words, start):
    with pytest.raises(SystemExit) as stopped:
        main(words)
    assert stopped.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(start)
    assert err.count("\n") == 1
    assert "--help" in err


def test_a_stop_while_the_commands_are_imported_is_one_line(capsys, monkeypatch):
    real = builtins.__import__

    def stopped(name, *rest, **more):
        if name == "cli":
            raise KeyboardInterrupt
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", stopped)
    monkeypatch.setattr(signal, "signal", lambda *_: None)  # pytest's own stay
    assert run() == 130
    assert capsys.readouterr().err == "kvlab: stopped; nothing was written\n"
