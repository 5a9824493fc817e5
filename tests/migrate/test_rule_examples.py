"""Every example beside every rule: what must change, what must not, and that a second look changes nothing."""

from __future__ import annotations

import ast

import example_files
import pytest

from outlast.migrate import Direction, Kind, migrate_text
from outlast.migrate.rules import all_rules

EXAMPLES = example_files.load()
CHANGED = [example for example in EXAMPLES if not example.is_kept]
#: Files with examples are called like the module of their rule.
RULES = {
    module: [rule.name for rule in all_rules() if type(rule).__module__.endswith(f".{module}")]
    for module in {example.rule for example in EXAMPLES}
}
KEPT = [example for example in EXAMPLES if example.is_kept]
#: What the code of an example may rely on, per target, so that the rules for imports stay out of the picture.
PRELUDES = {
    "npu": "import torch\nimport torch_npu\nimport os\nfrom torch import nn\nimport torch.distributed as dist\n",
    "cuda": "import torch\nimport os\nfrom torch import nn\nimport torch.distributed as dist\n",
    "any": "import torch\nimport torch.distributed as dist\n"
    'ACCELERATOR = torch.accelerator.current_accelerator() or torch.device("cpu")\n',
}


def prelude(example: example_files.Example) -> str:
    imports = any(line.lstrip().startswith(("import ", "from ")) for line in example.before.splitlines())
    return "" if example.bare or imports else PRELUDES[example.target]


def identity(example: example_files.Example) -> str:
    return f"{example.rule}-{example.target}-{example.before.strip()[:60]}"


@pytest.mark.parametrize("example", CHANGED, ids=identity)
def test_code_becomes_what_its_rule_promises(example):
    before, after = prelude(example) + example.before, prelude(example) + example.after
    direction = Direction(example.target)
    done = migrate_text(before, direction)
    assert done.text == after
    ast.parse(done.text)
    assert migrate_text(done.text, direction).text == done.text, "a second run changes something"
    if example.target == "npu" and not example.one_way:
        own = "import torch_npu\n" if "import torch_npu\n" in before else ""
        assert migrate_text(done.text, Direction("cuda")).text == before.replace(own, "", 1), "not the way it came"


@pytest.mark.parametrize("example", KEPT, ids=identity)
def test_code_that_is_no_device_stays_as_it_is(example):
    text = prelude(example) + example.before
    done = migrate_text(text, Direction(example.target))
    assert done.text == text
    assert all(finding.kind is not Kind.UNPARSED for finding in done.findings)


@pytest.mark.parametrize("example", [example for example in KEPT if example.said], ids=identity)
def test_code_that_somebody_must_look_at_is_reported(example):
    start = prelude(example)
    said = migrate_text(start + example.before, Direction(example.target)).findings
    assert any(finding.line > start.count("\n") and finding.rule in RULES[example.rule] for finding in said), said


def test_there_are_enough_examples_and_each_is_there_once():
    assert len(CHANGED) >= 400 and len(KEPT) >= 300, (len(CHANGED), len(KEPT))
    assert len({(e.rule, e.target, e.before) for e in EXAMPLES}) == len(EXAMPLES)
