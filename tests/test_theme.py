"""Has every state a colour, a pattern, a character and a name?"""

from __future__ import annotations

from typing import get_args
from xml.etree import ElementTree

import pytest

from kvlab.views import theme
from kvlab.views.theme import BG, LANGS, LOOKS, PATTERNS, State

STATES = get_args(State)


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_every_state_has_a_look():
    assert set(LOOKS) == set(STATES)


def test_every_look_has_a_known_pattern():
    assert {look.pattern for look in LOOKS.values()} <= set(PATTERNS)


def test_no_two_states_share_a_pattern_or_a_character():
    assert len({look.pattern for look in LOOKS.values()}) == len(LOOKS)
    assert len({look.char for look in LOOKS.values()}) == len(LOOKS)


@pytest.mark.parametrize("state", STATES)
def test_the_edge_of_every_state_stands_out_from_the_page(state):
    assert contrast(LOOKS[state].edge, BG) >= 3


@pytest.mark.parametrize("ink", [theme.INK, theme.INK2, theme.INK3, theme.ALERT])
def test_text_can_be_read_on_the_page_and_in_the_well(ink):
    assert min(contrast(ink, BG), contrast(ink, theme.WELL)) >= 4.5


@pytest.mark.parametrize("lang", LANGS)
def test_every_state_has_a_name_of_its_own_in_both_languages(lang):
    names = [name for _, _, name in theme.legend(lang)]
    assert len(set(names)) == len(STATES)
    assert all(names)


def test_every_fill_is_a_colour_or_a_pattern_that_the_file_defines():
    drawn = ElementTree.fromstring(theme.patterns())
    ids = {pattern.get("id") for pattern in drawn}
    for state in STATES:
        for down in (False, True):
            fill = theme.fill(state, down)
            assert fill.startswith("#") or fill[5:-1] in ids, state


def test_numbers_have_separators_and_a_true_minus():
    assert [theme.num(n) for n in (12345, -8, 2.25)] == ["12,345", "−8", "2.2"]


def test_a_change_has_its_sign_and_none_says_nothing():
    assert [theme.delta(n) for n in (1200, -3, 0)] == ["+1,200", "−3", ""]


def test_a_chinese_character_is_taken_for_twice_as_wide_as_a_latin_one():
    assert theme.width("槽", 10) > 1.7 * theme.width("n", 10)
