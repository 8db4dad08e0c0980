"""Do the sliders of notebook 01 say what the formula says?"""

from __future__ import annotations

from kvlab.lessons.sliders import ceiling, told


def test_llama_on_eight_gpus_seats_48_of_32k():
    said, curve = told(80, 8, 128, 2, 8, 60, 32)
    assert "320 KiB" in said
    assert "1,572,864 tokens" in said
    assert "<b>48</b> sequences" in said
    assert curve.startswith("<svg")


def test_a_moved_slider_tells_anew():
    box = ceiling()
    dials = {dial.description: dial for dial in box.children[:-2]}
    before = box.children[-2].value
    dials["K tokens a sequence"].value = 128
    assert "<b>12</b> sequences" in box.children[-2].value != before


def test_in_the_chinese_folder_the_dials_and_the_axes_are_chinese(
    tmp_path, monkeypatch
):
    (tmp_path / "zh").mkdir()
    monkeypatch.chdir(tmp_path / "zh")
    box = ceiling()
    assert box.children[0].description == "层数"
    assert "横轴" in box.children[-1].value
