"""Does a moment of a run become the file that was asked for, whole or not at all?"""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

import kvlab
from kvlab.errors import InputError, KvlabError
from kvlab.views.export import PICTURES, ZOOM, png, render
from kvlab.views.theme import LOOKS


def size_of(data):
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    return int.from_bytes(data[16:20]), int.from_bytes(data[20:24])


@pytest.mark.parametrize("what", PICTURES)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_view_is_an_svg_and_a_text(sample, tmp_path, what, lang):
    for ending in ("svg", "txt"):
        render(sample, 80, what, tmp_path / f"x.{ending}", lang)
    ElementTree.parse(tmp_path / "x.svg")
    assert (tmp_path / "x.txt").read_text("utf-8").endswith("\n")


@pytest.mark.parametrize("what", PICTURES)
def test_every_view_is_a_png_without_a_browser(sample, tmp_path, what):
    render(sample, 80, what, tmp_path / "x.PNG")
    width, height = size_of((tmp_path / "x.PNG").read_bytes())
    assert width > 400
    assert height > 100


def test_a_card_is_a_text_and_no_picture(sample, tmp_path):
    render(sample, 80, "card", tmp_path / "x.txt")
    text = (tmp_path / "x.txt").read_text("utf-8")
    assert text.startswith("NO_TOKEN: c is not admitted")
    with pytest.raises(InputError, match=r"text alone; name it \.txt"):
        render(sample, 80, "card", tmp_path / "x.svg")


def pattern_of(first, second):
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20">'
        '<defs><pattern id="p" width="6" height="6" patternUnits="userSpaceOnUse">'
        f'<rect width="6" height="6" fill="{first}"/>'
        f'<rect width="3" height="6" fill="{second}"/></pattern></defs>'
        '<rect width="40" height="20" fill="url(#p)"/></svg>'
    )


def test_patterns_survive_in_a_png():
    look = LOOKS["evictable"]
    hatched = png(pattern_of(look.ground, look.ink))
    assert size_of(hatched) == (40 * ZOOM, 20 * ZOOM)
    for flat in (look.ground, look.ink, "none"):
        assert hatched != png(pattern_of(flat, flat))


def test_a_size_in_points_is_understood():
    assert size_of(png('<svg xmlns="http://www.w3.org/2000/svg" width="30pt" '
                       'height="15pt"/>')) == (40 * ZOOM, 20 * ZOOM)  # fmt: skip


def test_the_tree_is_dot_text_too(sample, tmp_path):
    render(sample, 80, "tree", tmp_path / "x.dot")
    assert (tmp_path / "x.dot").read_text().startswith("digraph kvlab {")


@pytest.mark.parametrize(
    ("what", "name", "problem"),
    [
        ("tree", "x.jpg", "ending '.jpg' is not known; use .svg, .png, .dot or .txt"),
        ("tree", "x", "ending '' is not known"),
        ("pool", "x.dot", "only the tree is a graph, not pool"),
        ("clock", "x.svg", "use step, tree, pool, contents, timeline, account or card"),
    ],
)
def test_what_cannot_be_drawn_is_told(sample, tmp_path, what, name, problem):
    with pytest.raises(InputError) as told:
        render(sample, 80, what, tmp_path / name)
    assert problem in str(told.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("what", PICTURES)
@pytest.mark.parametrize("step", [-1, 143])
@pytest.mark.parametrize("ending", ["svg", "txt"])
def test_a_step_out_of_range_leaves_no_file(sample, tmp_path, what, step, ending):
    with pytest.raises(KvlabError, match=f"step {step}: is not in the run; use 0 to"):
        render(sample, step, what, tmp_path / f"x.{ending}")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_told(sample, tmp_path):
    with pytest.raises(InputError, match="cannot be written"):
        render(sample, 80, "account", tmp_path / "no" / "x.svg")


def test_a_failed_write_leaves_the_old_file_alone(sample, tmp_path, monkeypatch):
    path = tmp_path / "x.txt"
    path.write_text("old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("kvlab.files.os.replace", full)
    with pytest.raises(InputError, match="No space left"):
        render(sample, 80, "account", path)
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["x.txt"]


def test_hostile_names_stay_text_in_every_picture(hostile, tmp_path):
    for what in PICTURES:
        render(hostile, len(hostile), what, tmp_path / "x.svg")
        assert b"<script" not in (tmp_path / "x.svg").read_bytes()
        ElementTree.parse(tmp_path / "x.svg")


def test_the_accounts_are_rows_by_name_that_add_up():
    bench = kvlab.Workbench(pool_tokens=12, host_tokens=16)
    bench.insert(range(8))
    rows = list(kvlab.accounts(bench.trace))
    assert [row["event"] for row in rows] == list(range(1, len(bench.trace) + 1))
    assert rows[-1]["protected"] == rows[-1]["host_copies"] == 8
    terms = ("protected", "held", "evictable", "available")
    assert {sum(row[term] for term in terms) for row in rows} <= {12}
