"""Files that this Python cannot parse are left as they are, and that is said."""

from __future__ import annotations

from outlast.operations.adapt import adapt

SCRIPT = "from rows import read\nread()\n"


def told(folder, script, **modules):
    for name, text in {"train": script, **modules}.items():
        (folder / f"{name}.py").write_text(text)
    return [each for each in adapt(str(folder / "train.py")).findings if each.rule == "modules"]


def test_a_module_that_python_cannot_parse_is_named_with_its_line(tmp_path):
    [found] = told(tmp_path, SCRIPT, rows="import numpy\n\nprint 'old'\n")
    assert found.message.startswith("rows.py was not looked at: line 3 of rows.py is not valid in")


def test_a_script_in_newer_words_than_this_python_has_says_that_its_modules_were_not_looked_at(tmp_path):
    text = "import numpy\na = {'b': 1}\n" + SCRIPT + 'name = t"{a["b"]}"\nnumpy.load("data/x.npy")\n'
    found = told(tmp_path, text, rows="def read():\n    pass\n")
    said = "the modules that it imports were not looked at: line 5 of train.py is not valid in"
    try:
        compile(text, "train.py", "exec")
    except SyntaxError:
        assert all(each.message.startswith(said) for each in found) and len(found) == 1
    else:
        assert found == []


def test_nothing_is_said_of_modules_that_are_read_or_are_not_there(tmp_path):
    assert told(tmp_path, "import nothing_there\n" + SCRIPT, rows="def read():\n    pass\n") == []
