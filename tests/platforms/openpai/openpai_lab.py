"""An Outlast server that plays OpenPAI and HDFS, accounts on it, and stints to send there."""

import contextlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "gateways"))
sys.path.insert(0, str(Path(__file__).parents[2] / "e2e"))

from pai_lab import PASSWORD, PaiLab

from outlast.inside.place import ACCESSES
from outlast.inside.records import Order
from outlast.inside.stores.access import Access
from outlast.keeper.accesses import Granted, encode
from outlast.model.spec import CodePack, Resources, RunSpec
from outlast.platforms.accounts import Account
from outlast.platforms.base import Launch
from outlast.platforms.openpai.platform import OpenPai

RUN = "1116-calm-otter-abc"


class TrustingLab(PaiLab):
    """Without accounts: names are believed, as HDFS and the first OpenPAI did."""

    def _people(self, accounts):
        return {}


def account(endpoint, **values):
    """ann's, who signs in with a password unless she has a token."""
    values = {"endpoint": endpoint, "user": "ann", "image": "python:3.11", **values}
    secrets = {name: values.pop(name) for name in ("password", "token") if name in values}
    return Account("lab-pai", "openpai", values, secrets or {"password": PASSWORD})


@contextlib.contextmanager
def platform(endpoint, cache, **values):
    """A platform that does not pause; the pauses it wanted are in `pauses`."""
    pauses = []
    made = OpenPai(account(endpoint, **values), Path(cache), pause=pauses.append)
    made.pauses = pauses
    try:
        yield made
    finally:
        made.close()


def launch(store, *, run=RUN, stint=1, secrets=None, names=(), **spec):
    """One stint of a run that nobody has ever written into the store."""
    made = RunSpec(
        id=run, name="train", user="ann", created_at="2026-11-16T12:00:00Z", script="train.py",
        code=CodePack(sha256="0" * 64, size_bytes=1, files=1), python="python3", store=store, secrets=names,
        **{"platforms": ("lab-pai",), "resources": Resources(cpus=2, memory_bytes=4 << 30), **spec},
    )  # fmt: skip
    root = "/".join(store.split("/")[:3])
    kept = encode({root: Granted(Access("hdfs", user="ann"))}) if root.startswith("hdfs") else "{}"
    order = Order(run=run, stint=stint, token="cafe", platform="lab-pai")
    return Launch(made, order, {ACCESSES: kept, **(secrets or {})})
