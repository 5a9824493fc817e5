"""`outlast repo`: repositories of the hub."""

from __future__ import annotations

import pathlib
from typing import TYPE_CHECKING, Annotated

import typer

from outlast.cli.command import new_group, open_client, print_json, verb
from outlast.cli.options import AsJson

if TYPE_CHECKING:
    from outlast.client import Client
    from outlast.hub.view import RepositoryView

_EXITS = {0: "done", 2: "the request is wrong; nothing was changed", 10: "no such repository",
          11: "the repository belongs to somebody else, or the server does not know you"}  # fmt: skip

app = new_group(
    "repo",
    about="A repository keeps a project, a model or a data set with git and LFS. Clone it from the server with git; "
    "the password is a personal token (outlast token create). Runs name what is in it: --data model:ann/lenet@v1.",
    examples=[
        ("outlast repo create ann/lenet --kind model", "an empty one, to push to"),
        ("outlast repo list --kind dataset", "those that you may see; the word list may be left out"),
    ],
    exits=_EXITS,
    default="list",
)

Path = Annotated[str, typer.Argument(metavar="OWNER/NAME", help="Which repository", show_default=False)]
Described = Annotated[
    str | None, typer.Option("--description", "-d", metavar="TEXT", help="One line", show_default=False)
]
Tags = Annotated[list[str] | None, typer.Option("--tag", metavar="TEXT", help="A tag; repeat it", show_default=False)]
Licence = Annotated[
    str | None, typer.Option("--licence", metavar="NAME", help="Its short name, like mit", show_default=False)
]


@verb(
    app,
    "create",
    sentence="Make an empty repository",
    about="Prints the address to push to. In a model or a data set, files above 200 KB must be in LFS; a project holds "
    "code only. A private repository is seen by its owner (for a group: its members) and by admins; a public one by "
    "everybody who has an account.",
    examples=[
        ("outlast repo create ann/lenet --kind model --licence mit", "for yourself"),
        ("outlast repo create vision/mnist --kind dataset --group --public", "of a group, for everybody"),
    ],
    exits=_EXITS,
)
def create(
    path: Path,
    kind: Annotated[str, typer.Option("--kind", "-k", metavar="project|model|dataset", help="What it holds")],
    public: Annotated[bool, typer.Option("--public", help="Let everybody see it", show_default=False)] = False,
    group: Annotated[bool, typer.Option("--group", help="The owner is a group", show_default=False)] = False,
    description: Described = None,
    tag: Tags = None,
    licence: Licence = None,
    as_json: AsJson = False,
) -> None:
    client = open_client()
    made = client.repositories.create(
        path, kind, group=group, visibility="public" if public else "private", description=description or "",
        tags=tuple(tag or ()), licence=licence or "",
    )  # fmt: skip
    made = _addressed(client, made)
    if as_json:
        print_json(vars(made))
        return
    print(f"made the {made.visibility} {made.kind} {made.path}")
    print(f"push to it with: git remote add origin {made.clone_url} && git push -u origin main")


@verb(
    app,
    "list",
    sentence="List repositories",
    about="Those that you may see, by name.",
    examples=[
        ("outlast repo list --kind model --search vision", "models with that word in name, description or tags"),
        ("outlast repo list --json", "for programs"),
    ],
    exits=_EXITS,
)
def list_(
    kind: Annotated[
        str | None, typer.Option("--kind", "-k", metavar="project|model|dataset", help="Only these", show_default=False)
    ] = None,
    owner: Annotated[
        str | None, typer.Option("--owner", metavar="NAME", help="Only theirs", show_default=False)
    ] = None,
    search: Annotated[str, typer.Option("--search", metavar="WORDS", help="Only with them", show_default=False)] = "",
    as_json: AsJson = False,
) -> None:
    from outlast.cli.paint import Column, Ink, ago, table
    from outlast.hub.names import check_kind

    if kind is not None:
        check_kind(kind)
    found = open_client().repositories.list(kind=kind, owner=owner, search=search)
    if as_json:
        print_json([vars(each) for each in found])
        return
    if not found:
        print("no repositories; make one with: outlast repo create OWNER/NAME --kind model")
        return
    ink = Ink()
    columns = [
        Column("name", paint=lambda text: ink("bold", text)), Column("kind"), Column("seen by"), Column("licence"),
        Column("tags", flexible=True), Column("description", flexible=True), Column("made"),
    ]  # fmt: skip
    rows = [
        [each.path, each.kind, _seen_by(each), each.licence, ", ".join(each.tags), each.description,
         ago(each.created_at)]
        for each in found
    ]  # fmt: skip
    print("\n".join(table(columns, rows, ink)))


@verb(
    app,
    "show",
    sentence="Show a repository",
    about="What it is, where to clone it from, its branches and versions, and how much it takes.",
    examples=[
        ("outlast repo show ann/lenet", "for people"),
        ("outlast repo show ann/lenet --json", "for programs"),
    ],
    exits=_EXITS,
)
def show(path: Path, as_json: AsJson = False) -> None:
    client = open_client()
    found = _addressed(client, client.repositories.get(path))
    if as_json:
        print_json(vars(found))
    else:
        _print(found)


@verb(
    app,
    "change",
    sentence="Change who sees a repository, or its words",
    about="What is not said stays as it is. Tags replace those that are there.",
    examples=[
        ("outlast repo change ann/lenet --public", "let everybody see it"),
        ("outlast repo change ann/lenet --description 'LeNet on MNIST' --tag vision", "other words"),
    ],
    exits=_EXITS,
)
def change(
    path: Path,
    public: Annotated[
        bool | None, typer.Option("--public/--private", help="Who sees it", show_default=False)
    ] = None,
    description: Described = None,
    tag: Tags = None,
    licence: Licence = None,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    from outlast.errors import UsageError

    visibility = None if public is None else "public" if public else "private"
    words = {"visibility": visibility, "description": description, "tags": tag or None, "licence": licence}
    if all(value is None for value in words.values()):
        raise UsageError("nothing to change", hint="say --public, --private, --description, --tag or --licence")
    client = open_client()
    changed = _addressed(client, client.repositories.change(path, **words))
    if as_json:
        print_json(vars(changed))
    else:
        _print(changed)


@verb(
    app,
    "rename",
    sentence="Give a repository another name",
    about="The old name leads to it, for git and for runs, until somebody takes it again. Another owner is given by "
    "admins only.",
    examples=[
        ("outlast repo rename ann/lenet ann/lenet-5", "another name"),
        ("outlast repo rename ann/lenet vision/lenet --group", "as an admin: a group owns it from now on"),
    ],
    exits=_EXITS,
)
def rename(
    path: Path,
    to: Annotated[str, typer.Argument(metavar="OWNER/NAME", help="What it shall be called", show_default=False)],
    group: Annotated[bool, typer.Option("--group", help="The new owner is a group", show_default=False)] = False,
    as_json: AsJson = False,
) -> None:
    client = open_client()
    renamed = _addressed(client, client.repositories.rename(path, to, group=group))
    if as_json:
        print_json(vars(renamed))
        return
    print(f"{path} is called {renamed.path} now")
    print(f"clones go on working; tell git with: git remote set-url origin {renamed.clone_url}")


@verb(
    app,
    "fork",
    sentence="Make a repository of your own from another",
    about="With the branches, tags and LFS files that it has now; later pushes to one do not change the other. "
    "Whatever you may see you may fork. The new one is private unless --public is given.",
    examples=[
        ("outlast repo fork ben/lenet ann/lenet", "of your own"),
        ("outlast repo fork ben/lenet vision/lenet --group --description 'our LeNet'", "of a group"),
    ],
    exits=_EXITS,
)
def fork(
    path: Path,
    to: Annotated[str, typer.Argument(metavar="OWNER/NAME", help="What yours shall be called", show_default=False)],
    public: Annotated[bool, typer.Option("--public", help="Let everybody see it", show_default=False)] = False,
    group: Annotated[bool, typer.Option("--group", help="The owner is a group", show_default=False)] = False,
    description: Described = None,
    as_json: AsJson = False,
) -> None:
    from outlast.cli.waiting import Waiting

    client = open_client()
    words = {"visibility": "public" if public else "private", "group": group}
    if description is not None:
        words["description"] = description
    with Waiting(f"forking {path}"):
        made = _addressed(client, client.repositories.fork(path, to, **words))
    if as_json:
        print_json(vars(made))
        return
    print(f"made the {made.visibility} {made.kind} {made.path} from {path}")
    print(f"clone it with: git clone {made.clone_url}")


@verb(
    app,
    "download",
    sentence="Download a revision as one file",
    about="All files of a branch, a tag or a commit (the default branch when none is named), those in LFS with their "
    "content. The ending of --output decides between .zip and .tar.gz. Against a server this machine needs no git.",
    examples=[
        ("outlast repo download ann/lenet@v1", "as ./lenet-v1.zip"),
        ("outlast repo download vision/mnist -o mnist.tar.gz --no-lfs", "with pointers in place of large files"),
    ],
    exits=_EXITS,
)
def download(
    path: Annotated[
        str, typer.Argument(metavar="OWNER/NAME[@REVISION]", help="Which repository, and which revision of it",
                            show_default=False),
    ],
    output: Annotated[
        pathlib.Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where to write it (default: ./NAME[-REVISION].zip)",
                     show_default=False),
    ] = None,
    lfs: Annotated[
        bool, typer.Option("--lfs/--no-lfs", help="Files in LFS with their content (default), or as git's pointers",
                           show_default=False),
    ] = True,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there", show_default=False)] = False,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    from outlast.cli.waiting import Waiting
    from outlast.errors import UsageError
    from outlast.model.quantities import format_size

    path, _, revision = path.partition("@")
    called = "-".join(part for part in (path.rpartition("/")[2], revision.replace("/", "-")) if part)
    target = output or pathlib.Path(f"{called}.zip")
    if target.exists() and not force:
        raise UsageError(f"{target} is there already", hint="say --force to replace it, or name another file: -o FILE")
    with Waiting(f"downloading {path}") as waiting:
        done = open_client().repositories.download(
            path, target, revision=revision, lfs=lfs,
            progress=lambda so_far: waiting.note(f"downloading {path}: {format_size(so_far)}"),
        )  # fmt: skip
    if as_json:
        print_json(vars(done))
    else:
        print(f"{done.path} at {done.commit[:12]} is in {done.file} ({format_size(done.size_bytes)})")


@verb(
    app,
    "remove",
    sentence="Remove a repository and its history",
    about="Clones that people have stay theirs, and so do runs that have staged it. Space is freed by outlast gc.",
    examples=[
        ("outlast repo remove ann/lenet", "after asking"),
        ("outlast repo remove ann/lenet --yes", "without asking, for scripts"),
    ],
    exits=_EXITS,
)
def remove(
    path: Path,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask", show_default=False)] = False,
    as_json: AsJson = False,
) -> None:
    from outlast.cli.asking import agreed

    client = open_client()
    found = client.repositories.get(path)
    if not yes and not agreed(f"remove the {found.kind} {found.path} and its history?", verb="outlast repo remove"):
        print("kept")
        return
    gone = client.repositories.remove(path)
    if as_json:
        print_json({"removed": gone})
    else:
        print(f"removed {gone}")


def _print(found: RepositoryView) -> None:
    from outlast.cli.paint import ago
    from outlast.model.quantities import format_size

    rows = [
        (found.kind, found.path), ("about", found.description), ("tags", ", ".join(found.tags)),
        ("licence", found.licence), ("seen by", _seen_by(found)), ("clone", f"git clone {found.clone_url}"),
        ("head", f"{found.head} {found.commit[:12]}" if found.commit else f"{found.head}, empty so far"),
        ("branches", ", ".join(found.branches)), ("versions", ", ".join(found.versions)),
        ("takes", format_size(found.stored_bytes or 0)), ("made", ago(found.created_at)),
        ("from", found.forked_from),
        ("in a run", f"--data {found.kind}:{found.path}"),
    ]  # fmt: skip
    for name, value in rows:
        if value:
            print(f"{name:<9} {value}")


def _seen_by(found: RepositoryView) -> str:
    return "everybody" if found.visibility == "public" else f"the group {found.owner}" if found.group else found.owner


def _addressed(client: Client, view: RepositoryView) -> RepositoryView:
    """With the address to clone from; at home that of the server that was last started here."""
    if view.clone_url:
        return view
    import dataclasses

    from outlast.server.terminal import open_desk

    with open_desk(client.settings) as desk:
        base = (desk.accounts.fact("address") or "http://127.0.0.1:8700").rstrip("/")
    return dataclasses.replace(view, clone_url=f"{base}/{view.path}.git")
