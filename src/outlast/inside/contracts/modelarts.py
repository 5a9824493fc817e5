"""ModelArts: the boot file's arguments, its variables, `/cache`, and `import moxing`.

Two generations. In the first (`modelarts-v1`) `data_url` and `train_url` are addresses in OBS, and the script copies
with MoXing. In the second (`modelarts`) they are local folders that the platform fills before and empties after.
"""

from __future__ import annotations

import json
import os
import posixpath
import re
import uuid
from typing import Collection, Dict, List, Mapping, Tuple

from .base import Facts, Rendered, Spec, kept, options, start_of
from .ranktable import rank_table

CACHE = "/cache"
#: Below the code folder, so that what lies there is committed with the checkpoints.
OUTPUTS = ".outlast/outputs"
#: Where `outlast.save` puts its files, and where uploads of the first generation are noted.
CHECKPOINT = ".outlast/checkpoint"
#: Names the file in which `moxing` notes uploads; without it they are not noted.
UPLOADS = "OUTLAST_UPLOADS"
#: How the buckets begin that exist only because an input or output was given as a folder.
OWN_BUCKET = "outlast-"
#: Where the containers of the first generation listen for each other.
_PORT = 2222
_SPACE = uuid.UUID("5a3a7a1e-0c5e-4a3b-9a52-6f75746c6173")


def output_place(name: str) -> str:
    """Where a named output lies, relative to the code folder; its last part is ModelArts' own."""
    return "%s/%s_0" % (OUTPUTS, name)


def input_place(name: str) -> str:
    """Where a named input lies, relative to the code folder."""
    return ".outlast/inputs/%s_0" % name


def job_id(run: str) -> str:
    """The id that ModelArts would have given: the same for every stint of a run."""
    return str(uuid.uuid5(_SPACE, run))


def log_name(run: str, node: int = 0) -> str:
    """The name of a node's log as ModelArts exports it."""
    return "%s.log" % instance_name(job_id(run), node)


def first_log_name(run: str, name: str, node: int = 0) -> str:
    """The same in the first generation, which names it after the job."""
    return "%s-job-%s-%d.log" % (_short(job_id(run)), name, node)


def instance_name(job: str, node: int) -> str:
    """What ModelArts calls the container of one node."""
    return "modelarts-job-%s-worker-%d" % (job, node)


def own_bucket(name: str, taken: Collection[str] = ()) -> str:
    """The bucket that a folder plays when it is given for an input or output that must be an address."""
    bucket = "obs://" + (OWN_BUCKET + re.sub("[^a-z0-9]+", "-", name.lower()).strip("-"))[:60].rstrip("-")
    while bucket in taken:
        bucket += "0"
    return bucket


def is_own_bucket(address: str) -> bool:
    """Whether an address, or a bucket, exists only because a file or folder was given in its place."""
    return address.startswith("obs://" + OWN_BUCKET)


def render(spec: Spec, facts: Facts) -> Rendered:
    first = spec.get("contract") == "modelarts-v1"
    passed = first_generation(spec) if first else second_generation(spec, facts)
    argv = [*start_of(spec["script"], facts.python), *kept(options(passed), spec), *spec.get("args", ())]
    if first and facts.gpus:
        # Only on machines with a GPU, and behind everything else.
        argv += kept(["--num_gpus=%d" % len(facts.gpus)], spec)
    cache = os.path.join(facts.work, "cache")
    log = os.path.join(facts.work, "log")
    env = variables(spec, facts, cache, log)
    outputs = () if first else spec.get("outputs", ())
    folders = [cache, log, *(os.path.join(facts.code_dir, each["path"]) for each in outputs)]
    files, more = rank_table(facts, job_id(facts.run))
    env.update(more)
    notices: List[str] = []
    if not facts.sandboxed and not os.path.isdir(CACHE):
        notices.append("there is no sandbox to show %s in; scripts find the folder in $CACHE_HOME" % CACHE)
    return Rendered(
        argv, env, facts.code_dir, folders, files, [(cache, CACHE)] if facts.sandboxed else [], [moxing_path(facts)],
        notices, bool(spec.get("network", True)),
    )  # fmt: skip


def first_generation(spec: Spec) -> Dict[str, str]:
    """Addresses as ModelArts writes them: `s3://`, and a slash after folders."""
    passed = {each["name"]: as_url(each["source"]) for each in spec.get("inputs", ())}
    passed.update((each["name"], as_url(each["target"])) for each in spec.get("outputs", ()))
    passed.update(spec.get("params", {}))
    return passed


def second_generation(spec: Spec, facts: Facts) -> Dict[str, str]:
    passed = {each["name"]: place_of(facts, each["path"]) for each in spec.get("inputs", ())}
    passed.update((each["name"], place_of(facts, each["path"])) for each in spec.get("outputs", ()))
    passed.update(spec.get("params", {}))
    return passed


def place_of(facts: Facts, path: str) -> str:
    return posixpath.normpath(posixpath.join(facts.code_dir, path))


def as_url(address: str) -> str:
    scheme, _, rest = address.partition("://")
    if scheme not in ("obs", "s3"):
        return address
    rest = rest.rpartition("@")[2] if "@" in rest.partition("/")[0] else rest  # a profile is ours, not the platform's
    return "s3://" + rest + ("" if rest.endswith("/") or "." in posixpath.basename(rest) else "/")


def variables(spec: Spec, facts: Facts, cache: str, log: str) -> Dict[str, str]:
    """`MA_*`, `VC_*` and, for the first generation, `DLS_*` and `BATCH_*`. What the user sets wins."""
    job = job_id(facts.run)
    own, count = facts.hosts[facts.node], str(len(facts.hosts))
    mount = os.path.join(facts.code_dir, ".outlast")
    env = {
        "MA_HOME": os.path.dirname(facts.code_dir),
        "MA_JOB_DIR": os.path.dirname(facts.code_dir),
        "MA_MOUNT_PATH": mount,
        "MA_LOG_DIR": log,
        "WORKSPACE": facts.code_dir,
        "MA_NUM_HOSTS": count,
        "MA_NUM_GPUS": str(len(facts.gpus) + len(facts.npus)),
        "MA_TASK_NAME": "worker",
        "MA_CURRENT_IP": own,
        "MA_CURRENT_HOST_IP": own,
        "MA_CURRENT_INSTANCE_NAME": instance_name(job, facts.node),
        "MA_VJ_NAME": "ma-job-%s" % job,
        "VC_WORKER_NUM": count,
        "VC_TASK_INDEX": str(facts.node),
        "VC_WORKER_HOSTS": ",".join(facts.hosts),
        "S3_VERIFY_SSL": "0",
        "S3_USE_HTTPS": "1",
        "CACHE_HOME": CACHE if facts.sandboxed else cache,
    }
    if spec.get("contract") == "modelarts-v1":
        env.update(_of_first_generation(spec, facts, job))
        if spec.get("checkpoint") == CHECKPOINT:
            env[UPLOADS] = os.path.join(facts.code_dir, CHECKPOINT, "uploads.json")
    else:
        env.update(_channels(spec, facts))
    return env


def _of_first_generation(spec: Spec, facts: Facts, job: str) -> Dict[str, str]:
    named = first_generation(spec)
    short = _short(job)
    hosts = {"BATCH_%s.0_HOSTS" % short: facts.hosts[0]}
    if len(facts.hosts) > 1:
        hosts = {"BATCH_CUSTOM%d_HOSTS" % index: "%s:%d" % (host, _PORT) for index, host in enumerate(facts.hosts)}
    return {
        **hosts,
        "DLS_TASK_INDEX": str(facts.node),
        "DLS_TASK_NUMBER": str(len(facts.hosts)),
        "DLS_APP_URL": as_url(str(spec.get("code_url", ""))),
        "DLS_DATA_URL": named.get("data_url", ""),
        "DLS_TRAIN_URL": named.get("train_url", ""),
        "BATCH_JOB_ID": short,
        "BATCH_TASK_CURRENT_HOST_IP": facts.hosts[facts.node],
        "BATCH_TASK_CURRENT_INSTANCE": "%s-%d" % (short, facts.node),
    }


def _short(job: str) -> str:
    return "job" + job.replace("-", "")[:8]


def _channels(spec: Spec, facts: Facts) -> Dict[str, str]:
    def described(each: Mapping[str, str], remote: str) -> Dict[str, object]:
        return {
            "name": each["name"],
            "local_dir": place_of(facts, each["path"]),
            "remote": _remote(each.get(remote, "")),
        }

    return {
        "MA_INPUTS": json.dumps({"inputs": [described(each, "source") for each in spec.get("inputs", ())]}),
        "MA_OUTPUTS": json.dumps({"outputs": [described(each, "target") for each in spec.get("outputs", ())]}),
    }


def _remote(address: str) -> Dict[str, object]:
    return {"obs": {"obs_url": "/" + address.partition("://")[2]}} if address.startswith(("obs://", "s3://")) else {}


def moxing_path(facts: Facts) -> str:
    """What makes `import moxing` find ours, ahead of the unrelated package of that name."""
    return os.path.join(facts.bundle, "outlast", "inside", "mox")


def pairs_of(text: str) -> List[Tuple[str, str]]:
    """Running parameters as forms take them: `batchsize=4;learning_rate=0.01`."""
    return [
        (name.strip(), value) for name, _, value in (each.partition("=") for each in text.split(";") if each.strip())
    ]
