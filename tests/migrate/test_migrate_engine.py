"""The engine around the rules: bytes that survive, files that are left alone, names that exist."""

from __future__ import annotations

import ast
import codecs
import re

import pytest

from outlast.migrate import Direction, Kind, Source, SourceError, migrate_text
from outlast.migrate.engine import Edit, EditError, apply
from outlast.migrate.files import migrate_bytes
from outlast.migrate.namespace import ACCELERATOR, CUDA, NEUTRAL, NPU
from outlast.migrate.rules import all_rules

NPU_DIRECTION = Direction("npu")


def migrated(data: bytes, target: str = "npu", name: str = "train.py") -> bytes:
    done = migrate_bytes(name, data, Direction(target))
    return data if done is None else done[0].with_text(done[1].text).encode()


@pytest.mark.parametrize(
    "before, after",
    [
        (b"import torch\r\nx.cuda()\r\n", b"import torch\r\nimport torch_npu\r\nx.npu()\r\n"),
        (b"import torch\rx.cuda()\r", b"import torch\rimport torch_npu\rx.npu()\r"),
        (b"import torch\r\ny = 1\nx.cuda()\n", b"import torch\r\nimport torch_npu\r\ny = 1\nx.npu()\n"),
        (b"if x:\n\ty.cuda()   \n\t\n", b"if x:\n\ty.npu()   \n\t\n"),
        (b"x.cuda()", b"x.npu()"),
        (b"x.cuda()\n\n\n   ", b"x.npu()\n\n\n   "),
        (codecs.BOM_UTF8 + b"x.cuda()\n", codecs.BOM_UTF8 + b"x.npu()\n"),
        (
            "# -*- coding: gbk -*-\nx.cuda()  # 显卡\n".encode("gbk"),
            "# -*- coding: gbk -*-\nx.npu()  # 显卡\n".encode("gbk"),
        ),
        (
            "# coding: latin-1\ns = 'é'; x.cuda()\n".encode("latin-1"),
            "# coding: latin-1\ns = 'é'; x.npu()\n".encode("latin-1"),
        ),
        (
            "名 = '数据'; x.cuda(); y = '中' + z.to('cuda:0')\n".encode(),
            "名 = '数据'; x.npu(); y = '中' + z.to('npu:0')\n".encode(),
        ),
        (b"x = \\\n    y.cuda( \\\n    0 )\n", b"x = \\\n    y.npu( \\\n    0 )\n"),
        (b"import torch", b"import torch"),
        (b"x.cuda()  # x.cuda() moves to cuda:0\n", b"x.npu()  # x.cuda() moves to cuda:0\n"),
        (b"x.cuda(); \x0c\ny = 1\n", b"x.npu(); \x0c\ny = 1\n"),
    ],
)
def test_only_the_device_words_change(before, after):
    assert migrated(before) == after


def test_the_way_back_restores_the_bytes():
    before = (
        "import torch\r\nimport os\n\n\tif_ = 1\n".replace("\tif_", "if_").encode()
        + b"m = net.cuda( )  \r\nx.to( 'cuda:0' )"
    )
    there = migrated(before)
    assert there != before and migrated(there, "cuda") == before


@pytest.mark.parametrize("text", ["print 'x'\nx.cuda()\n", "def f(:\n  y.to('cuda')\n", "x.cuda(\n"])
def test_a_file_that_does_not_parse_is_reported_with_its_lines_and_left_alone(text):
    done = migrate_text(text, NPU_DIRECTION)
    assert done.text == text and not done.edits
    assert done.findings[0].kind is Kind.UNPARSED
    assert {finding.line for finding in done.findings[1:]} == {
        n for n, line in enumerate(text.splitlines(), 1) if "cuda" in line
    }


def test_the_old_spelling_of_non_blocking_is_read():
    assert migrate_text("x = x.cuda(async=True)\n", NPU_DIRECTION).text == "x = x.npu(non_blocking=True)\n"


def test_bytes_that_are_no_text_are_refused():
    with pytest.raises(SourceError, match="not text"):
        Source.decode(b"x.cuda() = '\xff\xfe'")
    with pytest.raises(SourceError, match="not text in a known encoding"):
        Source.decode(b"# coding: nonsense\nx.cuda()\n")


def test_files_without_a_device_word_are_not_even_parsed():
    assert migrate_bytes("a.py", b"def broken(: this is no Python\n", NPU_DIRECTION) is None
    assert migrate_bytes("a.py", b"input = output\n", Direction("cuda")) is None


def test_overlapping_edits_are_refused():
    with pytest.raises(EditError):
        apply(b"x.cuda()", [Edit(2, 6, "cuda", "npu"), Edit(4, 6, "da", "x")])
    with pytest.raises(EditError):
        apply(b"x.cuda()", [Edit(2, 6, "npu", "cuda")])


def test_every_name_that_can_be_written_exists_on_the_npu():
    """A rule may write torch.npu.X only for names of the list; try every name that torch.cuda has, and more."""
    names = sorted(
        CUDA["torch.cuda"]
        | {"no_such_name", "_private", "nvtx.mark", "amp.nothing", "comm.gather", "sparse.FloatTensor"}
    )
    names += [f"{module[11:]}.{name}" for module, found in CUDA.items() if module != "torch.cuda" for name in found]
    text = "import torch\nimport torch_npu\n" + "".join(f"r = torch.cuda.{name}\n" for name in names)
    done = migrate_text(text, NPU_DIRECTION).text
    written = re.findall(r"torch\.npu\.([\w.]+)", done)
    assert len(written) > 100
    for path in written:
        first, _, rest = path.partition(".")
        assert first in NPU["torch.npu"], path
        assert not rest or f"torch.npu.{first}" not in NPU or rest.partition(".")[0] in NPU[f"torch.npu.{first}"], path
    left = {line.removeprefix("r = torch.cuda.") for line in done.splitlines() if line.startswith("r = torch.cuda.")}
    said = " ".join(finding.message for finding in migrate_text(text, NPU_DIRECTION).findings)
    assert left and all(name in said for name in left), "a name without twin was not reported"


@pytest.mark.parametrize(
    ("line", "kind", "word"),
    [
        ("from torch.distributed import is_nccl_available", Kind.HAND, "is_nccl_available"),
        ("if 'CUDA out of memory' in str(error): pass", Kind.DIFFERS, "words its errors differently"),
        ("ok = message.startswith('CUDA error')", Kind.DIFFERS, "words its errors differently"),
        ("p = torch.autograd.profiler.profile(use_cuda=True)", Kind.HAND, "use_cuda"),
        ("a, t = [torch.profiler.ProfilerActivity.CUDA], prof.key_averages()", Kind.HAND, "key_averages"),
        ("import tensorflow as tf; config.gpu_options.allow_growth = True", Kind.DIFFERS, "gpu_options"),
        ("import tensorflow as tf; e = tf.contrib.tpu.TPUEstimator(f)", Kind.HAND, "TPUEstimator"),
        ("import tensorflow as tf; s = supervisor.managed_session(master, config)", Kind.HAND, "managed_session"),
        ("import mindspore; own = args.device_target == 'GPU'", Kind.KEPT, "'GPU' kept"),
        ("note = 'start it as CUDA_VISIBLE_DEVICES=0 python train.py'", Kind.KEPT, "CUDA_VISIBLE_DEVICES"),
    ],
)
def test_what_is_not_changed_is_reported_with_its_line(line, kind, word):
    done = migrate_text(f"import torch\n\n{line}\n", NPU_DIRECTION)
    assert [(each.line, each.kind) for each in done.findings if word in each.message] == [(3, kind)]


def test_neutral_names_are_names_of_torch():
    assert set(ACCELERATOR) <= CUDA["torch.cuda"] and set(NEUTRAL) <= CUDA["torch.cuda"]


def test_rules_have_names_and_sentences_of_their_own():
    rules = all_rules()
    assert len({rule.name for rule in rules}) == len({rule.summary for rule in rules}) == len(rules)
    assert all(re.fullmatch(r"[a-z-]+", rule.name) for rule in rules)


SCRIPT = '''"""Trains on cuda."""
import argparse
import os
import torch
import torch.distributed as dist
import torch.nn as nn
from torch.cuda.amp import GradScaler, autocast

os.environ["CUDA_VISIBLE_DEVICES"] = "0"
parser = argparse.ArgumentParser(description="cuda")
parser.add_argument("--no-cuda", action="store_true", help="disables cuda")
parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
args = parser.parse_args()
use_cuda = not args.no_cuda and torch.cuda.is_available()
device = torch.device("cuda:0" if use_cuda else "cpu")  # cuda if it is there
dist.init_process_group("nccl")
model = nn.Linear(2, 2).cuda()
scaler = GradScaler(enabled=use_cuda)
Tensor = torch.cuda.FloatTensor if use_cuda else torch.FloatTensor
torch.backends.cudnn.benchmark = True
try:
    with autocast():
        loss = model(torch.ones(2, 2, device=f"cuda:{0}").type("torch.cuda.FloatTensor"))
except RuntimeError as error:
    print(f"cuda failed: {error}")
    torch.cuda.nvtx.mark("failed")
state = {"cuda_rng_state": torch.cuda.get_rng_state(), "cuda": vars(args)["no_cuda"]}
torch.load("model.pth", map_location={"cuda:0": "cuda:1"})
'''


@pytest.mark.parametrize("target", ["npu", "any"])
def test_a_whole_script_keeps_its_texts_names_and_keys(target):
    done = migrate_text(SCRIPT, Direction(target)).text
    ast.parse(done)
    for kept in ('"""Trains on cuda."""', 'help="disables cuda"', "--no-cuda", "use_cuda", "# cuda if it is there",
                 'print(f"cuda failed: {error}")', '"cuda_rng_state"', '"cuda": vars(args)["no_cuda"]'):  # fmt: skip
        assert kept in done, kept
    assert not re.search(r"\.cuda\(|'cuda:0'|\"nccl\"", done)


def test_a_whole_script_comes_back():
    there = migrate_text(SCRIPT, NPU_DIRECTION).text
    assert there.count("npu") > 12 and migrate_text(there, Direction("cuda")).text == SCRIPT


def test_a_file_with_a_branch_for_the_target_says_so_even_where_nothing_changes():
    text = "# not for cuda\ndef backward(ctx):\n    import torch_npu\n    if ctx.device == 'npu':\n        return 1\n"
    done = migrate_text(text, NPU_DIRECTION)
    assert done.text == text
    assert [finding.rule for finding in done.findings] == ["both-devices"]
    migrated_before = "import torch\nimport torch_npu\nuse_cuda = True\nx.npu()\n"
    assert not migrate_text(migrated_before, NPU_DIRECTION).findings


def test_a_file_that_does_not_parse_says_where_and_not_every_token_that_could_stand_there():
    said = migrate_text('x.cuda()\nprint "old"\n', NPU_DIRECTION).findings
    assert [finding.line for finding in said] == [2, 1]
    assert said[0].message.startswith("left alone: not valid Python 3: Missing parentheses in call to 'print'.")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("print 'old'\nx.cuda()\n", 1),
        ("a = 1\ndef f(:\n    x.cuda()\n", 2),
        ("x.cuda()\nb = '\n", 2),
        ("x = (\n.cuda\n", 1),
    ],
)
def test_the_line_that_does_not_parse_is_the_one_that_python_names(text, line):
    said = migrate_text(text, NPU_DIRECTION).findings
    assert [each.line for each in said if each.kind is Kind.UNPARSED] == [line]


def test_mindspore_code_with_a_branch_for_both_says_so():
    text = "import mindspore as ms\nms.set_context(device_target='GPU')\nms.set_context(device_target='Ascend')\n"
    said = [finding.rule for finding in migrate_text(text, NPU_DIRECTION).findings]
    assert said == ["both-devices", "mindspore-target"]
