"""`--output NAME=-`: a named output that stays with its run."""

import pytest

from outlast.errors import SpecError
from outlast.model.request import RunRequest
from outlast.operations.resolve import resolve
from outlast.settings import Settings


def _resolved(folder, contract):
    (folder / "train.py").write_text("print(1)\n")
    settings = Settings.load({"OUTLAST_HOME": str(folder / "home"), "USER": "ann"})
    return resolve(RunRequest(target="train.py", cwd=folder, contract=contract, output=("output_path=-",)), settings)


def test_an_output_without_a_target_stays_with_the_run(tmp_path):
    resolved = _resolved(tmp_path, "xihe")
    (output,) = resolved.outputs
    assert (output.name, output.target) == ("output_path", "")
    assert resolved.output == resolved.checkpoint == output.path


def test_a_contract_whose_outputs_are_addresses_needs_one(tmp_path):
    with pytest.raises(SpecError, match="write to an address themselves"):
        _resolved(tmp_path, "modelarts-v1")
