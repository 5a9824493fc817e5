"""A user with accounts on three servers and a training whose weights tell what was lost, repeated or mixed up."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys

from lab import Lab
from storm_servers import Cluster, Hub, Region

from outlast.inside import layout
from outlast.inside.records import Manifest
from outlast.keeper.home import Home
from outlast.platforms.accounts import Accounts
from outlast.store.registry import open_store
from outlast.track.series import read_series

#: The weights are a chain of digests: any epoch that is lost, done twice or trained on other numbers changes all that
#: follow. An epoch is told before it is saved, so that whatever is saved was told. After `at_once` epochs it leaves
#: with the code that means "saved, come back".
SCRIPT = """
import hashlib, json, os, sys, time
epochs, pace_s, at_once = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
state = {"epoch": 0, "weights": "0"}
os.makedirs("ckpt", exist_ok=True)
if os.path.exists("ckpt/state.json"):
    with open("ckpt/state.json") as file:
        state = json.load(file)
begun = state["epoch"]
while state["epoch"] < epochs:
    if state["epoch"] == begun + at_once:
        sys.exit(85)
    time.sleep(pace_s)
    state["epoch"] += 1
    state["weights"] = hashlib.sha256((state["weights"] + str(state["epoch"])).encode()).hexdigest()
    print("epoch %d/%d loss=%.6f" % (state["epoch"], epochs, 1 / state["epoch"]), flush=True)
    with open("ckpt/state.tmp", "w") as file:
        json.dump(state, file)
    os.replace("ckpt/state.tmp", "ckpt/state.json")
os.makedirs("out", exist_ok=True)
with open("out/weights.json", "w") as file:
    json.dump(state, file)
"""
NEVER = 1_000_000

#: Nothing that goes wrong is ever the script's fault here, so no count of failures may end the run. A platform that
#: refused is asked again at once.
SETTINGS = {
    "backoff_s": "0", "refusal_wait_s": "0.2", "no_progress_limit": "100000", "silence_limit_s": "20",
    "launch_silence_s": "30", "keeper_idle_s": "600",
}  # fmt: skip


class Storm(Lab):
    """The lab of the user; `region`, `cluster` and `hub` are the places to train at, in the order of preference."""

    def __init__(self, folder, seaweed, clock_s=0.0, free_limit_s="300", training_limit_s="300", limits=None):
        super().__init__(folder, SETTINGS)
        made, limits = [], limits or {}
        self._hands = {}
        try:
            own = {"clock_s": clock_s, "free_limit_s": free_limit_s, "limit": limits.get("modelarts")}
            made.append(Region(self._folder("region"), seaweed, **own))
            made.append(Cluster(self._folder("cluster"), limit=limits.get("openpai")))
            made.append(Hub(self._folder("hub"), training_limit_s=training_limit_s, limit=limits.get("xihe")))
            for each in made:
                each.wait()
        except BaseException:
            for each in made:
                each.close()
            raise
        self.places = self.region, self.cluster, self.hub = made
        home = Home(self.home).path
        (home / "cache").mkdir(exist_ok=True)
        (home / "cache" / "boot").symlink_to(self.folder / "boot")
        for each in made:
            each.lend(home)
            Accounts(home).save(each.account(), in_file=True)

    def _folder(self, name):
        folder = self.folder / name
        folder.mkdir()
        return folder

    def place(self, platform):
        return next(each for each in self.places if each.kind == platform)

    def hand(self, platform):
        """Somebody else's hand on the account there, in the platform's own console."""
        if platform not in self._hands:
            self._hands[platform] = self.place(platform).platform(self.folder / f"hand-{platform}")
        return self._hands[platform]

    def newest(self, run):
        """The newest stint, as long as it is open."""
        stints = self.client.runs.get(run).stint_list
        return stints[-1] if stints and stints[-1].reason is None else None

    def train(self, epochs, pace_s, at_once, *options):
        """Start the run; its id."""
        script = self.write("project/train.py", SCRIPT)
        places = [word for each in self.places for word in ("--on", each.kind)]
        return self.submit(
            script, *places, *options, "--checkpoint", "ckpt", "--output", "out", "--", epochs, pace_s, at_once
        )

    def straight(self, epochs):
        """What the uninterrupted training has in the end."""
        folder = self._folder("straight")
        command = [sys.executable, str(self.folder / "project" / "train.py"), str(epochs), "0", str(NEVER)]
        subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=150)
        return json.loads((folder / "out" / "weights.json").read_text())

    def check(self, view, epochs):
        """The weights are those of the straight run, and the story of the run has neither gap nor repetition."""
        assert view.state == "succeeded", f"{view.message}\n{self.story()}"
        self.outlast("fetch", view.id, "--to", self.folder / "got")
        assert json.loads(next((self.folder / "got").rglob("weights.json")).read_text()) == self.straight(epochs)
        self._check_stints(view)
        store = open_store((self.home / "store").as_uri())
        saved = self._check_checkpoints(store, view, epochs)
        self._check_curve(store, view, epochs, saved)

    def _check_stints(self, view):
        """Numbered without a gap, each with one end and its reason to be where it was; `show` tells every change."""
        stints = view.stint_list
        assert [stint.number for stint in stints] == list(range(1, len(stints) + 1))
        assert all(stint.reason for stint in stints) and stints[-1].reason == "finished"
        assert all(stint.why for stint in stints)
        shown = " ".join(self.outlast("show", view.id, COLUMNS="1000").stdout.split())
        changes = [after for before, after in itertools.pairwise(stints) if before.platform != after.platform]
        missing = [stint for stint in changes if " ".join(stint.why.split())[:60] not in shown]  # long ones are cut
        assert not missing, f"{missing}\n{shown}"

    def _check_checkpoints(self, store, view, epochs):
        """Every one is a link of one chain: no stint went back, and each went on from what one before it had saved.

        Returns the epoch of each.
        """
        keys = [entry.key for entry in store.list(layout.checkpoints_prefix(view.id))]
        names = sorted(filter(None, map(layout.checkpoint_of_key, keys)), key=layout.checkpoint_order)
        saved = {}
        for name in names:
            manifest = Manifest.from_bytes(store.get(layout.checkpoint_key(view.id, name)))
            state = json.loads(store.get(layout.blob_key(manifest.files["ckpt/state.json"]["sha256"])))
            saved[name] = state["epoch"]
        reached = list(saved.values())
        assert reached == sorted(reached) and reached[-1] == epochs, reached
        for stint in view.stint_list:
            before = [name for name in names if layout.checkpoint_order(name)[0] < stint.number]
            assert stint.resumed_from in [None, *before], stint
        return saved

    def _check_curve(self, store, view, epochs, saved):
        """One point for each epoch. Only the last words of a machine that died may be missing."""
        curve = [point.epoch for point in read_series(store, view.id)["loss"].curve]
        assert curve == sorted(set(curve)), "an epoch is there twice"
        died = {stint.number for stint in view.stint_list if stint.reason in ("lost", "preempted")}
        unsaid = {epoch for name, epoch in saved.items() if layout.checkpoint_order(name)[0] in died}
        assert set(range(1, epochs + 1)) - set(curve) <= unsaid, "an epoch is missing"

    def story(self):
        return "\n".join([super().story(), *(each.words() for each in self.places)])

    def close(self):
        super().close()
        for each in (*self._hands.values(), *self.places):
            each.close()
