"""Several processes that train together: one of them saves, and all load.

Where the processes are told apart is often another file (`utils.init_distributed_mode(args)`), or nowhere in the script
at all (torchrun, Accelerate). So the first one is found out when the script runs, wherever there may be others.
"""

from __future__ import annotations

import re
import sys

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.whole import files_of, roots_of, search, words_of
from outlast.migrate.tree import tail

#: Said by scripts of which several processes run together.
_SIGNS = re.compile(
    r"DistributedDataParallel|DDP|DistributedSampler|init_process_group|init_distributed\w*|local_rank|world_size|"
    r"ngpus_per_node|Accelerator|Fabric|horovod|hvd|torch_xla|idist"
)
#: Said also by scripts that mean something else by it.
_HINTS = re.compile(
    r"(?:is_)?dist(?:ributed|_\w+)?|ddp|\w*rank|\w*_(?:ddp|dist|distributed)|is_(?:main|master)\w*|accelerate"
)
#: Asks how many there are: one, where nobody has made more.
_ASKS = re.compile(r"get_(?:local_|global_)?(?:world_size|rank)")
_ENVIRONMENT = re.compile(r"[\"'](?:LOCAL_|OMPI_COMM_WORLD_|SLURM_)?(?:RANK|WORLD_SIZE|PROCID|NTASKS)[\"']")
#: Libraries that start or join no group of processes by themselves.
_ALONE = frozenset(
    "torch torchvision torchaudio torchtext torch_geometric torch_scatter torch_sparse dgl numpy scipy pandas "
    "sklearn matplotlib seaborn plotly PIL cv2 skimage imageio albumentations tqdm tensorboard tensorboardX wandb "
    "mlflow visdom yaml click typer fire absl omegaconf hydra easydict munch transformers datasets tokenizers "
    "sentencepiece timm einops h5py lmdb nltk spacy gensim networkx joblib requests gym gymnasium psutil colorama "
    "rich loguru termcolor prettytable tabulate sacrebleu rouge jieba pytorch_msssim lpips kornia torchmetrics "
    "torchsummary torchinfo thop ptflops apex nibabel SimpleITK pydicom rdkit Bio librosa soundfile torchdiffeq "
    "gpytorch pyro opacus optuna outlast mpl_toolkits IPython google __future__".split()
)
#: Libraries that have a word of their own for the first process.
_FIRST = {"horovod.torch": "{}.rank() == 0", "torch_xla.core.xla_model": "{}.is_master_ordinal()"}


def are_several(draft: Draft) -> bool:
    """Whether what is run of the program makes processes that train together, or joins them."""
    return any(_is_sign(each, node) for each in files_of(draft) for node in each.nodes)


def _is_sign(draft: Draft, node: cst.CSTNode) -> bool:
    if isinstance(node, cst.SimpleString):
        return _ENVIRONMENT.fullmatch(node.value) is not None
    if not isinstance(node, cst.Name) or not _SIGNS.fullmatch(node.value):
        return False
    # Who asks whether a model is such a one does not make it so, nor does who only imports the words.
    around = tuple(draft.above(node))
    is_asked = any(isinstance(each, cst.Call) and tail(each.func) == "isinstance" for each in around)
    is_asked = is_asked or _is_answer(draft, node)
    return not is_asked and not any(isinstance(each, cst.ImportAlias) for each in around)


def _is_answer(draft: Draft, node: cst.Name) -> bool:
    """`world_size = get_world_size()`, and what a function does with it."""
    scope = draft.scope(node)
    given = [
        each.value for each in draft.below(scope)
        if isinstance(each, cst.Assign) and any(tail(target.target) == node.value for target in each.targets)
    ]  # fmt: skip
    asked = [each for each in given if isinstance(each, cst.Call) and _ASKS.fullmatch(tail(each.func))]
    return isinstance(scope, cst.FunctionDef) and bool(given) and len(asked) == len(given)


def may_be_several(draft: Draft) -> bool:
    """Whether there may be such processes: a word hints at them, or another file of the project could start them."""
    if search(_ENVIRONMENT, draft) is not None:
        return True
    if any(_HINTS.fullmatch(word) or _SIGNS.fullmatch(word) for word in words_of(draft)):
        return True
    roots = {root.lstrip(".") for root in roots_of(draft)}
    return not all(is_library(root) or root in draft.seen for root in roots if root)


def is_library(root: str) -> bool:
    """Whether a module is known, and neither part of the project nor something that starts processes."""
    return root in _ALONE or root in sys.stdlib_module_names


def first_lines(draft: Draft, name: str, torch: str) -> list[str]:
    """Lines that put into `name` whether this process is the one that saves."""
    for library, words in _FIRST.items():
        called = draft.names.name_for(library, [draft.module])
        if called:
            return [f"{name} = {words.format(called)}"]
    together = f"{torch}.distributed"
    return [
        f"{name} = not {together}.is_available() or not {together}.is_initialized()",
        f"{name} = {name} or {together}.get_rank() == 0",
    ]
