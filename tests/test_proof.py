"""Does one command show the proof, and fail when it should?"""

from __future__ import annotations

import json

import pytest

from kvlab.lessons import proof
from kvlab.lessons.planted import FAULTS
from kvlab.lessons.proof import main
from kvlab.record import events as ev
from kvlab.record.trace_file import read_trace


@pytest.fixture(scope="module")
def told():
    from kvlab.lessons.reuse import Setting
    from kvlab.run.model import Spec

    setting = Setting(Spec(layers=2))
    return proof.report(setting, proof.prove(setting)[0])


def test_the_report_names_the_three_ways_with_their_tokens(told):
    assert "recompute     0       0        60   60 of  60   equal, every bit" in told
    assert "L1 hit       47       0        13   60 of  60   equal, every bit" in told
    assert "load_back     0      47        13   60 of  60   equal, every bit" in told


def test_the_report_has_a_line_for_every_fault(told):
    for name in FAULTS:
        assert f"  {name}: logits " in told
    assert told.count("touched it last") == len(FAULTS)


def test_the_proof_holds(told):
    assert told.endswith("holds")


def test_json_is_one_object_and_the_status_says_whether_it_holds(capsys, monkeypatch):
    monkeypatch.setattr(proof, "FAULTS", {"gap": FAULTS["gap"]})
    assert main(["--json", "--latent"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["holds"], list(found["faults"])) == (True, ["gap"])


def test_a_fault_that_does_no_harm_makes_the_proof_fail(monkeypatch, capsys):
    sound = proof.tell

    def harmless(name, *, planted=True, **how):
        return sound(name, planted=False, **how)

    monkeypatch.setattr(proof, "tell", harmless)
    monkeypatch.setattr(proof, "FAULTS", {"gap": FAULTS["gap"]})
    assert main([]) == 1
    assert capsys.readouterr().out.rstrip().endswith("FAILS")


def test_a_sound_cache_that_does_harm_makes_the_proof_fail(monkeypatch, capsys):
    tell = proof.tell

    def harmful(name, *, planted=True, **how):
        return tell(name, planted=True, **how)

    monkeypatch.setattr(proof, "tell", harmful)
    monkeypatch.setattr(proof, "FAULTS", {"gap": FAULTS["gap"]})
    assert main([]) == 1
    assert capsys.readouterr().out.rstrip().endswith("FAILS")


def test_a_recorded_fault_has_its_wrong_slots(tmp_path, capsys):
    path = tmp_path / "gap.jsonl.gz"
    assert main(["--fault", "gap", "--record", str(path)]) == 0
    kinds = [type(event) for event in read_trace(path).events]
    assert ev.Wrong in kinds
    assert "L1 slot" in capsys.readouterr().err


def test_the_sound_story_is_recorded_to_be_compared(tmp_path, capsys):
    path = tmp_path / "sound.jsonl.gz"
    assert main(["--fault", "gap", "--sound", "--record", str(path)]) == 0
    checks = [e for e in read_trace(path).events if isinstance(e, ev.Compared)]
    assert checks and not any(event.wrong for event in checks)
    assert "nothing is wrong" in capsys.readouterr().err


def test_a_recorded_fault_is_told_with_all_that_the_command_says(monkeypatch, tmp_path):
    told = {}

    def tell(name, **how):
        told.update(how)
        return sound(name, planted=False)

    sound = proof.tell
    monkeypatch.setattr(proof, "tell", tell)
    monkeypatch.setattr(proof.torch.cuda, "is_available", lambda: True)
    path = str(tmp_path / "run.jsonl.gz")
    main(["--record", path, "--device", "cuda", "--host-order", "page_first"])
    assert (told["device"], told["host_order"]) == ("cuda", "page_first")


def test_a_device_that_is_not_here_is_one_line_and_exit_2(capsys):
    assert main(["--device", "tpu"]) == 2
    assert capsys.readouterr().err == (
        "kvlab: no device 'tpu' here; use --device cpu\n"
    )


def test_a_torch_without_cuda_is_named(capsys, monkeypatch):
    monkeypatch.setattr(proof.torch.version, "cuda", None)
    monkeypatch.setattr(proof.torch.cuda, "is_available", lambda: False)
    assert main(["--device", "cuda"]) == 2
    assert "is built without CUDA); use --device cpu" in capsys.readouterr().err


def test_a_release_that_is_not_known_is_one_line_and_exit_2(capsys):
    assert main(["--rules", "9.9"]) == 2
    assert capsys.readouterr().err.startswith("kvlab: ")


def test_a_folder_as_a_target_is_one_line_and_exit_2(tmp_path, capsys):
    assert main(["--record", str(tmp_path)]) == 2
    assert "a directory; name a file" in capsys.readouterr().err
