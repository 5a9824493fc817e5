"""Names of a server's hub, looked up there: what they mean is decided by the server, for whoever asks."""

from __future__ import annotations

from pathlib import PurePosixPath

from outlast.errors import NotFoundError, SpecError, UsageError
from outlast.operations.repositories import Elsewhere, InAnyHub
from outlast.remote.server import Server, part_of
from outlast.store.assets import Asset


def hub_of(server: Server) -> InAnyHub:
    """Looks into the hub of a server; what it finds is pinned to a commit and stays there."""

    def find(asset: Asset, where: str) -> Elsewhere:
        kind, _, path = asset.root.partition(":")
        address = "/repositories/" + "/".join(map(part_of, path.split("/")))
        try:
            shown = server.ask("GET", address, again=True)
        except NotFoundError:
            raise SpecError(
                f"{where}: there is no {kind} {path} at {server.url}, or none that you may see",
                hint="see them with: outlast repo list",
            ) from None
        if shown["kind"] != kind:
            raise SpecError(
                f"{where}: {path} is a {shown['kind']}", hint=f"write it as {shown['kind']}:{shown['path']}"
            )
        try:
            query = [("revision", asset.revision), ("path", asset.path)]
            listed = server.ask("GET", f"{address}/items", query=query, again=True)
        except (NotFoundError, UsageError) as error:
            raise SpecError(f"{where}: {error.message}", hint=error.hint) from None
        # A folder is listed by what is in it, a file by itself.
        is_file = [(each["path"], each["kind"]) for each in listed["items"]] == [(asset.path, "file")]
        inner = f"/{asset.path}" if asset.path else ""
        name = PurePosixPath(asset.path).name or shown["name"]
        return Elsewhere(name, is_file, f"{kind}:{shown['path']}{inner}@{listed['commit']}")

    return find
