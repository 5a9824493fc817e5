"""Where a script keeps an Aim repository, so that the run can keep it too. Part of every submit, so imports little."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from outlast.errors import SpecError

if TYPE_CHECKING:
    from outlast.operations.resolve import Resolved

OPTION = "aim_repo"
#: Where a script that takes `--aim_repo` is sent, and where Aim itself goes when nobody says anything.
GIVEN_PLACE, OWN_PLACE = "aim", ".aim"


def with_aim(resolved: Resolved, wanted: bool) -> Resolved:
    """The same run with a place for an Aim repository, if one is wanted.

    Xihe's contract passes it as `--aim_repo`. Other scripts are given the option when they mention it; those that do
    not use Aim's default, the folder they run in.
    """
    if not wanted:
        return resolved
    if resolved.job is not None:
        raise SpecError("--aim needs a script; an OpenPAI job file says itself where it writes")
    given = resolved.contract == "xihe" or _mentions_it(resolved.folder / resolved.script)
    place = GIVEN_PLACE if given else OWN_PLACE
    params = dict(resolved.params)
    if given and resolved.contract != "xihe":
        params.setdefault(OPTION, place)
    return replace(resolved, aim=place, params=params, leave_out=(*resolved.leave_out, place))


def _mentions_it(script: Path) -> bool:
    try:
        return OPTION.encode() in script.read_bytes()
    except OSError:
        return False
