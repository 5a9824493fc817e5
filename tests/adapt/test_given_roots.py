"""Data sets that look into a folder which another file of the program gives them."""

from __future__ import annotations

import pytest
from programs import Program

from outlast.migrate.engine import Kind


@pytest.mark.parametrize("contract", ["modelarts", "xihe"])
@pytest.mark.parametrize("root", ["root=root", "root"])
def test_a_data_set_whose_folder_is_handed_in_downloads_only_what_is_not_there(root, contract, tmp_path):
    program = Program(
        tmp_path / "code",
        train='from rows import load\nprint(load(root="./sets"))\n',
        rows=f"""
            from torchvision.datasets import CIFAR10
            def load(root, train=True):
                return CIFAR10({root}, train=train, download=True)
        """,
    )
    done = program.adapt(contract)
    told = [each for each in done.findings if "download" in each.message]
    assert not any(each.kind is Kind.HAND for each in told)
    assert not any("not visible" in each.message for each in told)
