"""`outlast login`: keep the keys of a store, a server or a platform."""

from __future__ import annotations

import dataclasses
import difflib
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from outlast.cli.asking import ask, ask_hidden
from outlast.cli.command import new_app, open_client, print_json, verb
from outlast.cli.options import AsJson
from outlast.cli.waiting import Waiting
from outlast.errors import UsageError

if TYPE_CHECKING:
    from outlast.client import Client

app = new_app()

KINDS = ("obs", "s3", "hdfs", "server")
_MORE = "For other servers"


def _complete_kind(incomplete: str) -> list[str]:
    from outlast.operations.signin import platform_kinds

    return [kind for kind in (*KINDS, *platform_kinds()) if kind.startswith(incomplete)]


@verb(
    app,
    "login",
    about="Asks for what is missing, checks it with real calls, says what the keys can do, and keeps them: the secret "
    "in the system's keyring where there is one, otherwise in a file that only you can read. The secret is never part "
    "of a command line. Nothing is kept when the check fails. Logging in again replaces the profile.",
    examples=[
        ("outlast login obs --region cn-north-4", "Huawei Cloud; asks for the key and its secret"),
        ("outlast login s3 --endpoint http://minio:9000 --key ann --secret-stdin < sk.txt", "in a script"),
        ("outlast login server https://lab.example", "an outlast server; asks for the token"),
        (
            "outlast login modelarts --profile free-v100 --set hours=10 --set per=week",
            "then: outlast run --on free-v100",
        ),
        (
            "outlast login hdfs --endpoint http://namenode:9870 --user ann --profile lab",
            "then: hdfs://lab@namenode:9870/",
        ),
    ],
    exits=(0, 2, 11, 12),
)
def login(
    kind: Annotated[
        str, typer.Argument(metavar="KIND",
                            help="obs, s3 (also MinIO, Ceph …), hdfs, server, or a platform: modelarts, openpai, xihe",
                            autocompletion=_complete_kind)
    ],
    address: Annotated[
        str, typer.Argument(metavar="[URL]", help="Where it is; the same as --endpoint", show_default=False)
    ] = "",
    profile: Annotated[
        str, typer.Option("--profile", metavar="NAME", show_default=False,
                          help="Keep them under this name, for addresses like obs://NAME@bucket/ and for --on NAME "
                          "(default: the kind)"),
    ] = "",
    endpoint: Annotated[
        str, typer.Option("--endpoint", metavar="URL", show_default=False,
                          help="Where the store is (default for obs and s3: follows from the region)"),
    ] = "",
    region: Annotated[
        str, typer.Option("--region", metavar="NAME", help="Region, like cn-north-4", show_default=False)
    ] = "",
    key: Annotated[str, typer.Option("--key", metavar="ID", help="Id of the access key", show_default=False)] = "",
    secret_stdin: Annotated[
        bool, typer.Option("--secret-stdin", show_default=False,
                           help="Read the secret from standard input (default: ask for it); for hdfs a delegation "
                           "token, such as a token of an outlast server"),
    ] = False,
    temporary: Annotated[
        bool, typer.Option("--temporary", show_default=False,
                           help="The key is temporary: its token is asked for too, or is the second line of the input"),
    ] = False,
    user: Annotated[
        str, typer.Option("--user", metavar="NAME", show_default=False,
                          help="hdfs: the name to act as (default: the login name)"),
    ] = "",
    bucket: Annotated[
        str, typer.Option("--bucket", metavar="NAME", show_default=False,
                          help="Also try to list, read and write there (for keys that may not list buckets)"),
    ] = "",
    check: Annotated[
        bool, typer.Option("--check/--no-check", help="Try the keys first (default: try)", show_default=False)
    ] = True,
    in_file: Annotated[
        bool, typer.Option("--in-file", show_default=False,
                           help="Keep the secret in the private file even where a keyring is at hand"),
    ] = False,
    signature: Annotated[
        str, typer.Option("--signature", metavar="v4|v2|obs", rich_help_panel=_MORE, show_default=False,
                          help="How requests are signed (default: v4 for s3, obs for obs)"),
    ] = "",
    path_style: Annotated[
        bool | None, typer.Option("--path-style/--virtual-host", rich_help_panel=_MORE, show_default=False,
                                  help="Bucket in the path or in the host name (default: by the endpoint)"),
    ] = None,
    ca_file: Annotated[
        str, typer.Option("--ca-file", metavar="FILE", rich_help_panel=_MORE, show_default=False,
                          help="Trust the certificates in this file (default: the system's)"),
    ] = "",
    insecure: Annotated[
        bool, typer.Option("--insecure", rich_help_panel=_MORE, show_default=False,
                           help="Do not check the server's certificate"),
    ] = False,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", rich_help_panel="For platforms",
                                       show_default=False,
                                       help="Give a field of the account: store, limit, hours, per (day, week, month), "
                                       "queue_patience, or one of the platform's own; repeat for more"),
    ] = None,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    client = open_client()
    endpoint = endpoint or address
    if kind not in KINDS:
        from outlast.cli.login_platform import login_platform
        from outlast.operations.signin import platform_kinds

        kinds = (*KINDS, *platform_kinds())
        if kind not in kinds:
            near = difflib.get_close_matches(kind, kinds, n=1)
            guess = f"; did you mean {near[0]!r}?" if near else ""
            raise UsageError(f"cannot log in to {kind!r}{guess}", hint="kinds: " + ", ".join(kinds))
        given = {"endpoint": endpoint, "region": region, "key": key, "user": user, "ca_file": ca_file}
        given["insecure"] = "yes" if insecure else ""
        login_platform(
            client, kind, profile, {name: value for name, value in given.items() if value}, settings or (),
            secret_stdin=secret_stdin, check=check, in_file=in_file, as_json=as_json,
        )  # fmt: skip
        return
    if settings:
        raise UsageError(f"--set is for accounts on platforms, not for {kind}")
    if kind == "server":
        _login_server(client, endpoint, secret_stdin, profile, ca_file, not insecure, in_file, as_json)
        return
    fields: dict[str, Any] = {
        "endpoint": endpoint, "region": region, "key": key, "user": user, "signature": signature,
        "path_style": path_style, "ca_file": ca_file, "verify": not insecure,
    }  # fmt: skip
    _ask_for_the_rest(client, kind, profile, fields, secret_stdin, temporary)
    with Waiting(f"asking {fields['endpoint'] or 'the store'}"):
        done = client.login(kind, profile=profile, bucket=bucket, check=check, in_file=in_file, **fields)
    if as_json:
        print_json(dataclasses.asdict(done))
    else:
        print("\n".join(_lines(done)))


def _login_server(
    client: Client, url: str, secret_stdin: bool, profile: str, ca_file: str, verify: bool, in_file: bool, as_json: bool
) -> None:
    url = url or ask("address of the server, like https://lab.example", "URL", client.settings.server)
    token = _line_of_input("token") if secret_stdin else ask_hidden("token", "--secret-stdin")
    with Waiting(f"asking {url}"):
        done = client.login_server(url, token, profile=profile, ca_file=ca_file, verify=verify, in_file=in_file)
    if as_json:
        print_json(dataclasses.asdict(done))
        return
    where = {"keyring": "in the keyring", "file": f"in {done.path} (mode 0600)"}[done.kept_in]
    print(f"logged in to {done.url} as {done.user} ({done.role})")
    print(f"kept as profile {done.profile}; its token is {where}")
    print(f"use it with: outlast --server {done.url} ps, or always: outlast config set server {done.url}")


def _ask_for_the_rest(
    client: Any, kind: str, profile: str, fields: dict[str, Any], secret_stdin: bool, temporary: bool
) -> None:
    """Fill in what was not given: from the profile that is being replaced, from standard input, or by asking."""
    from outlast.operations.login import kept

    before = kept(client.settings, kind, profile)
    if not fields["endpoint"] and not fields["region"]:
        _ask_where(kind, before.endpoint if before else "", fields)
    if kind == "hdfs":
        fields["token"] = _line_of_input("token") if secret_stdin else ""
        return
    if not fields["key"]:
        fields["key"] = ask("id of the access key", "--key ID", before.key if before else "")
    if secret_stdin:
        fields["secret"] = _line_of_input("secret")
        fields["token"] = _line_of_input("token") if temporary else ""
    else:
        fields["secret"] = ask_hidden("secret access key", "--secret-stdin")
        fields["token"] = ask_hidden("token", "--secret-stdin --temporary") if temporary else ""


def _ask_where(kind: str, default: str, fields: dict[str, Any]) -> None:
    if kind == "obs":
        answer = ask("region like cn-north-4, or the endpoint", "--region NAME or --endpoint URL", default)
        fields["endpoint" if "." in answer or "/" in answer else "region"] = answer
    else:
        example = {"s3": "https://s3.eu-west-1.amazonaws.com", "hdfs": "http://namenode:9870"}[kind]
        fields["endpoint"] = ask(f"endpoint, like {example}", "--endpoint URL", default)


def _line_of_input(what: str) -> str:
    line = sys.stdin.readline().strip()
    if not line:
        raise UsageError(
            f"standard input holds no {what}", hint="for example: outlast login … --secret-stdin < secret.txt"
        )
    return line


def _lines(done: Any) -> list[str]:
    lines = [f"logged in to {done.kind} as {done.key or done.user} at {done.endpoint}"]
    if done.abilities is None:
        lines.append("  not checked")
    else:
        lines += [f"  {line}" for line in done.abilities.lines()]
    where = {"keyring": "; its secret is in the keyring", "file": f"; its secret is in {done.path} (mode 0600)"}
    return [*lines, f"kept as profile {done.profile}{where.get(done.kept_in, '')}"]
