"""Imports that are added stand where a reader looks for them."""

from __future__ import annotations

import pytest
from checked import adapt

READS = 'print(open("data/a.txt").read())\n'


def imports_of(header: str) -> str:
    """What is above the options, once the script has them."""
    return adapt(header + READS).text.partition("\ncontract_parser")[0]


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        pytest.param(
            "import sys\nimport numpy\n",
            "import sys\nimport argparse\nimport os\nimport numpy\n",
            id="behind those of the standard library",
        ),
        pytest.param(
            "import sys\nfrom pathlib import Path\n\nimport numpy\n",
            "import sys\nfrom pathlib import Path\nimport argparse\nimport os\n\nimport numpy\n",
            id="before the empty line",
        ),
        pytest.param(
            '"""Trains."""\n\nfrom __future__ import annotations\n\nimport numpy\n',
            '"""Trains."""\n\nfrom __future__ import annotations\nimport argparse\nimport os\n\nimport numpy\n',
            id="behind what must come first",
        ),
        pytest.param(
            "import sys\ntry:\n    from .nets import Net\nexcept ImportError:\n    Net = None\nimport numpy\n",
            "import sys\nimport argparse\nimport os\n"
            "try:\n    from .nets import Net\nexcept ImportError:\n    Net = None\nimport numpy\n",
            id="in front of what is imported if it is there",
        ),
        pytest.param(
            "# trains\n\nimport numpy\n",
            "# trains\n\nimport argparse\nimport os\n\nimport numpy\n",
            id="ahead of all others",
        ),
        pytest.param(
            '"""Trains."""\nimport numpy\n',
            '"""Trains."""\nimport argparse\nimport os\n\nimport numpy\n',
            id="behind the docstring",
        ),
        pytest.param(
            "# of others\nimport numpy\n",
            "# of others\nimport numpy\nimport argparse\nimport os\n",
            id="not below a comment on others",
        ),
        pytest.param(
            "import sys\nfrom tools import *\n",
            "import sys\nfrom tools import *\nimport argparse\nimport os\n",
            id="not before a star, which may hide them",
        ),
        pytest.param(
            "from . import rows\n",
            "import argparse\nimport sys\nimport os\n\nfrom . import rows\n",
            id="a module beside the script is none of the standard library",
        ),
    ],
)
def test_an_import_has_its_place_among_the_others(header, expected):
    assert imports_of(header) == expected
