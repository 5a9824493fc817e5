"""Record points with one library, as fast as they can be recorded: `points.py track 400000`."""

import json
import os
import sys
import time


def track(count):
    import outlast

    outlast.track(loss=0.5, step=0)
    began = time.perf_counter()
    for step in range(1, count):
        outlast.track(loss=0.5, step=step)
    return time.perf_counter() - began


def tensorboard(count):
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        from tensorboardX import SummaryWriter
    writer = SummaryWriter("board")
    began = time.perf_counter()
    for step in range(count):
        writer.add_scalar("loss", 0.5, step)
    writer.close()
    return time.perf_counter() - began


def mlflow(count):
    os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"  # newer versions ask before they use it
    import mlflow

    mlflow.set_tracking_uri("file:./mlruns")
    with mlflow.start_run():
        began = time.perf_counter()
        for step in range(count):
            mlflow.log_metric("loss", 0.5, step=step)
        return time.perf_counter() - began


def aim(count):
    from aim import Run

    run = Run(repo=".", system_tracking_interval=None, capture_terminal_logs=False)
    began = time.perf_counter()
    for step in range(count):
        run.track(0.5, name="loss", step=step)
    run.close()
    return time.perf_counter() - began


def work(rate):
    """Which share of a training's time goes into tracking one point in each of `rate` steps a second.

    Each call comes out of a step of computing, when nothing of ours is in the processor's caches any more.
    """
    import outlast

    def mean_s(with_points):
        spent = 0.0
        for step in range(rate):
            began = time.perf_counter()
            total = 0.0
            while time.perf_counter() - began < 0.9 / rate:
                total += 1.0
            at = time.perf_counter()
            if with_points:
                outlast.track(loss=total, step=step)
            spent += time.perf_counter() - at
        return spent / rate

    mean_s(True)
    return sorted((mean_s(True) - mean_s(False)) * rate for _ in range(5))[2]


if __name__ == "__main__":
    what, count = sys.argv[1], int(sys.argv[2])
    found = {"track": track, "tensorboard": tensorboard, "mlflow": mlflow, "aim": aim, "work": work}[what](count)
    print(json.dumps({"slowed": found} if what == "work" else {"rate": count / found}), flush=True)
