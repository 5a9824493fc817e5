"""Tell two spirals apart. This script knows nothing of Outlast: it saves its state, and looks for it when it starts."""

from pathlib import Path

import numpy as np

EPOCHS = 300
STEPS = 60
SAVE_EVERY = 10
STATE = Path("ckpt/state.npz")


def spirals(count, rng):
    """Points on two arms, and which arm each is on."""
    arm = rng.integers(0, 2, count)
    turn = np.sqrt(rng.uniform(0.02, 1, count)) * 3 * np.pi
    angle = turn + np.pi * arm
    points = np.stack([np.cos(angle), np.sin(angle)], axis=1) * turn[:, None] / (3 * np.pi)
    return points + rng.normal(0, 0.05, points.shape), arm


def start(seed):
    rng = np.random.default_rng(seed)
    state = {"epoch": np.array(0), "seed": np.array(seed)}
    for layer, (inputs, outputs) in enumerate([(2, 96), (96, 96), (96, 1)]):
        state[f"w{layer}"] = rng.normal(0, np.sqrt(2 / inputs), (inputs, outputs))
        state[f"b{layer}"] = np.zeros(outputs)
        state[f"vw{layer}"] = np.zeros((inputs, outputs))
        state[f"vb{layer}"] = np.zeros(outputs)
    return state


def forward(state, values):
    layers = [values]
    for layer in range(3):
        values = values @ state[f"w{layer}"] + state[f"b{layer}"]
        if layer < 2:
            values = np.maximum(values, 0)
        layers.append(values)
    return layers


def train_epoch(state):
    # A generator made from the epoch number: nothing random has to be saved.
    rng = np.random.default_rng([int(state["seed"]), int(state["epoch"])])
    total = 0.0
    for _ in range(STEPS):
        points, arm = spirals(256, rng)
        layers = forward(state, points)
        guess = 1 / (1 + np.exp(-layers[-1][:, 0]))
        total += -np.log(np.where(arm == 1, guess, 1 - guess) + 1e-12).mean()
        back = ((guess - arm) / len(arm))[:, None]
        for layer in (2, 1, 0):
            slopes = {"w": layers[layer].T @ back, "b": back.sum(axis=0)}
            back = (back @ state[f"w{layer}"].T) * (layers[layer] > 0)
            for kind, slope in slopes.items():
                speed = state[f"v{kind}{layer}"]
                speed *= 0.9
                speed -= 0.005 * slope
                state[f"{kind}{layer}"] += speed
    return total / STEPS


def save(state):
    """Write aside, then rename: whoever looks finds the old state or the new one, never half of one."""
    STATE.parent.mkdir(exist_ok=True)
    fresh = STATE.with_name("state.npz.tmp")
    with fresh.open("wb") as file:
        np.savez(file, **state)
    fresh.replace(STATE)


def main():
    if STATE.exists():
        with np.load(STATE) as saved:
            state = {name: saved[name] for name in saved.files}
        print(f"going on after epoch {state['epoch']}", flush=True)
    else:
        state = start(seed=3)
    points, arm = spirals(2000, np.random.default_rng(99))
    while state["epoch"] < EPOCHS:
        loss = train_epoch(state)
        state["epoch"] += 1
        accuracy = ((forward(state, points)[-1][:, 0] > 0) == arm).mean()
        print(f"Epoch {state['epoch']}/{EPOCHS} - loss: {loss:.4f} - acc: {accuracy:.4f}", flush=True)
        if state["epoch"] % SAVE_EVERY == 0:
            save(state)
    Path("out").mkdir(exist_ok=True)
    np.savez("out/spirals.npz", **{name: state[name] for name in state if name[0] in "wb"})


if __name__ == "__main__":
    main()
