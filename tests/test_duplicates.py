"""Are nodes with two copies listed in the order in which they became such?"""

from __future__ import annotations

import pytest

from kvlab.cache.duplicates import Duplicates
from kvlab.cache.tree import Node
from kvlab.pages import as_pages

PAGE = as_pages([1])


def node(id: int) -> Node:
    """Return a node with a copy on both tiers."""
    made = Node(id, None, PAGE)
    made.value = made.host_value = PAGE
    return made


@pytest.fixture
def three() -> tuple[Duplicates, list[Node]]:
    double, nodes = Duplicates(), [node(id) for id in (4, 2, 9)]
    for each in nodes:
        double.note(each)
    return double, nodes


def ids(double: Duplicates) -> list[int]:
    return [each.id for each in double.walk()]


def test_the_oldest_duplicate_comes_first(three):
    assert ids(three[0]) == [4, 2, 9]


def test_a_node_that_is_noted_again_keeps_its_place(three):
    double, nodes = three
    double.note(nodes[0])
    assert ids(double) == [4, 2, 9]


@pytest.mark.parametrize("copy", ["value", "host_value"])
def test_a_node_with_one_copy_is_no_duplicate(copy):
    double, single = Duplicates(), node(1)
    setattr(single, copy, None)
    double.note(single)
    setattr(single, copy, PAGE)
    assert ids(double) == [], "it would come before those that were two all the time"


@pytest.mark.parametrize("flight", ["writing", "loading"])
def test_a_node_with_a_copy_in_flight_is_no_duplicate_yet(flight):
    double, busy = Duplicates(), node(1)
    setattr(busy, flight, 1)
    double.note(busy)
    assert ids(double) == []


def test_a_node_that_left_the_tree_is_no_duplicate(three):
    double, nodes = three
    nodes[1].attached = False
    assert ids(double) == [4, 9]


def test_a_stale_entry_keeps_its_place_until_a_walk_meets_it(three):
    double, nodes = three
    nodes[1].value = None
    nodes[1].value = PAGE
    assert ids(double) == [4, 2, 9]


def test_a_stale_entry_that_a_walk_met_joins_the_end_when_it_comes_back(three):
    double, nodes = three
    nodes[1].value = None
    assert ids(double) == [4, 9]
    nodes[1].value = PAGE
    double.note(nodes[1])
    assert ids(double) == [4, 9, 2]


def test_a_walk_that_stops_early_does_not_meet_what_follows(three):
    double, nodes = three
    nodes[1].value = None
    next(double.walk())
    nodes[1].value = PAGE
    assert ids(double) == [4, 2, 9]


def test_a_node_that_loses_its_copy_while_it_is_out_leaves_the_list(three):
    double, nodes = three
    for each in double.walk():
        each.host_value = None
        break
    nodes[0].host_value = PAGE
    double.note(nodes[0])
    assert ids(double) == [2, 9, 4]
