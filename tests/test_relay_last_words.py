"""The last words of a script, and what they suggest."""

from __future__ import annotations

import pytest

from outlast.relay import suggest_fix


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("ModuleNotFoundError: No module named 'yaml'", "pyyaml"),
        ("/usr/bin/python: No module named torchvision.models", "add torchvision to"),
        ("torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB", "smaller batch"),
        ("RuntimeError: NPU out of memory. Tried to allocate", "smaller batch"),
        ("RuntimeError: No CUDA GPUs are available", "--gpus 1"),
        ("AssertionError: Torch not compiled with CUDA enabled", "--gpus 1"),
        ("FileNotFoundError: [Errno 2] No such file or directory: 'data/train.csv'", "'data/train.csv'"),
        ("OSError: [Errno 30] Read-only file system: '/results'", "--output"),
        ("PermissionError: [Errno 13] Permission denied: '/opt/x'", "--output"),
        ("OSError: [Errno 28] No space left on device", "disk is full"),
        ("MemoryError", "--memory"),
        ("RuntimeError: Error(s) in loading state_dict for Net:", "does not fit the model"),
        ("ValueError: loss is nan, stopping training", "learning rate"),
        ("train.py: error: unrecognized arguments: --lr 1", "after '--'"),
    ],
)
def test_well_known_last_words_get_a_suggestion(line, words):
    assert words in suggest_fix(("Traceback (most recent call last):", line, ""), 1)


def test_a_download_under_xihe_is_told_the_rule_of_that_contract():
    tail = ("urllib.error.URLError: <urlopen error [Errno -3] Temporary failure in name resolution>",)
    assert "--contract xihe there is no network" in suggest_fix(tail, 1, "xihe")
    assert "--contract" not in suggest_fix(tail, 1, "modelarts")


@pytest.mark.parametrize("exit_code", [137, -9])
def test_killed_script_probably_ran_out_of_memory(exit_code):
    assert "memory" in suggest_fix((), exit_code)


@pytest.mark.parametrize("exit_code", [0, 1, 85, 255, None])
def test_unknown_last_words_get_no_invented_suggestion(exit_code):
    assert suggest_fix(("epoch 3 loss 0.4 nancy", "goodbye {0} %s"), exit_code) == ""
