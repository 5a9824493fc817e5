"""The same command lines against a home and against a server say the same."""

import csv
import json
import re

import pytest
from terminal import alike

from outlast.errors import NotFoundError

TRAIN = "run train.py --name mine --data ./mnist --checkpoint ckpt --output out -- --epochs 3"


@pytest.fixture(scope="session")
def trained(here, there, project):
    """The same training at home and on the server; how each was told."""
    told = {}
    for name, terminal in (("here", here), ("there", there)):
        told[name] = terminal.type(TRAIN, project)
        assert told[name].code == 0, told[name]
    return told


def _ledger_free(text):
    """The ledger's columns depend on how long each phase took."""
    return re.sub(r"ledger\n(.*\n)*?SHARE useful\n", "", text)


def test_an_attached_run_tells_the_same(trained):
    here, there = (_ledger_free(alike(trained[name].out)) for name in ("here", "there"))
    assert here == there
    assert "epoch 3 loss 0.0333" in there and "succeeded" in there


@pytest.mark.parametrize(
    "line",
    [
        "ps --name mine", "ps --all --json --name mine", "ps --name nothing*", "ps --limit 1 --name mine",
        "ps --where loss<1 --sort loss --name mine",
        "ps --state bogus", "logs mine", "logs mine --tail 2", "logs mine -f", "logs mine --stint 1",
        "logs mine --stint 7", "chart mine", "chart mine --json -m loss", "chart mine -m nonsense", "compare mine mine",
        "compare mine --json", "evaluate mine --metric nothing", "stop mine",
        "resume mine", "show mien", "logs x -f", "resume mine --from 9",
        "explain train.py --data ./mnist", "run train.py --dry-run --data ./mnist --limit 1h", "run nothing.py",
        "run train.py --data ./nowhere", "run train.py --limit soon", "run train.py --environment bogus --dry-run",
        "sweep train.py -p lr=1 --at-once 0", "sweep show nothing", "sweep ls", "environments --json",
        "fetch mine --what everything", "rm nothing", "queue --bogus",
    ],
)  # fmt: skip
def test_a_command_says_the_same(trained, here, there, project, line, tmp_path):
    local, remote = here.type(line, project), there.type(line, project)
    assert remote.code == local.code, (local, remote)
    assert alike(remote.err) == alike(local.err)
    if "--json" in line:
        assert _shape(remote.out) == _shape(local.out)
    else:
        assert alike(remote.out) == alike(local.out)


def _shape(text):
    """The fields of a JSON document; of their values nothing but how many there are."""

    def of(value):
        if isinstance(value, dict):
            return {name: of(each) for name, each in value.items()}
        return [of(each) for each in value] if isinstance(value, list) else "value"

    return of(json.loads(text))


def test_curves_are_judged_and_exported_the_same(trained, here, there, tmp_path):
    judged = [json.loads(terminal.type("evaluate mine --json").out) for terminal in (here, there)]
    values = [[one["metrics"]["loss"][name]["value"] for name in ("best", "last")] for one in judged]
    assert values[0] == values[1]
    assert set(judged[0]) == set(judged[1])
    rows = []
    for name, terminal in (("here", here), ("there", there)):
        said = terminal.type(f"export mine --to csv -o {name}.csv", tmp_path)
        assert said.code == 0, said
        rows.append(list(csv.DictReader((tmp_path / f"{name}.csv").read_text().splitlines())))
    chosen = [[(row["metric"], row["epoch"], row["value"]) for row in one] for one in rows]
    assert chosen[0] == chosen[1] and len(chosen[0]) == 3


def test_show_says_the_same(trained, here, there):
    local, remote = here.type("show mine"), there.type("show mine")
    assert _ledger_free(alike(remote.out)) == _ledger_free(alike(local.out))
    fields = [set(json.loads(terminal.type("show mine --json").out)) for terminal in (here, there)]
    assert fields[0] == fields[1]


def test_results_come_home_the_same(trained, here, there, tmp_path):
    for name, terminal in (("here", here), ("there", there)):
        said = terminal.type("fetch mine --what all --to got", _made(tmp_path / name))
        assert said.code == 0, said
        again = terminal.type("fetch mine --what all --to got", tmp_path / name)
        assert "there already" in again.out
        page = terminal.type("report mine -o page.html", tmp_path / name)
        assert page.code == 0, page
    files = [
        {path.relative_to(tmp_path / name): path.read_bytes() for path in (tmp_path / name / "got").rglob("*.*")}
        for name in ("here", "there")
    ]
    assert files[0] == files[1] and len(files[0]) >= 3
    assert "epoch 3 loss 0.0333" in (tmp_path / "there" / "page.html").read_text()


def _made(folder):
    folder.mkdir()
    return folder


def test_a_sweep_tells_the_same(here, there, project):
    start = "sweep train.py --name grid --data ./mnist -p lr=0.1,0.2 --detach -- --epochs 2"
    for terminal in (here, there):
        assert terminal.type(start, project).code == 0
        for run in json.loads(terminal.type("ps --sweep grid --json").out):
            assert terminal.type(f"logs -f {run['id']}").code == 0
    local, remote = (re.sub(r"(?m)^lr .*$", "", alike(t.type("sweep show grid").out)) for t in (here, there))
    assert remote == local and "best loss" in remote
    assert there.type("sweep show grad").err == here.type("sweep show grad").err
    assert alike(there.type("sweep rm grid").out) == alike(here.type("sweep rm grid").out)
    assert there.type("sweep show grid").code == 10


def test_a_run_is_stopped_resumed_and_removed_from_afar(there, project):
    line = "run train.py --name long --data ./mnist --checkpoint ckpt --output out --detach -- --wait"
    assert there.type(line, project).code == 0
    assert there.type(line, project).code == 2  # the name is taken
    for piece in there.client().runs.logs("long", follow=True):
        if b"epoch 3" in piece:
            break
    assert "will stop" in there.type("stop long").out
    assert there.type("logs -f long").code == 0
    assert json.loads(there.type("ps --name long --json").out)[0]["state"] == "stopped"
    resumed = there.type("resume long")
    assert resumed.code == 0 and "succeeded" in resumed.out, resumed
    assert there.type("rm long").out.startswith("removed ")
    assert there.type("show long").code == 10


def test_a_run_goes_on_from_a_checkpoint_as_a_new_one(trained, here, there):
    for terminal in (here, there):
        runs = terminal.client().runs
        again = runs.clone("mine", checkpoint="last", name="onward", params=["epochs=5"])
        assert runs.wait(again.id, timeout=120).state == "succeeded"
        told = b"".join(runs.logs(again.id)).decode()
        assert "epoch 5 loss" in told and "epoch 3 loss" not in told
        assert runs.get(again.id).checkpoints[0].id == "0000-000001"
        afresh = runs.clone("mine")
        assert runs.wait(afresh.id, timeout=120).state == "succeeded"
        assert b"epoch 1 loss" in b"".join(runs.logs(afresh.id))
        with pytest.raises(NotFoundError):
            runs.clone("mine", checkpoint="0007-000001")
        for run in (again, afresh):
            runs.remove(run.id)


def test_what_is_worth_a_second_look_is_told_from_afar_too(here, there, project):
    strict = "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--lr')\nparser.parse_args()\n"
    (project / "strict.py").write_text(strict)
    told = [
        terminal.type("run strict.py --contract xihe --data data_url=./mnist", project) for terminal in (here, there)
    ]
    assert [each.code for each in told] == [1, 1], told
    local, remote = (re.search(r"notice: strict.*?--contract\s+xihe", each.err, re.S) for each in told)
    assert local and remote and alike(local[0]) == alike(remote[0])
    assert "teach it to accept them: outlast adapt strict.py" in " ".join(remote[0].split())
