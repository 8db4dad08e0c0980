"""Does the queue show who waits, who runs, and who is meant?"""

from __future__ import annotations

from xml.etree import ElementTree

from kvlab.record import events as ev
from kvlab.views.frame import frame_at
from kvlab.views.queue import MOST, lane, queue_html


def at(trace, kind, number=0):
    steps = [i for i, e in enumerate(trace.events, 1) if isinstance(e, kind)]
    return frame_at(trace, steps[number])


def test_a_refused_request_says_how_much_it_is_short_of(sample):
    page = queue_html(at(sample, ev.Admit, 1))
    assert "11.0 short" in page
    assert "差 11.0" in queue_html(at(sample, ev.Admit, 1), "zh")


def test_the_request_of_the_event_is_ringed(sample):
    page = queue_html(at(sample, ev.Admit, 1))
    assert page.index("kv-here") < page.index("<b>c</b>")
    assert page.count("kv-here") == 1


def test_the_lanes_are_the_engines_own_lists(sample):
    frame = at(sample, ev.Admit, 1)
    assert [r.id for r in lane(frame, "waiting")] == frame.state.waiting
    assert [r.id for r in lane(frame, "running")] == frame.state.running


def test_a_retracted_request_waits_and_says_so(sample):
    assert "4 in, retracted" in queue_html(at(sample, ev.Retract))


def test_who_is_done_is_counted(sample):
    page = queue_html(frame_at(sample, len(sample)))
    assert page.endswith(">done</span><b>2</b></div></div>")


def test_a_long_lane_keeps_its_height(sample):
    many = type(sample)(sample.header)
    for number in range(MOST + 4):
        many(ev.Arrive, f"r{number}", 1, 1, 0)
    page = queue_html(frame_at(many, len(many)))
    assert page.count("kv-chip ") + page.count('kv-chip"') == MOST
    assert "+ 4" in page


def test_hostile_names_stay_text(hostile):
    page = queue_html(frame_at(hostile, len(hostile)))
    ElementTree.fromstring(page)
    assert "<script" not in page
