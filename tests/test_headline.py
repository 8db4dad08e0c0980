"""Does the headline say what happened, also to those who cannot see it?"""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from kvlab.record import events as ev
from kvlab.record.events import Decision
from kvlab.views.frame import frame_at
from kvlab.views.headline import headline_html, sign_of_change, title_html


def at(trace, kind, number=0):
    steps = [i for i, e in enumerate(trace.events, 1) if isinstance(e, kind)]
    return frame_at(trace, steps[number])


def test_the_sentence_is_a_live_region(sample):
    page = headline_html(at(sample, ev.Admit, 1), len(sample))
    said = ElementTree.fromstring(page).find(".//*[@class='kv-say']")
    assert said.get("aria-live") == "polite"
    assert said.text == "c waits: it needs 21 tokens, only 10.0 can be promised"


def test_the_place_in_the_run_and_the_kind_stand_above(sample):
    page = headline_html(at(sample, ev.Admit, 1), len(sample))
    assert "event 80 / 142 · admit" in page
    assert "before the first event" in headline_html(frame_at(sample, 0), 142)


def test_the_language_is_told_to_the_reader(sample):
    assert 'lang="zh-Hans"' in headline_html(frame_at(sample, 5), 142, "zh")


def test_every_event_has_a_sign(sample, every_kind):
    for step in range(len(sample) + 1):
        ElementTree.fromstring(headline_html(frame_at(sample, step), len(sample)))
    for event in every_kind:
        if not isinstance(event, Decision):
            assert sign_of_change(event)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_hostile_names_stay_text(hostile, lang):
    for step in range(len(hostile) + 1):
        page = headline_html(frame_at(hostile, step), 1, lang)
        ElementTree.fromstring(page)
        assert "<script" not in page
    ElementTree.fromstring(title_html(hostile.header, lang))


def test_the_title_names_run_rules_and_policies(sample):
    page = title_html(sample.header)
    assert "sglang 0.5.14 · hiradix · write_through · lru" in page
