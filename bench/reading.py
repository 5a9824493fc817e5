"""How fast metrics are read from output: mostly noise, and nothing but metrics, with every format and no budget."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable

from bench.common import Result

LINES = 300_000
CHUNK_BYTES = 64 * 1024
ROUNDS = 3
TARGET = 300_000
_SEED = 20261115

#: Kinds of lines, each made of an epoch, a step and a few numbers between 0 and 1.
KINDS: dict[str, Callable[[int, random.Random], str]] = {
    "MindSpore": lambda n, rng: f"epoch: {n // 1000 + 1} step: {n % 1000}, loss is {rng.random():.6f}",
    "name=value": lambda n, rng: f"step {n} loss={rng.random():.4f} acc={rng.random():.4f}",
    "Hugging Face": lambda n, rng: (
        f"{{'loss': {rng.random():.4f}, 'grad_norm': {rng.random():.4f}, 'learning_rate': {rng.random() / 1e3:.8f}, "
        f"'epoch': {n / 1000:.2f}}}"
    ),
    "MindFormers": lambda n, rng: (
        f"2026-11-15 10:00:{n % 60:02},123 - mindformers[core/callback/callback.py:363] - INFO - {{ Epoch:[  1/  3], "
        f"step:[{n % 6500:5}/ 6500], loss:[{rng.random():.3f}/{rng.random():.3f}], per_step_time: {n % 900}ms, "
        f"lr: 1e-05, overflow cond: False, loss_scale: 65536, global_norm: [{rng.random():.3f}]"
    ),
}


def measure() -> list[Result]:
    """Lines a second of processor time, one core."""
    print(f"seed {_SEED}")
    rng = random.Random(_SEED)
    noise = [f"[worker {n % 8}] 12:30:{n % 60:02} reading shard {n:06} of the input, fine" for n in range(49)]
    kinds = list(KINDS.values())
    quiet = [line for n in range(LINES // 50) for line in (*noise, kinds[0](n, rng))]
    results = [_result("one line in 50 holds metrics", quiet)]
    for name, make in KINDS.items():
        results.append(_result(f"every line does: {name}", [make(n, rng) for n in range(LINES // 3)]))
    mixed = [kinds[n % len(kinds)](n, rng) for n in range(LINES // 3)]
    results.append(_result("every line does: all four in turn", mixed))
    return results


def _result(name: str, lines: list[str]) -> Result:
    data = "".join(line + "\n" for line in lines).encode()
    rate = max(_rate(data, len(lines)) for _ in range(ROUNDS))
    peers = {"bytes a line": len(data) / len(lines), "one pattern searched in each line": _plain_rate(data, len(lines))}
    return Result(f"reading: {name}", rate, "lines/s", f"at least {TARGET:,}", rate >= TARGET, peers)


def _rate(data: bytes, lines: int) -> float:
    from outlast.inside.metrics import MetricReader

    reader = MetricReader(budget=None)
    began = time.thread_time()
    for at in range(0, len(data), CHUNK_BYTES):
        reader.feed(data[at : at + CHUNK_BYTES], 0.0)
    reader.finish(0.0)
    return lines / (time.thread_time() - began)


def _plain_rate(data: bytes, lines: int) -> float:
    """What everybody writes first: decode, split, search each line for one metric."""
    pattern = re.compile(r"loss\W+(?:is )?([0-9.]+)")
    began = time.thread_time()
    found = [float(match.group(1)) for line in data.decode().split("\n") if (match := pattern.search(line))]
    assert found
    return lines / (time.thread_time() - began)
