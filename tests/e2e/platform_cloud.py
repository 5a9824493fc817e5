"""A lab with the platform `faulty` installed, and a training whose weights tell what was lost or repeated."""

import json
import subprocess
import sys

from lab import Lab

#: Adds up something that any lost or repeated epoch would change; saves after each.
SCRIPT = """
import json, os, sys, time
os.makedirs("ckpt", exist_ok=True)
state = {"epoch": 0, "weight": 1}
if os.path.exists("ckpt/state.json"):
    state = json.load(open("ckpt/state.json"))
while state["epoch"] < int(sys.argv[1]):
    time.sleep(float(sys.argv[2]))
    state["epoch"] += 1
    state["weight"] = (state["weight"] * 6364136223846793005 + state["epoch"]) % 2**64
    with open("ckpt/new", "w") as file:
        json.dump(state, file)
    os.replace("ckpt/new", "ckpt/state.json")
    print("epoch %d/%s weight %d" % (state["epoch"], sys.argv[1], state["weight"] % 1000), flush=True)
os.makedirs("out", exist_ok=True)
json.dump(state, open("out/weights.json", "w"))
"""

ENTRY_POINTS = "[outlast.platforms]\nfaulty = outlast.testing.faulty_platform:FaultyPlatform\n"


class Cloud(Lab):
    """A lab where the platform `faulty` is installed, as a package of somebody else would be."""

    def __init__(self, folder, **settings):
        package = folder / "site" / "faulty-1.0.dist-info"
        package.mkdir(parents=True)
        (package / "METADATA").write_text("Metadata-Version: 2.1\nName: faulty\nVersion: 1.0\n")
        (package / "entry_points.txt").write_text(ENTRY_POINTS)
        usual = {"refusal_wait_s": "0.2", "backoff_s": "0", "launch_silence_s": "3", "min_limit_s": "0.5"}
        super().__init__(folder, {**usual, **settings}, PYTHONPATH=str(package.parent))

    def sign_in(self, name, *settings, **faults):
        """An account with its faults; returns its folder."""
        folder = self.folder / name
        folder.mkdir()
        for verb, words in faults.items():
            (folder / f"{verb}.txt").write_text(words)
        words = [word for setting in (f"folder={folder}", *settings) for word in ("--set", setting)]
        self.outlast("login", "faulty", "--profile", name, "--in-file", *words)
        return folder

    def train(self, *options, epochs=16, pace_s=0.2):
        script = self.write("project/train.py", SCRIPT)
        run = self.submit(script, "--checkpoint", "ckpt", "--output", "out", *options, "--", str(epochs), str(pace_s))
        self.wake()  # by the environment in which the platform is installed
        return run

    def weights(self, run):
        self.outlast("fetch", run, "--to", self.folder / "got")
        return json.loads(next((self.folder / "got").rglob("weights.json")).read_text())


def straight(folder, epochs):
    """The same training, uninterrupted."""
    folder.mkdir()
    (folder / "train.py").write_text(SCRIPT)
    subprocess.run([sys.executable, "train.py", str(epochs), "0"], cwd=folder, check=True, capture_output=True)
    return json.loads((folder / "out" / "weights.json").read_text())
