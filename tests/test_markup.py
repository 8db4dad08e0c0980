"""Can text from a file become markup?"""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from kvlab.views.markup import Markup, esc, join, plain, tag

NASTY = ["<script>", "\"'", "]]>", "a\nb", "\x00\x1b[31m", "\u2028", "\ud800", "&lt;"]


@pytest.mark.parametrize("text", NASTY)
def test_escaped_text_is_valid_inside_an_element_and_an_attribute(text):
    element = tag("g", esc(text), id=text)
    ElementTree.fromstring(element.encode("utf-8"))
    assert "<script" not in element


def test_what_is_escaped_reads_as_it_was():
    assert ElementTree.fromstring(tag("g", esc("a < b & 'c'"))).text == "a < b & 'c'"


def test_plain_text_is_one_line_with_its_control_characters_written_out():
    assert plain("a\nb\x1b") == "a\\nb\\x1b"


def test_plain_text_is_cut_to_its_limit():
    assert plain("x" * 100, 10) == "x" * 9 + "…"


def test_an_attribute_of_none_is_left_out_and_numbers_are_short():
    assert tag("rect", x=1.0, y=2.345, fill=None) == '<rect x="1" y="2.35"/>'


def test_an_underscore_becomes_a_hyphen_and_a_last_one_goes():
    assert tag("g", class_="a", stroke_width=1) == '<g class="a" stroke-width="1"></g>'


def test_an_svg_group_is_never_closed_short_since_html_would_leave_it_open():
    assert tag("div") == "<div></div>"


def test_parts_are_joined_as_they_are():
    assert join([Markup("<b/>"), esc("<")], " ") == "<b/> &lt;"
