"""Each verb against a simulated client: what it prints, what JSON it gives, what it refuses."""

from __future__ import annotations

import dataclasses
import io
import json

import pytest
import simulated

from outlast.cli.logs import last_lines, skip_bytes
from outlast.cli.paint import Column, Ink, ago, clip, table
from outlast.cli.words import display_width
from outlast.model.request import RunRequest
from outlast.model.states import RunState
from outlast.model.view import LEDGER_COLUMNS


def test_ps_lists_runs_with_state_and_progress(outlast, client):
    code, out, _ = outlast("ps")
    assert code == 0
    header, row = out.splitlines()
    assert header.split()[:4] == ["id", "name", "state", "stints"]
    assert row.split()[:6] == [simulated.RUN, "digits", "succeeded", "3", "epoch", "30/30"]


def test_ps_json_is_a_list_of_short_views(outlast, client):
    (body,) = json.loads(outlast("ps", "--json")[1])
    assert {"id", "name", "state", "stints", "platform", "created_at"} <= set(body)
    assert body["state"] == "succeeded" and body["stints"] == 3


def many_runs(count: int, state: RunState = RunState.SUCCEEDED):
    base = simulated.Simulation().view(0.0)
    return [
        dataclasses.replace(
            base, id=f"1115-a-b-{number:03d}", state=state, created_at=f"2026-11-15T10:{number:02d}:00.000Z"
        )
        for number in range(count)
    ]


def test_ps_shows_open_runs_and_the_last_twenty(outlast, client, monkeypatch):
    old_open = [dataclasses.replace(many_runs(1, RunState.RUNNING)[0], id="1101-old-open-xyz", created_at="2026-11-01")]
    monkeypatch.setattr(client.runs, "list", lambda: many_runs(30) + old_open)
    out = outlast("ps")[1]
    assert out.count("1115-a-b-") == 20 and "1115-a-b-029" in out and "1115-a-b-009" not in out
    assert "1101-old-open-xyz" in out and "and 10 more" in out
    assert outlast("ps", "--all")[1].count("1115-a-b-") == 30
    assert len(json.loads(outlast("ps", "--state", "running", "--json")[1])) == 1


def test_ps_finds_sorts_and_shows_what_was_asked_for(outlast, client, monkeypatch):
    runs = [
        dataclasses.replace(run, name=f"mnist-{number}", params={"lr": f"0.{number}"}, metrics={"val_acc": number / 10})
        for number, run in enumerate(many_runs(9))
    ]
    monkeypatch.setattr(client.runs, "list", lambda: runs)
    out = outlast("ps", "-n", "mnist-*", "-w", "lr>=0.3", "-w", "val_acc<0.8", "--sort", "val_acc", "--limit", "3")[1]
    header, *rows, more = out.splitlines()
    assert header.split()[5:7] == ["lr", "val_acc"]
    assert [row.split()[1] for row in rows] == ["mnist-7", "mnist-6", "mnist-5"]
    assert [row.split()[6:8] for row in rows] == [["0.7", "0.7"], ["0.6", "0.6"], ["0.5", "0.5"]]
    assert more == "and 2 more; see them with a higher --limit"
    lowest = outlast("ps", "--sort", "-val_acc", "--limit", "1", "--json")[1]
    assert [view["name"] for view in json.loads(lowest)] == ["mnist-0"]
    assert outlast("ps", "-w", "lr=7")[1] == "no runs like that\n"
    code, _, err = outlast("ps", "-w", "lr~3")
    assert code == 2 and "'lr~3' is not a condition" in err


def test_ps_without_runs_says_how_to_start(outlast, client, monkeypatch):
    monkeypatch.setattr(client.runs, "list", list)
    assert "outlast run" in outlast("ps")[1]
    assert json.loads(outlast("ps", "--json")[1]) == []


def test_ps_refuses_an_unknown_state(outlast, client):
    code, _, err = outlast("ps", "--state", "done")
    assert code == 2 and "'done'" in err and "succeeded" in err


def test_ps_does_not_load_the_slow_parts():
    import subprocess
    import sys

    code = (
        "import sys; from outlast.cli.entry import main; main(['ps', '--state', 'bad']);"
        "print(sorted({'rich', 'pydantic', 'sqlalchemy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stdout + done.stderr


def test_show_has_every_section(outlast, client):
    code, out, _ = outlast("show", "digits")
    assert code == 0
    assert out.startswith(f"{simulated.RUN}  digits  succeeded\n")
    for title in ("stints", "ledger", "checkpoints", "metrics", "results", "next"):
        assert f"\n\n{title}\n" in out
    assert "hand-over" in out and "finished" in out
    assert "90.0% useful" in out
    assert out.count("epoch ") >= 5 and "and 25 older" in out
    assert f"outlast fetch {simulated.RUN}" in out


def test_show_json_has_stints_reasons_checkpoints_and_ledger(outlast, client):
    body = json.loads(outlast("show", "digits", "--json")[1])
    assert [stint["reason"] for stint in body["stints"]] == ["hand-over", "hand-over", "finished"]
    assert len(body["checkpoints"]) == 30
    assert set(body["ledger"]) <= set(LEDGER_COLUMNS)
    assert body["spec"]["script"] == "train.py"


@pytest.mark.parametrize("verb", ["show", "logs", "stop", "fetch", "rm", "resume"])
def test_unknown_run_is_ten_and_names_the_nearest(verb, outlast, client):
    code, out, err = outlast(verb, "nope")
    assert code == 10 and out == ""
    assert err.startswith("error: no run 'nope'; did you mean")


def test_logs_are_byte_for_byte(outlast, client):
    assert outlast("logs", "digits")[1] == "".join(simulated.line_of(epoch).decode() for epoch in range(1, 31))


def test_logs_tail_and_follow_continue_where_the_tail_ended(outlast, client):
    last = [simulated.line_of(epoch).decode() for epoch in (29, 30)]
    assert outlast("logs", "digits", "--tail", "2")[1] == "".join(last)
    assert outlast("logs", "digits", "--tail", "2", "-f")[1] == "".join(last)
    assert outlast("logs", "digits", "--tail", "0")[1] == ""
    assert outlast("logs", "digits", "--tail", "-1")[0] == 2


def test_last_lines_of_any_chunking():
    text = b"a\nbb\n\nccc\nhalf"
    for size in range(1, 8):
        chunks = [text[at : at + size] for at in range(0, len(text), size)]
        assert last_lines(chunks, 3) == b"\nccc\nhalf"
        assert last_lines(chunks, 99) == text
        assert b"".join(skip_bytes(chunks, 5)) == text[5:]


def test_stop_says_what_happens(outlast, use_client):
    running = simulated.Client(speed=1.0)
    use_client(running)
    code, out, _ = outlast("stop", "digits")
    assert code == 0 and running.runs.calls == ["stop"] and f"outlast resume {simulated.RUN}" in out


def test_stop_of_a_finished_run_says_so(outlast, client, monkeypatch):
    monkeypatch.setattr(client.runs, "stop", client.runs.get)
    assert "is over already: succeeded" in outlast("stop", "digits")[1]


def test_stop_refuses_a_wait_that_is_no_time(outlast, client):
    code, _, err = outlast("stop", "digits", "--wait", "soon")
    assert code == 2 and "--wait" in err and "'soon'" in err and client.runs.calls == []


def test_resume_passes_stint_and_limit_on(outlast, client):
    code, out, err = outlast("resume", "digits", "--from", "2", "--limit", "2h", "--detach")
    assert (code, out) == (0, simulated.RUN + "\n") and "outlast logs -f" in err
    assert client.runs.calls == ["resume 2 2h"]


def test_resumed_and_watched_run_does_not_repeat_its_history(outlast, client):
    code, out, _ = outlast("resume", "digits")
    assert code == 0
    assert "[outlast]" not in out and "epoch 1/30" not in out


def test_rm_looks_all_up_before_it_removes_one(outlast, client):
    assert outlast("rm", "digits", "nope")[0] == 10
    assert client.runs.calls == []
    assert outlast("rm", "digits", simulated.RUN, "--force")[1] == f"removed {simulated.RUN}\n"
    assert client.runs.calls == [f"remove {simulated.RUN} True"]


def test_fetch_goes_beside_by_default_and_tells_what_landed(outlast, client, monkeypatch):
    seen = []

    @dataclasses.dataclass
    class Fetched:
        run: str
        folder: object
        new: list
        same: list
        replaced: list
        size_bytes: int
        notices: list

    def fetch(ref, to, what, force):
        seen.append((ref, str(to), what, force))
        return Fetched(ref, to, ["model.npz"], ["a"], [], 2048, ["from its last checkpoint"])

    monkeypatch.setattr(client.runs, "fetch", fetch, raising=False)
    out = outlast("fetch", "digits")[1]
    assert seen == [(simulated.RUN, "digits-outputs", "outputs", False)]
    assert "digits-outputs/model.npz (new)" in out and "2.0 KB" in out and "1 there already" in out
    assert "notice: from its last checkpoint" in out
    assert json.loads(outlast("fetch", "digits", "--what", "logs", "--json")[1])["folder"] == "digits-logs"
    assert outlast("fetch", "digits", "--what", "weights")[0] == 2


def test_run_turns_every_option_into_the_request(outlast, client, monkeypatch):
    seen = []
    monkeypatch.setattr(client.runs, "submit", lambda request, **_: seen.append(request) or client.runs.get("digits"))
    given = (
        "run train.py -d a=./x -d y --checkpoint ck --output out --output o=./t -l 1h --stints 3 --until epoch>=9 "
        "-p lr=0.1 -p b=2 -r req.txt --python py -e A=1 -e B --secret TOKEN --cpus 2 --memory 8G --gpus 1 --npus 1 "
        "-n nm --platform local --grace 5s --retries 0 --no-network --sandbox off --include *.bin --exclude *.tmp "
        "--allow-secret-files --contract xihe --params c=3;d=4 --drop-unknown --ma-log --detach -- --lr 0.1 -x"
    ).split()  # fmt: skip
    assert outlast(*given)[0] == 0
    (request,) = seen
    expected = RunRequest(
        target="train.py", args=("--lr", "0.1", "-x"), cwd=request.cwd, data=("a=./x", "y"), checkpoint="ck",
        output=("out", "o=./t"), limit="1h", stints="3", until="epoch>=9", params=("lr=0.1", "b=2"),
        requirements="req.txt", python="py", env=("A=1", "B"), secrets=("TOKEN",), cpus=2, memory="8G", gpus=1, npus=1,
        name="nm",
        platform="local", grace="5s", retries=0, network=False, sandbox="off", include=("*.bin",), exclude=("*.tmp",),
        allow_secret_files=True, contract="xihe", running_parameters="c=3;d=4", drop_unknown=True, ma_log=True,
    )  # fmt: skip
    assert request == expected


def test_unsaid_options_stay_unsaid(outlast, client, monkeypatch):
    seen = []
    monkeypatch.setattr(client.runs, "submit", lambda request, **_: seen.append(request) or client.runs.get("digits"))
    outlast("run", "train.py", "--detach")
    assert seen == [RunRequest(target="train.py", cwd=seen[0].cwd)]


def test_dry_run_prints_the_plan_and_starts_nothing(outlast, client, monkeypatch):
    from types import SimpleNamespace

    from outlast.model.spec import CodePack, Input, RunSpec
    from outlast.operations.prospect import Prospect

    spec = RunSpec(
        id=simulated.RUN, name="digits", user="ann", created_at="now", script="train.py", args=("--fast",),
        params={"lr": "0.1"}, code=CodePack(sha256="0" * 64, size_bytes=2048, files=3), code_folder="/x/digits",
        python="/usr/bin/python3", env={"TOKEN": "very-private"},
        inputs=(Input(name="mnist", source="file:///d", path="mnist"),),
        limit_s=3600, store="file:///s",
    )  # fmt: skip
    platform = SimpleNamespace(command=("bwrap", "--", "python3", "train.py"), notices=())
    plan = SimpleNamespace(
        spec=spec, pack=None, platform=platform, notices=("bubblewrap is not installed",), destinations=(),
        prospect=Prospect("3 stints, 2 h, done today 14:20, 2 % lost", "as outlast probe measured"),
    )  # fmt: skip
    monkeypatch.setattr(client.runs, "plan", lambda request: plan, raising=False)
    code, out, _ = outlast("run", "train.py", "--dry-run")
    assert code == 0 and client.runs.calls == []
    for words in (
        "nothing was started", "train.py --lr=0.1 --fast", "3 files, 2.0 KB", "as many as it takes, 1 h each",
        "mnist: file:///d at mnist", "bwrap -- python3 train.py", "notice: bubblewrap is not installed", "TOKEN",
        "forecast   3 stints, 2 h, done today 14:20, 2 % lost (as outlast probe measured)",
    ):  # fmt: skip
        assert words in out
    assert "very-private" not in out
    plan.spec = dataclasses.replace(spec, code=CodePack(sha256="0" * 64, size_bytes=2048, files=1))
    assert "1 file, 2.0 KB" in outlast("run", "train.py", "--dry-run")[1]
    body = json.loads(outlast("run", "train.py", "--dry-run", "--json")[1])
    assert body["command"][0] == "bwrap" and body["spec"]["name"] == "digits"


def test_doctor_tells_what_is_missing_and_how_to_get_it(outlast, client):
    code, out, _ = outlast("doctor")
    assert code == 0 and "bubblewrap" in out and "apt install bubblewrap" in out
    assert json.loads(outlast("doctor", "--json")[1])[0]["name"] == "bubblewrap"


def test_doctor_exits_with_one_when_something_needed_is_missing(outlast, client, monkeypatch):
    monkeypatch.setattr(client, "doctor", lambda: [simulated.Finding("home", False, "read-only", "set OUTLAST_HOME")])
    assert outlast("doctor")[0] == 1


def test_reindex_counts_and_names_problems(outlast, client):
    out = outlast("reindex")[1]
    assert "3 runs in the list" in out and "spec.json is not JSON" in out
    assert json.loads(outlast("reindex", "--json")[1])["runs"] == 3


def test_config_shows_each_setting_with_its_origin(outlast, monkeypatch, tmp_path):
    monkeypatch.setenv("OUTLAST_KEEP_LAST", "7")
    rows = {line.split()[0]: line for line in outlast("config")[1].splitlines()[1:]}
    assert "environment OUTLAST_KEEP_LAST" in rows["keep_last"] and " 7 " in rows["keep_last"]
    assert "default" in rows["platform"]
    (body,) = json.loads(outlast("config", "keep_last", "--json")[1])
    assert body["value"] == "7" and body["default"] == "3"


def test_config_set_writes_and_mends(outlast, tmp_path):
    home = tmp_path / "home"
    assert outlast("config", "set", "keep_last", "5")[0] == 0
    assert "config.toml" in outlast("config", "keep_last")[1]
    (home / "config.toml").write_text("keep_last = 'many'\n")
    assert outlast("config")[0] == 2
    assert outlast("config", "set", "keep_last", "4")[0] == 0
    assert json.loads(outlast("config", "keep_last", "--json")[1])[0]["value"] == "4"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("keep_lsat",), "did you mean 'keep_last'?"), (("set", "keep_last"), "needs a name and a value"),
        (("set", "keep_last", "none"), "keep_last"), (("a", "b"), "'a b'"), (("set", "home", "/x"), "OUTLAST_HOME"),
    ],
)  # fmt: skip
def test_config_explains_what_it_cannot_do(words, expected, outlast):
    code, _, err = outlast("config", *words)
    assert code == 2 and expected in err


def test_tables_fit_narrow_terminals_and_wide_characters(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    columns = [Column("id"), Column("n", right=True), Column("text", flexible=True)]
    lines = table(columns, [["训练", "1", "很长" * 40], ["b", "22", "short"]], Ink())
    assert all(display_width(line) <= 40 for line in lines)
    assert lines[1].endswith("…")


def test_tables_in_a_pipe_are_not_cut(monkeypatch):
    monkeypatch.delenv("COLUMNS")
    lines = table([Column("id"), Column("text", flexible=True)], [["a", "long " * 100 + "end"]], Ink(io.StringIO()))
    assert lines[1].endswith("end")


def test_clip_removes_control_characters():
    assert clip("a\x1b[31mb\nc", 20) == "a [31mb c"


def test_ago_takes_what_is_not_a_time_as_it_is():
    assert ago("soon") == "soon"
    assert ago("2020-01-01T00:00:00.000Z").endswith(" ago")


class Store:
    """Stands behind `client.clean`: remembers what was asked."""

    def __init__(self, monkeypatch, client, **found) -> None:
        from outlast.operations.clean import Cleaned

        self.asked: list[dict] = []

        def clean(**words):
            self.asked.append(words)
            return Cleaned(words["dry_run"], **found)

        monkeypatch.setattr(client, "clean", clean, raising=False)


SOME = {"checkpoints": ["a 0001-000001", "a 0001-000002", "b 0001-000001"], "blobs": 4, "size_bytes": 3 * 1024**2}


def test_gc_dry_run_tells_and_removes_nothing(outlast, client, monkeypatch):
    store = Store(monkeypatch, client, **SOME)
    code, out, _ = outlast("gc", "--dry-run", "--keep-last", "2", "--keep-best", "val_acc")
    assert code == 0 and "2 old checkpoints of a" in out and "1 old checkpoint of b" in out
    assert "3.0 MB would be freed" in out
    assert store.asked == [{"keep_last": 2, "keep_best": "val_acc", "dry_run": True}]


def test_gc_refuses_to_remove_when_nobody_can_answer(outlast, client, monkeypatch):
    store = Store(monkeypatch, client, **SOME)
    code, _, err = outlast("gc")
    assert code == 2 and "--yes" in err
    assert [words["dry_run"] for words in store.asked] == [True]


def test_gc_removes_with_yes(outlast, client, monkeypatch):
    store = Store(monkeypatch, client, **SOME)
    assert outlast("gc", "--yes")[1].endswith("3.0 MB freed\n")
    assert [words["dry_run"] for words in store.asked] == [True, False]
    body = json.loads(outlast("gc", "--yes", "--json")[1])
    assert body["dry_run"] is False and body["blobs"] == 4


def test_gc_with_nothing_to_do_asks_nothing(outlast, client, monkeypatch):
    Store(monkeypatch, client)
    assert outlast("gc")[:2] == (0, "nothing to free\n")


def test_gc_keeps_at_least_one_checkpoint(outlast, client):
    code, _, err = outlast("gc", "--keep-last", "0")
    assert code == 2 and "--keep-last" in err


def test_probe_prints_the_forecast_and_exits_by_it(outlast, client, monkeypatch):
    from outlast.operations.forecast import Forecast

    seen = []
    monkeypatch.setattr(
        client, "probe", lambda request, **words: seen.append(words) or Forecast("17 stints, 2 % lost", stints=17),
        raising=False,
    )  # fmt: skip
    assert outlast("probe", "train.py", "--time", "5m")[:2] == (0, "17 stints, 2 % lost\n")
    assert seen[0]["time_s"] == 300.0
    assert json.loads(outlast("probe", "train.py", "--json")[1])["stints"] == 17
    monkeypatch.setattr(client, "probe", lambda request, **words: Forecast("never", possible=False))
    assert outlast("probe", "train.py")[0] == 1


def test_rehearse_exits_by_whether_the_trainings_agree(outlast, client, monkeypatch):
    from outlast.operations.compare import Difference, Place
    from outlast.operations.rehearse import Cut, Rehearsal

    first = Difference("metric", "loss", "0.3012", "0.3344", Place(epoch=4))
    bad = Rehearsal(False, str(first), "the optimizer", (first, first), (Cut("safe", 1.0, 1.0),), seed=7)
    monkeypatch.setattr(client, "rehearse", lambda request, **words: bad, raising=False)
    code, out, _ = outlast("rehearse", "train.py", "--checkpoint", "ck")
    assert code == 1
    assert out.startswith("loss at epoch 4: 0.3012 straight, 0.3344 interrupted\nlikely cause: the optimizer\n")
    assert "--seed 7" in out
    body = json.loads(outlast("rehearse", "train.py", "--json")[1])
    assert body["agree"] is False and body["differences"][0]["words"] == str(first)
    monkeypatch.setattr(client, "rehearse", lambda request, **words: Rehearsal(True, "both trainings agree"))
    assert outlast("rehearse", "train.py")[:2] == (0, "both trainings agree\n")
