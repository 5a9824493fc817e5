"""A real `outlast serve` with accounts and runs, and a real browser that tells of every error and foreign request."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from outlast.client import Client
from outlast.keeper.home import Home
from outlast.keeper.wake import end_keeper
from outlast.platforms.local.launch import reap
from outlast.server.accounts.book import Accounts
from outlast.server.accounts.people import Quota, Role
from outlast.server.database import Database
from outlast.settings import Settings
from outlast.store.registry import open_store

PATIENCE_S = 120.0
PASSWORD = "correct horse battery"
_ACCESSIBILITY = (Path(__file__).parent / "accessibility.js").read_text("utf-8")

#: Ends with 85 twice, which means "saved, come back": three stints in a few seconds.
SCRIPT = """
import argparse, json, pathlib, sys, time
import outlast

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.1)
parser.add_argument("--fail", type=int, default=0)
parser.add_argument("--wait", type=int, default=0)
options = parser.parse_args()
saved = pathlib.Path("ckpt/model.json")
epoch = json.loads(saved.read_text())["epoch"] + 1 if saved.exists() else 0
for epoch in range(epoch, epoch + 2):
    outlast.track(loss=2.0 / (epoch + 1), epoch=epoch, step=epoch * 10)
    outlast.track(val_acc=1 - 0.5 / (epoch + 1), epoch=epoch)
    print(f"\\033[32mepoch {epoch}\\033[0m of 6 <b>&amp; not a tag</b>", flush=True)
saved.parent.mkdir(exist_ok=True)
saved.write_text(json.dumps({"epoch": epoch}))
while options.wait and not outlast.should_stop():
    time.sleep(0.05)
if options.fail:
    raise RuntimeError("the loss is not a number")
if epoch < 5:
    sys.exit(85)
out = pathlib.Path("out")
out.mkdir(exist_ok=True)
(out / "result.json").write_text(json.dumps({"lr": options.lr}))
(out / "table.csv").write_text("epoch,acc\\n1,0.5\\n")
(out / "page.html").write_text("<script>document.title = 'taken over'</script>")
"""


class ConsoleLab:
    """The server, its home, its people: ada is admin, mia and max are members of one group, zoe is alone."""

    def __init__(self, folder: Path, *arguments: str, **environ: str) -> None:
        self.folder = folder
        self.environ = {name: value for name, value in os.environ.items() if not name.startswith("OUTLAST_")}
        self.environ |= {"OUTLAST_HOME": str(folder / "home"), "OUTLAST_KEEPER_IDLE_S": "5", **environ}
        self.settings = Settings.load(self.environ)
        self.home = Home(self.settings.home)
        with contextlib.closing(Database(self.settings.database)) as database:
            self._add_people(Accounts(database))
        (folder / "code").mkdir()
        (folder / "code" / "train.py").write_text(SCRIPT)
        self._log = folder / "server.log"
        self.process, self.url = start_server(self.environ, self._log, *arguments)

    def _add_people(self, accounts: Accounts) -> None:
        for name, role in {"ada": Role.ADMIN, "mia": Role.MEMBER, "max": Role.MEMBER, "zoe": Role.MEMBER,
                           "vic": Role.VIEWER}.items():  # fmt: skip
            accounts.users.add(name, role, PASSWORD if name == "mia" else None)
        accounts.groups.put("vision", Quota())
        for name in ("mia", "max", "vic"):
            accounts.groups.join("vision", name)
        self.sessions = {name: accounts.keys.create("session", accounts.users.get(name).id)[0]
                         for name in ("ada", "mia", "max", "zoe", "vic")}  # fmt: skip

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(PATIENCE_S)
        end_keeper(self.home)
        reap()  # the first stint of a run that was submitted here is a child of this process

    def log(self) -> str:
        """What the server said."""
        return self._log.read_text()

    def submit(self, user: str = "mia", **words: object) -> str:
        """Start a run of the small script as `user`; its id."""
        settings = Settings.load({**self.environ, "OUTLAST_USER": user})
        told = {"checkpoint": "ckpt", "output": "out", "retries": 0, **words}
        return Client(settings=settings).runs.submit(str(self.folder / "code" / "train.py"), **told).id

    def finished(self, run: str) -> str:
        """Wait until a run is over; its id."""
        Client(settings=self.settings).runs.wait(run, timeout=PATIENCE_S)
        return run

    def put(self, key: str, data: bytes) -> None:
        """Write straight into the store of the runs."""
        open_store(self.settings.store).put(key, data)

    def http(self, user: str) -> httpx.Client:
        """The REST API with the session of `user`."""
        cookies = {"outlast_session": self.sessions[user]}
        return httpx.Client(base_url=self.url, cookies=cookies, timeout=PATIENCE_S, trust_env=False)

    def enter(self, context, user: str = "mia", language: str = "en", look: str = "light") -> None:
        """Sign a browser in without the form."""
        known = {"outlast_session": self.sessions[user], "outlast_language": language, "outlast_look": look}
        context.add_cookies([{"name": name, "value": value, "url": self.url} for name, value in known.items()])


def start_server(environ: dict[str, str], log: Path, *arguments: str) -> tuple[subprocess.Popen[bytes], str]:
    """`outlast serve` on a free port, and its address once it answers."""
    command = [sys.executable, "-m", "outlast.cli.entry", "serve", "--port", "0", *arguments]
    with log.open("wb") as said:
        process = subprocess.Popen(command, env=environ, stdout=said, stderr=said)
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline and process.poll() is None:
        found = re.search(r"http://[\d.]+:\d+", log.read_text())
        if found is not None:
            with contextlib.suppress(httpx.TransportError):
                httpx.get(f"{found[0]}/sign-in", trust_env=False, timeout=PATIENCE_S)
                return process, found[0]
        time.sleep(0.05)
    process.kill()
    process.wait(PATIENCE_S)
    raise AssertionError(log.read_text())


@pytest.fixture(scope="session")
def console(tmp_path_factory):
    lab = ConsoleLab(tmp_path_factory.mktemp("console"))
    yield lab
    lab.close()


@pytest.fixture(scope="session")
def both(console):
    """Two runs of mia's that are over, trained at the same time."""
    runs = console.submit(name="trained", params=("lr=0.1",)), console.submit(name="broken", params=("fail=1",))
    return [console.finished(run) for run in runs]


@pytest.fixture
def trained(both):
    """A run that succeeded in its third stint."""
    return both[0]


@pytest.fixture
def broken(both):
    """A run that failed in its first stint."""
    return both[1]


@pytest.fixture(scope="session")
def browser_address(tmp_path_factory):
    """Where a chromium listens for orders. A process of its own: Playwright's loop must not outlive a test."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("chromium is not installed")
    folder = tmp_path_factory.mktemp("chromium")
    flags = ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--no-first-run",
             "--disable-background-networking", "--remote-debugging-port=0", f"--user-data-dir={folder}"]  # fmt: skip
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen([chromium, *flags, "about:blank"], stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + PATIENCE_S
        port = folder / "DevToolsActivePort"
        while not (port.exists() and port.read_text().count("\n") >= 1):
            assert process.poll() is None and time.monotonic() < deadline, (folder / "log").read_text()
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port.read_text().split()[0]}"
    finally:
        process.terminate()
        process.wait(PATIENCE_S)


@pytest.fixture
def context(browser_address, console):
    """A browser's profile of its own; whatever it complained of fails the test."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE_S * 1000)

    complaints: list[str] = []
    expected: set[int] = set()  # statuses that a test means to get: the browser complains of them, sooner or later

    def hear_words(said) -> None:
        if said.type == "error" and not any(f"status of {status}" in said.text for status in expected):
            complaints.append(said.text)

    def hear(page) -> None:
        page.on("console", hear_words)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda asked: complaints.append(f"foreign: {asked.url}") if _foreign(asked.url) else None)

    def _foreign(url: str) -> bool:
        return not url.startswith((console.url, console.url.replace("http:", "ws:"), "data:", "blob:", "about:"))

    with sync_playwright() as playwright:
        browser = playwright.chromium.connect_over_cdp(browser_address, timeout=PATIENCE_S * 1000)
        made = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
        made.set_default_timeout(PATIENCE_S * 1000)
        made.on("page", hear)
        made.complaints, made.expected = complaints, expected
        yield made
        made.close()
        browser.close()
    assert complaints == [], complaints


@pytest.fixture
def page(context):
    return context.new_page()


def find_barriers(page) -> list[str]:
    """What keeps people from using this page: controls without a name, pale text, no way in by keyboard."""
    page.wait_for_function("window.socket?.connected !== false && document.querySelector('h1')")
    return page.evaluate(_ACCESSIBILITY)
