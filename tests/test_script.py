"""Is a script checked as a whole, and refused with file, place and remedy?"""

from __future__ import annotations

import gzip
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from kvlab.errors import InputError
from kvlab.rules import Rules
from kvlab.run import script as sc
from kvlab.run.json_file import read_json
from kvlab.run.script import read_script


def written(folder: Path, *ops: dict[str, Any], **fields: Any) -> Path:
    """Write a script of the ops; `fields` replace what a good one says."""
    good = {"config": {"pool_tokens": 64}, "ops": list(ops)}
    path = folder / "a.json"
    path.write_text(json.dumps(good | fields))
    return path


def refusal(path: Path) -> str:
    """Return the words of the refusal, the file's folder left out."""
    with pytest.raises(InputError) as refused:
        read_script(path)
    return str(refused.value).removeprefix(f"{path.parent}/")


# --- what is read


def test_a_script_is_read_with_its_config_rules_and_ops(tmp_path):
    script = read_script(written(tmp_path, {"op": "insert", "tokens": [1, 2]}))
    assert script.config.pool_tokens == 64
    assert script.rules == Rules.v0_5_23()
    assert script.ops == [sc.InsertOp([1, 2])]


def test_a_script_without_a_name_is_called_after_its_file(tmp_path):
    assert read_script(written(tmp_path)).name == "a.json"


def test_a_script_names_its_release(tmp_path):
    script = read_script(written(tmp_path, sglang="0.5.14"))
    assert script.rules.name == "0.5.14"


def test_a_script_that_names_no_release_follows_the_newest(tmp_path):
    assert read_script(written(tmp_path)).rules == Rules.v0_5_23()


def test_rules_that_are_given_override_those_of_the_file(tmp_path):
    script = read_script(written(tmp_path, sglang="0.5.23"), Rules.v0_5_14())
    assert script.rules.name == "0.5.14"


def test_a_script_that_is_no_golden_has_no_records(tmp_path):
    script = read_script(written(tmp_path))
    assert (script.initial, script.records, script.totals) == (None, None, {})


def test_copies_wait_for_acks_unless_the_script_says_no(tmp_path):
    assert read_script(written(tmp_path)).manual_dma
    config = {"pool_tokens": 8, "manual_dma": False}
    assert not read_script(written(tmp_path, config=config)).manual_dma


def test_a_packed_script_is_read_whatever_its_name(tmp_path):
    path = tmp_path / "a.json"
    path.write_bytes(gzip.compress(written(tmp_path).read_bytes()))
    assert read_script(path).config.pool_tokens == 64


def test_fields_of_other_tools_are_ignored(tmp_path):
    assert read_script(written(tmp_path, author="somebody")).ops == []


EVERY_OP = [
    {"op": "match", "tokens": [1], "extra": "a"},
    {"op": "insert", "tokens": [1], "priority": 1, "chunked": True, "extra": None},
    {"op": "lock", "id": "a", "tokens": [1]},
    {"op": "unlock", "id": "a"},
    {"op": "evict", "n": 1},
    {"op": "evict_host", "n": 1},
    {"op": "ack_write", "k": 1},
    {"op": "ack_load"},
    {"op": "check_events"},
    {"op": "load_back", "tokens": [1], "quota": 3},
    {"op": "request_start", "id": "r", "tokens": [1], "finish_at_prefill": True},
    {"op": "decode", "id": "r", "token": 3},
    {"op": "request_finish", "id": "r", "is_insert": False},
    {"op": "request", "tokens": [1], "out": [2]},
    {"op": "round", "new": [{"id": "r", "tokens": [1], "max_new": 2}]},
    {"op": "decode_step"},
]


def test_every_op_of_the_protocol_is_known(tmp_path):
    script = read_script(written(tmp_path, *EVERY_OP))
    tags = [op.__struct_config__.tag for op in script.ops]
    assert tags == [op["op"] for op in EVERY_OP]


# --- ops that are refused


def test_an_unknown_op_is_refused_with_its_place(tmp_path):
    path = written(tmp_path, {"op": "evict", "n": 1}, {"op": "evikt", "n": 1})
    said = "a.json: Invalid value 'evikt' - at `$.ops[1].op`; an op is one of match, "
    assert refusal(path).startswith(said)


@pytest.mark.parametrize(
    ("op", "words", "remedy"),
    [
        (
            {"op": "evict"},
            "missing required field `n` - at `$.ops[0]`",
            "evict takes n",
        ),
        ({"op": "evict", "n": "1"}, "Expected `int`, got `str`", "evict takes n"),
        ({"op": "evict", "n": 1, "m": 1}, "unknown field `m`", "evict takes n"),
        ({"op": "match", "tokens": [1.5]}, "got `float`", "match takes tokens, extra"),
        ({"op": "match", "tokens": [True]}, "got `bool`", "match takes tokens, extra"),
        ({"op": "check_events", "n": 1}, "field `n`", "check_events takes nothing"),
        (
            {"op": "round", "new": [{"id": "r"}]},
            "missing required field `tokens` - at `$.ops[0].new[0]`",
            "a request of a round takes id, tokens, max_new, first_out, priority, "
            "ignore_eos",
        ),
        ({"n": 1}, "missing required field `op`", "an op is one of match, insert"),
        ({"op": ["evict"]}, "at `$.ops[0].op`", "an op is one of match, ins"),
        (7, "Expected `object`, got `int` - at `$.ops[0]`", "an op is one of match,"),
    ],
)
def test_an_op_of_another_shape_is_refused_with_what_it_takes(
    tmp_path, op, words, remedy
):
    problem, _, told = refusal(written(tmp_path, op)).partition("; ")
    assert words in problem
    assert told.startswith(remedy)


@pytest.mark.parametrize(
    ("op", "words"),
    [
        ({"op": "evict", "n": -1}, "ops[0]: n is -1; use 0 or more"),
        ({"op": "evict_host", "n": -2}, "ops[0]: n is -2; use 0 or more"),
        ({"op": "ack_write", "k": -1}, "ops[0]: k is -1; use 0 or more"),
        (
            {"op": "load_back", "tokens": [1], "quota": -5},
            "ops[0]: quota is -5; use 0 or more",
        ),
        (
            {"op": "request_start", "id": "r", "tokens": [1], "max_new": -1},
            "ops[0]: max_new is -1; use 0 or more",
        ),
    ],
)
def test_a_negative_size_is_refused(tmp_path, op, words):
    assert refusal(written(tmp_path, op)) == f"a.json: {words}"


@pytest.mark.parametrize("bad", [-1, 2**31])
@pytest.mark.parametrize(
    "op",
    [
        lambda bad: {"op": "match", "tokens": [1, bad]},
        lambda bad: {"op": "request", "tokens": [1], "out": [bad]},
        lambda bad: {"op": "decode", "id": "r", "token": bad},
        lambda bad: {"op": "decode_step", "token": bad},
        lambda bad: {"op": "request_start", "id": "r", "tokens": [1], "first_out": bad},
    ],
)
def test_what_is_no_token_id_is_refused_wherever_it_stands(tmp_path, op, bad):
    said = refusal(written(tmp_path, op(bad)))
    assert said == (
        f"a.json: ops[0]: tokens: {bad} is no token id; use 0 to 2147483647"
    )


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ({"tokens": []}, "no tokens or max_new below 1; give at least one of each"),
        ({"max_new": 0}, "no tokens or max_new below 1; give at least one of each"),
        ({"tokens": [-1]}, "tokens: -1 is no token id; use 0 to 2147483647"),
        ({"first_out": -1}, "tokens: -1 is no token id; use 0 to 2147483647"),
    ],
)
def test_a_bad_request_of_a_round_is_refused_by_name(tmp_path, fault, words):
    new = {"id": "r7", "tokens": [1], "max_new": 1} | fault
    said = refusal(written(tmp_path, {"op": "round", "new": [new]}))
    assert said == f"a.json: ops[0]: request 'r7': {words}"


def test_a_request_without_outputs_is_refused(tmp_path):
    said = refusal(written(tmp_path, {"op": "request", "tokens": [1], "out": []}))
    assert said == (
        "a.json: ops[0]: a request without outputs; give one or more in out"
    )


@pytest.mark.parametrize(
    "op",
    [
        {"op": "request", "tokens": [], "out": [1]},
        {"op": "request_start", "id": "r", "tokens": []},
    ],
)
def test_a_request_without_tokens_is_refused(tmp_path, op):
    said = refusal(written(tmp_path, op))
    assert said == "a.json: ops[0]: a request without tokens; give one or more"


# --- files that are refused

PACKED = gzip.compress(bytes(range(256)) * 9)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"[1, 2]", 'no script; write {"config": '),
        (b"5", 'no script; write {"config": '),
        (b'{"ops": []}', 'no script; write {"config": '),
        (b'{"config": {}}', 'no script; write {"config": '),
        (b"", "not JSON: Input data was truncated; mend the file"),
        (b"{", "not JSON: Input data was truncated; mend the file"),
        (b"\x7fELF\x00\x01", "not JSON: JSON is malformed: invalid character (byte 0)"),
        (b'"\xff\xfe"', "not JSON: "),
        (PACKED[:20], "damaged gzip; fetch the file again"),
        (b"\x1f\x8b\x08garbage", "damaged gzip; fetch the file again"),
        (b"\x1f\x8bno gzip", "damaged gzip; fetch the file again"),
        (PACKED[:30] + b"xxxx" + PACKED[34:], "damaged gzip; fetch the file again"),
        (PACKED[:-8] + b"xxxxxxxx", "damaged gzip; fetch the file again"),
    ],
)
def test_what_is_no_script_is_refused(tmp_path, content, words):
    path = tmp_path / "a.json"
    path.write_bytes(content)
    assert refusal(path).startswith(f"a.json: {words}")


def test_a_file_that_is_not_there_is_refused(tmp_path):
    assert refusal(tmp_path / "a.json") == "a.json: No such file or directory"


def test_a_directory_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"a directory; name a file in it$"):
        read_script(tmp_path)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"config": {"pool_tokens": 0}}, "pool_tokens is 0; use at least 1"),
        ({"config": {"pool": 8}}, "Object contains unknown field `pool`"),
        ({"config": {}}, "Object missing required field `pool_tokens`"),
        ({"config": []}, "Expected `object`, got `array` - at `$.config`"),
        (
            {"config": {"pool_tokens": 8, "manual_dma": "no"}},
            "Expected `bool | null`, got `str` - at `$.manual_dma`",
        ),
        ({"sglang": "0.4"}, "no rule book for SGLang '0.4'; kvlab has 0.5.14, 0.5.23"),
        ({"sglang": [1]}, "Expected `str`, got `array` - at `$.sglang`"),
        ({"ops": {}}, "Expected `array`, got `object` - at `$.ops`"),
        ({"records": 5}, "Expected `array | null`, got `int` - at `$.records`"),
        ({"records": [5]}, "Expected `object`, got `int` - at `$.records[0]`"),
        ({"initial": []}, "Expected `object | null`, got `array` - at `$.initial`"),
    ],
)
def test_a_bad_field_is_refused_by_name(tmp_path, fields, words):
    said = refusal(written(tmp_path, **fields))
    assert said == f"a.json: {words}; mend the script"


def test_more_records_than_ops_are_refused(tmp_path):
    said = refusal(written(tmp_path, records=[{}]))
    assert said == "a.json: 1 records of 0 ops; record the script again"


def test_a_file_that_unpacks_without_end_is_refused_before_it_is_held(
    tmp_path, monkeypatch
):
    monkeypatch.setattr("kvlab.run.json_file.MOST_BYTES", 1 << 16)
    path = tmp_path / "bomb.json.gz"
    path.write_bytes(gzip.compress(b'{"config":"' + b"a" * 10**7))
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match="holds more than 0 MiB; name a script"):
            read_json(path)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def test_a_gzip_of_two_members_is_read_whole(tmp_path):
    path = tmp_path / "two.json.gz"
    path.write_bytes(gzip.compress(b'{"a":') + gzip.compress(b"1}"))
    assert read_json(path) == {"a": 1}
