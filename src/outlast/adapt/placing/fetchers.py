"""Which calls of libraries ask the network for something."""

from __future__ import annotations

import re

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.migrate.tree import argument, dotted, inner, positional, tail

_NAMED = frozenset(
    "urllib.request.urlretrieve urllib.request.urlopen urllib.urlopen urllib2.urlopen requests.get requests.request "
    "wget.download gdown.download gdown.download_folder gdown.cached_download torch.hub.load "
    "torch.hub.load_state_dict_from_url torch.hub.download_url_to_file torch.utils.model_zoo.load_url nltk.download "
    "datasets.load_dataset datasets.load_metric evaluate.load huggingface_hub.snapshot_download "
    "huggingface_hub.hf_hub_download kagglehub.dataset_download kagglehub.model_download "
    "kagglehub.competition_download tensorflow_datasets.load tensorflow_datasets.builder opendatasets.download "
    "yfinance.download yfinance.Ticker ucimlrepo.fetch_ucirepo openml.datasets.get_dataset openml.tasks.get_task "
    "modelscope.snapshot_download modelscope.hub.snapshot_download.snapshot_download "
    "modelscope.dataset_snapshot_download modelscope.msdatasets.MsDataset.load mindnlp.dataset.load_dataset "
    "seaborn.load_dataset gensim.downloader.load statsmodels.api.datasets.get_rdataset spacy.cli.download "
    "stanza.download sentence_transformers.SentenceTransformer sentence_transformers.CrossEncoder whisper.load_model "
    "clip.load tensorflow_hub.load tensorflow_hub.KerasLayer tensorflow_hub.resolve tensorflow_hub.Module "
    "tiktoken.get_encoding tiktoken.encoding_for_model lpips.LPIPS torchvision.datasets.utils.download_url "
    "torchvision.datasets.utils.download_and_extract_archive torchtext.vocab.GloVe torchtext.vocab.FastText "
    "torchtext.utils.download_from_url".split()
)
#: modules of which every call that is spelled so does
_FAMILIES = re.compile(
    r"sklearn\.datasets\.fetch_(?!file)\w+|pandas_datareader\..*|dgl\.data\.\w+Dataset|torchtext\.datasets\.\w+"
    r"|torchaudio\.pipelines\.\w+\.get_\w+|pretrainedmodels\.\w+"
    r"|tushare\.(?:get_\w+|pro_\w+)|akshare\.\w+|baostock\.query_\w+"
)
#: samples for demonstrations, which look nowhere else, whatever they are told
_DEMOS = re.compile(r"(?:lightning\.pytorch|pytorch_lightning)\.demos\.(?:\w+\.)?(?:MNIST(?:DataModule)?|WikiText2)")
_PADDLE = re.compile(r"paddle\.(?:vision|text|audio)\.datasets\.[A-Z]\w*")
#: by their last name, whoever has them
_METHODS = frozenset(
    "urlretrieve get_file load_state_dict_from_url download_and_extract_archive untar_data dataset_download_files "
    "dataset_download_file competition_download_files competition_download_file".split()
)
_RUNS = frozenset(
    f"subprocess.{name}"
    for name in ("run", "call", "check_call", "check_output", "Popen", "getoutput", "getstatusoutput")
) | {"os.system", "os.popen"}
_TOOL = re.compile(
    r"\b(?:wget|curl|aria2c|axel|gdown|git clone|git lfs|pip3? install|conda install|apt(?:-get)? install"
    r"|kaggle (?:datasets|competitions|kernels)|huggingface-cli|hf download|gsutil|aws s3|azcopy|spacy download)\b"
)
#: weights that a library knows by a name; other values are files
_KNOWN_WEIGHTS = re.compile(r"imagenet|IMAGENET|DEFAULT|[\w.]+_Weights\.")
#: libraries whose models fetch weights when they are told no other thing: keyword, what it is by default
_ENCODERS = re.compile(r"segmentation_models_pytorch\.[A-Z]\w*|segmentation_models_pytorch\.create_model")
#: models of Keras, which take a name that Keras knows, or a file
KERAS_MODEL = re.compile(r"(?:tensorflow\.)?(?:python\.)?keras\.applications\.(?:\w+\.)*[A-Z]\w*$")
_EFFICIENT = re.compile(r"efficientnet-b\d")
_ADDRESS = re.compile(r"(?:https?|ftp|hf|s3|gs)://", re.I)
#: readers of files, which `load_dataset` takes in place of a data set's name
BUILDERS = frozenset("csv json parquet arrow text xml imagefolder audiofolder videofolder webdataset pandas".split())


def fetched_by(draft: Draft, call: cst.Call) -> str:
    """What a call asks the network for, in words; empty if it does not."""
    name, last = draft.resolve(call.func), tail(call.func)
    first = positional(call, 0)
    if name.startswith("ultralytics.YOLO") and not is_told_place("ultralytics.YOLO", inner(first)):
        return f"YOLO fetches {inner(first)}"
    data = argument(call, "data")
    if last == "train" and "ultralytics" in draft.names.roots and data is not None:
        said = repr(inner(data.value)) if inner(data.value) else draft.source(data.value)[:40]
        return f"train finds its data where {said} says, and fetches what is not there"
    if name == "spacy.load" and not is_told_place(name, inner(first)):
        return f"spacy.load needs the package {inner(first) or 'of its model'}, which must have been fetched"
    if _DEMOS.fullmatch(name):
        return f"{last} fetches its data to ./data where that is not there yet"
    if _PADDLE.fullmatch(name):
        is_told = any(argument(call, each) for each in ("image_path", "data_file", "data_dir", "archive"))
        flag = argument(call, "download")
        is_told = is_told or (flag is not None and draft.source(flag.value) == "False")
        return "" if is_told else f"{last} fetches its data unless it is told the files"
    if name in _NAMED or _FAMILIES.fullmatch(name) or last in _METHODS:
        # `download` and `load` say nothing without what they are called on.
        shown = last if len(last) > len("download") else draft.source(call.func)
        return "" if _is_here(draft, call) else f"{shown} fetches {inner(first) or 'something'}"
    if name in _RUNS:
        command = re.sub(r"[\"'\[\],]+", " ", draft.source(call))
        shown = " ".join(draft.source(call).split())[:60]
        return f"{shown} fetches something" if _TOOL.search(" ".join(command.split())) else ""
    if name.startswith("roboflow.") or (last == "download" and "roboflow" in draft.names.roots and name == ""):
        return "roboflow fetches the data" if last == "download" else ""
    return "" if _is_seen(draft, call, name) else _weights(draft, call, name)


def advice_on(draft: Draft, call: cst.Call) -> str:
    """How what a call fetches can be brought instead."""
    name = draft.resolve(call.func)
    if name in ("evaluate.load", "datasets.load_metric"):
        metric = inner(positional(call, 0)) or "NAME"
        return f"copy its script beside the code, and name its folder: load('metrics/{metric}'), with {metric}.py in it"
    if _ENCODERS.fullmatch(name):
        return "let encoder_weights be None there, and load the encoder's weights from an input"
    if _DEMOS.fullmatch(name):
        return "read the samples with a data set that is told its folder, such as torchvision.datasets.MNIST"
    return "fetch it once and declare it: outlast run … --data NAME=FILE"


def _is_seen(draft: Draft, call: cst.Call, name: str) -> bool:
    """Whether what is called stands in this program: then its body tells what it fetches."""
    if name.lstrip(".").partition(".")[0] in draft.seen:
        return True
    return not name and any(
        tail(call.func) in each.function_names | each.class_names for each in (draft, *draft.others)
    )


def _weights(draft: Draft, call: cst.Call, name: str) -> str:
    pretrained, weights = argument(call, "pretrained"), argument(call, "weights")
    if pretrained is not None and draft.source(pretrained.value) == "True":
        return f"{tail(call.func)}(pretrained=True) fetches weights"
    if name.startswith("timm.") and pretrained is not None and draft.source(pretrained.value) != "False":
        return f"{tail(call.func)}(pretrained={draft.source(pretrained.value)[:30]}) may fetch weights"
    if pretrained is not None and inner(pretrained.value) and not _is_no_name(inner(pretrained.value)):
        return f"{tail(call.func)}(pretrained={draft.source(pretrained.value)}) fetches weights"
    if weights is not None and _KNOWN_WEIGHTS.match(constant(draft, weights.value) or draft.source(weights.value)):
        return f"{tail(call.func)} fetches weights"
    encoder = argument(call, "encoder_weights")
    if encoder is not None and constant(draft, encoder.value):
        return f"{tail(call.func)}(encoder_weights={draft.source(encoder.value)}) fetches weights"
    if _ENCODERS.fullmatch(name) and encoder is None and positional(call, 2) is None:
        return f"{tail(call.func)} fetches weights: encoder_weights is 'imagenet' unless it is told"
    return ""


def _is_no_name(text: str) -> bool:
    return "/" in text or bool(re.search(r"\.\w{1,11}$|^(?:none|no|false|scratch|random)$", text, re.I))


def _is_here(draft: Draft, call: cst.Call) -> bool:
    """Whether it is told to look at a place of its own: `torch.hub.load("./yolo", …, source="local")`."""
    source = argument(call, "source")
    is_local = source is not None and inner(source.value) == "local"
    return is_local or is_told_place(draft.resolve(call.func), inner(positional(call, 0)))


def is_told_place(name: str, text: str) -> bool:
    """Whether what a call takes for the name of a model is a place instead."""
    if name.startswith("tensorflow_hub."):
        return bool(text) and not is_address(text)
    if name == "ultralytics.YOLO":
        return "/" in text or not text.endswith(".pt")  # `.yaml` begins with nothing
    if name in ("whisper.load_model", "clip.load") or name.startswith("open_clip."):
        return bool(re.search(r"\.[a-z]\w+$", text))
    if name == "spacy.load":
        return "/" in text
    return text.startswith(("/", "./", "../", "~"))


def is_address(text: str) -> bool:
    return _ADDRESS.match(text) is not None


def constant(draft: Draft, node: cst.CSTNode | None) -> str:
    """A literal, or the one that a name stands for wherever it is used."""
    if isinstance(node, cst.Name):
        made: list[cst.BaseExpression | None] = []
        for each in draft.nodes:
            if isinstance(each, cst.Assign) and any(dotted(part.target) == node.value for part in each.targets):
                made.append(each.value)
            elif _sets(draft, each, node.value):
                made.append(None)
        node = made[0] if len(made) == 1 else None
    return inner(node) if node is not None else ""


def _sets(draft: Draft, node: cst.CSTNode, name: str) -> bool:
    """Whether a name is a parameter, runs over something, or grows."""
    if isinstance(node, cst.Param):
        return node.name.value == name
    if not isinstance(node, cst.AugAssign | cst.For | cst.CompFor):
        return False
    return any(isinstance(each, cst.Name) and each.value == name for each in (node.target, *draft.below(node.target)))


def takes_known_name(draft: Draft, call: cst.Call) -> bool:
    """`EfficientNet.from_pretrained("efficientnet-b0")`: a name that stands for code as well, never a place."""
    if tail(call.func) != "from_pretrained" or not isinstance(call.func, cst.Attribute):
        return False
    is_known = draft.resolve(call.func).startswith("efficientnet_pytorch.")
    return is_known or bool(_EFFICIENT.fullmatch(constant(draft, positional(call, 0))))
