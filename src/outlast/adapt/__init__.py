"""Fitting a script to a contract: its arguments, its paths, and going on where a stint before stopped.

`flow` finds the paths a script uses, `setup` the way it reads arguments, `resume` the state of its training loop;
`engine` joins what they find into one reviewable change. What is not certain is reported with its reason.
"""

from outlast.adapt.engine import Adapted, adapt_text
from outlast.adapt.needs import CONTRACTS, Needs, Role

__all__ = ["CONTRACTS", "Adapted", "Needs", "Role", "adapt_text"]
