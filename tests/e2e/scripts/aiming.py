"""A training that keeps notes where `--aim_repo` says, as one that uses Aim does; with `--real` it uses Aim."""

import argparse
import json
import os
import time

parser = argparse.ArgumentParser()
parser.add_argument("--aim_repo", required=True)
parser.add_argument("--epochs", type=int, default=3)
parser.add_argument("--wait-for", default="", help="train no further than the second epoch before this file exists")
parser.add_argument("--real", action="store_true")
options = parser.parse_args()

os.makedirs("ckpt", exist_ok=True)
notes = os.path.join(options.aim_repo, ".aim", "notes")
os.makedirs(os.path.dirname(notes), exist_ok=True)
done = 0
if os.path.exists("ckpt/state.json"):
    with open("ckpt/state.json") as file:
        done = json.load(file)["epoch"]
    with open(notes) as file:
        print("resumed with", file.read().split(), flush=True)

if options.real:
    import aim

    os.rmdir(os.path.dirname(notes))
    run = aim.Run(repo=options.aim_repo, system_tracking_interval=None, capture_terminal_logs=False)
for epoch in range(done + 1, options.epochs + 1):
    while epoch > 2 and options.wait_for and not os.path.exists(options.wait_for):
        time.sleep(0.02)
    if options.real:
        run.track(1.0 / epoch, name="loss", epoch=epoch)
    else:
        with open(notes, "a") as file:
            file.write("%d\n" % epoch)
    print("epoch %d/%d loss=%.4f" % (epoch, options.epochs, 1.0 / epoch), flush=True)
    with open("ckpt/state.tmp", "w") as file:
        json.dump({"epoch": epoch}, file)
    os.replace("ckpt/state.tmp", "ckpt/state.json")
if options.real:
    run.close()
