"""The part of `Client` that knows platforms; imports the work when it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from outlast.operations.platforms import PlatformView
    from outlast.operations.signin import SignedIn
    from outlast.settings import Settings


class Platforming:
    """Platforms: which there are, and accounts on them."""

    settings: Settings

    def platforms(self, *, check: bool = False) -> list[PlatformView]:
        """Where runs can go, here or on the server; with `check` each platform is asked how it is.

        print([each.name for each in client.platforms(check=True) if each.state == "ready"])
        """
        if self.settings.server:
            from outlast.operations.platforms import PlatformView
            from outlast.remote.decode import decode
            from outlast.remote.server import server_of

            found = server_of(self.settings).ask("GET", f"/platforms{'?check=true' if check else ''}")["platforms"]
            return [decode(PlatformView, each) for each in found]
        from outlast.operations.platforms import list_platforms

        return list_platforms(self.settings, check=check)

    def login_platform(
        self, kind: str, *, profile: str = "", check: bool = True, in_file: bool = False, **values: str
    ) -> SignedIn:
        """Try an account on a platform with a real call and keep it; `values` are its fields.

        client.login_platform("openpai", profile="lab", endpoint="http://pai.lab", user="ann", password="…")
        """
        from outlast.operations.signin import sign_in

        return sign_in(self.settings, kind, values, name=profile, check=check, in_file=in_file)
