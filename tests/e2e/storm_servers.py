"""Three `outlast serve` processes that play three platforms, each behind a proxy that spoils what it is told to."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path

import httpx
from lab import kill

from outlast.inside import processes
from outlast.inside.stores.access import Access
from outlast.keeper.home import Home
from outlast.platforms.accounts import Account
from outlast.platforms.registry import load
from outlast.server.accounts.book import Accounts
from outlast.server.accounts.pairs import Pairs
from outlast.server.accounts.people import Role
from outlast.server.database import Database
from outlast.settings import Settings, write_setting
from outlast.store.profiles import Profiles
from servers.faulty import Faulty
from servers.ports import free_ports

#: A machine that does ten other things takes a minute to start three servers.
PATIENCE_S = 400.0
#: How long a stint may wait for a machine while there is another place.
QUEUE_PATIENCE = "15s"
PASSWORD = "correct horse battery"
JUMPING_CLOCK = Path(__file__).parents[1] / "jumping_clock"
#: Exists only as an image, so that nothing is installed for it.
ENGINE = "mindspore_1.6.0-cann_5.0.3.6-py_3.7-euler_2.8.3-aarch64"
FREE = "modelarts.p3.large.public.free"


class Served:
    """One server with one user, `ann`. It can be killed, started again at the same address, and live in another time.

    `proxy` stands before it: clients and stints know no other address.
    """

    kind = ""

    def __init__(self, folder, clock_s=0.0, limit="", **settings):
        self.folder, self.limit = folder, limit
        self.home = make_home(folder / "home", folder.parent / "boot")
        for name, value in {"keeper_idle_s": "600", "grace_s": "1", **settings}.items():
            write_setting(self.home, name, value)
        with contextlib.closing(Database(Settings.load({}, home=self.home).database)) as database:
            accounts = Accounts(database)
            ann = accounts.users.add("ann", Role.MEMBER, PASSWORD).id
            self.token = accounts.keys.create("token", ann)[0]
            self.key = accounts.keys.create("access", ann)[0]
        self.secret = Pairs(self.home).secret_of(self.key)
        self._clock = folder / "clock.txt"
        self.shift_clock(clock_s)
        self.port = free_ports(1)[0]
        self.url = f"http://127.0.0.1:{self.port}"
        self.proxy = Faulty(self.url)
        self._process = None
        self.start()

    def start(self):
        """Begin to serve, without waiting for it."""
        assert self._process is None
        environ = {name: value for name, value in os.environ.items() if not name.startswith(("OUTLAST_", "GIT_"))}
        path = os.pathsep.join([str(JUMPING_CLOCK), *filter(None, [environ.get("PYTHONPATH")])])
        environ |= {"PYTHONPATH": path, "JUMPING_CLOCK": str(self._clock), "NO_COLOR": "1"}
        command = [sys.executable, "-m", "outlast.cli.entry", "serve", "--port", str(self.port)]
        with (self.folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                command, env={**environ, "OUTLAST_HOME": str(self.home)}, cwd=self.folder, stdout=log, stderr=log
            )

    def wait(self):
        """Until it answers."""
        deadline = time.monotonic() + PATIENCE_S
        while not self._answers():
            assert self._process.poll() is None and time.monotonic() < deadline, self.words()
            time.sleep(0.1)

    def _answers(self):
        with contextlib.suppress(httpx.TransportError):
            return httpx.get(f"{self.url}/api/v1/health", trust_env=False, timeout=PATIENCE_S).status_code == 200

    @property
    def is_up(self):
        return self._process is not None and bool(self._answers())

    def kill(self):
        """kill -9; its jobs and their keeper are other processes and go on."""
        self._process.kill()
        self._process.wait()
        self._process = None

    def shift_clock(self, seconds):
        """Set the wall clock of the server and of everything that it starts from now on or has started."""
        aside = self._clock.with_suffix(".new")
        aside.write_text(str(seconds))
        aside.replace(self._clock)

    def pids(self, *words):
        """Processes of the server's home whose command lines hold these words."""
        return [pid for pid, command in _commands() if all(word in command for word in (str(self.home), *words))]

    def kill_keeper(self):
        """kill -9 what looks after its jobs; the server starts another when it is asked for something."""
        return [kill(pid) for pid in self.pids("outlast.keeper")]

    def jobs(self, *words):
        """Process ids of what runs jobs here, one for each; with words, of those with a process that says them."""
        found = self.pids("place.json")
        return [pid for pid in found if not words or any(_says(each, words) for each in processes.descendants(pid))]

    def account(self, endpoint=""):
        """ann's, by the proxy unless told otherwise."""
        values, secrets = self._account(endpoint or self.proxy.url)
        values |= {"queue_patience": QUEUE_PATIENCE, **({"limit": self.limit} if self.limit else {})}
        return Account(self.kind, self.kind, values, secrets)

    def lend(self, home):
        """Let a home know what it needs besides the account."""

    def platform(self, folder):
        """Somebody else's hand on the same account, by the straight way."""
        home = make_home(folder, self.folder.parent / "boot")
        self.lend(home)
        return load(self.kind).from_account(self.account(self.url), Settings.load({}, home=home))

    def words(self):
        log = self.folder / "server.log"
        keeper = Home(self.home).log
        return "\n".join(f"== {each}\n{each.read_text()[-2500:]}" for each in (log, keeper) if each.exists())

    def close(self):
        self.proxy.close()
        if self._process is not None:
            self.kill()
        for _ in range(20):
            left = self.pids()
            for pid in left:
                processes.kill_tree(pid)
            if not left:
                return


class Region(Served):
    """ModelArts: the free flavor, whose jobs the server ends after `free_limit_s`; a bucket behind a proxy is OBS."""

    kind = "modelarts"

    def __init__(self, folder, seaweed, **options):
        self.obs = Faulty(seaweed.endpoint)
        self._access = seaweed.access._replace(kind="obs", signature="v2", endpoint=self.obs.url)
        self._bucket = seaweed.bucket("storm")
        super().__init__(folder, **options)
        self.lend(self.home)

    def _account(self, endpoint):
        store = f"obs://{self._bucket}/lab"
        values = {"region": "cn-north-4", "endpoint": endpoint, "store": store, "flavor": FREE, "engine": ENGINE}
        return {**values, "key": self.key}, {"secret": self.secret}

    def lend(self, home):
        Profiles(home).save("obs", self._access, in_file=True)

    def close(self):
        super().close()
        self.obs.close()


class Cluster(Served):
    """OpenPAI of the Kubernetes generation; the run folder lies in the HDFS of the same server."""

    kind = "openpai"

    def _account(self, endpoint):
        store = f"hdfs://{self.proxy.authority}/user/ann/outlast"
        values = {"endpoint": endpoint, "user": "ann", "image": "python:3.11", "memory": "1G", "store": store}
        return values, {"password": PASSWORD}

    def lend(self, home):
        Profiles(home).save("hdfs", Access("hdfs", self.proxy.url, token=self.token), in_file=True)


class Hub(Served):
    """Xihe: instances without network, whose state comes and goes through git repositories."""

    kind = "xihe"

    def _account(self, endpoint):
        return {"endpoint": endpoint, "user": "ann"}, {"token": self.token}


def make_home(path, boot):
    """A home that finds the boot file made: that takes seconds, and it is the same for all."""
    home = Home(path)
    boot.mkdir(exist_ok=True)
    (home.path / "cache").mkdir(exist_ok=True)
    (home.path / "cache" / "boot").symlink_to(boot)
    return home.path


def _commands():
    return ((int(name), _command(int(name))) for name in os.listdir("/proc") if name.isdigit())


def _command(pid):
    """A process's command line; empty for one that is gone, and for ourselves."""
    with contextlib.suppress(OSError):
        return "" if pid == os.getpid() else Path("/proc", str(pid), "cmdline").read_bytes().decode(errors="replace")
    return ""


def _says(pid, words):
    return all(word in _command(pid) for word in words)
