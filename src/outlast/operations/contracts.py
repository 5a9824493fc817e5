"""What a contract makes of a resolved run, known before anything starts: for the plan, for `explain`, for warnings.

    rendered(spec, home, stint=1, sandboxed=True) -> Rendered

is what a stint of that `RunSpec` on this machine will see: the command, the variables, the folders by the paths that
they will really have. It starts nothing and writes nothing. `foreseen(spec, home, script)` are the options of it that
the script's own argument parser would refuse.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, get_args

from outlast.errors import SpecError
from outlast.inside.contracts.base import Facts, Rendered, render
from outlast.inside.contracts.modelarts import input_place, own_bucket
from outlast.inside.staging import code_dir_for, source_path
from outlast.inside.stores import is_remote
from outlast.model.spec import CodePack, Contract, RunSpec
from outlast.operations.arguments import option_names, refused
from outlast.operations.problems import guess
from outlast.operations.repositories import Elsewhere
from outlast.settings import Settings
from outlast.store.maps import load_maps

if TYPE_CHECKING:
    from outlast.operations.inputs import Placing, Source
    from outlast.operations.resolve import Resolved
    from outlast.operations.said import Sayings
    from outlast.operations.target import Target

#: Contracts that name every input and output by the option that it is passed as.
NAMING: frozenset[Contract] = frozenset({"modelarts", "modelarts-v1", "xihe"})
#: Those under which `import moxing` works.
MOXING: frozenset[Contract] = frozenset({"modelarts", "modelarts-v1"})
CONTRACTS: tuple[Contract, ...] = get_args(Contract)

#: What these systems install before the script starts; a plain requirements.txt means nothing to them.
REQUIREMENTS = "pip-requirements.txt"
#: Where PyCharm's ToolKit keeps logs, in the project.
LOG_FOLDER = "MA_LOG"


def rendered(spec: RunSpec, home: Path, *, stint: int = 1, sandboxed: bool = True) -> Rendered:
    """What a stint of this run sees on this machine. Cards are counted, not chosen: they are called 0, 1 and so on."""
    from outlast.platforms.bundle import inside_folder

    body = spec.to_json()
    work = home / "work" / spec.id / f"{stint:04d}"
    need = spec.resources
    facts = Facts(
        run=spec.id,
        stint=stint,
        code_dir=code_dir_for(str(work / "tree"), body["inputs"]),
        work=str(work),
        bundle=str(inside_folder(home / "cache", create=False)),
        python=spec.python,
        cpus=need.cpus,
        gpus=tuple(map(str, range(need.gpus))),
        npus=tuple(map(str, range(need.npus))),
        sandboxed=sandboxed,
        hosts=("127.0.0.1",) * need.nodes,
        cards=(tuple(map(str, range(need.npus))),) * need.nodes,
    )
    return render(body, facts)


def foreseen(spec: RunSpec, home: Path, script: Path) -> list[str]:
    """Names of options that the contract passes, the user did not type, and the script would die of."""
    if spec.contract == "openpai" or (spec.contract == "plain" and not spec.params):
        return []
    typed = set(option_names(spec.args))
    passed = [name for name in option_names(rendered(spec, home).argv) if name not in typed]
    return refused(script, passed) if passed else []


def find_contract(said: Sayings, target: Target) -> Contract:
    """The contract of a request. Job files have one of their own, and only they have it."""
    given = said.get("contract")
    if target.is_job:
        if given is not None and given.value != "openpai":
            raise given.wrong(f"{target.script} is a job file of OpenPAI", hint="leave the contract out")
        return "plain"  # until the job itself is read
    if given is None:
        return "plain"
    known = [name for name in CONTRACTS if name != "openpai"]
    if given.value == "openpai":
        raise given.wrong("only job files run like this", hint="give one, like: outlast run new_job.pai.json")
    for name in known:
        if given.value == name:
            return name
    near = guess(given.value, known) or ";"
    raise SpecError(f"unknown contract {given.value!r} ({given.where}){near} known: {', '.join(known)}")


def find_network(said: Sayings, contract: Contract) -> bool:
    """Whether the script may reach the network; under Xihe's contract nobody can say that it may."""
    given = said.get("network")
    if contract != "xihe":
        return True if given is None else bool(given.value)
    if given is not None and given.value:
        raise SpecError(
            f"{given.where}: scripts have no network under --contract xihe",
            hint="declare what they download: --data NAME=SRC",
        )
    return False


def placing_for(contract: Contract) -> Placing | None:
    """Where inputs lie; None for contracts that leave them where the script expects them."""
    return _place_by_name if contract in NAMING else None


def _place_by_name(name: str, source: Source) -> str:
    is_file = source.is_file if isinstance(source, Elsewhere) else isinstance(source, Path) and source.is_file()
    return posixpath.join(input_place(name), source.name) if is_file else input_place(name)


def with_single_files(resolved: Resolved, names: Collection[str]) -> Resolved:
    """The same with these inputs, of which a store said that they are single files, at the path of one."""
    if resolved.contract not in NAMING or not names:
        return resolved
    inputs = tuple(
        replace(given, path=posixpath.join(given.path, posixpath.basename(given.source.rstrip("/"))))
        if given.name in names and given.path == input_place(given.name)
        else given
        for given in resolved.inputs
    )
    return replace(resolved, inputs=inputs)


def usual_requirements(contract: Contract, target: Target) -> str | None:
    """The file that the contract installs unasked: beside the boot file, or at the top of the code."""
    if contract not in NAMING:
        return None
    beside = PurePosixPath(target.script).parent / REQUIREMENTS
    places = (beside.as_posix(), REQUIREMENTS)
    return next((place for place in places if (target.folder / place).is_file()), None)


def settle(resolved: Resolved, said: Sayings, settings: Settings) -> Resolved:
    """The same with what the contract adds: folders that play buckets, the second place of the log, dropped options."""
    resolved = replace(resolved, maps=load_maps(settings.home))
    if resolved.contract == "modelarts-v1":
        resolved = _with_addresses(resolved)
    if resolved.contract in MOXING:
        _refuse_home(resolved, settings.home)
    if said.value("ma_log", False):
        resolved = replace(resolved, log_folder=str(resolved.folder / LOG_FOLDER))
    resolved = replace(resolved, leave_out=(*resolved.leave_out, *_never_code(resolved)))
    spec = resolved.to_spec("run", "", CodePack(sha256="", size_bytes=0, files=0))
    unknown = foreseen(spec, settings.home, resolved.folder / resolved.script)
    if not unknown:
        return resolved
    options = ", ".join(f"--{name}" for name in unknown)
    if said.value("drop_unknown", False):
        words = f"{resolved.script} does not accept {options}; not passed"
        return replace(resolved, drop_args=tuple(unknown), notices=(*resolved.notices, words))
    words = f"{resolved.script} does not accept {options} and would end at once; leave them out with --drop-unknown"
    if resolved.contract in NAMING:
        words += f", or teach it to accept them: outlast adapt {resolved.script} --contract {resolved.contract}"
    return replace(resolved, notices=(*resolved.notices, words))


def _never_code(resolved: Resolved) -> Iterator[str]:
    """Places of the code folder that hold logs or play a bucket."""
    if resolved.contract in NAMING or resolved.log_folder:
        yield LOG_FOLDER
    for folder in map(Path, resolved.maps.values()):
        if folder != resolved.folder and folder.is_relative_to(resolved.folder):
            yield folder.relative_to(resolved.folder).as_posix()


def _refuse_home(resolved: Resolved, home: Path) -> None:
    """Scripts may write to folders that play buckets; secrets and other runs must not lie in one."""
    for root, folder in resolved.maps.items():
        if home.resolve().is_relative_to(Path(folder).resolve()):
            raise SpecError(
                f"{folder} plays {root} and holds Outlast's own home {home}, which no script may see",
                hint="let a folder of its own play it, like ./bucket",
            )


def _with_addresses(resolved: Resolved) -> Resolved:
    """Inputs and outputs of the first generation are addresses: a folder of this machine plays a bucket of its own."""
    maps = dict(resolved.maps)

    def address(name: str, given: str) -> str:
        if is_remote(given):
            return given
        path, bucket = Path(source_path(given)), own_bucket(name, maps)
        maps[bucket] = str(path)  # a file is given a folder of its own in the stint: its neighbours are not meant
        return f"{bucket}/{path.name if path.is_file() else ''}"

    inputs = tuple(replace(each, source=address(each.name, each.source)) for each in resolved.inputs)
    outputs = tuple(replace(each, target=address(each.name, each.target)) for each in resolved.outputs)
    return replace(resolved, inputs=inputs, outputs=outputs, maps=maps)
