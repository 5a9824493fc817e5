"""Weights that a library fetches when it makes a model. The contract's weights, where given, take their place.

Many libraries look into the folder that torch keeps for what it has fetched, and that folder can be another one. Others
take a file or a folder in place of a model's name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import libcst as cst

from outlast.adapt.arguments.setup import Value
from outlast.adapt.draft import Draft
from outlast.adapt.needs import PASSED
from outlast.adapt.placing.addresses import is_told_address
from outlast.adapt.placing.fetchers import KERAS_MODEL, constant, is_told_place, takes_known_name
from outlast.adapt.placing.hub_files import folder_told, is_told_folder, take_folders
from outlast.adapt.placing.keras_weights import FETCHED, may_be_fetched
from outlast.adapt.placing.sites import enclosed
from outlast.adapt.resuming.rounds import are_alternatives
from outlast.adapt.wrapping import add_argument, add_helpers
from outlast.migrate.engine import Kind
from outlast.migrate.tree import argument, inner, positional, tail

RULE = "downloads"
_TORCHVISION = "torchvision.models"
#: calls that look into torch's folder, unless they are told another one by `model_dir`
_HUB = re.compile(
    r"torch\.hub\.load|torch\.hub\.load_state_dict_from_url|torch\.utils\.model_zoo\.load_url"
    r"|torchvision\.[\w.]+\.load_state_dict_from_url|lpips\.LPIPS|torchaudio\.pipelines\.\w+\.get_model"
)
#: models that fetch the weights of what they stand on, unless they are told not to
_ON_BACKBONE = re.compile(
    r"torchvision\.models\.(?:detection|segmentation)\.(?:\w+\.)?"
    r"(?:fasterrcnn|maskrcnn|keypointrcnn|retinanet|fcos|ssd|fcn|deeplabv3|lraspp)\w*"
)
#: what makes a model of fastai, from torchvision's with their weights unless it is told not to
_LEARNERS = frozenset({"cnn_learner", "vision_learner", "unet_learner", "create_cnn"})
#: by which a process is started that reads the script again
_SPAWN = frozenset({"spawn", "set_start_method", "get_context"})
_BACKBONES = ("weights_backbone", "pretrained_backbone")
#: repositories of models, of which a call returns a copy
_COPIES = frozenset(
    "huggingface_hub.snapshot_download huggingface_hub.hf_hub_download modelscope.snapshot_download "
    "modelscope.hub.snapshot_download.snapshot_download kagglehub.model_download".split()
)


@dataclass(frozen=True)
class _Taker:
    """Where a call takes the name of a model, and what may stand there instead."""

    place: int
    keyword: str
    holds: str


_REPOSITORY = "a folder with the files of {} on the Hub"
_SAVED_MODEL = "the unpacked module, the folder with saved_model.pb"
_TAKERS = {
    "sentence_transformers.SentenceTransformer": _Taker(0, "model_name_or_path", _REPOSITORY),
    "sentence_transformers.CrossEncoder": _Taker(0, "model_name_or_path", _REPOSITORY),
    "sentence_transformers.models.Transformer": _Taker(0, "model_name_or_path", _REPOSITORY),
    "transformers.pipeline": _Taker(99, "model", _REPOSITORY),
    "whisper.load_model": _Taker(0, "name", "the file of {} as in ~/.cache/whisper"),
    "clip.load": _Taker(0, "name", "the file of {} as in ~/.cache/clip"),
    "open_clip.create_model_and_transforms": _Taker(1, "pretrained", "the file with these weights"),
    "open_clip.create_model": _Taker(1, "pretrained", "the file with these weights"),
    "tensorflow_hub.load": _Taker(0, "handle", _SAVED_MODEL),
    "tensorflow_hub.KerasLayer": _Taker(0, "handle", _SAVED_MODEL),
    "ultralytics.YOLO": _Taker(0, "model", "the file {}"),
    "spacy.load": _Taker(0, "name", "the folder with config.cfg that the package {} holds"),
}
#: torch asks for the folder `checkpoints` inside its own: who has one file need not know that
_HELPER = '''def hub_folder(place):
    """A folder as torch keeps it: weights that lie right here, or are one file, become its folder checkpoints."""
    files = os.path.dirname(place) or "." if os.path.isfile(place) else place
    is_whole = os.path.isdir(os.path.join(files, "checkpoints")) or not os.path.isdir(files)
    if is_whole or not any(name.endswith((".pth", ".pt", ".th", ".tar")) for name in os.listdir(files)):
        return place
    folder = tempfile.mkdtemp()
    os.symlink(os.path.abspath(files), os.path.join(folder, "checkpoints"))
    return folder
'''
#: Keras asks for the file, and an input of a platform is a folder
_FILE_HELPER = '''def weights_file(place):
    """A file of weights, or the one that a folder holds."""
    names = [name for name in os.listdir(place) if name.endswith((".h5", ".keras"))] if os.path.isdir(place) else []
    return os.path.join(place, names[0]) if len(names) == 1 else place
'''
_TIMM = "the file of its weights on the Hub, such as model.safetensors (timm 0.9 and later)"


class Pretrained:
    """The calls of a file that fetch weights, as far as these can be an input: of one kind, as there is one place."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        calls = list(draft.calls())
        hub = [call for call in calls if looks_into_hub(draft, call) and not _is_asked_for(draft, call)]
        self.torch = [] if "set_dir" in draft.words else hub
        #: those that are told where to keep what they fetch
        self.told = [call for call in calls if folder_told(draft, call) is not None]
        self.keras = [call for call in calls if is_keras_model(draft, call)]
        if self.torch or self.told or not are_alternatives(draft, self.keras):
            self.keras = []  # one file cannot be the weights of several models
        named = [] if self.torch or self.told or self.keras else [call for call in calls if _model_of(draft, call)]
        is_one = len({_model_of(draft, call) for call in named}) == 1 or are_alternatives(draft, named)
        self.named = named if is_one else []

    @property
    def sites(self) -> list[cst.Call]:
        return [*self.torch, *self.told, *self.keras, *self.named]

    def bring(self, given: Value, name: str) -> list[str]:
        """Let the weights come from the option; returns lines to be put where it becomes known."""
        draft = self._draft
        for call in self.keras:
            (helper,) = draft.once("weights_file", self._add_file_helper)
            value, file = given.at(call), f"{helper}({given.at(call)})"
            named = argument(call, "weights")
            old = named.value if named is not None else positional(call, 1)
            if old is None:
                add_argument(draft, call, f'weights={file} if {value} else "imagenet"')
            elif constant(draft, old) == FETCHED:
                draft.replace(old, f"{file} if {value} else {draft.source(old)}")
            else:  # it may be a file, or None
                source = draft.source(old)
                draft.replace(old, f'{file} if {value} and {source} == "{FETCHED}" else {source}')
            held = f"the file {tail(call.func)} fetches (Keras keeps it in ~/.keras/models), or a folder with it"
            self._say(call, name, held)
        for call in self.named:
            self._take(call, given, name)
        take_folders(draft, self.told, given)
        for call in (*self.torch, *self.told):
            self._say(call, name, _in_hub(draft, call))
        if not self.torch:
            return []
        torch = draft.names.name_for("torch", [draft.module])
        if torch in ("", "torch"):
            draft.need_import("torch")  # also where the script imports it further down
        for each in ("os", "tempfile"):
            draft.need_import(each)
        add_helpers(draft, self.torch[0], ["os"], ["", "", *_HELPER.splitlines(), ""])
        if not starts_processes(draft):
            return [f"if {given.first}:", f"    {torch or 'torch'}.hub.set_dir(hub_folder({given.first}))"]
        # A process that begins anew is told where it fetches: it never comes to where the arguments are parsed.
        for statement in {id(each): each for each in map(draft.statement, self.torch)}.values():
            value = given.at(statement)
            draft.add_before(statement, [f"if {value}:", f"    {torch or 'torch'}.hub.set_dir(hub_folder({value}))"])
        return []

    def _add_file_helper(self) -> tuple[str]:
        name = self._draft.free("weights_file")
        self._draft.need_import("os")
        lines = _FILE_HELPER.replace("weights_file", name).splitlines()
        add_helpers(self._draft, self.keras[0], ["os"], ["", *lines, ""])
        return (name,)

    def _take(self, call: cst.Call, given: Value, name: str) -> None:
        """Put the option in place of a model's name, or of a whole copy."""
        draft, value = self._draft, given.at(call)
        full = draft.resolve(call.func)
        if full in _COPIES:
            start, end = draft.span(call)
            is_loose = enclosed(draft, call, "") == ""
            draft.insert(start, f"{value} or " if is_loose else f"({value} or ")
            draft.insert(end, "" if is_loose else ")")
            holds = "the file {}" if full.endswith("hf_hub_download") else _REPOSITORY
        elif full in _TAKERS:
            node = _named_at(call, _TAKERS[full])
            assert node is not None
            draft.insert(draft.start(node), f"{value} or ")
            holds = _TAKERS[full].holds
        else:
            add_argument(draft, call, f"pretrained_cfg_overlay=dict(file={value}) if {value} else None")
            holds = _TIMM
        self._say(call, name, holds.format(_model_of(draft, call)))

    def _say(self, call: cst.Call, name: str, holds: str) -> None:
        said = f"{_called(call)} takes its weights from --{name} when that is given"
        self._draft.say(Kind.CHANGED, RULE, call, said, f"declare them: outlast run … --data {name}=PLACE, {holds}")


def _is_asked_for(draft: Draft, call: cst.Call) -> bool:
    """Whether somebody passes the address that is fetched from: no input stands for that."""
    place = positional(call, 0)
    return place is not None and is_told_address(draft, call, place)


def _called(call: cst.Call) -> str:
    is_named = isinstance(call.func, cst.Name | cst.Attribute)
    return tail(call.func) if is_named else "the model"


def starts_processes(draft: Draft) -> bool:
    """Whether there may be processes of this script that begin anew."""
    return bool(_SPAWN & draft.words) and "multiprocessing" in draft.text


def _in_hub(draft: Draft, call: cst.Call) -> str:
    repository = constant(draft, positional(call, 0)) if draft.resolve(call.func) == "torch.hub.load" else ""
    code = f"{re.sub('[/:]', '_', repository)}{'' if ':' in repository else '_main'}" if repository else ""
    if not code:
        return "the file as it is named in ~/.cache/torch/hub/checkpoints, or a folder with it"
    return f"a copy of ~/.cache/torch/hub: it holds checkpoints, the folder {code} and the file trusted_list"


def _model_of(draft: Draft, call: cst.Call) -> str:
    """The name of the model that a call fetches, where an input can take its place; else empty."""
    name = draft.resolve(call.func)
    if any(arg.star for arg in call.args) or _is_done(draft, call):
        return ""
    if name in _COPIES:
        kind, file = argument(call, "repo_type"), argument(call, "filename")
        is_bare = isinstance(draft.parent(call), cst.Expr)
        if is_bare or (kind is not None and inner(kind.value) != "model"):
            return ""
        if name.endswith("hf_hub_download"):
            return constant(draft, file.value if file is not None else positional(call, 1))
        named = next((each.value for each in call.args if each.keyword and each.keyword.value == "repo_id"), None)
        return constant(draft, named or positional(call, 0))
    if name == "timm.create_model":
        asked, model = argument(call, "pretrained"), argument(call, "model_name")
        words = ("pretrained_cfg", "pretrained_cfg_overlay", "checkpoint_path")
        is_open = asked is not None and draft.source(asked.value) != "False"
        is_open = is_open and not any(argument(call, each) for each in words)
        made = model.value if model is not None else positional(call, 0)
        return draft.source(made) if is_open and made is not None else ""
    if name not in _TAKERS:
        return ""
    text = constant(draft, _named_at(call, _TAKERS[name]))
    if not text or is_told_place(name, text):
        return ""
    return text


def _named_at(call: cst.Call, taker: _Taker) -> cst.BaseExpression | None:
    named = argument(call, taker.keyword)
    return named.value if named is not None else positional(call, taker.place)


def _is_done(draft: Draft, call: cst.Call) -> bool:
    around = draft.parent(call)
    whole = around if isinstance(around, cst.BooleanOperation | cst.IfExp) else call
    return any(name in draft.source(whole) for name in PASSED)


def is_keras_model(draft: Draft, call: cst.Call) -> bool:
    """Whether a model of Keras begins with weights that are fetched."""
    if not KERAS_MODEL.match(draft.resolve(call.func)) or any(arg.star for arg in call.args):
        return False
    named = argument(call, "weights")
    given = named.value if named is not None else positional(call, 1)
    # It is what Keras takes when nothing is said.
    return given is None or constant(draft, given) == FETCHED or may_be_fetched(draft, given)


def looks_into_hub(draft: Draft, call: cst.Call) -> bool:
    name = _maker(draft, call)
    asked = [draft.source(named.value) for word in ("pretrained", "weights") if (named := argument(call, word))]
    if _HUB.fullmatch(name):
        source = argument(call, "source")
        is_local = source is not None and inner(source.value) == "local"
        is_off = name == "lpips.LPIPS" and asked == ["False"]
        return not (is_local or is_off or is_told_folder(call))
    if takes_known_name(draft, call):
        return argument(call, "weights_path") is None and positional(call, 1) is None
    if name.startswith("pretrainedmodels"):
        return "None" not in asked
    if tail(call.func) in _LEARNERS and "fastai" in draft.names.roots:
        # A name as text is one of timm, which looks elsewhere.
        return "False" not in asked and isinstance(positional(call, 1), cst.Name | cst.Attribute)
    if name != _TORCHVISION and not name.startswith(f"{_TORCHVISION}."):
        return False
    first = positional(call, 0)
    if first is not None and (draft.source(first) == "True" or "_Weights." in draft.source(first)):
        asked.append(draft.source(first))
    backbone = next((named for word in _BACKBONES if (named := argument(call, word)) is not None), None)
    has_backbone = bool(_ON_BACKBONE.fullmatch(name)) if backbone is None else True
    asked += [draft.source(backbone.value) if backbone is not None else "by default"] if has_backbone else []
    return any(each not in ("False", "None") for each in asked)


def _maker(draft: Draft, call: cst.Call) -> str:
    """What makes a model, also by `models.__dict__[arch]` or `getattr(models, arch)`."""
    maker: cst.CSTNode | None = call.func
    if isinstance(maker, cst.Subscript):
        maker = maker.value
    elif isinstance(maker, cst.Call) and tail(maker.func) == "getattr":
        maker = positional(maker, 0)
    return draft.resolve(maker)
