"""What a contract promises is there when the script starts, and nothing else of the machine is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from stintbench import StintBench

from outlast.inside.contracts.base import Rendered
from outlast.inside.promised import lay_out, moxing_variables, played_folders, played_maps, staged_inputs
from outlast.inside.stores.access import Access

KEYS = Access("obs", "https://obs.example", key="AK", secret="SK-very-secret")
#: Uploads once and never ends by itself.
UPLOADING = """
import os, sys, time
import moxing as mox
print("args", sys.argv[1:], flush=True)
with mox.file.File(sys.argv[2].split("=")[1] + "last.ckpt", "w") as file:
    file.write("weights")
print("uploaded", flush=True)
while True: time.sleep(0.05)
"""
SAVING = """
import os, sys
folder = sys.argv[1].split("=")[1]
with open(os.path.join(folder, "a.ckpt"), "w") as file: file.write("weights")
"""


def v1(**changes):
    return {
        "contract": "modelarts-v1",
        "inputs": [{"name": "data_url", "source": "obs://outlast-data-url/", "path": ".outlast/inputs/data_url_0"}],
        "outputs": [{"name": "train_url", "target": "obs://bucket/out", "path": ".outlast/outputs/train_url_0"}],
        "maps": {"obs://outlast-data-url": "/d/mnist", "obs://bucket": "/d/bucket"},
        **changes,
    }


def test_a_folder_that_was_given_as_an_input_is_only_read():
    assert played_folders(v1(), played_maps(v1(), "/s")) == (["/d/bucket"], ["/d/mnist"])
    for contract in ("plain", "xihe", "openpai"):
        assert played_maps(v1(contract=contract), "/s") == {}
    assert played_folders({}, {}) == ([], [])


def test_a_single_file_plays_a_bucket_without_its_neighbours(tmp_path):
    for name in ("lenet.ckpt", "id_rsa"):
        (tmp_path / name).write_text(name)
    spec = v1(maps={"obs://outlast-pretrain-url": str(tmp_path / "lenet.ckpt")})
    maps = played_maps(spec, str(tmp_path / "stint"))
    (folder,) = map(Path, maps.values())
    assert folder.is_relative_to(tmp_path / "stint")
    assert [(path.name, path.read_text()) for path in folder.iterdir()] == [("lenet.ckpt", "lenet.ckpt")]
    assert played_maps(spec, str(tmp_path / "stint")) == maps  # a second try of the same stint


def test_only_the_first_generation_is_told_addresses_and_given_nothing():
    assert staged_inputs(v1()) == []
    assert len(staged_inputs(v1(contract="modelarts"))) == 1
    assert staged_inputs({"contract": "plain"}) == []


def test_moxing_gets_maps_and_the_keys_of_the_named_bucket_before_the_usual_ones():
    usual, named = KEYS, KEYS._replace(key="OTHER")
    maps = v1()["maps"]
    found = moxing_variables(v1(), maps, {"obs://": usual, "obs://bucket": named, "s3://store": KEYS})
    assert json.loads(found["OUTLAST_MAPS"]) == maps
    assert Access.from_json(found["OUTLAST_OBS_ACCESS"]) == named
    assert "OUTLAST_S3_ACCESS" not in found  # the run's own store is none of the script's business
    assert Access.from_json(moxing_variables(v1(outputs=[]), maps, {"obs://": usual})["OUTLAST_OBS_ACCESS"]) == usual
    assert moxing_variables(v1(contract="xihe"), maps, {"obs://": usual}) == {}


def test_files_and_folders_are_made_for_their_owner_alone(tmp_path):
    files = {str(tmp_path / "tables" / "rank.json"): "{}"}
    made = lay_out(Rendered([], {}, "", [str(tmp_path / "cache")], files, [], [], [], True), played_folders({}, {}))
    assert made == [str(tmp_path / "cache"), str(tmp_path / "tables")]
    assert all(Path(folder).stat().st_mode & 0o077 == 0 for folder in made)
    assert (tmp_path / "tables" / "rank.json").read_text() == "{}"


def test_an_upload_counts_as_a_checkpoint_and_the_next_stint_follows(tmp_path):
    bucket = tmp_path / "bucket"
    spec = v1(maps={"obs://bucket": str(bucket)}, inputs=[{"name": "x", "source": "obs://bucket/in", "path": "x"}])
    bench = StintBench(tmp_path, UPLOADING, name="free", checkpoint=".outlast/checkpoint", output=None, **spec)
    end = bench.play(limit_s=8.0, grace_s=0.5)
    assert (end.reason, end.message) == ("hand-over", "")
    assert "args ['--x=s3://bucket/in/', '--train_url=s3://bucket/out/']" in bench.log()
    assert (bucket / "out" / "last.ckpt").read_text() == "weights"
    noted = bench.file(
        ".outlast/checkpoint/uploads.json", f"runs/{bench.run}/checkpoints/{bench.checkpoints()[-1]}.json"
    )
    assert json.loads(noted) == {"obs://bucket/out/last.ckpt": 1}


@pytest.mark.parametrize("blocked", [False, True])
def test_a_run_has_finished_when_its_results_are_where_they_belong(tmp_path, blocked):
    bucket = tmp_path / "bucket"
    bucket.mkdir()
    if blocked:
        (bucket / "out" / "a.ckpt").mkdir(parents=True)
    output = {"name": "train_url", "target": "obs://bucket/out", "path": ".outlast/outputs/train_url_0"}
    bench = StintBench(
        tmp_path, SAVING, contract="modelarts", outputs=[output], maps={"obs://bucket": str(bucket)},
        checkpoint=output["path"], output=output["path"], name="saving",
    )  # fmt: skip
    end = bench.play()
    if not blocked:
        assert end.reason == "finished" and (bucket / "out" / "a.ckpt").read_text() == "weights"
        return
    assert (end.reason, end.cause) == ("setup-error", "place")
    assert "the script has finished, but output train_url could not be brought to obs://bucket/out/" in end.message
    assert "a folder of that name is there" in bench.log()
    assert bench.checkpoints()  # nothing is lost


def test_keys_for_moxing_are_masked_in_the_log(tmp_path):
    script = "import os; print(os.environ['OUTLAST_OBS_ACCESS']); print('MAPS', os.environ['OUTLAST_MAPS'])"
    bench = StintBench(tmp_path, script, contract="modelarts", maps={}, checkpoint="c", name="n")
    bench.access, bench.keys_for = KEYS, "obs://bucket"
    bench_keys = json.dumps({"obs://": KEYS._asdict()})
    bench.play(environ={"OUTLAST_SECRET_OUTLAST_ACCESSES": bench_keys})
    assert "SK-very-secret" not in bench.log() and "***" in bench.log() and "MAPS {}" in bench.log()
