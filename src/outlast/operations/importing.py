"""Job files of other systems become an outlast.toml: one method for each system."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from outlast.operations.import_modelarts import ImportedJob
    from outlast.operations.import_openpai import Imported
    from outlast.settings import Settings

AnyPath = str | os.PathLike[str]


class Importing:
    """The verbs of `outlast import`. An existing file stays as it is unless `force` is given."""

    settings: Settings

    def import_openpai(self, job_file: AnyPath, output: AnyPath | None = None, *, force: bool = False) -> Imported:
        """Write an outlast.toml (at `output`, or beside the code) that does what an OpenPAI job file does.

        print(client.import_openpai("new_job.pai.json").path)
        """
        from outlast.operations.import_openpai import import_openpai

        target = None if output is None else os.fspath(output)
        return import_openpai(self.settings, os.fspath(job_file), target, force=force)

    def import_modelarts(self, job_file: AnyPath, output: AnyPath | None = None, *, force: bool = False) -> ImportedJob:
        """Write an outlast.toml (at `output`, or beside the code) that does what a job of ModelArts does.

        `job_file` is a v1 or v2 request body, or the fields of the PyCharm ToolKit's form.

            print(client.import_modelarts("job.json").steps)
        """
        from outlast.operations.import_modelarts import import_modelarts

        target = None if output is None else os.fspath(output)
        return import_modelarts(self.settings, os.fspath(job_file), target, force=force)
