"""Make docs/img/console-*.png: pages of the web console with real runs, taken by a real browser.

`python -m tools.screenshots` trains a few small runs in a fresh home, serves it, and photographs each page of `SHOTS`.
With names as arguments only those pictures are made again. Needs chromium and `pip install playwright`.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from playwright.sync_api import Browser, sync_playwright

from outlast.client import Client
from outlast.keeper.home import Home
from outlast.keeper.wake import end_keeper
from outlast.operations.maps import map_store
from outlast.settings import Settings

ROOT = Path(__file__).parent.parent
PICTURES = ROOT / "docs" / "img"
MOST_BYTES = 150 << 10
DEADLINE_S = 300.0
#: Time for charts to be drawn and curves to arrive.
SETTLE_MS = 2500


class Shot(NamedTuple):
    """One picture; `{run}` in its address is the run with hand-overs."""

    name: str
    address: str
    width: int = 1280
    height: int = 800
    language: str = "en"
    look: str = "light"


SHOTS = (
    Shot("console-runs", "/"),
    Shot("console-runs-zh", "/", language="zh"),
    Shot("console-runs-phone", "/", 390, 760, look="dark"),
    Shot("console-run", "/runs/{run}", 1280, 1180),
    Shot("console-run-zh", "/runs/{run}", 1280, 1180, language="zh"),
    Shot("console-curves", "/runs/{run}/curves?m=loss&m=val_acc&smooth=0.8&together=1", 1280, 760, look="dark"),
    Shot("console-log", "/runs/{run}/log", 1280, 760),
    Shot("console-setup", "/runs/{run}/setup?with=wide", 1280, 1100),
    Shot("console-new", "/new?from={run}", 1280, 1000),
    Shot("console-new-zh", "/new?from={run}", 1280, 1000, language="zh"),
    Shot("console-compare", "/compare?runs={run},wide,narrow", 1280, 1000),
    Shot("console-stores", "/stores?at=obs://lab-data/", 1280, 640),
    Shot("console-hub-project", "/hub/mia/digits", 1280, 900),
    Shot("console-hub-commit", "/hub/mia/digits/commit/main", 1280, 700),
    Shot("console-hub-zh", "/hub", 1280, 640, language="zh"),
)

README = """# Digits

Recognises handwritten digits. Train it with the button above, or with

    outlast run train.py --data mnist=dataset:mia/mnist --limit 1h

| metric | value |
|---|---|
| val_acc | 0.974 |
"""

SCRIPT = """
import argparse, json, math, pathlib, random, sys, time
import outlast

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.1)
parser.add_argument("--epochs", type=int, default=30)
parser.add_argument("--turn", type=int, default=1000, help="epochs of one stint")
parser.add_argument("--pause", type=float, default=0.0)
options = parser.parse_args()
saved = pathlib.Path("ckpt/model.json")
saved.parent.mkdir(exist_ok=True)
first = json.loads(saved.read_text())["epoch"] + 1 if saved.exists() else 0
for epoch in range(first, options.epochs):
    random.seed(epoch)
    for step in range(epoch * 25, epoch * 25 + 25):
        loss = 2.3 * math.exp(-step * options.lr / 40) + 0.1 * random.random() + 0.05
        outlast.track(loss=loss, step=step)
        time.sleep(options.pause)
    accuracy = 1 - 0.9 * math.exp(-(epoch + 1) * options.lr / 2) - 0.03 * random.random()
    outlast.track(val_acc=accuracy, epoch=epoch)
    print(f"\\033[36mepoch {epoch + 1}/{options.epochs}\\033[0m  loss {loss:.4f}  \\033[1mval_acc {accuracy:.4f}\\033[0m", flush=True)
    saved.write_text(json.dumps({"epoch": epoch, "weights": [random.random() for _ in range(5000)]}))
    if options.lr > 1 and epoch == 3:
        raise FloatingPointError("loss is nan at step %d" % step)
    if epoch + 1 < options.epochs and epoch + 1 - first >= options.turn:
        sys.exit(85)
pathlib.Path("out").mkdir(exist_ok=True)
pathlib.Path("out/result.json").write_text(json.dumps({"val_acc": accuracy, "lr": options.lr}))
"""  # noqa: E501 - a script


def main(names: list[str]) -> None:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        sys.exit("chromium is not installed")
    with (
        tempfile.TemporaryDirectory(prefix="outlast-pictures-") as folder,
        _served(Path(folder)) as (address, run),
        sync_playwright() as playwright,
    ):
        flags = ["--no-sandbox", "--disable-dev-shm-usage"]
        browser = playwright.chromium.launch(executable_path=chromium, args=flags)
        for shot in SHOTS:
            if not names or shot.name in names:
                sys.stdout.write(_take(browser, address, run, shot) + "\n")
        browser.close()


def _take(browser: Browser, address: str, run: str, shot: Shot) -> str:
    context = browser.new_context(viewport={"width": shot.width, "height": shot.height})
    chosen = {"outlast_language": shot.language, "outlast_look": shot.look}
    context.add_cookies([{"name": name, "value": value, "url": address} for name, value in chosen.items()])
    page = context.new_page()
    page.goto(address + shot.address.format(run=run), wait_until="networkidle")
    page.wait_for_timeout(SETTLE_MS)
    picture = PICTURES / f"{shot.name}.png"
    page.screenshot(path=picture)
    context.close()
    size_bytes = picture.stat().st_size
    if size_bytes > MOST_BYTES:
        sys.exit(f"{picture.name} has {size_bytes} bytes; at most {MOST_BYTES} are wanted")
    return f"{picture.relative_to(ROOT)}: {size_bytes >> 10} KB"


@contextlib.contextmanager
def _served(folder: Path) -> Iterator[tuple[str, str]]:
    """The address of a server whose home has some runs, and the run with hand-overs."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("OUTLAST_")}
    environ |= {"OUTLAST_HOME": str(folder / "home"), "OUTLAST_USER": "mia"}
    run = _train(folder, Settings.load(environ))
    _fill_bucket(folder / "bucket", Settings.load(environ))
    _fill_hub(Settings.load(environ))
    log = folder / "log"
    with log.open("wb") as said:
        command = [sys.executable, "-m", "outlast.cli.entry", "serve", "--port", "0"]
        server = subprocess.Popen(command, env=environ, stdout=said, stderr=said)
    try:
        deadline = time.monotonic() + DEADLINE_S
        while (found := re.search(r"http://[\d.]+:\d+", log.read_text())) is None:
            if server.poll() is not None or time.monotonic() > deadline:
                sys.exit(log.read_text())
            time.sleep(0.1)
        yield found[0], run
    finally:
        server.terminate()
        server.wait(DEADLINE_S)
        runs = Client(settings=Settings.load(environ)).runs
        runs.stop("overnight")
        runs.wait("overnight", timeout=DEADLINE_S)  # nothing writes into the folder that is removed next
        end_keeper(Home(folder / "home"))


def _train(folder: Path, settings: Settings) -> str:
    (folder / "code").mkdir()
    script = folder / "code" / "train.py"
    script.write_text(SCRIPT)
    runs = Client(settings=settings).runs
    words: dict[str, Any] = {"checkpoint": "ckpt", "output": "out", "retries": 0, "python": "/usr/bin/python3"}
    asked = {
        "resnet-18": ("lr=0.3", "turn=9", "pause=0.01"), "wide": ("lr=0.6", "epochs=20"),
        "too-fast": ("lr=1.5",), "narrow": ("lr=0.15", "epochs=40", "turn=25"),
    }  # fmt: skip
    made = {name: runs.submit(str(script), name=name, params=params, **words) for name, params in asked.items()}
    for handle in made.values():
        runs.wait(handle.id, timeout=DEADLINE_S)
    runs.submit(str(script), name="overnight", params=("lr=0.05", "epochs=400", "pause=0.05"), limit="1h", **words)
    time.sleep(20)  # the open run has come a little way
    return made["resnet-18"].id


def _fill_hub(settings: Settings) -> None:
    """A project with a little history, and what belongs to it."""
    from outlast.operations.hubs import open_hub, own_visitor

    hub, visitor = open_hub(settings), own_visitor(settings)
    words = {"visibility": "public", "tags": ("vision", "mnist"), "licence": "mit"}
    made = hub.create(
        visitor, "mia/digits", "project", description="Handwritten digits, trained in short turns", **words
    )
    hub.create(visitor, "mia/resnet-18", "model", description="Weights of the best run", **words)
    hub.create(visitor, "mia/mnist", "dataset", description="The usual 70,000 pictures")
    files = {
        "README.md": README, "train.py": SCRIPT, "requirements.txt": "numpy>=1.24\n", "configs/base.yaml": "lr: 0.1\n",
    }  # fmt: skip
    bare = hub.bare(made)
    bare.write_commit({path: (text.encode(), 0o644) for path, text in files.items()}, "Begin", "mia")
    files["train.py"] = SCRIPT.replace("default=0.1", "default=0.3")
    files["configs/base.yaml"] = "lr: 0.3\nepochs: 30\n"
    bare.write_commit({path: (text.encode(), 0o644) for path, text in files.items()}, "Learn faster", "mia")


def _fill_bucket(folder: Path, settings: Settings) -> None:
    """A folder that plays a bucket, with the usual things in it."""
    for name, size_bytes in {"mnist/train.npz": 9_912_422, "mnist/test.npz": 1_648_877, "labels.csv": 48_211}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(bytes(size_bytes))
    (folder / "models").mkdir()
    map_store(settings, "obs://lab-data", folder)


if __name__ == "__main__":
    main(sys.argv[1:])
