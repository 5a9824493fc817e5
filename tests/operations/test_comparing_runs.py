"""Runs side by side: differences of parameters, metrics and code."""

from __future__ import annotations

import pytest
from measured import keep_code, train

from outlast.errors import UsageError
from outlast.model.parameters import run_parameters
from outlast.operations.comparing import compare_runs
from outlast.operations.parameters import masked_arguments, reproduce_command


def test_what_differs_is_found_and_the_best_wins(bench):
    train(bench, "base", params={"lr": "0.1", "batch": "32"})
    train(bench, "wide", low=0.1, params={"lr": "0.2", "batch": "32"})
    found = compare_runs(bench.settings, ["wide", "base"])
    assert found.differing("params") == ["lr"] and found.names("params") == ["batch", "lr"]
    wide, base = found.rows
    assert (wide.name, base.best["loss"]) == ("wide", (pytest.approx(2 / 9), 9.0))
    assert found.winners("loss") == found.winners("val_acc") == {base.run}
    assert base.stints == 2 and base.duration_s == pytest.approx(11.0) and base.code_differs == []


def test_sorting_puts_the_best_first_and_refuses_unknown_metrics(bench):
    train(bench, "bad", low=0.5)
    train(bench, "good")
    assert [row.name for row in compare_runs(bench.settings, ["bad", "good"], sort="loss").rows] == ["good", "bad"]
    assert [row.name for row in compare_runs(bench.settings, ["bad", "good"], sort="val_acc").rows] == ["good", "bad"]
    with pytest.raises(UsageError, match="did you mean 'loss'"):
        compare_runs(bench.settings, ["bad"], sort="los")


def test_equal_values_have_no_winner(bench):
    train(bench, "a")
    train(bench, "b")
    assert compare_runs(bench.settings, ["a", "b"]).winners("loss") == set()


def test_files_of_the_code_that_differ_are_named(bench):
    train(bench, "a", code=keep_code(bench.store, {"train.py": "1", "model.py": "1", "same.py": "1"}))
    train(bench, "b", code=keep_code(bench.store, {"train.py": "2", "same.py": "1", "new.py": "1"}))
    rows = compare_runs(bench.settings, ["a", "b"]).rows
    assert rows[1].code_differs == ["model.py", "new.py", "train.py"] and rows[0].code != rows[1].code


def test_a_pack_that_is_gone_is_not_a_failure(bench):
    train(bench, "a")
    bench.run(name="b")
    assert compare_runs(bench.settings, ["a", "b"]).rows[1].code_differs is None


@pytest.mark.parametrize(
    ("words", "params"),
    [
        (["--lr", "0.1", "--amp", "--batch=32"], {"lr": "0.1", "amp": "true", "batch": "32"}),
        (["-b", "8", "data.csv", "lr=0.1"], {"b": "8", "argument 1": "data.csv", "lr": "0.1"}),
        (["--shift", "-0.5"], {"shift": "-0.5"}),
        (["--api-key", "abc", "--token=t", "--tokens", "5"], {"api-key": "***", "token": "***", "tokens": "5"}),
    ],
)
def test_parameters_are_read_from_the_scripts_arguments(words, params):
    assert run_parameters({"args": words}) == params


def test_secrets_are_masked_in_the_command_too():
    spec = {
        "script": "train.py", "args": ["--hf_token", "hf_abc", "--password=x", "--lr", "0.1"],
        "params": {"secret": "s", "a b": "c d"}, "env": {"AWS_SECRET_ACCESS_KEY": "k", "MODE": "x"}, "limit_s": 3600.0,
        "secrets": ["WANDB"], "resources": {"cpus": 2, "gpus": 1},
    }  # fmt: skip
    command = reproduce_command(spec)
    assert "hf_abc" not in command and "=x " not in command.replace("MODE=x ", "") and "=k" not in command
    assert command.startswith("outlast run train.py '--param=secret=***' '--param=a b=c d' --limit=3600s")
    assert command.endswith("--cpus=2 --gpus=1 -- --hf_token '***' '--password=***' --lr 0.1")
    assert masked_arguments(["--key", "--lr", "1"]) == ["--key", "--lr", "1"]


def test_the_command_is_one_that_outlast_understands():
    import shlex

    import typer.main

    from outlast.cli.run import app

    spec = {
        "script": "train.py", "args": ["--epochs", "3"], "params": {"lr": "0.1"}, "limit_s": 90.0, "checkpoint": "ckpt",
        "contract": "modelarts",
        "output": "out", "until": "epoch>=3", "requirements": "r.txt", "env": {"A": "1"}, "secrets": ["TOKEN"],
        "inputs": [{"name": "mnist", "source": "file:///data/mnist"}],
        "resources": {"cpus": 2, "memory_bytes": 1 << 30, "gpus": 0, "npus": 1},
    }  # fmt: skip
    command = typer.main.get_command(app)
    context = command.make_context("outlast run", shlex.split(reproduce_command(spec))[2:])
    assert (context.params["limit"], context.params["contract"]) == ("90s", "modelarts")
    assert context.params["script_args"] == ["--epochs", "3"]
