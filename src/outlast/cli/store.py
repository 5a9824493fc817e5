"""`outlast store`: housekeeping in stores. Each sub-command is one call and its words."""

from __future__ import annotations

import dataclasses
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from outlast.cli.asking import agreed
from outlast.cli.command import new_group, open_client, print_json, verb
from outlast.cli.options import AsJson
from outlast.cli.waiting import Waiting

if TYPE_CHECKING:
    from outlast.operations.maps import StoreMap
    from outlast.operations.projects import Project
    from outlast.operations.publish import Publication

_EXITS = {
    0: "done, or nothing to do",
    1: "you said no",
    2: "the request is wrong; nothing was changed",
    10: "no such object",
    11: "credentials are missing or refused",
    12: "the store cannot be reached",
}

_MEANING = """everyone on the internet, without logging in, can then list this bucket and read every file in it,
now and later; nobody gets the right to write. Take it back with: outlast store unpublish"""

app = new_group(
    "store",
    about="Prepares a place for a project, lets everyone read a bucket, makes temporary links, and lets folders play "
    "buckets. Log in first: outlast login obs; a folder that plays a bucket needs no keys.",
    examples=[
        ("outlast store init obs://my-bucket/mnist", "folders for code, data, output, logs and checkpoints"),
        ("outlast store sign obs://my-bucket/mnist/output/model.ckpt", "a link for one hour"),
        ("outlast store map obs://my-bucket ./bucket", "work without the real bucket"),
    ],
    exits=_EXITS,
)

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask", show_default=False)]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only show what would be done", show_default=False)]
Bucket = Annotated[str, typer.Argument(metavar="BUCKET", help="obs://bucket, s3://bucket, or the bare name")]


@verb(
    app,
    "init",
    sentence="Make the folders that a project needs",
    about="Makes code/, data/, output/, log/ and checkpoints/ at the address, and the bucket itself if it is missing "
    "(that is asked first). What exists is left alone, so it may be repeated. The right column is how the forms of "
    "ModelArts want a place written.",
    examples=[
        ("outlast store init obs://my-bucket/mnist", "in a bucket"),
        ("outlast store init hdfs://namenode:9870/user/ann/mnist --dry-run", "see it first"),
    ],
    exits=_EXITS,
)
def init(
    address: Annotated[
        str, typer.Argument(metavar="ADDRESS", help="Where: obs://, s3://, hdfs:// or a local folder")
    ],
    yes: Yes = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> int:  # fmt: skip
    stores = open_client().stores
    with Waiting("looking at the store"):
        plan = stores.init(address, dry_run=True)
    if not dry_run and not plan.is_complete:
        if plan.new_bucket and not yes:
            where = f" in region {plan.region}" if plan.region else ""
            if not agreed(f"{plan.new_bucket} does not exist; make it{where}?", verb="init"):
                return 1
        with Waiting("making folders"):
            plan = stores.init(address)
    if as_json:
        print_json(dataclasses.asdict(plan))
    else:
        _print_project(plan, dry_run)
    return 0


def _print_project(project: Project, dry_run: bool) -> None:
    from outlast.cli.paint import Column, Ink, table

    ink = Ink()
    new = "would be made" if dry_run else "made"
    if project.new_bucket:
        print(f"{project.new_bucket}: {new}")
    columns = [
        Column("folder", flexible=True, paint=lambda text: ink("bold", text)),
        Column("for", paint=lambda text: ink("dim", text)),
        Column(""),
        Column("in ModelArts forms", flexible=True),
    ]
    rows = [[each.address, each.purpose, "exists" if each.existed else new, each.form] for each in project.folders]
    print("\n".join(table(columns, rows, ink)))


@verb(
    app,
    "publish",
    sentence="Let everyone read a bucket",
    about="Shows the policy it will set, says what it means, and asks. Everyone on the internet, without logging in, "
    "can then list the bucket and read every file in it, also files that come later; nobody gets the right to write. "
    "Other statements of the policy stay as they are.",
    examples=[
        ("outlast store publish obs://my-bucket --dry-run", "see the policy"),
        ("outlast store publish obs://my-bucket", "set it, after a question"),
    ],
    exits=_EXITS,
)
def publish(bucket: Bucket, yes: Yes = False, dry_run: DryRun = False, as_json: AsJson = False) -> int:
    stores = open_client().stores
    with Waiting("reading the bucket's policy"):
        plan = stores.publish(bucket, dry_run=True)
    if not as_json:
        _print_publication(plan)
    if plan.changes and not dry_run:
        if not yes and not agreed(f"let everyone read {plan.bucket}?", verb="publish"):
            return 1
        with Waiting("setting the policy"):
            plan = stores.publish(bucket)
        if not as_json:
            print(f"everyone can read {plan.bucket} now: {plan.address}")
    if as_json:
        print_json(dataclasses.asdict(plan))
    return 0


def _print_publication(plan: Publication) -> None:
    if not plan.changes:
        print(f"{plan.bucket} is public already: {plan.address}")
    else:
        print(f"the policy of {plan.bucket} will be:\n{plan.policy}\n", flush=True)
        print("everyone on the internet, without logging in, will be able to list this bucket and read every file in")
        print(
            "it, now and later. Nobody gets the right to write. Take it back with: outlast store unpublish", flush=True
        )
    _warn(plan)


def _warn(plan: Publication) -> None:
    sys.stdout.flush()
    for warning in plan.warnings:
        print(f"warning: {warning}", file=sys.stderr, flush=True)


@verb(
    app,
    "unpublish",
    sentence="Take back what publish set",
    about="Removes the one statement that outlast store publish added to the bucket's policy; others stay. If "
    "one of those still lets everyone in, it is named.",
    examples=[
        ("outlast store unpublish obs://my-bucket", "private again"),
        ("outlast store unpublish my-bucket --dry-run", "see what would be left"),
    ],
    exits=_EXITS,
)
def unpublish(bucket: Bucket, dry_run: DryRun = False, as_json: AsJson = False) -> int:
    with Waiting("changing the bucket's policy"):
        done = open_client().stores.unpublish(bucket, dry_run=dry_run)
    if as_json:
        print_json(dataclasses.asdict(done))
        return 0
    if not done.changes:
        print(f"{done.bucket} was not published by outlast; nothing to take back")
    elif dry_run:
        print(f"the policy of {done.bucket} would be:\n{done.policy or 'none'}")
    else:
        print(f"{done.bucket} is no longer public" + (" through outlast" if done.public else ""))
    _warn(done)
    return 0


@verb(
    app,
    "sign",
    sentence="Make a temporary link to one file",
    about="Prints the link alone on standard output. Whoever has it can read the file (with --put: write it) without "
    "logging in until it ends, so treat it like a password. It cannot be taken back except by ending the key.",
    examples=[
        ("outlast store sign obs://my-bucket/model.ckpt --expires 2d", "to download"),
        ("outlast store sign s3://my-bucket/inbox/data.tar --put", "to upload once: curl -T data.tar 'LINK'"),
    ],
    exits=_EXITS,
)
def sign(
    address: Annotated[str, typer.Argument(metavar="ADDRESS", help="One file, like obs://bucket/model.ckpt")],
    expires: Annotated[
        str, typer.Option("--expires", metavar="TIME", help="End after this time, at most 7d (default: 1h)",
                          show_default=False),
    ] = "1h",
    put: Annotated[
        bool, typer.Option("--put", help="Allow writing the file (default: reading it)", show_default=False)
    ] = False,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    from outlast.model.quantities import format_duration

    with Waiting("looking at the file"):
        link = open_client().stores.sign(address, expires=expires, put=put)
    if as_json:
        print_json(dataclasses.asdict(link))
        return
    print(link.url, flush=True)
    does = "writes" if put else "reads"
    ends = f"ends {link.ends_at} (in {format_duration(link.expires_s)})"
    for line in (f"{does} {link.address}; {ends}", *link.notices):
        print(line, file=sys.stderr)


_PLACE = "obs://bucket, s3://bucket or hdfs://host:port"
_MAP_EXITS = {0: "done", 2: "the request is wrong; nothing was changed", 10: "nothing plays that address"}


@verb(
    app,
    "map",
    sentence="Let a folder play a bucket",
    about="From then on every command and every run that names the bucket uses the folder instead: a tutorial works "
    "offline, without keys and without cost. What a script copies to the bucket lies in the folder afterwards. The "
    "folder is made if it is missing. s3:// of a bucket that is mapped as obs:// means the same folder, because "
    "ModelArts uses both names. A folder can also play a repository of a hub, such as dataset:OWNER/NAME.",
    examples=[
        ("outlast store map obs://my-bucket ./bucket", "then: outlast cp data obs://my-bucket/data"),
        ("outlast store map hdfs://127.0.0.1:50070 ./hdfs", "WebHDFS on that port while a run needs it"),
        ("outlast store map dataset:ann/mnist ./mnist", "then: --data data_url=dataset:ann/mnist"),
    ],
    exits={0: "done", 2: "the request is wrong; nothing was changed"},
)
def map_(
    address: Annotated[str, typer.Argument(metavar="ADDRESS", help=_PLACE)],
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="The folder that plays it")],
    as_json: AsJson = False,
) -> None:
    done = open_client().stores.map(address, folder)
    if as_json:
        print_json(dataclasses.asdict(done))
        return
    print(f"{done.folder} plays {done.address} now" + (f" instead of {done.before}" if done.before else ""))
    if done.made:
        place = done.address if "://" in done.address else done.folder
        print(f"the folder is new; fill it with: outlast cp DATA {place}/")


@verb(
    app,
    "unmap",
    sentence="Let a bucket be itself again",
    about="Ends what outlast store map began. The folder and everything in it stay as they are.",
    examples=[
        ("outlast store unmap obs://my-bucket", "the real bucket again"),
        ("outlast store unmap hdfs://127.0.0.1:50070 --json", "for programs"),
    ],
    exits=_MAP_EXITS,
)
def unmap(address: Annotated[str, typer.Argument(metavar="ADDRESS", help=_PLACE)], as_json: AsJson = False) -> None:
    done = open_client().stores.unmap(address)
    if as_json:
        print_json(dataclasses.asdict(done))
    else:
        print(f"{done.address} is itself again; {done.folder} stays as it is")


@verb(
    app,
    "maps",
    sentence="List the folders that play buckets",
    about="Each address with its folder, and whether that folder is there.",
    examples=[
        ("outlast store maps", "what is mapped"),
        ("outlast store maps --json", "for programs"),
    ],
    exits={0: "done"},
)
def maps(as_json: AsJson = False) -> None:
    known = open_client().stores.maps()
    if as_json:
        print_json([dataclasses.asdict(each) for each in known])
    elif known:
        _print_maps(known)
    else:
        print("no folder plays a bucket; begin with: outlast store map obs://BUCKET FOLDER")


def _print_maps(known: list[StoreMap]) -> None:
    from outlast.cli.paint import Column, Ink, table

    ink = Ink()
    columns = [Column("address", paint=lambda text: ink("bold", text)), Column("folder", flexible=True), Column("")]
    rows = [[each.address, each.folder, "" if each.exists else "missing"] for each in known]
    print("\n".join(table(columns, rows, ink)))
