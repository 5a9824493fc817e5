"""The tools that move data side by side, each with the command its users would type."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from bench.common import BIN, SCRIPTS


class Place(NamedTuple):
    """A server, as clients are told about it."""

    url: str
    key: str
    secret: str
    region: str
    ca_file: str = ""

    def environ(self, base: dict[str, str]) -> dict[str, str]:
        """The variables by which every tool finds the server and its keys."""
        variables = {
            "AWS_ACCESS_KEY_ID": self.key, "AWS_SECRET_ACCESS_KEY": self.secret, "AWS_REGION": self.region,
            "AWS_DEFAULT_REGION": self.region, "AWS_ENDPOINT_URL": self.url, "AWS_EC2_METADATA_DISABLED": "true",
            "S3_ENDPOINT_URL": self.url, "RCLONE_CONFIG": "/dev/null", "RCLONE_S3_PROVIDER": "Other",
            "RCLONE_S3_ENDPOINT": self.url, "RCLONE_S3_ACCESS_KEY_ID": self.key,
            "RCLONE_S3_SECRET_ACCESS_KEY": self.secret, "RCLONE_S3_REGION": self.region,
        }  # fmt: skip
        if self.ca_file:
            variables |= {"AWS_CA_BUNDLE": self.ca_file, "RCLONE_CA_CERT": self.ca_file}
        kept = {name: value for name, value in base.items() if not name.startswith(("AWS_", "RCLONE_", "S3_"))}
        return kept | variables


#: A folder and a bucket in, a command out.
Command = Callable[[Path, str], list[str]]


class Tool(NamedTuple):
    """One program and what it is called with; None where it has no such command."""

    name: str
    up: Command
    down: Command
    again: Command | None = None  # a sync of what is there already
    packed_up: Command | None = None
    packed_down: Command | None = None


def _s5cmd() -> Tool:
    program = [str(BIN / "s5cmd"), "--log", "error"]
    return Tool(
        "s5cmd",
        up=lambda folder, bucket: [*program, "cp", f"{folder}/", f"s3://{bucket}/"],
        down=lambda folder, bucket: [*program, "cp", f"s3://{bucket}/*", f"{folder}/"],
        again=lambda folder, bucket: [*program, "sync", f"{folder}/", f"s3://{bucket}/"],
    )


def _rclone(name: str, *options: str) -> Tool:
    program = [str(BIN / "rclone"), *options]
    # What its manual proposes for S3: without these a sync asks for the metadata of every object.
    quick = ["--fast-list", "--update", "--use-server-modtime"]
    return Tool(
        name,
        up=lambda folder, bucket: [*program, "copy", str(folder), f":s3:{bucket}"],
        down=lambda folder, bucket: [*program, "copy", f":s3:{bucket}", str(folder)],
        again=lambda folder, bucket: [*program, "sync", *quick, str(folder), f":s3:{bucket}"],
    )


def _boto3() -> Tool:
    program = [sys.executable, str(SCRIPTS / "boto_copy.py")]
    return Tool(
        "boto3",
        up=lambda folder, bucket: [*program, "up", str(folder), bucket],
        down=lambda folder, bucket: [*program, "down", str(folder), bucket],
    )


def _outlast() -> Tool:
    """As it is typed in a terminal, start-up included."""
    program = [str(BIN / "outlast"), "cp", "--quiet"]
    return Tool(
        "outlast cp",
        up=lambda folder, bucket: [*program, f"{folder}/", f"s3://{bucket}/"],
        down=lambda folder, bucket: [*program, f"s3://{bucket}/", f"{folder}/"],
        again=lambda folder, bucket: [str(BIN / "outlast"), "sync", "--quiet", f"{folder}/", f"s3://{bucket}/"],
        packed_up=lambda folder, bucket: [*program, "--pack", f"{folder}/", f"s3://{bucket}/packed"],
        packed_down=lambda folder, bucket: [*program, "--pack", f"s3://{bucket}/", f"{folder}/"],
    )


def _library() -> Tool:
    """As a Python program calls it."""
    program = [sys.executable, "-c", "import outlast, sys; outlast.copy(sys.argv[1], sys.argv[2])"]
    return Tool(
        "outlast.copy",
        up=lambda folder, bucket: [*program, f"{folder}/", f"s3://{bucket}/"],
        down=lambda folder, bucket: [*program, f"s3://{bucket}/", f"{folder}/"],
    )


def _inside(name: str, python: str, bundle: Path) -> Tool:
    """As a stint has it: the files that travel with it, no site packages."""

    def command(direction: str) -> Command:
        return lambda folder, bucket: [
            python, "-I", "-S", str(SCRIPTS / "inside_copy.py"), str(bundle), direction, str(folder), bucket,
        ]  # fmt: skip

    return Tool(
        name, command("up"), command("down"), packed_up=command("packed-up"), packed_down=command("packed-down")
    )


def ours(bundle: Path, oldest: str = "") -> list[Tool]:
    """Outlast in each of its forms; with the oldest Python we promise where one is named."""
    tools = [_outlast(), _library(), _inside("inside", sys.executable, bundle)]
    return [*tools, _inside("inside 3.7", oldest, bundle)] if oldest else tools


#: rclone twice: as it comes, which is faster here with large files, and with the width that is faster with small ones.
PEERS = [_s5cmd(), _rclone("rclone"), _rclone("rclone 16", "--transfers", "16", "--checkers", "16"), _boto3()]
