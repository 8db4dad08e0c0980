"""Does every node keep its place for life?"""

from __future__ import annotations

from kvlab.config import EngineConfig
from kvlab.pages import as_pages
from kvlab.record import events as ev
from kvlab.record.replay import Replay
from kvlab.record.trace import Header, Trace
from kvlab.rules import Rules
from kvlab.views.tree_layout import READABLE, tree_layout


def run_of(*events):
    config = EngineConfig(pool_tokens=1000)
    trace = Trace(Header(config=config, rules=Rules.v0_5_14()))
    for event in events:
        trace(*event)
    return trace


def add(node, parent, tokens, space=""):
    pages = as_pages(range(len(tokens)))
    return ev.Add, node, parent, space, as_pages(tokens), pages, 0, 1, 1


def test_every_node_that_ever_lives_has_a_row(sample):
    layout = tree_layout(sample)
    born = {e.node for e in sample.events if isinstance(e, ev.Add)}
    born |= {e.upper for e in sample.events if isinstance(e, ev.Split)}
    assert set(layout.rows) == born
    assert set(layout.rows.values()) == set(range(layout.num_rows))


def test_no_two_living_nodes_overlap(sample):
    layout, replay = tree_layout(sample), Replay(sample)
    for step in range(len(sample) + 1):
        state = replay.at(step)
        taken = set()
        for node in state.nodes.values():
            first = state.start_of(node.id)
            cells = {
                (layout.rows[node.id], at)
                for at in range(first, first + len(node.tokens))
            }
            assert not cells & taken, (step, node.id)
            taken |= cells


def test_both_halves_of_a_split_share_the_row():
    trace = run_of(add(1, 0, [1, 2, 3, 4]), (ev.Split, 1, 2, 2, 1, 1))
    layout = tree_layout(trace)
    assert layout.rows[1] == layout.rows[2]


def test_a_first_child_continues_its_parents_row_and_a_second_begins_one():
    trace = run_of(add(1, 0, [1, 2]), add(2, 1, [3]), add(3, 1, [4]))
    assert tree_layout(trace).rows == {1: 0, 2: 0, 3: 1}


def test_a_prefix_that_comes_back_lies_where_it_was():
    trace = run_of(add(1, 0, [1, 2]), add(2, 0, [5]), (ev.Delete, 1), add(3, 0, [1, 2]))
    layout = tree_layout(trace)
    assert layout.rows[3] == layout.rows[1]
    assert layout.num_rows == 2


def test_namespaces_do_not_mix():
    trace = run_of(add(1, 0, [1, 2], "a"), add(2, 0, [1, 2], "b"))
    assert tree_layout(trace).num_rows == 2


def test_the_depth_is_the_longest_path_ever():
    trace = run_of(add(1, 0, [1] * 5), add(2, 1, [2] * 7), (ev.Delete, 2))
    assert tree_layout(trace).depth == 12


def test_many_rows_that_never_live_together_share_a_place():
    events = []
    for node in range(1, 50):
        events += [add(node, 0, [node] * 3), (ev.Delete, node)]
    assert tree_layout(run_of(*events)).num_rows == 1


def test_many_rows_that_live_together_do_not():
    events = [add(node, 0, [node] * 3) for node in range(1, 4 * READABLE)]
    assert tree_layout(run_of(*events)).num_rows == 4 * READABLE - 1


def test_a_run_without_a_tree_has_no_rows():
    assert tree_layout(run_of()) == ({}, 0, 0)
