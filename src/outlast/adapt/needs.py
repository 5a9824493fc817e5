"""What each contract passes to a script, by the role it plays there."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class Role(StrEnum):
    """What a path is for."""

    DATA = "data"
    WEIGHTS = "weights"
    OUTPUT = "output"


@dataclass(frozen=True)
class Needs:
    """The options of one contract. Without any, the script is started as the user starts it."""

    contract: str
    options: dict[Role, str] = field(default_factory=dict)
    #: passed although no path hangs on it; a strict parser must know it
    extra: tuple[str, ...] = ()
    has_network: bool = True
    #: options hold addresses of a store, not folders: something must copy before and after the script
    needs_entry: bool = False

    @property
    def passed(self) -> frozenset[str]:
        """Names of all options that the platform gives a value."""
        return frozenset({*self.options.values(), *self.extra, "aim_repo"})


_MODELARTS = {Role.DATA: "data_url", Role.OUTPUT: "train_url", Role.WEIGHTS: "pretrain_url"}
_XIHE = {Role.DATA: "data_url", Role.OUTPUT: "output_path", Role.WEIGHTS: "pretrain_url"}

CONTRACTS: dict[str, Needs] = {
    "plain": Needs("plain"),
    "modelarts": Needs("modelarts", _MODELARTS),
    "modelarts-v1": Needs("modelarts-v1", _MODELARTS, extra=("num_gpus",), needs_entry=True),
    "xihe": Needs("xihe", _XIHE, has_network=False),
}


def variable(name: str) -> str:
    """Where the modules of a program find an option that the script was started with."""
    return f"CONTRACT_{name.upper()}"


def old_variable(name: str) -> str:
    """Where functions, modules and processes find the folder that an option named before it followed the contract's."""
    return variable(f"before_{name}")


def old_place(name: str) -> str:
    """That folder, as an expression."""
    return f'os.environ.get("{old_variable(name)}")'


_PASSED = ("data_url", "train_url", "output_path", "pretrain_url", "num_gpus", "aim_repo")
#: Every name by which some contract's value is known; such an option is never taken for the script's own.
PASSED = frozenset({*_PASSED, *map(variable, _PASSED)})
#: Variables that hold a folder of the contract.
VARIABLES = frozenset({"OUTLAST_CHECKPOINT", *(name for name in PASSED if name.isupper())})

#: What an option says of itself in the script's help.
HELP: dict[Role, str] = {
    Role.DATA: "folder with the data",
    Role.WEIGHTS: "weights to start from",
    Role.OUTPUT: "folder for results",
}
