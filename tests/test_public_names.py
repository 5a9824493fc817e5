import importlib
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import outlast

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"


def run(code, *path, python=sys.executable):
    done = subprocess.run(
        [str(python), "-I", "-S", "-c", "import sys; sys.path[:0] = sys.argv[1:]\n" + code, *map(str, path)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_all_is_sorted_and_has_no_doubles():
    assert outlast.__all__ == sorted(set(outlast.__all__))


@pytest.mark.parametrize("name", outlast.__all__)
def test_every_public_name_can_be_imported(name):
    assert getattr(outlast, name) is not None
    assert name in dir(outlast)


def test_all_is_complete():
    """What type checkers are told, what can be reached and what is listed are the same names."""
    text = (SOURCE / "outlast" / "__init__.py").read_text()
    told = set(re.findall(r"^    from outlast\S* import \w+ as (\w+)$", text, re.MULTILINE))
    assert told | {"__version__"} == set(outlast.__all__)
    reachable = {name for name in dir(outlast) if not name.startswith("_") and hasattr(outlast, name)}
    ours = {
        name
        for name in reachable
        if not isinstance(getattr(outlast, name), type(sys)) and name not in ("TYPE_CHECKING", "annotations")
    }
    assert ours <= set(outlast.__all__)


def test_every_public_name_has_a_docstring():
    for name in outlast.__all__:
        if name != "__version__":
            assert getattr(outlast, name).__doc__, name


def test_every_function_for_scripts_is_documented():
    page = (ROOT / "docs" / "script-api.md").read_text()
    script = importlib.import_module("outlast.inside.script")
    for name in outlast.__all__:
        if getattr(script, name, None) is getattr(outlast, name):
            assert f"outlast.{name}(" in page, name
    for name in outlast.callbacks.__all__:
        assert name in page, name


def test_the_version_is_the_projects():
    text = (ROOT / "pyproject.toml").read_text()
    assert f'version = "{outlast.__version__}"' in text


def test_unknown_names_are_ordinary_attribute_errors():
    with pytest.raises(AttributeError, match="no attribute 'epoch'"):
        outlast.epoch  # noqa: B018
    assert not hasattr(outlast, "nothing")


def test_track_stays_a_function_when_the_rooms_of_that_name_are_imported():
    code = """
import outlast, outlast.track
from outlast.track import spark
from outlast.track.series import read_series
assert callable(outlast.track) and outlast.track.__module__ == "outlast.inside.script"
from outlast import track
assert track is outlast.track
"""
    run(code, SOURCE, Path(importlib.import_module("pydantic").__file__).parents[1])


def test_importing_loads_nothing_else():
    code = """
before = set(sys.modules)
import outlast
print(sorted(set(sys.modules) - before))
"""
    assert run(code, SOURCE) == "['__future__', 'outlast', 'types']\n"


def test_the_scripts_side_needs_only_the_standard_library():
    code = """
import outlast
list(outlast.epochs(2)); outlast.save(); outlast.restore(); outlast.track(a=1); outlast.should_stop(); outlast.info()
outlast.callbacks
foreign = sorted({name.split(".")[0] for name in sys.modules} - set(sys.stdlib_module_names) - {"outlast", "__main__"})
print(foreign, sorted(name for name in sys.modules if name.startswith("outlast.") and ".inside" not in name))
"""
    assert run(code, SOURCE) == "[] ['outlast.callbacks']\n"


def test_importing_costs_less_than_fifteen_milliseconds():
    code = """
import time
started = time.process_time()
import outlast
print(time.process_time() - started)
"""
    best_s = min(float(run(code, SOURCE)) for _ in range(5))
    print(f"import outlast: {best_s * 1000:.2f} ms")
    assert best_s < 0.015


def test_inside_a_bundle_the_outside_names_are_missing_in_words(tmp_path):
    bundle = tmp_path / "bundle.zip"
    with zipfile.ZipFile(bundle, "w") as file:
        for path in [SOURCE / "outlast" / "__init__.py", SOURCE / "outlast" / "callbacks.py"]:
            file.write(path, path.relative_to(SOURCE))
        for path in sorted((SOURCE / "outlast" / "inside").rglob("*.py")):
            file.write(path, path.relative_to(SOURCE))
    code = """
import outlast
assert list(outlast.epochs(2)) == [0, 1]
assert outlast.track(loss=1) is None
for name in ("Client", "RunSpec", "OutlastError"):
    assert not hasattr(outlast, name)
try:
    outlast.Client
except AttributeError as error:
    print(error)
"""
    assert run(code, bundle) == "outlast.Client is not available inside a stint\n"
