"""Fitting a script to a contract: its arguments, its paths, and going on where a stint before stopped.

`engine` joins what the rooms find into one reviewable change: `program` reads the script and the modules of its
folder, `sight` is what was found in one file, `sharing` what they have in common, `script` changes the one that is
started. Each room imports only from those before it: `arguments` (how the script reads them), `resuming` (the state of
its own training loop), `frameworks` (trainings that a framework runs), `placing` (where paths come from and go to).
`draft` holds a file and its edits. What is not certain is reported with its reason.
"""

from outlast.adapt.engine import Adapted, adapt_text
from outlast.adapt.needs import CONTRACTS, Needs, Role

__all__ = ["CONTRACTS", "Adapted", "Needs", "Role", "adapt_text"]
