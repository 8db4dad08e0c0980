"""Is it said of every change what it means, and of no decision?"""

from __future__ import annotations

from kvlab.record import events as ev
from kvlab.views.meanings import MEANINGS
from kvlab.views.phrases import GONE


def test_every_change_has_a_meaning_and_no_decision_has():
    changes = {kind.__name__.lower() for kind in ev.CHANGES}
    assert {entry for entry in MEANINGS if " " not in entry} == changes


def test_what_led_to_a_change_is_a_decision():
    decisions = {kind.__name__.lower() for kind in ev.DECISIONS}
    led = {entry.split()[1] for entry in MEANINGS if " " in entry}
    assert led - {GONE} <= decisions
