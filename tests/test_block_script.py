"""Is a scenario that cannot be run refused, and a changed golden told apart?"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from kvlab.cli import main
from kvlab.errors import InputError
from kvlab.run.block_ops import BlockOps, ChunkOps
from kvlab.run.block_runner import BlockRunner
from kvlab.run.block_script import is_scenario, read_scenario

GOLDENS = Path(__file__).parent / "goldens" / "vllm"


def read(**scenario: object):
    return read_scenario("x.json", {"mode": "sched", **scenario})


A_REQUEST = {"id": "a", "prompt": [1], "out": 1}


@pytest.mark.parametrize(
    ("scenario", "words"),
    [
        ({"mode": "dance"}, "mode 'dance'"),
        ({"config": {"num_gpu_blocks": 0}}, "num_gpu_blocks is 0"),
        ({"config": {"num_gpu_block": 4}}, "unknown field `num_gpu_block`"),
        ({"config": {"policy": "lifo"}}, "policy"),
        ({"requests": [{"id": "a", "prompt": [], "out": 1}]}, r"requests\[0\]"),
        ({"requests": [{"id": "a", "prompt": [1], "out": 0}]}, "out below 1"),
        ({"requests": [{"id": "a", "prompt": [1], "out": 1}] * 2}, "second request"),
        ({"requests": [A_REQUEST | {"arrival": 3, "abort": 2}]}, "abort before"),
        ({"requests": [A_REQUEST | {"bad_load": -1}]}, "bad_load below 0"),
        ({"mode": "kv", "ops": [{"op": "dance"}]}, "dance"),
        ({"mode": "cpu", "config": {}}, "num_chunks"),
        (
            {"mode": "cpu", "config": {"num_chunks": 1}, "ops": [{"op": "dance"}]},
            r"ops\[0\]: op 'dance'; use lookup, store",
        ),
    ],
)
def test_a_scenario_that_cannot_be_run_is_refused_with_its_place(scenario, words):
    with pytest.raises(InputError, match=words):
        read(**scenario)


A = {"op": "new", "id": "a", "tokens": [1, 2, 3, 4, 5]}
STORE = {"op": "store", "req": "r", "keys": [1, 2]}


@pytest.mark.parametrize(
    ("ops", "words"),
    [
        ([{"op": "lookup", "id": "a"}], r"ops\[0\]: no request 'a'"),
        ([A, A], r"ops\[1\]: request 'a' is made twice"),
        ([A | {"tokens": []}], "'a' has no tokens"),
        ([{"op": "evict", "blocks": [1, 9]}], r"blocks \[1, 9\]; use 1 to 4"),
        ([A, {"op": "alloc", "id": "a", "n": -1}], "a count below 0"),
        ([A, {"op": "alloc", "id": "a"}], "'a' asks for no token; give n"),
        (
            [A, *[{"op": "alloc", "id": "a", "n": 1, "external": 4}] * 2],
            r"ops\[2\]: 'a' holds blocks already",
        ),
        (
            [A, {"op": "cache_blocks", "id": "a", "n": 5}],
            "'a' has blocks for 0 tokens of 4; allocate first",
        ),
    ],
)
def test_an_operation_on_blocks_that_makes_no_sense_is_refused(ops, words):
    config = {"num_gpu_blocks": 5, "block_size": 4}
    scenario = read(mode="kv", config=config, ops=ops)
    with pytest.raises(InputError, match=words):
        played(BlockOps(scenario), len(ops))


@pytest.mark.parametrize(
    ("ops", "words"),
    [
        ([STORE | {"keys": [1, 1]}], "names a key twice"),
        ([STORE | {"pos": [1]}], "2 keys and 1 positions"),
        ([STORE, STORE | {"op": "load"}], r"chunks \[1, 2\] are not here to be read"),
        ([STORE, STORE | {"op": "load_done"}], r"ops\[1\]: chunks .* not being read"),
    ],
)
def test_an_operation_on_chunks_that_makes_no_sense_is_refused(ops, words):
    scenario = read(mode="cpu", config={"num_chunks": 4}, ops=ops)
    with pytest.raises(InputError, match=words):
        played(ChunkOps(scenario), len(ops))


def played(engine, number: int) -> list:
    return [engine.step(at) for at in range(number)]


def test_a_script_of_sglang_is_no_scenario():
    assert not is_scenario({"config": {}, "ops": []})
    assert is_scenario({"mode": "kv"})


def test_defaults_are_those_of_the_recordings():
    config = read().config
    assert (config.num_gpu_blocks, config.block_size, config.max_num_seqs) == (
        64, 16, 128,
    )  # fmt: skip


def test_out_tokens_are_given_before_made_up_ones():
    spec = {"id": "a", "prompt": [1, 2], "out": 2, "out_tokens": [7]}
    runner = BlockRunner(read(requests=[spec]))
    sampled = [runner.step()["sampled"]["a"] for _ in range(2)]
    assert sampled == [7, 1_000_001]


def test_a_request_that_does_not_read_the_cache_loads_nothing_from_l2():
    spec = {"id": "a", "prompt": [1], "out": 3, "skip_read": True}
    l2 = {"num_cpu_blocks": 3, "lazy": True}
    config = {"num_gpu_blocks": 2, "block_size": 1, "l2": l2}
    config["scheduler_reserve_full_isl"] = False
    runner = BlockRunner(read(config=config, requests=[spec]))
    records = [runner.step() for _ in range(5)]
    assert records[1]["l2_store"]["cpu"] == [1]
    assert [record["l2_load"]["reqs"] for record in records] == [[]] * 5


def test_a_request_that_does_not_read_the_cache_counts_in_no_hit_rate():
    ops = [
        {"op": "new", "id": "a", "tokens": [1, 2], "skip_read": True},
        {"op": "lookup", "id": "a"},
        {"op": "alloc", "id": "a", "n": 2, "use_hit": True},
        {"op": "stats"},
    ]
    blocks = BlockOps(read_scenario("x.json", {"mode": "kv", "ops": ops}))
    records = [blocks.step(number) for number in range(4)]
    assert (records[2]["result"], records[3]["result"]["queries"]) == ([1], 0)


def test_a_run_that_cannot_go_on_ends():
    spec = {"id": "a", "prompt": [1, 2, 3], "out": 20}
    runner = BlockRunner(read(config={"num_gpu_blocks": 2}, requests=[spec]))
    while not runner.is_over:
        runner.step()
    assert runner.summary()["unfinished"] == ["a"]


def test_a_run_ends_at_its_last_step():
    spec = {"id": "a", "prompt": [1, 2, 3], "out": 20}
    runner = BlockRunner(read(config={"max_steps": 2}, requests=[spec]))
    runner.step()
    runner.step()
    assert runner.is_over


# --- conform


def changed(tmp_path: Path, golden: str, change) -> Path:
    raw = (GOLDENS / golden).read_bytes()
    data = json.loads(gzip.decompress(raw) if golden.endswith("gz") else raw)
    change(data)
    path = tmp_path / "changed.json"
    path.write_text(json.dumps(data))
    return path


def conformed(capsys, path: Path):
    status = main(["conform", str(path), "--json"])
    return status, json.loads(capsys.readouterr().out)


def test_conform_takes_vllms_goldens(capsys):
    status, report = conformed(capsys, GOLDENS / "t12_same_step_hit.json")
    assert (status, report["equal"], report["differences"]) == (0, 2, [])


def test_conform_names_a_changed_number(capsys, tmp_path):
    def change(data):
        data["records"][1]["after_update"]["free"] += 1

    path = changed(tmp_path, "t12_same_step_hit.json", change)
    status, report = conformed(capsys, path)
    assert (status, report["records"], report["equal"]) == (1, 2, 1)
    found = report["differences"][0]
    assert (found["record"], found["field"]) == (1, "after_update.free")
    assert (found["expected"], found["got"]) == (11, 10)


def test_conform_names_a_changed_summary(capsys, tmp_path):
    def change(data):
        data["summary"]["max_usage"] = 0.25

    path = changed(tmp_path, "t12_same_step_hit.json", change)
    status, report = conformed(capsys, path)
    assert (status, report["equal"]) == (1, 2)
    assert report["differences"][0]["field"] == "max_usage"


def test_conform_misses_no_step_that_was_not_recorded(capsys, tmp_path):
    def change(data):
        del data["records"][-1], data["summary"]

    path = changed(tmp_path, "t12_same_step_hit.json", change)
    status, report = conformed(capsys, path)
    assert status == 1
    assert report["differences"][0]["field"] == "steps"


def test_conform_misses_no_op_that_was_not_recorded(capsys, tmp_path):
    path = changed(
        tmp_path, "t17_reset_prefix_cache.json", lambda d: d["records"].pop()
    )
    status, report = conformed(capsys, path)
    assert (status, report["differences"][0]["field"]) == (1, "records")


def test_conform_finds_a_step_too_many(capsys, tmp_path):
    def change(data):
        data["records"].append(data["records"][-1])

    path = changed(tmp_path, "t12_same_step_hit.json", change)
    status, report = conformed(capsys, path)
    assert (status, report["differences"][0]["record"]) == (1, 2)


def test_conform_of_a_scenario_without_records_is_refused(capsys, tmp_path):
    path = changed(tmp_path, "t12_same_step_hit.json", lambda data: data.pop("records"))
    assert main(["conform", str(path)]) == 2
    assert "no recorded states" in capsys.readouterr().err
