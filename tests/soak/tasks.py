"""What a process of its own does for the long tests: told in one line of JSON, reported in lines of JSON."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

from outlast.inside.errors import InsideError
from outlast.inside.move.base import Job, Report
from outlast.inside.net.http import Http
from outlast.inside.s3.client import S3Client
from outlast.inside.s3.store import S3Store
from outlast.inside.s3.tree import S3Tree
from outlast.inside.signing import signer_for
from outlast.inside.stores.access import Access


class Count(Report):
    def __init__(self):
        self.ended, self.trouble = 0, []

    def done(self, job):
        self.ended += 1

    def failed(self, job, error):
        self.trouble.append(f"{job.path}: {error}")


def send(access, bucket, folder, prefix):
    """Send every file of a folder."""
    count = Count()
    S3Tree(access, bucket).send(jobs_in(folder, prefix), count)
    report(ended=count.ended, trouble=count.trouble)


def jobs_in(folder, prefix):
    for path in sorted(Path(folder).iterdir()):
        status = path.stat()
        yield Job(str(path), f"{prefix}/{path.name}", status.st_size, status.st_mtime_ns)


def copy(access, source, target):
    """Copy as a user's program does, with the access in the environment."""
    import outlast

    names = {
        "AWS_ENDPOINT_URL": access.endpoint,
        "AWS_ACCESS_KEY_ID": access.key,
        "AWS_SECRET_ACCESS_KEY": access.secret,
    }
    os.environ.update(names)
    outcome = outlast.copy(source, target)
    report(files=outcome.files, peak_mib=peak_mib())


def claim(access, bucket, name):
    """Try to be the first to write each key that comes in, a thousand bytes of our own."""
    store = S3Store(access, bucket, "race")
    report(conditional=store.conditional)
    for line in sys.stdin:
        report(won=store.put_if_absent(json.loads(line), name.encode() * 1000))


def walk(access, bucket):
    """List everything: is it in order, and does the last key take more memory than the first thousands did?"""
    last, count, early_mib = "", 0, 0.0
    for item in S3Tree(access, bucket).walk(""):
        if item.path <= last:
            report(error=f"{item.path!r} after {last!r}")
            return
        last, count = item.path, count + 1
        if count == 5_000:
            early_mib = peak_mib()
    report(count=count, last=last, early_mib=early_mib, peak_mib=peak_mib())


def knock(access, bucket):
    """What the server says to one request signed with this process's clock, and nothing mended."""
    http = Http(access.endpoint)
    target, headers = signer_for(access).sign("GET", http.authority, "/" + bucket, (), ())
    with http.request("GET", target, headers) as answer:
        report(status=answer.status, body=answer.read().decode())


def all_verbs(access, bucket, folder):
    """Every kind of first request, each with a client that has not yet heard the server's clock."""

    def body_of(key):
        return b"".join(S3Tree(access, bucket).read(key)).decode()

    firsts = {
        "put": lambda: S3Client(access, bucket).put("k", b"x"),
        "head": lambda: S3Client(access, bucket).head("k") is not None,
        "get": lambda: S3Client(access, bucket).get("k").decode(),
        "read": lambda: body_of("k"),
        "list": lambda: [item.path for item in S3Client(access, bucket).list("")],
        "bucket": lambda: S3Client(access, bucket).head_bucket(),
        "claim": lambda: S3Store(access, bucket, "s").put_if_absent("claim", b"x"),
        "stream": lambda: S3Tree(access, bucket).write("large", [b"x" * (1 << 20)] * 20, 20 << 20),
        "delete": lambda: S3Client(access, bucket).delete(["k", "l", "large"]),
    }
    found = {}
    for name, call in firsts.items():
        try:
            found[name] = call()
        except InsideError as error:
            found[name] = f"{type(error).__name__}: {error}"
    count = Count()
    tree = S3Tree(access, bucket)
    tree.send(jobs_in(folder, "sent"), count)
    report(found=found, ended=count.ended, trouble=count.trouble, link=tree.client.presign("GET", "s/claim", 60))


def peak_mib():
    """The most memory this program had. Not ru_maxrss: that begins with what the process had before its exec."""
    return int(re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]) / 1024


def report(**found):
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    told = json.loads(sys.stdin.readline())
    globals()[told["task"]](Access.from_json(told["access"]), **told["arguments"])
