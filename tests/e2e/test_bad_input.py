"""Requests that cannot work: one message with the value and the next step, the documented exit code, nothing left."""

import json

import pytest
from lab import AS_SOMEBODY, can_be_somebody

FOREVER = "import time\nprint('up', flush=True)\nwhile True: time.sleep(0.05)\n"


@pytest.fixture
def script(lab):
    lab.write("mnist/a.txt", "1")
    return lab.write("project/train.py", "print('hello')\n")


def left_in(home):
    """What a run would have left: records, blobs, markers, jobs, work folders, packs."""
    places = ("store/runs", "store/blobs", "inbox", "work", "local/jobs", "local/open")
    found = [path for place in places for path in (home / place).rglob("*")]
    return found + list(home.glob("cache/pack-*")) + list(home.glob("secrets.json")) + list(home.glob("crash.log"))


def refused(lab, code, words, *arguments, clean=True, **options):
    """The command is refused with one message, and leaves nothing behind."""
    done = lab.outlast(*arguments, check=False, **options)
    assert done.returncode == code, (done.stdout, done.stderr)
    assert done.stdout == ""
    assert done.stderr.count("error: ") == 1
    assert "Traceback" not in done.stderr
    assert "bug in outlast" not in done.stderr
    for word in words:
        assert word in done.stderr, (word, done.stderr)
    if clean:
        assert not (lab.home / "index.db").exists() or arguments[0] != "run"
        assert left_in(lab.home) == []
        assert lab.pids() == []
    return done.stderr


def test_missing_script_is_named_with_the_nearest(lab, script):
    words = ["no such script or folder: project/trian.py", "did you mean project/train.py?"]
    refused(lab, 2, words, "run", "project/trian.py")


def test_missing_script_without_a_neighbour_still_has_a_next_step(lab):
    refused(lab, 2, ["zzz.py", "like: outlast run train.py"], "run", "zzz.py")


def test_missing_data_is_named_with_the_nearest(lab, script):
    said = refused(lab, 2, ["no such file or folder: ./mnits"], "run", script, "--data", "./mnits")
    assert "did you mean ./mnist?" in said


def test_missing_data_without_a_neighbour_still_has_a_next_step(lab, script):
    refused(lab, 2, ["./zzz", "write it like --data ./mnist"], "run", script, "--data", "./zzz")


def test_missing_data_of_the_file_is_named_with_its_key(lab, script):
    lab.write("project/outlast.toml", '[run]\nscript = "train.py"\n[data]\ntrain = "./mnits"\n')
    refused(lab, 2, ["data.train in outlast.toml", "./mnits"], "run", "project")


def test_unknown_platform_lists_the_installed_ones(lab, script):
    refused(lab, 2, ["unknown platform 'locla'", "did you mean 'local'?", "installed: local"],
            "run", script, "--platform", "locla")  # fmt: skip


def test_limit_below_the_minimum_is_refused_up_front(lab, script):
    refused(lab, 2, ["--limit '200ms'", "1.0 s", "like 15m"], "run", script, "--limit", "200ms")


def test_limit_that_is_no_duration_says_how_to_write_one(lab, script):
    refused(lab, 2, ["--limit 'soon'", "not a duration", "1h30m"], "run", script, "--limit", "soon")


@pytest.mark.parametrize(
    ("option", "place"), [("--checkpoint", "../ckpt"), ("--checkpoint", "/ckpt"), ("--output", ".")]
)
def test_place_outside_the_work_folder_is_refused(lab, script, option, place):
    refused(lab, 2, [f"{option} '{place}'", "work folder", "like 'ckpt'"], "run", script, option, place)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--data", "a=./mnist", "--data", "a=./project"], ["--data a=./project", "--data a=./mnist", "same name 'a'"]),
        (["--data", "./mnist", "--data", "./mnist/a.txt"], ["lie in each other", "--data NAME=SRC"]),
        (["--data", "ckpt=./mnist", "--checkpoint", "ckpt"], ["--checkpoint 'ckpt'", "share a place", "like 'ckpt'"]),
        (["--data", "out=./mnist", "--output", "out/x"], ["--output 'out/x'", "share a place"]),
        (["--data", "train.py=./mnist"], ["over the script train.py", "--data NAME=SRC"]),
        (["--param", "lr=1", "--param", "lr=2"], ["--param lr is given twice", "keep one"]),
        (["--env", "A=1", "--env", "A=2"], ["--env A is given twice", "keep one"]),
        (["--secret", "HOME", "--secret", "HOME"], ["--secret HOME is given twice", "keep one"]),
        (["--env", "HOME=x", "--secret", "HOME"], ["HOME is both a variable", "keep one"]),
        (["--platform", "local,local"], ["'local,local'", "twice", "name each once"]),
    ],
)
def test_two_names_for_one_thing_are_refused(lab, script, options, words):
    refused(lab, 2, words, "run", script, *options)


def test_folder_with_two_likely_scripts_asks_for_one(lab, script):
    lab.write("project/main.py", "")
    refused(lab, 2, ["both train.py and main.py", "outlast run"], "run", "project")


def test_name_of_an_open_run_is_taken(lab):
    run = lab.submit(lab.write("project/train.py", FOREVER), "--name", "tidy")
    said = refused(lab, 2, ["'tidy' is taken by", run, f"outlast stop {run}"], "run", "project/train.py",
                   "--name", "tidy", clean=False)  # fmt: skip
    assert "--name" in said
    assert [row["id"] for row in json.loads(lab.outlast("ps", "--json").stdout)] == [run]
    lab.outlast("rm", run, "--force")


def test_missing_requirements_file_is_named(lab, script):
    refused(lab, 2, ["--requirements 'reqs.txt'", "no such file", "requirements.txt"],
            "run", script, "--requirements", "reqs.txt")  # fmt: skip


def test_more_than_the_machine_has_is_refused(lab, script):
    refused(lab, 2, ["--cpus 4096", "at most --cpus"], "run", script, "--cpus", "4096")


def test_several_mistakes_are_told_together(lab, script):
    refused(lab, 2, ["--stints '0'", "--until 'loss'", "--data ./mnist"],
            "run", script, "--stints", "0", "--until", "loss", "--data", "./nothing")  # fmt: skip


def test_wrong_flag_names_the_nearest_and_where_the_scripts_own_go(lab, script):
    refused(lab, 2, ["unknown option --limt", "did you mean --limit?", "after --", "outlast run --help"],
            "run", script, "--limt", "5s")  # fmt: skip


def test_unknown_verb_names_the_nearest(lab):
    refused(lab, 2, ["unknown command 'runn'", "did you mean 'run'?", "outlast --help"], "runn")


@pytest.mark.parametrize("verb", ["show", "resume", "rm"])
def test_unknown_run_is_not_found(lab, verb):
    refused(lab, 10, ["no run '0101-quiet-otter'", "outlast ps"], verb, "0101-quiet-otter")


def test_whole_id_of_no_run_is_not_found(lab):
    refused(lab, 10, ["no run '0101-quiet-otter-abc'", "outlast ps"], "show", "0101-quiet-otter-abc")


def test_ambiguous_beginning_lists_the_runs(lab, script):
    ids = [lab.submit(script), lab.submit(script)]
    for run in ids:
        lab.wait(run)
    # At midnight the two ids may begin differently; what they share is still the beginning of both or of none.
    common = ids[0][:2]
    assert ids[1].startswith(common)
    refused(lab, 2, [f"2 runs begin with '{common}'", *ids, "write more"], "show", common, clean=False)


def test_file_that_looks_like_a_secret_is_not_packed(lab, script):
    lab.write("project/.env", "TOKEN=hunter2hunter2")
    said = refused(lab, 2, [".env", "--exclude", "--allow-secret-files"], "run", script)
    assert "hunter2" not in said


def test_missing_secret_says_how_to_give_it(lab, script):
    refused(lab, 2, ["no value for secret NOPE_TOKEN", "export NOPE_TOKEN="], "run", script, "--secret", "NOPE_TOKEN")


@pytest.mark.skipif(not can_be_somebody(), reason="user namespaces are not allowed here")
def test_unreadable_data_is_refused_with_the_permission_to_give(lab, script):
    data = lab.write("data/a.txt", "1")
    data.chmod(0)
    refused(lab, 2, ["--data ./data/a.txt", "no permission", "chmod"], "run", script, "--data", "./data/a.txt",
            before=AS_SOMEBODY)  # fmt: skip


@pytest.mark.skipif(not can_be_somebody(), reason="user namespaces are not allowed here")
def test_unreadable_code_is_refused(lab, script):
    lab.write("project/locked.py", "").chmod(0)
    refused(lab, 2, ["locked.py", "--exclude"], "run", script, before=AS_SOMEBODY)


def test_no_such_stint_is_not_found(lab, script):
    run = lab.submit(script)
    lab.wait(run)
    refused(lab, 10, ["no stint 7", "it has 1"], "logs", run, "--stint", "7", clean=False)
