"""Notebooks cell by cell, and YAML and shell files line by line."""

from __future__ import annotations

import json

import pytest

from outlast.migrate import Direction, Kind, SourceError
from outlast.migrate.notebook import migrate_notebook
from outlast.migrate.textfiles import migrate_lines


def notebook(*cells: str | list[str], indent: int | None = 1, kind: str = "code") -> str:
    body = {
        "cells": [
            {"cell_type": kind, "metadata": {}, "outputs": [{"text": ["cuda:0\n"]}], "source": cell} for cell in cells
        ],
        "metadata": {"kernelspec": {"name": "cuda"}}, "nbformat": 4, "nbformat_minor": 5,
    }  # fmt: skip
    return json.dumps(body, indent=indent, ensure_ascii=False) + "\n"


def sources(raw: str) -> list[str]:
    return ["".join(cell["source"]) for cell in json.loads(raw)["cells"]]


@pytest.mark.parametrize("indent", [None, 1, 4])
def test_cells_share_their_imports_and_the_rest_of_the_file_keeps_its_bytes(indent):
    raw = notebook(
        ["import torch\n", "x = 1  # 显卡"],
        ["print('cuda')"],
        ["y = x.to('cuda:0')\n", "torch.cuda.synchronize()"],
        indent=indent,
    )
    done = migrate_notebook(raw, Direction("npu"))
    assert sources(done.text) == [
        "import torch\nimport torch_npu\nx = 1  # 显卡",
        "print('cuda')",
        "y = x.to('npu:0')\ntorch.npu.synchronize()",
    ]
    outside = [[{**cell, "source": 0} for cell in json.loads(text)["cells"]] for text in (raw, done.text)]
    assert outside[0] == outside[1]
    assert migrate_notebook(done.text, Direction("cuda")).text == raw


def test_a_source_that_is_one_string_works_too():
    done = migrate_notebook(notebook("import torch\nx.cuda()"), Direction("npu"))
    assert sources(done.text) == ["import torch\nimport torch_npu\nx.npu()"]


def test_magic_lines_survive_and_findings_name_cell_and_line():
    raw = notebook(["%matplotlib inline\n", "!nvidia-smi\n", "import torch"], ["\n", "torch.cuda.nvtx.mark('x')"])
    done = migrate_notebook(raw, Direction("npu"))
    assert done.text == raw
    hand = [finding for finding in done.findings if finding.kind is Kind.HAND]
    assert [(finding.cell, finding.line, finding.rule) for finding in hand] == [(1, 2, "text"), (2, 2, "torch-module")]


COMMANDS = [
    ("!nvidia-smi", "!nvidia-smi"),
    ("import torch\n!CUDA_VISIBLE_DEVICES=0 python t.py", "import torch\n!ASCEND_RT_VISIBLE_DEVICES=0 python t.py"),
    (
        "!python t.py \\\n  --device cuda \\\n  --backend nccl\nx = 1",
        "!python t.py \\\n  --device npu \\\n  --backend hccl\nx = 1",
    ),
    ("%env CUDA_VISIBLE_DEVICES=0", "%env ASCEND_RT_VISIBLE_DEVICES=0"),
    ("%run train.py --device cuda:1", "%run train.py --device npu:1"),
    ("if True:\n    !python t.py --device=cuda\ny.cuda()", "if True:\n    !python t.py --device=npu\ny.npu()"),
    ("%%time\nx.cuda()", "%%time\nx.npu()"),
    ("%time y = x.cuda()", "%time y = x.npu()"),
    ("if True:\n    %timeit -n 10 -r3 x.cuda()\nx.cuda()", "if True:\n    %timeit -n 10 -r3 x.npu()\nx.npu()"),
    ("spent = %timeit -o -q x.cuda()", "spent = %timeit -o -q x.npu()"),
    ("%prun -s cumulative -l 20 x.cuda()", "%prun -s cumulative -l 20 x.npu()"),
    ("%lprun -f fit fit(x.cuda())", "%lprun -f fit fit(x.npu())"),
    ("%%timeit y = x.cuda()\ny.cuda()", "%%timeit y = x.npu()\ny.npu()"),
    ("%time !python t.py --device cuda", "%time !python t.py --device npu"),
    ("out = !python t.py --device cuda\ny.cuda()", "out = !python t.py --device npu\ny.npu()"),
    ("here = %pwd\ny.cuda()", "here = %pwd\ny.npu()"),
    ("%time\ny.cuda()", "%time\ny.npu()"),
    ("%%bash\necho 显卡\nexport CUDA_VISIBLE_DEVICES=0", "%%bash\necho 显卡\nexport ASCEND_RT_VISIBLE_DEVICES=0"),
    ("%%script bash\npython t.py --device cuda", "%%script bash\npython t.py --device npu"),
    ("x = ('%s'\n     % y.cuda())", "x = ('%s'\n     % y.npu())"),
    ("!echo 显卡 && python t.py --device cuda", "!echo 显卡 && python t.py --device npu"),
    ("!ls /usr/local/cuda", "!ls /usr/local/cuda"),
    ("%matplotlib inline\n%load_ext cuda", "%matplotlib inline\n%load_ext cuda"),
    ("%%writefile train.py\nx.cuda()", "%%writefile train.py\nx.cuda()"),
]


@pytest.mark.parametrize("before, after", COMMANDS)
def test_commands_in_cells_change_and_come_back(before, after):
    raw = notebook(before.splitlines(keepends=True), "y = 1")
    done = migrate_notebook(raw, Direction("npu"))
    assert sources(done.text) == [after, "y = 1"]
    assert migrate_notebook(done.text, Direction("npu")).text == done.text
    assert migrate_notebook(done.text, Direction("cuda")).text == raw


def test_a_command_that_no_neutral_form_fits_is_reported():
    raw = notebook("!nvidia-smi\n!python t.py --device cuda")
    done = migrate_notebook(raw, Direction("any"))
    assert done.text == raw
    assert [finding.line for finding in done.findings if finding.kind is Kind.HAND] == [1, 2]


def test_a_broken_cell_is_reported_and_the_others_are_migrated():
    done = migrate_notebook(
        notebook(["import torch"], ["x.cuda(\n"], ["%%html\n", "echo cuda"], ["y.cuda()"]), Direction("npu")
    )
    assert sources(done.text) == ["import torch\nimport torch_npu", "x.cuda(\n", "%%html\necho cuda", "y.npu()"]
    assert sources(migrate_notebook(done.text, Direction("cuda")).text)[0] == "import torch"
    assert [finding.cell for finding in done.findings if finding.kind is Kind.UNPARSED] == [2, 3]


def test_text_cells_are_not_code():
    raw = notebook(["x.cuda()"], kind="markdown")
    assert migrate_notebook(raw, Direction("npu")).text == raw


@pytest.mark.parametrize("raw", ["", "{", "[]", '{"worksheets": []}', "cuda"])
def test_what_is_no_notebook_is_refused(raw):
    with pytest.raises(SourceError):
        migrate_notebook(raw, Direction("npu"))


YAML = [
    ("device: cuda\n", "device: npu\n"),
    ("device: 'cuda:0'  # cuda\r\n", "device: 'npu:0'  # cuda\r\n"),
    ('  device: "cuda"\n', '  device: "npu"\n'),
    ("backend: nccl\n", "backend: hccl\n"),
    ("map_location: cuda\n", "map_location: npu\n"),
    ("- device: cuda\n", "- device: npu\n"),
    ("CUDA_VISIBLE_DEVICES: '0'\n", "ASCEND_RT_VISIBLE_DEVICES: '0'\n"),
    ("command: python train.py --device cuda\n", "command: python train.py --device npu\n"),
]
SHELL = [
    ("CUDA_VISIBLE_DEVICES=0 python t.py\n", "ASCEND_RT_VISIBLE_DEVICES=0 python t.py\n"),
    ("export CUDA_VISIBLE_DEVICES=0,1\n", "export ASCEND_RT_VISIBLE_DEVICES=0,1\n"),
    ("python t.py --device cuda:1 --backend=nccl\n", "python t.py --device npu:1 --backend=hccl\n"),
    ('python t.py --device "cuda" \\\n', 'python t.py --device "npu" \\\n'),
    ("DEVICE=cuda\n", "DEVICE=npu\n"),
    ("echo $CUDA_VISIBLE_DEVICES\n", "echo $ASCEND_RT_VISIBLE_DEVICES\n"),
    ("python t.py device=cuda\n", "python t.py device=npu\n"),
]
KEPT = [
    "# device: cuda\n",
    "name: cuda\n",
    "cuda: true\n",
    "gpus: 2\n",
    "path: /usr/local/cuda\n",
    "text: runs on cuda\n",
    "device: cpu\n",
]
KEPT_SHELL = [
    "# --device cuda\n",
    "ls /usr/local/cuda\n",
    "echo cuda\n",
    "python t.py --cuda\n",
    "pip install cuda-python\n",
    "module load cuda\n",
]


@pytest.mark.parametrize("before, after", YAML)
def test_yaml_values_change_and_come_back(before, after):
    assert migrate_lines(before, Direction("npu"), shell=False).text == after
    assert migrate_lines(after, Direction("npu"), shell=False).text == after
    assert migrate_lines(after, Direction("cuda"), shell=False).text == before


@pytest.mark.parametrize("before, after", SHELL)
def test_shell_words_change_and_come_back(before, after):
    assert migrate_lines(before, Direction("npu"), shell=True).text == after
    assert migrate_lines(after, Direction("cuda"), shell=True).text == before


@pytest.mark.parametrize("text", KEPT)
def test_other_yaml_stays(text):
    assert migrate_lines(text, Direction("npu"), shell=False).text == text


@pytest.mark.parametrize("text", KEPT_SHELL)
def test_other_shell_stays(text):
    assert migrate_lines(text, Direction("npu"), shell=True).text == text


def test_tools_without_a_twin_are_reported():
    done = migrate_lines("nvidia-smi -L\nNCCL_DEBUG=INFO python t.py\n", Direction("npu"), shell=True)
    assert [finding.line for finding in done.findings if finding.kind is Kind.HAND] == [1, 2]


def test_variables_of_one_device_have_no_neutral_form_either():
    text = "export CUDA_VISIBLE_DEVICES=0\nexport MY_CUDA=1\n"
    done = migrate_lines(text, Direction("any"), shell=True)
    assert [finding.line for finding in done.findings if finding.kind is Kind.HAND] == [1]


def test_text_files_have_no_neutral_form():
    done = migrate_lines("device: cuda\n", Direction("any"), shell=False)
    assert done.text == "device: cuda\n" and done.findings[0].kind is Kind.HAND
