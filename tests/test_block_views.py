"""Do the stills of a block run show what its state says?"""

from __future__ import annotations

import gzip
from pathlib import Path
from xml.etree import ElementTree

import pytest

from kvlab.cli import main
from kvlab.errors import InputError, TraceError
from kvlab.record.trace_file import engine_of, write_trace
from kvlab.run.block_run import load_blocks
from kvlab.run.workbench import Workbench
from kvlab.views.block_account import block_account_text, block_sum, usage_line
from kvlab.views.block_export import render_blocks
from kvlab.views.block_frame import block_frame_at
from kvlab.views.block_pool_map import (
    block_pool_svg,
    block_pool_text,
    cars,
    short_hash,
)
from kvlab.views.block_queue import block_queue_svg, block_queue_text

FOLDER = Path(__file__).parent / "goldens" / "vllm"


@pytest.fixture(scope="module")
def trace():
    return load_blocks(FOLDER / "t06_preempt_last_running.json")


def test_the_train_is_the_free_queue_head_first(trace):
    for step in range(0, len(trace), 7):
        frame = block_frame_at(trace, step)
        assert cars(frame.state.tiers["L1"]) == list(frame.state.tiers["L1"].free)


def test_of_a_long_train_both_ends_are_shown():
    big = load_blocks(FOLDER / "t24_l2_full_l1_empty_l2.json.gz")
    tier = block_frame_at(big, 0).state.tiers["L2"]
    shown, free = cars(tier), list(tier.free)
    assert shown.count(None) == 1
    at = shown.index(None)
    assert (shown[:at], shown[at + 1 :]) == (free[:at], free[-at:])


def test_the_account_adds_up_at_every_step(trace):
    for step in range(0, len(trace) + 1, 5):
        account = block_sum(block_frame_at(trace, step))
        assert account.holds
        assert account.total == 10


def test_the_gauge_is_vllms_formula_with_its_numbers(trace):
    frame = block_frame_at(trace, 70)
    free = len(frame.state.tiers["L1"].free)
    assert f"1 − {free} / (11 − 1) = {1 - free / 10:.3f}" in usage_line(frame)


def test_pool_and_train_are_in_the_picture(trace):
    svg = str(block_pool_svg(block_frame_at(trace, 70)))
    ElementTree.fromstring(svg)
    assert "72e7" in svg


def test_every_block_has_its_line_with_owners_and_hash(trace):
    frame = block_frame_at(trace, 70)
    lines = block_pool_text(frame).splitlines()
    assert len(lines) == 11
    assert "ref_cnt 1  58d0" in lines[0]
    assert lines[-1].endswith("8:72e7 7:c130")


def test_the_queue_names_every_request_with_its_table(trace):
    frame = block_frame_at(trace, 70)
    told = block_queue_text(frame)
    for id in (*frame.state.running, *frame.state.waiting):
        assert f"  {id}  " in told
    assert "preempted 1×" in told
    assert "[1 2 3 10]" in told
    ElementTree.fromstring(str(block_queue_svg(frame, "zh")))


def test_chinese_keeps_the_engines_own_words(trace):
    assert "空闲，有哈希 free, with a hash" in block_account_text(
        block_frame_at(trace, 70), "zh"
    )


def test_a_name_is_told_by_its_first_digits_or_its_number():
    names = (0x58D0879DFF38, 17, None)
    assert [short_hash(name) for name in names] == ["58d0", "#17", "–"]


@pytest.mark.parametrize("what", ["pool", "account", "queue"])
@pytest.mark.parametrize("ending", ["svg", "png", "txt"])
def test_render_writes_each_view_of_a_golden(tmp_path, what, ending):
    out = tmp_path / f"x.{ending}"
    golden = FOLDER / "t06_preempt_last_running.json"
    assert main(["render", str(golden), "--what", what, "-o", str(out)]) == 0
    assert out.stat().st_size > 40


def test_blocks_have_no_tree(trace, tmp_path):
    with pytest.raises(InputError, match="use pool, account or queue"):
        render_blocks(trace, 1, "tree", tmp_path / "x.svg")


def test_a_run_is_known_by_its_first_line(trace, tmp_path):
    bench = Workbench(pool_tokens=40, host_tokens=41)
    for name, run in (("a.jsonl", bench.trace), ("b.jsonl.gz", trace)):
        write_trace(run, tmp_path / name)
    assert engine_of(tmp_path / "a.jsonl") == "sglang"
    assert engine_of(tmp_path / "b.jsonl.gz") == "vllm"
    assert load_blocks(tmp_path / "a.jsonl") is None
    assert len(load_blocks(tmp_path / "b.jsonl.gz")) == len(trace)


def test_two_runs_are_drawn_beside_each_other(trace, tmp_path):
    bench = Workbench(pool_tokens=40, host_tokens=41)
    bench.insert(range(12))
    for name, run in (("a.jsonl", bench.trace), ("b.jsonl", trace)):
        write_trace(run, tmp_path / name)
    out = tmp_path / "both.txt"
    files = [str(tmp_path / "a.jsonl"), "--beside", str(tmp_path / "b.jsonl")]
    assert main(["render", *files, "-o", str(out)]) == 0
    assert "SGLang 0.5." in out.read_text()
    assert "vLLM 0.33.0" in out.read_text()


def test_a_scenario_of_the_cpu_pool_has_no_blocks_to_show():
    with pytest.raises(InputError, match="CPU pool alone"):
        load_blocks(FOLDER / "t27_cpu_pool_lru.json")


def test_what_is_no_run_has_no_engine(tmp_path):
    path = tmp_path / "x.jsonl.gz"
    path.write_bytes(gzip.compress(b"nothing\n"))
    assert engine_of(path) is None


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--rules", "0.5.23"], "has no --rules"),
        (["--what", "tree"], "use pool, account or queue"),
        (["--beside", "x.jsonl", "--step", "3"], "leave out --what and --step"),
    ],
)
def test_what_blocks_do_not_have_is_refused(tmp_path, capsys, options, said):
    golden = str(FOLDER / "t06_preempt_last_running.json")
    out = ["-o", str(tmp_path / "x.svg")]
    assert main(["render", golden, *options, *out]) == 2
    assert said in capsys.readouterr().err


def test_a_step_beyond_the_end_is_refused(trace):
    with pytest.raises(TraceError, match="is not in the run"):
        block_frame_at(trace, len(trace) + 1)
