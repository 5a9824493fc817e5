"""Patterns of `outlast.toml` reach the spec, and a bad one is named before anything is spent."""

from __future__ import annotations

import pytest

from outlast.errors import SpecError
from outlast.model.request import RunRequest
from outlast.model.spec import CodePack
from outlast.operations.resolve import resolve
from outlast.settings import Settings


@pytest.fixture
def ask(tmp_path):
    (tmp_path / "train.py").write_text("print('training')\n")

    def ask(metrics: str):
        (tmp_path / "outlast.toml").write_text(f'[run]\nscript = "train.py"\n[metrics]\n{metrics}\n')
        return resolve(RunRequest(target=str(tmp_path), cwd=tmp_path), Settings.load({"USER": "ann"}, tmp_path / "h"))

    return ask


def test_patterns_reach_the_spec(ask):
    resolved = ask(r"patterns = ['my loss (?P<loss>[\d.]+)', '@(?P<step>\d+)']")
    spec = resolved.to_spec("0101-a-b", "", CodePack(sha256="0" * 64, size_bytes=1, files=1))
    assert spec.metric_patterns == (r"my loss (?P<loss>[\d.]+)", r"@(?P<step>\d+)")


@pytest.mark.parametrize(
    "metrics, words",
    [
        ("patterns = ['fine (?P<a>.)', 'lo(ss']", ["metrics.patterns", "'lo(ss'", "regular expression"]),
        ("patterns = ['loss (.*)']", ["'loss (.*)'", "named group"]),
        ("patterns = 'loss'", ["metrics.patterns", "a list of texts"]),
        ("pattern = ['x']", ["metrics.pattern", "patterns"]),
    ],
)
def test_a_bad_pattern_is_named(ask, metrics, words):
    with pytest.raises(SpecError) as caught:
        ask(metrics)
    assert all(word in str(caught.value) for word in words), str(caught.value)
