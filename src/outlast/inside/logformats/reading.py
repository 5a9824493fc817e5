"""What one line of output said, and what earlier lines taught about how to read it."""

from __future__ import annotations

from typing import Dict, Optional, Tuple


class Reading:
    """Numbers found in one line. `epoch` is as printed, except for formats known to count from zero."""

    __slots__ = ("epoch", "epochs", "step", "steps", "values")

    def __init__(
        self,
        epoch: Optional[float] = None,
        epochs: Optional[float] = None,
        step: Optional[int] = None,
        steps: Optional[int] = None,
        values: Optional[Dict[str, float]] = None,
    ) -> None:
        self.epoch = epoch
        self.epochs = epochs
        self.step = step
        self.steps = steps
        self.values: Dict[str, float] = {} if values is None else values

    @property
    def is_empty(self) -> bool:
        return not self.values and self.epoch is None and self.epochs is None and self.step is None

    @property
    def told(self) -> Tuple[Optional[float], Optional[float], Optional[int], Optional[int], Dict[str, float]]:
        """All of it, in the order of its fields."""
        return self.epoch, self.epochs, self.step, self.steps, self.values


class Context:
    """What the lines so far announced: the columns of a table, or that an evaluation has begun."""

    __slots__ = ("bar_steps", "class_names", "columns", "from_zero", "has_begun", "scope")

    def __init__(self) -> None:
        self.columns: Tuple[str, ...] = ()
        self.class_names: Tuple[str, ...] = ()  # of the validation row that is due
        self.from_zero = False  # the table counts epochs from zero
        self.bar_steps = 0  # of the epoch whose Keras bar is drawn
        self.scope = ""
        self.has_begun = False  # an epoch or a step was named: this is a training, no longer its settings

    @property
    def is_neutral(self) -> bool:
        """Do lines mean what they say by themselves?"""
        return not (self.columns or self.class_names or self.scope or self.bar_steps)
