"""Is the tree also a graph that `dot` can draw?"""

from __future__ import annotations

import html
import shutil
import subprocess
import sysconfig
from pathlib import Path
from xml.etree import ElementTree

import pytest
from graphviz.backend import dot_command
from moments import at
from played import golden

from kvlab.errors import KvlabError
from kvlab.record import events as ev
from kvlab.views import theme
from kvlab.views import tree_graph as graphs
from kvlab.views.frame import frame_at
from kvlab.views.tree_graph import find_dot, tree_svg
from kvlab.views.tree_graph import tree_graph as graph_of


def test_each_node_has_an_edge_from_its_parent(sample):
    source = graph_of(at(sample, ev.Load)).source
    for edge in ("n0 -> n3", "n3 -> n4", "n3 -> n2", "n5 -> n6"):
        assert edge in source, edge


def test_a_node_says_its_range_lock_hits_and_both_copies(sample):
    source = graph_of(at(sample, ev.Grow)).source
    assert "0:12 · lock_ref 1 · hits 1" in source
    assert "L1 # used 5-10, 1-4, 11-12" in source
    assert "L2 - copy of L1 36-47" in source


def test_the_legend_and_the_sentence_are_always_below(sample):
    for lang in ("en", "zh"):
        source = graph_of(frame_at(sample, 0), lang).source
        for _, char, name in theme.legend(lang):
            assert f"{html.escape(char)} {name}" in source, name
    assert "Nothing has happened yet" in graph_of(frame_at(sample, 0)).source


def test_only_what_the_event_touches_is_ringed(sample):
    assert graph_of(at(sample, ev.Split)).source.count('<TABLE BORDER="2"') == 2
    assert graph_of(at(sample, ev.Grow)).source.count('<TABLE BORDER="2"') == 0


def test_a_lost_node_is_still_drawn(sample):
    assert "L2 x lost" in graph_of(at(sample, ev.EvictHost)).source


def test_the_svg_has_the_patterns_of_the_other_views(sample):
    svg = tree_svg(at(sample, ev.Grow))
    for state in ("evictable", "host_only", "copy", "held", "promised", "in_flight"):
        assert f'fill="url(#kv-{state})"' in svg, state
        assert f'id="kv-{state}"' in svg, state
    ElementTree.fromstring(svg.encode())


def test_no_two_states_have_one_ground():
    assert len(set(graphs.GROUNDS.values())) == len(theme.LOOKS)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_hostile_names_stay_text(hostile, lang):
    for step in range(1, len(hostile) + 1, 3):
        svg = tree_svg(frame_at(hostile, step), lang)
        ElementTree.fromstring(svg.encode())
        assert "<script" not in svg


def test_the_wheels_dot_is_found_where_scripts_are(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    found = find_dot()
    assert found is not None
    assert found.parent == Path(sysconfig.get_path("scripts"))
    run = subprocess.run(
        [found, "-Tsvg"], input=b"digraph {a -> b}", capture_output=True, check=True
    )
    assert b"<svg" in run.stdout


def test_a_system_dot_wins(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: "/somewhere/dot")
    assert find_dot() == Path("/somewhere/dot")


def test_without_any_dot_the_error_names_the_remedy(monkeypatch, sample, tmp_path):
    monkeypatch.setattr(graphs, "find_dot", lambda: None)
    monkeypatch.setattr(dot_command, "DOT_BINARY", tmp_path / "no-dot")
    with pytest.raises(KvlabError, match="pip install graphviz-pure"):
        tree_svg(frame_at(sample, 3))


def test_without_any_dot_the_dot_text_is_still_there(monkeypatch, sample, tmp_path):
    monkeypatch.setattr(graphs, "find_dot", lambda: None)
    monkeypatch.setattr(dot_command, "DOT_BINARY", tmp_path / "no-dot")
    assert "digraph" in graph_of(frame_at(sample, 3)).source


def test_a_locked_host_copy_is_said_at_its_node():
    trace = golden("s10", "sglang23")
    assert "host_lock_ref 1" in graph_of(at(trace, ev.HostLock)).source
    assert "host_lock_ref" not in graph_of(at(trace, ev.HostUnlock)).source


def test_the_frame_of_what_an_event_touches_stands_in_the_legend(sample):
    source = graph_of(at(sample, ev.Load)).source
    assert 'BORDER="2"' in source.split("in this event")[0].rsplit("<TD", 1)[1]
