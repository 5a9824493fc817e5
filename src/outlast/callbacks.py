"""Callbacks that bring Outlast into trainers of PyTorch Lightning, Hugging Face, Keras and MindSpore.

Each class is made when it is first asked for, so a framework is imported only by those who use it. All of them report
progress, record what the framework logs, save at every epoch, and when asked to leave save once more and end the
process with exit code 85, so that the next stint goes on from there.
"""

from __future__ import annotations

import importlib
import os
import re
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Tuple

from .inside import script

__all__ = ["KerasCallback", "LightningCallback", "MindSporeCallback", "TrainerCallback"]  # noqa: F822 - made on demand


class _Lightning:
    """For `Trainer(callbacks=[callback])`, then `trainer.fit(model, ckpt_path=callback.ckpt_path)`.

    Saves `last.ckpt` after every `every` epochs and at a hand-over, which comes after an epoch. For epochs that are
    longer than a stint say `within_epochs=True`: then it may come after any batch, and what remains of that epoch is
    only exact with a data loader that keeps its own state.
    """

    def __init__(self, every: int = 1, within_epochs: bool = False) -> None:
        super().__init__()
        self._every = every
        self._within_epochs = within_epochs
        self._saved_step = -1

    @property
    def ckpt_path(self) -> Optional[str]:
        """What to give to `trainer.fit(ckpt_path=...)`: the restored checkpoint, or None at the very start."""
        return _restored_file("last.ckpt")

    def on_train_batch_end(self, trainer: Any, *_: Any) -> None:
        script.progress(step=trainer.global_step, steps=_positive(trainer.max_steps))
        # Every rank has to give the same answer; agreeing at every batch would cost a collective call each time.
        if self._within_epochs and (trainer.world_size == 1 or trainer.global_step % 50 == 0):
            self._leave_if_asked(trainer, trainer.current_epoch)

    def on_validation_end(self, trainer: Any, *_: Any) -> None:
        if not trainer.sanity_checking:
            _track(trainer.callback_metrics, trainer.current_epoch + 1, trainer.global_step)

    def on_train_epoch_end(self, trainer: Any, *_: Any) -> None:
        finished = trainer.current_epoch + 1
        total = _positive(trainer.max_epochs)
        _track(trainer.callback_metrics, finished, trainer.global_step)
        if self._within_epochs:
            script.progress(epoch=finished, epochs=total)
        else:
            script.boundary(finished, total)
        if finished % self._every == 0:
            self._save(trainer, finished)
        if finished != total:
            self._leave_if_asked(trainer, finished)

    def on_train_end(self, trainer: Any, *_: Any) -> None:
        if self._saved_step != trainer.global_step:
            self._save(trainer, trainer.current_epoch)

    def _leave_if_asked(self, trainer: Any, finished: int) -> None:
        is_asked = script.is_asked()
        if trainer.world_size > 1:
            is_asked = trainer.strategy.reduce_boolean_decision(is_asked, all=False)
        if not is_asked:
            return
        if self._saved_step != trainer.global_step:
            self._save(trainer, finished)
        trainer.strategy.barrier("outlast")
        script.leave()

    def _save(self, trainer: Any, finished: int) -> None:
        # Every rank takes part: sharded strategies write from all of them, and all of them wait at the end.
        script.save_together(
            lambda folder: trainer.save_checkpoint(str(Path(folder, "last.ckpt"))),
            step=trainer.global_step,
            epoch=finished,
        )
        self._saved_step = trainer.global_step


class _HuggingFace:
    """For `Trainer(callbacks=[callback])`, then `trainer.train(resume_from_checkpoint=callback.last_checkpoint)`.

    Commits every checkpoint the Trainer saves, wherever its `output_dir` is, and asks for one at a hand-over.
    """

    def __init__(self) -> None:
        super().__init__()
        self._is_leaving = False

    @property
    def last_checkpoint(self) -> Optional[str]:
        """The newest restored `checkpoint-N` folder, or None at the very start."""
        folder = script.restore()
        numbered: Dict[int, str] = {}
        for path in [] if folder is None else Path(folder).rglob("checkpoint-*"):
            match = re.fullmatch(r"checkpoint-(\d+)", path.name)
            if match is not None and path.is_dir():
                numbered[int(match.group(1))] = str(path)
        return numbered[max(numbered)] if numbered else None

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> Any:
        script.progress(state.epoch, args.num_train_epochs, state.global_step, state.max_steps)
        if self._is_leaving or (args.world_size > 1 and state.global_step % 50):
            return control
        is_asked = script.is_asked() and state.global_step < state.max_steps
        if args.world_size > 1:
            is_asked = _any_rank(is_asked, args.device)
        if is_asked:
            self._is_leaving = True
            control.should_save = True
            control.should_training_stop = True
        return control

    def on_log(self, args: Any, state: Any, control: Any, logs: Optional[Mapping[str, Any]] = None, **_: Any) -> None:
        _track({key: value for key, value in (logs or {}).items() if key != "epoch"}, state.epoch, state.global_step)

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        link = script.current_link()
        if link is None:
            return
        said = {"step": state.global_step, "epoch": state.epoch}
        written = Path(args.output_dir, "checkpoint-%d" % state.global_step).resolve()
        if Path(link.checkpoint).resolve() in written.parents:
            script.save(**said)
        elif written.is_dir():
            script.save(lambda folder: _link_tree(written, Path(folder, written.name)), **said)

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if self._is_leaving:
            script.leave()


class _Keras:
    """For `model.fit(callbacks=[callback], initial_epoch=callback.initial_epoch)`.

    Saves the whole model, with its optimizer, after every `every` epochs and at a hand-over, which comes after an
    epoch: Keras cannot resume inside one. `callback.restore(build)` returns the restored model or `build()`.
    """

    model: Any  # both are set by Keras
    params: Any

    def __init__(self, every: int = 1) -> None:
        super().__init__()
        self._every = every
        self._is_leaving = False

    @property
    def initial_epoch(self) -> int:
        return int(script.info().progress.get("next_epoch", 0)) if script.restore() else 0

    def restore(self, build: Any) -> Any:
        path = _restored_file("model.keras")
        return build() if path is None else _import("keras", "tensorflow.keras").models.load_model(path)

    def on_epoch_end(self, epoch: int, logs: Optional[Mapping[str, Any]] = None) -> None:
        finished = epoch + 1
        _track(logs or {}, finished, None)
        total = (self.params or {}).get("epochs")
        script.boundary(finished, total)
        is_due = finished % self._every == 0 or finished == total
        if is_due:
            self._save(finished)
        if finished != total and script.is_asked():
            if not is_due:
                self._save(finished)
            self._is_leaving = True
            self.model.stop_training = True

    def on_train_end(self, logs: Any = None) -> None:
        if self._is_leaving:
            script.leave()

    def _save(self, finished: int) -> None:
        script.save(
            lambda folder: self.model.save(str(Path(folder, "model.keras"))), epoch=finished, next_epoch=finished
        )


class _MindSpore:
    """For `model.train(total - done, dataset, callbacks=[callback])` with `done = callback.restore(network)`.

    Saves the training network, with its optimizer, as `last.ckpt` after every `every` epochs and at a hand-over.
    `network` for `restore` is the training network (`model.train_network`); `total` counts epochs over all stints.
    """

    def __init__(self, total: Optional[int] = None, every: int = 1) -> None:
        super().__init__()
        self._total = total
        self._every = every
        self._done = int(script.info().progress.get("next_epoch", 0)) if script.restore() else 0
        self._is_leaving = False

    def restore(self, network: Any) -> int:
        """Load the restored checkpoint into `network`; returns how many epochs are done."""
        path = _restored_file("last.ckpt")
        if path is None:
            return 0
        mindspore = _import("mindspore")
        mindspore.load_param_into_net(network, mindspore.load_checkpoint(path))
        return self._done

    def step_end(self, run_context: Any) -> None:
        now = run_context.original_args()
        script.progress(step=int(now.cur_step_num) + self._done * int(now.batch_num))

    def epoch_end(self, run_context: Any) -> None:
        now = run_context.original_args()
        finished = self._done + int(now.cur_epoch_num)
        total = self._total or self._done + int(now.epoch_num)
        loss = _loss_of(now.net_outputs)
        if loss is not None:
            script.track(epoch=finished, step=int(now.cur_step_num), loss=loss)
        script.boundary(finished, total)
        is_due = finished % self._every == 0 or finished >= total
        if is_due:
            self._save(now.train_network, finished)
        if finished < total and script.is_asked():
            if not is_due:
                self._save(now.train_network, finished)
            self._is_leaving = True
            run_context.request_stop()

    def end(self, run_context: Any) -> None:
        if self._is_leaving:
            script.leave()

    def _save(self, network: Any, finished: int) -> None:
        script.save(
            lambda folder: _import("mindspore").save_checkpoint(network, str(Path(folder, "last.ckpt"))),
            epoch=finished,
            next_epoch=finished,
        )


#: Public name -> (our half, modules that may hold the framework's base class, its name, what to install).
_CLASSES: Dict[str, Tuple[type, Tuple[str, ...], str, str]] = {
    "KerasCallback": (_Keras, ("keras.callbacks", "tensorflow.keras.callbacks"), "Callback", "keras"),
    "LightningCallback": (
        _Lightning, ("lightning.pytorch.callbacks", "pytorch_lightning.callbacks"), "Callback", "lightning",
    ),
    "MindSporeCallback": (
        _MindSpore, ("mindspore.train.callback", "mindspore.train"), "Callback", "mindspore",
    ),
    "TrainerCallback": (
        _HuggingFace, ("transformers.trainer_callback", "transformers"), "TrainerCallback", "transformers",
    ),
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _CLASSES:
        raise AttributeError("module 'outlast.callbacks' has no attribute %r" % name)
    ours, homes, base, package = _CLASSES[name]
    try:
        theirs = getattr(_import(*homes), base)
    except ModuleNotFoundError as error:
        raise ImportError(
            "outlast.callbacks.%s needs %s, which cannot be imported (%s); install it with: pip install %s"
            % (name, package, error, package)
        ) from error
    made = type(name, (ours, theirs), {"__doc__": ours.__doc__, "__module__": __name__})
    globals()[name] = made
    return made


def __dir__() -> List[str]:
    return sorted({*globals(), *__all__})


def _import(*names: str) -> Any:
    """The first of several modules that is installed."""
    for name in names[:-1]:
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            # A framework that is there but lacks something of its own is not the same as one that is not there.
            if error.name is None or not (name + ".").startswith(error.name + "."):
                raise
    return importlib.import_module(names[-1])


def _restored_file(name: str) -> Optional[str]:
    folder = script.restore()
    path = None if folder is None else Path(folder, name)
    return str(path) if path is not None and path.exists() else None


def _track(values: Mapping[str, Any], epoch: Optional[float], step: Optional[int]) -> None:
    numbers = {name: script.as_number(value) for name, value in values.items()}
    kept = {name: value for name, value in numbers.items() if value is not None and name not in _RESERVED}
    if kept:
        script.track(epoch=epoch, step=step, **kept)


_RESERVED = frozenset(["epoch", "step", "samples"])


def _positive(value: Any) -> Optional[int]:
    """Frameworks spell "no limit" as -1 or None."""
    return value if isinstance(value, int) and value > 0 else None


def _any_rank(is_asked: bool, device: Any) -> bool:
    torch = importlib.import_module("torch")
    answer = torch.tensor([int(is_asked)], device=device)
    torch.distributed.all_reduce(answer, op=torch.distributed.ReduceOp.MAX)
    return bool(answer.item())


def _link_tree(source: Path, target: Path) -> None:
    """A copy of a folder that shares its bytes where the filesystem allows."""
    import shutil

    def link(one: str, other: str) -> None:
        try:
            os.link(one, other)
        except OSError:
            shutil.copy2(one, other)

    shutil.copytree(str(source), str(target), copy_function=link)


def _loss_of(outputs: Any) -> Optional[float]:
    """MindSpore gives the loss, or a tuple that begins with it."""
    first = outputs[0] if isinstance(outputs, (tuple, list)) and outputs else outputs
    if hasattr(first, "asnumpy"):
        first = first.asnumpy()
        first = first.mean() if hasattr(first, "mean") else first
    return script.as_number(first)
