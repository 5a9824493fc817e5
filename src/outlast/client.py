"""Outlast as a library: the same verbs as the command line, as methods.

from outlast import Client

client = Client()
run = client.runs.submit("train.py", checkpoint="ckpt", limit="1h")
for view in client.runs.watch(run.id):
    print(view.state, view.epoch, view.metrics)
client.runs.fetch(run.id, "results")
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outlast.operations.data import Data
from outlast.operations.files import Files
from outlast.operations.importing import Importing
from outlast.operations.judging import Judging
from outlast.operations.lists import Listing
from outlast.operations.rewriting import Rewriting
from outlast.operations.storing import Stores
from outlast.operations.sweeping import Sweeps
from outlast.remote.access import ServerAccess
from outlast.remote.hubbing import Hubbing
from outlast.remote.platforming import Platforming
from outlast.settings import Settings

if TYPE_CHECKING:
    from outlast.keeper.rebuild import Rebuilt
    from outlast.model.request import RunRequest
    from outlast.model.view import RunView
    from outlast.operations.clean import Cleaned
    from outlast.operations.doctor import Finding
    from outlast.operations.environments import Environments
    from outlast.operations.explained import Explanation
    from outlast.operations.fetch import Fetched, What
    from outlast.operations.forecast import Forecast
    from outlast.operations.login import Identity, LoggedIn
    from outlast.operations.rehearse import Rehearsal
    from outlast.operations.submit import RunPlan
    from outlast.settings import Setting


class Client(Importing, Rewriting, ServerAccess, Hubbing, Platforming):
    """One home folder, or a server, and everything that can be done with its runs.

    `home` is a folder (default: `OUTLAST_HOME`, or `~/.outlast`); `settings`, when given, is used as it is. `server`
    is the address of one to work with instead (default: `OUTLAST_SERVER`; "local" means none); `token` lets us in
    there (default: `OUTLAST_TOKEN`, or what `outlast login server` keeps). Opening a client touches nothing.

        client = Client(home="/data/outlast")
        print([run.name for run in client.runs.list()])
    """

    def __init__(
        self, home: str | os.PathLike[str] | None = None, settings: Settings | None = None, *,
        server: str | None = None, token: str | None = None,
    ) -> None:  # fmt: skip
        self.settings = settings if settings is not None else Settings.load(os.environ, home=home)
        self.settings = self.settings.at(server, token)
        self.runs = Runs(self.settings)
        self.secrets = Secrets(self.settings)
        self.stores = Stores(self.settings)
        self.files = Files(self.settings)
        self.data = Data(self.settings)
        self.sweeps = Sweeps(self.settings)

    @cached_property
    def environments(self) -> Environments:
        """Named environments: `list`, `find`, `add`, `remove`."""
        from outlast.operations.environments import Environments

        if self.settings.server:
            from outlast.remote.house import ServedEnvironments

            return ServedEnvironments(self.settings)
        return Environments(self.settings)

    def clean(
        self,
        *,
        keep_last: int | None = None,
        keep_best: str | None = None,
        dry_run: bool = False,
    ) -> Cleaned:
        """Remove old checkpoints, unreferenced blobs and old work folders; with `dry_run` only say which.

        print(client.clean(keep_last=1, dry_run=True).size_bytes)
        """
        from outlast.operations.clean import clean

        return clean(self.settings, keep_last=keep_last, keep_best=keep_best, dry_run=dry_run)

    def reindex(self, stores: Iterable[str] = ()) -> Rebuilt:
        """Rebuild the index of runs from the run folders; `stores` are further ones to search."""
        from outlast.operations.reindex import reindex

        return reindex(self.settings, stores)

    def config(self) -> list[tuple[Setting, str, str]]:
        """Each setting, its value as text, and where the value came from."""
        return self.settings.shown()

    def set_config(self, name: str, value: str) -> None:
        """Write one setting to the home's config.toml; clients opened from now on use it."""
        from outlast.keeper.home import Home
        from outlast.settings import write_setting

        write_setting(Home(self.settings.home).path, name, value)
        if name == "database":
            from outlast.operations.database import follow_database

            follow_database(self.settings.home)

    def probe(
        self,
        request: RunRequest | str,
        *,
        time_s: float = 60.0,
        tell: Callable[[str], None] | None = None,
        **words: Any,
    ) -> Forecast:
        """Run one short stint in a throw-away home and forecast the whole training.

        print(client.probe("train.py", checkpoint="ckpt", limit="1h").sentence)
        """
        from outlast.operations.trials import probe_run

        return probe_run(self.settings, _request(request, words), time_s=time_s, tell=tell or _silent)

    def rehearse(
        self,
        request: RunRequest | str,
        *,
        count: int = 4,
        seed: int | None = None,
        tolerance: float = 0.0,
        ignore: tuple[str, ...] = (),
        tell: Callable[[str], None] | None = None,
        **words: Any,
    ) -> Rehearsal:
        """Train straight and interrupted in throw-away homes, and name the first thing that differs.

        assert client.rehearse("train.py", checkpoint="ckpt", args=("--epochs", "3")).agree
        """
        from outlast.operations.trials import rehearse_run

        return rehearse_run(
            self.settings, _request(request, words), tell=tell or _silent, count=count, seed=seed,
            tolerance=tolerance, ignore=ignore,
        )  # fmt: skip

    def login(
        self,
        kind: str,
        *,
        profile: str = "",
        bucket: str = "",
        check: bool = True,
        in_file: bool = False,
        **fields: Any,
    ) -> LoggedIn:
        """Check the keys of a store with real calls and keep them; nothing is kept when they do not work.

        `fields` are those of an access: endpoint, region, key, secret, token, user, signature, path_style, ca_file.

            client.login("obs", region="cn-north-4", key="AK…", secret=os.environ["SK"])
        """
        from outlast.errors import UsageError
        from outlast.inside.stores.access import Access
        from outlast.operations.login import login

        try:
            access = Access(kind, **fields)
        except TypeError:
            known = ", ".join(Access._fields[1:])
            unknown = next(iter(set(fields) - set(Access._fields)), "kind")
            raise UsageError(f"no field of an access: {unknown}", hint=f"fields: {known}") from None
        return login(self.settings, access, profile=profile, bucket=bucket, check=check, in_file=in_file)

    def logout(self, name: str) -> str:
        """Forget a profile and its secret; `name` may also be the kind of the only profile of that kind."""
        from outlast.operations.login import logout

        return logout(self.settings, name)

    def whoami(self, *, check: bool = False) -> list[Identity]:
        """Every access that is known here and where it came from, never a secret; with `check` each is used once."""
        from outlast.operations.login import whoami
        from outlast.operations.signin import account_identities

        stores = whoami(self.settings, os.environ, check=check)
        return [*stores, *account_identities(self.settings, check=check), *self.servers(check=check)]

    def doctor(self) -> list[Finding]:
        """What this machine (or the server's) has, what is missing, and how to get it."""
        from outlast.operations.doctor import examine

        if self.settings.server:
            from outlast.remote.house import examine_server

            return examine_server(self.settings)
        return examine(self.settings.home, self.settings.store)


class Runs(Judging, Listing):
    """The verbs on runs. `ref` is an id, the beginning of one, or a name (then its newest run is meant)."""

    def submit(
        self, request: RunRequest | str, *, progress: Callable[[str], None] | None = None,
        notify: Callable[[str], None] | None = None, **words: Any,
    ) -> RunView:  # fmt: skip
        """Start a run and return at once; it goes on without this process.

        `progress` hears what is being done, `notify` what is worth a second look.

        Takes a `RunRequest`, or a target and the words of one:

            client.runs.submit("train.py", args=("--lr", "0.1"), data=("mnist",), limit="1h")
        """
        from outlast.model.first_view import first_view
        from outlast.operations.submit import submit_run

        spec = submit_run(_request(request, words), self._settings, progress, notify=notify)
        return first_view(spec.to_json())

    def plan(self, request: RunRequest | str, **words: Any) -> RunPlan:
        """Everything that `submit` would do, completely checked; starts nothing."""
        from outlast.operations.submit import plan_run

        return plan_run(_request(request, words), self._settings)

    def explain(self, request: RunRequest | str, **words: Any) -> Explanation:
        """What the script of such a run will see; starts and writes nothing."""
        from outlast.operations.explain import explain

        return explain(_request(request, words), self._settings)

    def get(self, ref: str) -> RunView:
        """Everything about one run: stints, checkpoints, ledger, spec, outputs."""
        from outlast.operations.runs import show_run

        return show_run(self._settings, ref)

    def stop(self, ref: str) -> RunView:
        """Ask a run to save and stop; `wait` tells when it has. `resume` continues it."""
        from outlast.operations.runs import stop_run

        return stop_run(self._settings, ref)

    def resume(
        self,
        ref: str,
        *,
        from_stint: int | None = None,
        checkpoint: str | None = None,
        limit: str | None = None,
    ) -> RunView:
        """Continue a run that failed or was stopped, from its last checkpoint or from the one named."""
        from outlast.operations.runs import resume_run

        return resume_run(self._settings, ref, from_stint=from_stint, checkpoint=checkpoint, limit=limit)

    def clone(
        self, ref: str, *, checkpoint: str | None = None, name: str | None = None, params: Iterable[str] = ()
    ) -> RunView:
        """Start a run with the code, data and words of another; with `checkpoint` (an id, or "last") from there.

        client.runs.clone("mnist", checkpoint="last", params=["lr=0.01"])
        """
        from outlast.model.first_view import first_view
        from outlast.operations.clone import clone_run

        spec = clone_run(self._settings, ref, checkpoint=checkpoint, name=name, params=tuple(params))
        return first_view(spec.to_json())

    def remove(self, ref: str, *, force: bool = False) -> str:
        """Remove a run that is over (with `force` any) and return its id. Blobs stay until `clean`."""
        from outlast.operations.runs import remove_run

        return remove_run(self._settings, ref, force=force)

    def logs(self, ref: str, *, stint: int | None = None, follow: bool = False, node: int = 0) -> Iterator[bytes]:
        """What the script printed, in pieces; with `follow` until the run is over. `node`: on that machine of a stint.

        for piece in client.runs.logs("mnist", follow=True):
            sys.stdout.buffer.write(piece)
        """
        from outlast.operations.logs import read_logs

        return read_logs(self._settings, ref, stint=stint, follow=follow, node=node)

    def fetch(self, ref: str, to: str | os.PathLike[str], what: What = "outputs", *, force: bool = False) -> Fetched:
        """Bring outputs, the last checkpoint, the logs or all of it to a folder, verified."""
        from outlast.operations.fetch import fetch_run

        return fetch_run(self._settings, ref, Path(to), what, force=force)

    def wait(self, ref: str, timeout: float | None = None) -> RunView:
        """Wait until a run is over and return it; `UsageError` after `timeout` seconds."""
        from outlast.operations.runs import wait_run

        return wait_run(self._settings, ref, timeout)

    def watch(self, ref: str) -> Iterator[RunView]:
        """The run now and at each change, about five times a second at most, until it is over."""
        from outlast.operations.runs import watch_run

        return watch_run(self._settings, ref)


class Secrets:
    """Values kept under a name in the home folder, for runs that ask for them. Values never come back out."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def set(self, name: str, value: str) -> None:
        """Keep a value; a run gets it with `secrets=("HF_TOKEN",)`."""
        from outlast.operations.secrets import set_secret

        set_secret(self._settings, name, value)

    def list(self) -> list[str]:
        """The names that are kept."""
        from outlast.operations.secrets import list_secrets

        return list_secrets(self._settings)

    def remove(self, name: str) -> None:
        from outlast.operations.secrets import remove_secret

        remove_secret(self._settings, name)


def _silent(words: str) -> None:
    """Nobody listens."""


def _request(request: RunRequest | str, words: dict[str, Any]) -> RunRequest:
    from outlast.errors import UsageError
    from outlast.model.request import RunRequest

    if isinstance(request, RunRequest):
        if words:
            raise UsageError(f"give a RunRequest or words like {next(iter(words))}=…, not both")
        return request
    try:
        return RunRequest(target=os.fspath(request), **words)
    except TypeError as error:
        raise UsageError(f"not a word of a run request: {error}") from None
