"""Does `kvlab replay --engine both` set the two engines side by side?"""

from __future__ import annotations

import json

import pytest

from kvlab.cli import main
from kvlab.record.trace_file import read_block_trace, read_trace

ROWS = [
    {"timestamp": 500 * i, "input_length": 512 * len(ids), "output_length": 40,
     "hash_ids": ids}
    for i, ids in enumerate([[1, 2, 3], [1, 2, 4], [1, 2, 3, 5], [6], [1, 2]])
]  # fmt: skip
TIMED = ("--timing", "model", "--concurrency", "open", "--output-tokens", "trace",
         "--model", "llama-3-8b")  # fmt: skip


@pytest.fixture
def trace(tmp_path):
    path = tmp_path / "trace.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


def replay(trace, *options):
    base = ["replay", str(trace), "--page-size", "64", "--pool-tokens", "4096"]
    return main([*base, *options])


def figures(capsys, trace, *options):
    assert replay(trace, "--json", *options) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("options", [(), TIMED], ids=["serial", "timed"])
def test_each_engine_has_the_figures_of_its_own_replay(capsys, trace, options):
    both = figures(capsys, trace, "--engine", "both", *options)
    assert both.keys() == {"sglang", "vllm"}
    for engine, found in both.items():
        alone = figures(capsys, trace, "--engine", engine, *options)
        for name in ("device_hit_tokens", "computed_tokens", "evicted_tokens", "ttft_s",
                     "tree_sha256", "queue_sha256"):  # fmt: skip
            assert found.get(name) == alone.get(name), name


def test_the_table_uses_each_engines_own_word(capsys, trace):
    assert replay(trace, "--engine", "both", *TIMED) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["SGLang", "vLLM"]
    told = "\n".join(lines)
    for words in ("device hit tokens", "local hit tokens", "retract, times",
                  "preempt, times"):  # fmt: skip
        assert words in told


def test_both_runs_are_recorded_under_their_engines_names(trace, tmp_path):
    assert replay(trace, "--engine", "both", "--record", str(tmp_path / "r.jsonl")) == 0
    assert read_trace(tmp_path / "r.sglang.jsonl").header.engine == "sglang"
    assert read_block_trace(tmp_path / "r.vllm.jsonl").header.engine == "vllm"


def test_a_timed_run_of_blocks_uses_l2(capsys, trace):
    found = figures(
        capsys, trace, "--engine", "vllm", "--host-tokens", "65536",
        "--max-running", "1", *TIMED,
    )  # fmt: skip
    assert found["backed_up_tokens"] > 0
    assert 0 < found["l2_peak_usage"] <= 1
    assert found["peak_running"] == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--engine", "both", "--host-tokens", "8192"), "serial replay has no L2"),
        (("--engine", "vllm", "--host-ratio", "2"), "is SGLang's rule"),
        (("--engine", "vllm", "--max-running", "0", *TIMED), "max_num_seqs is 0"),
        (("--engine", "both", "--metrics-dir", ".", *TIMED), "what one engine exports"),
    ],
)
def test_what_vllm_does_not_have_is_refused_in_one_line(capsys, trace, options, said):
    assert replay(trace, *options) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
