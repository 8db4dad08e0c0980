"""Do the shapes that all pictures share keep to the looks?"""

from __future__ import annotations

from typing import get_args
from xml.etree import ElementTree

import pytest

from kvlab.views import draw, theme
from kvlab.views.theme import LANGS, LOOKS, State


@pytest.mark.parametrize("state", get_args(State))
def test_a_box_has_the_fill_and_the_edge_of_its_state(state):
    box = draw.box(0, 0, 20, 10, state)
    assert f'fill="{theme.fill(state)}"' in box
    assert f'stroke="{LOOKS[state].edge}"' in box


def test_what_nobody_holds_has_a_dotted_edge():
    assert 'stroke-dasharray="1.5 2.5"' in draw.box(0, 0, 20, 10, "available")
    assert "dasharray" not in draw.box(0, 0, 20, 10, "used")


def test_what_is_lost_is_crossed_out():
    assert draw.box(0, 0, 20, 10, "lost").count("<path") == 1


def test_a_copy_that_goes_down_has_its_chevrons_turned():
    assert theme.DOWN in draw.box(0, 0, 20, 10, "in_flight", down=True)


@pytest.mark.parametrize("lang", LANGS)
def test_the_legend_names_every_state(lang):
    svg = draw.document([draw.legend(lang, contents=True)[0]], 640, 90, "legend", lang)
    ElementTree.fromstring(svg)
    assert all(f">{name}<" in svg for _, _, name in theme.legend(lang))


def test_a_document_brings_its_patterns_and_its_title():
    svg = draw.document([], 10, 10, "a <title>")
    assert 'id="kv-evictable"' in svg
    assert "a &lt;title&gt;" in svg


def test_a_label_lies_on_a_plate():
    assert draw.plate(0, 0, "n1").index("<rect") < draw.plate(0, 0, "n1").index("<text")
