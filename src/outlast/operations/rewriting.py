"""Scripts rewritten for another device or platform: the verbs of `Client` that change code, and only when told to."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from outlast.migrate.report import Migration
    from outlast.operations.adapt import Adaptation
    from outlast.operations.migrate_trial import Trial
    from outlast.settings import Settings


class Rewriting:
    """`migrate`, `try_migrated` and `adapt`."""

    settings: Settings

    def migrate(self, *paths: str | os.PathLike[str], to: str = "npu", **words: Any) -> Migration:
        """Rewrite scripts for another device: `npu`, `cuda` or `any`; only with `write=True` are files touched.

        print(client.migrate("src", to="npu").score)
        """
        from outlast.operations.migrate import migrate

        return migrate([os.fspath(path) for path in paths], to=to, **words)

    def try_migrated(self, command: Sequence[str], **words: Any) -> Trial:
        """Run a training as it is and migrated, both on this machine's processor, and compare their numbers.

        assert client.try_migrated(["python", "train.py", "--epochs", "1"]).agree
        """
        from outlast.operations.migrate_trial import try_migrated

        return try_migrated(self.settings.home, command, **words)

    def adapt(self, script: str | os.PathLike[str], *, contract: str = "modelarts", **words: Any) -> Adaptation:
        """Fit a script to a contract: its arguments, its paths, resuming; only with `write=True` are files touched."""
        from outlast.operations.adapt import adapt

        return adapt(os.fspath(script), contract=contract, **words)
