"""Which modules are known: what a stranger does when it is imported or called, nobody here can tell."""

from __future__ import annotations

import re
import sys

#: modules of the standard library that parse the command line
PARSERS = frozenset({"argparse", "optparse", "getopt"})
#: libraries that may parse it
_LOUD = frozenset(
    "absl click fire typer hydra tap tyro simple_parsing docopt jsonargparse configargparse omegaconf ml_collections "
    "yacs gin plac argh cyclopts pydantic_settings detectron2 mmcv mmengine fairseq".split()
)
#: libraries that leave it alone
_QUIET = frozenset(
    "torch torchvision torchaudio torchtext lightning pytorch_lightning tensorflow keras numpy scipy sklearn pandas "
    "tf_keras matplotlib mpl_toolkits seaborn PIL cv2 "
    "tqdm mindspore mindvision transformers datasets accelerate peft tokenizers evaluate safetensors huggingface_hub "
    "timm tensorboard tensorboardX wandb jax jaxlib flax optax paddle xgboost lightgbm catboost joblib h5py yaml "
    "requests gym gymnasium skimage imageio einops albumentations nltk spacy gensim networkx psutil rich six mlflow "
    "torchmetrics torchsummary torchinfo ema_pytorch torch_ema plotly tabulate statsmodels librosa soundfile "
    "easydict loguru".split()
)


def is_library(module: str) -> bool:
    root = module.partition(".")[0]
    return root in _QUIET or root in _LOUD or root in sys.stdlib_module_names


def leaves_arguments_alone(module: str) -> bool:
    """Whether a module is certain not to read the command line."""
    root = module.partition(".")[0]
    return root in _QUIET or root in sys.stdlib_module_names - PARSERS


#: classes with an output_dir: those of transformers and trl, and their kin from other files; DataTrainingArguments, as
#: the examples of transformers call what they read, has none
TRAINING_ARGUMENTS = re.compile(
    r"(?!Data)\w*(?:TrainingArguments|TrainingArgs)|(?:SFT|DPO|PPO|GRPO|KTO|ORPO|CPO|Reward|RLOO|BCO|GKD)Config"
)
