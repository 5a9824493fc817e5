"""`login` to a platform, `platforms`, and the plan of a run that may go to several: as typed."""

from __future__ import annotations

import json
import sys
from importlib.metadata import EntryPoint

import pytest

from outlast.keeper.breakers import Breakers
from outlast.platforms import registry
from outlast.platforms.accounts import Accounts

TOKEN = "s3cret-token"


@pytest.fixture(autouse=True)
def faulty(monkeypatch, tmp_path):
    """The platform `faulty` is installed; returns the folder of the account's faults."""
    point = EntryPoint("faulty", "outlast.testing.faulty_platform:FaultyPlatform", registry.ENTRY_POINTS)
    monkeypatch.setattr(registry, "_others", lambda: {"faulty": point})
    monkeypatch.setenv("OUTLAST_REFUSAL_WAIT_S", "100")
    folder = tmp_path / "far"
    folder.mkdir()
    return folder


@pytest.fixture
def say(monkeypatch, tmp_path):
    """Lets a command find a line on its standard input."""
    opened = []

    def put(text: str) -> None:
        path = tmp_path / "stdin"
        path.write_text(text)
        opened.append(path.open())
        monkeypatch.setattr(sys, "stdin", opened[-1])

    put("")
    yield put
    for file in opened:
        file.close()


@pytest.fixture
def login(outlast, say, faulty):
    def call(*words: str) -> tuple[int, str, str]:
        say(f"{TOKEN}\n")
        common = ("--profile", "far", "--set", f"folder={faulty}", "--secret-stdin", "--in-file")
        return outlast("login", "faulty", *common, *words)

    return call


def listed(outlast, *words: str) -> dict[str, dict]:
    code, out, err = outlast("platforms", "--json", *words)
    assert code in (0, 11, 12), err
    return {each["name"]: each for each in json.loads(out)}


def test_account_is_tried_before_it_is_kept(outlast, login, faulty, tmp_path):
    (faulty / "standing.txt").write_text("signed-out down ok")
    code, _, err = login()
    assert code == 11 and "does not know us" in err
    code, _, err = login()
    assert code == 12 and "does not answer" in err and "--no-check" in err
    assert "far" not in listed(outlast)
    code, out, err = login("--set", "hours=10", "--set", "per=week", "--set", "limit=1h")
    assert code == 0, err
    assert "toy.free: 1 cpu, 1 h at a time, free" in out
    assert "kept as account far" in out and "outlast run train.py --on far" in out
    assert TOKEN not in out + err
    assert Accounts(tmp_path / "home").open("far").secrets == {"token": TOKEN}


def test_platforms_shows_state_limit_allowance_and_queue(outlast, login, faulty):
    login("--set", "hours=10", "--set", "per=week", "--set", "limit=1h")
    (faulty / "standing.txt").write_text("full")
    far = listed(outlast, "--check")["far"]
    assert (far["state"], far["queue"], far["limit_s"], far["allowed_s"]) == ("full", "3 jobs wait", 3600.0, 36000.0)
    assert far["offers"][0]["is_free"] is True
    code, out, _ = outlast("platforms")
    assert code == 0 and "0.0 s of 10 h this week" in out and "1 h" in out and "known" in out


def test_platforms_tells_which_one_is_left_alone_and_for_how_long(outlast, login, tmp_path):
    from outlast.errors import Unavailable

    login()
    Breakers(tmp_path / "home", 100.0).note("far", Unavailable("no V100 is free", why="full"))
    far = listed(outlast)["far"]
    assert (far["state"], far["refusals"]) == ("waiting", 1)
    assert 200 < far["retry_s"] <= 360 and "is full: no V100 is free" in far["detail"]
    login()  # its user has acted
    assert listed(outlast)["far"]["retry_s"] == 0


def test_platform_that_is_well_when_its_user_asks_is_no_longer_left_alone(outlast, login, faulty, tmp_path):
    from outlast.errors import Unavailable

    login()
    Breakers(tmp_path / "home", 100.0).note("far", Unavailable("it does not answer", why="down"))
    (faulty / "standing.txt").write_text("down")
    assert listed(outlast, "--check")["far"]["retry_s"] > 0
    assert listed(outlast, "--check")["far"]["retry_s"] == 0


def test_keys_for_a_store_may_be_what_a_platform_lacked(outlast, login, tmp_path):
    from outlast.errors import Unavailable

    login()
    breakers = Breakers(tmp_path / "home", 100.0)
    breakers.note("far", Unavailable("its store lets nobody in", why="refused"))
    breakers.note("other", Unavailable("no V100 is free", why="full"))
    code, _, err = outlast("login", "hdfs", "--endpoint", "http://127.0.0.1:9", "--user", "ann", "--no-check")
    assert code == 0, err
    assert list(breakers.all()) == ["other"]


def test_platform_that_is_away_or_refuses_us_is_told_by_the_exit_code(outlast, login, faulty):
    login()
    (faulty / "standing.txt").write_text("down signed-out")
    assert outlast("platforms", "--check")[0] == 12
    assert outlast("platforms", "--check")[0] == 11


def test_whoami_and_logout_know_accounts_and_never_show_a_secret(outlast, login):
    login()
    code, out, _ = outlast("whoami", "--json")
    assert code == 0 and json.loads(out)[0]["origin"] == "account far" and TOKEN not in out
    assert outlast("logout", "far")[1] == "forgot profile far\n"
    assert "far" not in listed(outlast)
    code, _, err = outlast("logout", "far")
    assert code == 10 and "no profile 'far'" in err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "needs: folder"),
        (("--set", "folder=/x", "--set", "hour=1"), "did you mean 'hours'?"),
        (("--set", "folder=/x", "--set", "per=fortnight"), "'fortnight' is not a period"),
        (("--set", "folder=/x", "--set", "limit=soon"), "limit 'soon' is not a duration"),
        (("--set", "folder"), "is not NAME=VALUE"),
        (("--region", "cn-north-4"), "has no region"),
        (("--set", "folder=/x", "--set", "token=abc"), "--secret-stdin"),
        (("--set", "folder=/x", "--profile", "local"), "that of this machine"),
    ],
)
def test_wrong_words_are_told_before_anything_is_asked(outlast, say, words, told):
    code, out, err = outlast("login", "faulty", *words)
    assert code == 2 and told in err and not out


def test_platform_that_nobody_signed_in_to_cannot_be_asked_for(outlast, tmp_path):
    (tmp_path / "train.py").write_text("print(1)\n")
    code, _, err = outlast("run", str(tmp_path / "train.py"), "--on", "faulty")
    assert code == 2 and "nobody is signed in to faulty here (--on)" in err and "outlast login faulty" in err
    code, _, err = outlast("login", "nowhere")
    assert code == 2 and "modelarts" in err and "faulty" in err


def test_plan_shows_each_platform_and_warns_of_a_script_that_is_tied_to_one_device(outlast, say, faulty, tmp_path):
    words = ("--profile", "pool", "--set", f"folder={faulty}/ascend", "--set", "limit=30m")
    assert outlast("login", "faulty", *words)[0] == 0
    folder = tmp_path / "tied"
    folder.mkdir()
    (folder / "train.py").write_text("import torch\nmodel = torch.nn.Linear(1, 1).cuda()\n")
    (folder / "outlast.toml").write_text('[run]\nscript = "train.py"\nplatform = ["pool", "local"]\nlimit = "1h"\n')
    code, out, err = outlast("run", str(folder), "--dry-run", "--json")
    assert code == 0, err
    plan = json.loads(out)
    assert [(each["name"], each["kind"], each["limit_s"], each["mirror"]) for each in plan["platforms"]] == [
        ("pool", "faulty", 1800.0, ""), ("local", "local", 3600.0, ""),
    ]  # fmt: skip
    assert any("tied to cuda" in notice and "pool seems to have only npu" in notice for notice in plan["notices"])
    assert any("a stint on local would have no such card" in notice for notice in plan["notices"])
    out = outlast("run", str(folder), "--dry-run")[1]
    assert "pool (faulty): 30 min each" in out and "local: 1 h each" in out
    (folder / "train.py").write_text("import torch\nuse = torch.cuda.is_available()\n")
    assert "tied to" not in outlast("run", str(folder), "--dry-run")[1]
    assert "local: 1 h each" not in outlast("run", str(folder), "--on", "local", "--dry-run")[1]


@pytest.mark.parametrize(
    ("line", "lacking"),
    [
        ("model = torch.nn.Linear(1, 1).cuda()", {"cpu-job", "ascend", "pai", "local"}),
        ("import torch_npu; model = torch.nn.Linear(1, 1).npu()", {"cpu-job", "free", "own", "pai", "local"}),
        ("use = torch.cuda.is_available()", set()),
    ],
)
def test_a_script_that_is_tied_to_one_device_is_warned_of_every_platform_without_it(
    outlast, say, tmp_path, line, lacking
):
    # What an unknown flavor has is guessed from the engine, which is one for CUDA here.
    flavors = {"free": [], "ascend": ["modelarts.kat1.xlarge"], "cpu-job": ["modelarts.vm.cpu.2u"], "own": ["our.own"]}
    for name, flavor in flavors.items():
        say("secret\n")
        words = ["--key", "AK", "--set", "store=obs://lab/x", *(f"--set=flavor={each}" for each in flavor)]
        code, _, err = outlast(
            "login", "modelarts", "--profile", name, *words, "--secret-stdin", "--in-file", "--no-check"
        )
        assert code == 0, err
    say("a password\n")
    words = ("--endpoint", "http://pai.lab", "--user", "ann", "--set", "store=hdfs://pai.lab:50070/x")
    assert outlast("login", "openpai", "--profile", "pai", *words, "--secret-stdin", "--in-file", "--no-check")[0] == 0
    (tmp_path / "train.py").write_text(f"import torch\n{line}\n")
    on = [word for name in (*flavors, "pai", "local") for word in ("--on", name)]
    code, out, err = outlast("run", str(tmp_path / "train.py"), *on, "--dry-run", "--json")
    assert code == 0, err
    told = [notice for notice in json.loads(out)["notices"] if "tied to" in notice]
    named = {name for name in (*flavors, "pai", "local") for notice in told if f" {name} " in notice}
    assert named == lacking and len(told) == len(lacking)
