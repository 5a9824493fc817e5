"""Properties over generated programs: what no rule reaches stays, results parse, twice is once, back is home."""

from __future__ import annotations

import ast

from hypothesis import given, settings
from hypothesis import strategies as st

from outlast.migrate import Direction, Kind, migrate_text

NAMES = st.sampled_from(["x", "model", "args", "cuda", "use_cuda", "device", "cfg", "input", "npu_like", "torch_cuda"])
TEXTS = st.sampled_from(
    ["hello", "cuda is fast", "CUDA", "nvcuda", "cuda_rng_state", "input", "nccl tests", "中文 cuda"]
)
#: Code that names no device, whatever words it uses.
HARMLESS = st.one_of(
    st.builds("{} = {!r}".format, NAMES, TEXTS),
    st.builds("print({!r}, {})".format, TEXTS, NAMES),
    st.builds("{}.cuda = {}".format, NAMES, NAMES),
    st.builds("if {}.cuda and not {}:\n    {} = 1".format, NAMES, NAMES, NAMES),
    st.builds(
        "def {}({}=1):\n    '''{}'''\n    return {}".format, NAMES, NAMES, TEXTS.filter(lambda t: "'" not in t), NAMES
    ),
    st.builds("{}[{!r}] = 'cuda'[0]".format, NAMES, TEXTS),
    st.builds("# {}\n{} = [{}, {}]".format, TEXTS, NAMES, NAMES, NAMES),
    st.builds("raise ValueError({!r})".format, TEXTS),
    st.builds("class {}:\n    cuda = {!r}".format, NAMES, TEXTS),
    st.builds("with {}({!r}) as {}:\n    pass".format, st.just("open"), TEXTS, NAMES),
)
#: Device sites that can go there and back.
SITES = st.sampled_from(
    [
        "y = v.cuda()", "y = v.cuda(0, non_blocking=True)", "y = v.to('cuda:0')", "y = v.to(f'cuda:{n}')",
        "y = torch.cuda.device_count()", "torch.cuda.synchronize()", "dev = 'cuda' if n else 'cpu'",
        "y = torch.zeros(3, device=\"cuda\")", "y = v.is_cuda", "dist.init_process_group('nccl')",
        "y = torch.cuda.FloatTensor(3)",
        "os.environ['CUDA_VISIBLE_DEVICES'] = '0'", "y = v.type('torch.cuda.LongTensor')",
        "with torch.cuda.amp.autocast():\n    y = v.cuda().to('cuda:1')",
        "def move(device='cuda'):\n    return v.to(device)",
        "y = [t.cuda() for t in v]", "y = v.device.type == 'cuda'", "y = torch.load(p, map_location='cuda:0')",
    ]
)  # fmt: skip
BREAKS = st.sampled_from(["\n", "\r\n", "\n\n", "\n    \n", "\n# cuda\n"])
PRELUDE = "import torch\nimport os\nimport torch.distributed as dist\n"


@given(st.lists(HARMLESS, min_size=1, max_size=12), st.sampled_from(["npu", "any"]))
@settings(max_examples=150, deadline=None)
def test_programs_without_a_device_keep_every_byte(parts, target):
    text = "import torch\n" + "\n".join(parts) + "\n"
    assert migrate_text(text, Direction(target)).text == text


@given(st.lists(st.tuples(st.one_of(SITES, HARMLESS), BREAKS), min_size=1, max_size=10))
@settings(max_examples=150, deadline=None)
def test_results_parse_and_twice_is_once_and_back_is_home(parts):
    text = PRELUDE + "".join(code.replace("\n", "\n") + gap for code, gap in parts)
    there = migrate_text(text, Direction("npu"))
    ast.parse(there.text)
    assert all(finding.kind is not Kind.UNPARSED for finding in there.findings)
    assert migrate_text(there.text, Direction("npu")).text == there.text
    assert migrate_text(there.text, Direction("cuda")).text == text


@given(st.lists(st.one_of(SITES, HARMLESS), min_size=1, max_size=8))
@settings(max_examples=100, deadline=None)
def test_the_tree_outside_the_rules_reach_stays(parts):
    """With device words made alike, both programs are the same tree, but for the import."""
    text = PRELUDE + "\n".join(parts) + "\n"
    there = migrate_text(text, Direction("npu")).text.replace("import torch_npu\n", "", 1)
    before, after = ast.parse(text), ast.parse(there)
    assert [type(node) for node in ast.walk(before)] == [type(node) for node in ast.walk(after)]


@given(st.lists(st.one_of(SITES, HARMLESS), min_size=1, max_size=8))
@settings(max_examples=60, deadline=None)
def test_neutral_results_parse_and_name_no_device_site(parts):
    done = migrate_text(PRELUDE + "\n".join(parts) + "\n", Direction("any"))
    ast.parse(done.text)
    assert ".cuda(" not in done.text
    assert migrate_text(done.text, Direction("any")).text == done.text


@given(st.text(max_size=200))
@settings(max_examples=150, deadline=None)
def test_any_text_at_all_is_survived(text):
    try:
        text.encode()
    except UnicodeEncodeError:
        return
    done = migrate_text(text + "\ncuda", Direction("npu"))
    assert done.text == text + "\ncuda" or done.edits
