"""Options of a script that hold places: by their names, their defaults and what they say for help."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

import libcst as cst

from outlast.adapt.arguments.setup import CODE_FILE, Option
from outlast.adapt.draft import Draft
from outlast.adapt.libraries import is_library
from outlast.adapt.needs import PASSED, Role
from outlast.adapt.placing.roles import Roles
from outlast.adapt.placing.shapes import leading
from outlast.adapt.placing.sites import text_of
from outlast.adapt.placing.sources import Literal
from outlast.adapt.resuming.own import is_resume
from outlast.adapt.whole import files_of, roots_of, words_of
from outlast.migrate.tree import argument, inner, positional, tail

if TYPE_CHECKING:
    from outlast.adapt.placing.paths import Paths

SUFFIX = re.compile(r"\.[A-Za-z]\w{0,5}$")
#: Names by which people know an option's role when its value goes where it cannot be followed: folders, files.
_FOLDER = "_?(?:dir|path|folder|root|directory)"
OPTION_NAMES = {
    Role.DATA: re.compile(
        rf"(?:data|datasets?|data_set|inputs?|images?|img|corpus){_FOLDER}|data|root|data_?dir|"
        rf"(?:train|valid|val|validation|dev|test|eval)(?:_\w+)?{_FOLDER}|"
        r"(?:train|valid|val|validation|dev|test|eval)_data(?:set)?"
    ),
    Role.OUTPUT: re.compile(
        rf"(?:outputs?|out|save|saved?_models?|saving|results?|ckpts?|checkpoints?|logs?|work|exp|experiments?|runs?|"
        rf"snapshots?|tensorboard|export|summary|summaries){_FOLDER}|models?_?(?:dir|folder)|output|outf?|results?|train_url"
    ),
    Role.WEIGHTS: re.compile(
        r"(?:pre_?train(?:ed)?|finetune)_?(?:model|weights?|ckpt|checkpoint|from)?(?:_?(?:path|file|dir))?|"
        # `--backbone resnet50` and `--init xavier` choose something.
        r"(?:init(?:ial)?|trained|backbone|start)_?(?:model|weights?|ckpt|checkpoint|from)(?:_?(?:path|file|dir))?|"
        r"(?:init(?:ial)?|trained|backbone|start)_?(?:path|file|dir)|weights?(?:_?(?:path|file))?|"
        r"load_(?:from|model|weights?|ckpt|checkpoint|pretrained|path|file)(?:_?(?:path|file))?|ckpt|checkpoint"
    ),
}
_AMBIGUOUS = frozenset("data root output out outf result results pretrained pretrain weights".split())
#: a place to load from or to save to: its default or its help tells
_EITHER = frozenset({"ckpt", "checkpoint"})
_WEIGHTS_FILE = re.compile(r"\.(?:pth?|ckpt|pkl|h5|safetensors|bin|tar)$")
_LOADS = re.compile(r"load|pre-?train|initial|fine-?tun|start from", re.I)
SETTINGS = re.compile("(?:^|_)(?:config|cfg|conf|hparams|settings|yaml)(?:_|$)")
_INPUTS = re.compile(r"(?:input|data|dataset)_\w*(?:dir|path|folder|root|file)s?")
_HELP = re.compile(r"\b(?:path|file|folder|directory|dir)\b", re.I)
#: of several files it is not certain that they lie in no folder
_ONE_FILE = re.compile(r"\bfile\b|\.(?:csv|tsv|json|jsonl|txt|npy|npz|h5|hdf5|parquet|pkl|mat)\b", re.I)
_SAYS_FOLDER = re.compile(r"\b(?:folder|dir|directory|root)\b", re.I)
FOLDERS = re.compile(r"(?:dir|folder|root|directory)s?$", re.I)
_SPLITS = re.compile("train|val|dev|test|eval")
_DATA_FILES = re.compile("(?:train|training|valid|validation|val|dev|test|eval|data|input)_(?:data_)?files?")
#: what reads nothing but settings
_PARSES = re.compile(r"(?:ruamel\.)?yaml\.|tomllib\.|toml\.load|omegaconf\.OmegaConf\.load")
#: by these all options can be read without a word of their names
_TAKES_ALL = frozenset(
    {"vars", "getattr", "__dict__", "_get_kwargs", "setattr", "from_dict", "asdict", "from_argparse_args", "initialize"}
)
#: names of options that hold places, whatever for
PLACES = re.compile(r"\w*(?:dir|path|folder|root|file|directory)s?|out|output|outf|results?|data|ckpt|checkpoint")


def reads_settings(draft: Draft, call: cst.Call) -> bool:
    """Whether what a call opens is parsed as settings: `with open(args.opt) as file:`, `yaml.safe_load(file)`."""
    holder = draft.parent(call)
    name = ""
    if isinstance(holder, cst.WithItem) and holder.asname is not None:
        name = tail(holder.asname.name)
    elif isinstance(holder, cst.Assign):
        name = tail(holder.targets[0].target)
    given = (positional(each, 0) for each in draft.calls(draft.scope(call)) if _PARSES.match(draft.resolve(each.func)))
    return any(each is call or (name and isinstance(each, cst.Name) and each.value == name) for each in given)


def is_place(option: Option) -> bool:
    """Whether an option holds a path, by its name, its default or its help; `--arch resnet18` does not."""
    if re.fullmatch(r"\.\w+", option.default):
        return False  # `.jpg`: how the names of files end
    if _HELP.search(_help(option)) and not re.fullmatch(r"[\w-]+", option.default):
        return True
    return bool(PLACES.fullmatch(option.name) or "/" in option.default or SUFFIX.search(option.default))


def is_folder_option(option: Option) -> bool:
    """Whether an option whose use is not seen holds a folder; its default or its help may say that it is a file."""
    words = _help(option)
    is_file = _ONE_FILE.search(words) and not _SAYS_FOLDER.search(words)
    return not (SUFFIX.search(option.default) or is_file)


def _help(option: Option) -> str:
    words = argument(option.call, "help") if option.call is not None else None
    return inner(words.value) if words is not None else ""


def add_told(found: Paths, options: dict[str, Option], judge: Roles, told: Mapping[str, tuple[Role, bool]]) -> None:
    seen = {name for names in found.options.values() for name in names}
    for name, (role, is_folder) in told.items():
        option = options.get(name)
        if option is None or not option.is_text or name in seen or name in PASSED or judge.is_word(name):
            continue
        is_aside = bool(CODE_FILE.search(option.default) or SETTINGS.search(name))
        is_aside = is_aside or (role is Role.WEIGHTS and is_resume(name))
        if is_place(option) and not is_aside:
            found.options.setdefault(role, {})[name] = is_folder and is_folder_option(option)


def add_named(draft: Draft, found: Paths, options: dict[str, Option], judge: Roles, passed: frozenset[str]) -> None:
    """Options whose names say what they are, where their values go out of sight."""
    seen = {name for names in found.options.values() for name in names}
    free = [
        name
        for name, option in options.items()
        if option.is_text
        and name not in seen
        and name not in passed
        and name == option.name
        and not judge.is_word(name)
        and not _is_cache(draft, name)
        and not is_unread(draft, option)
        and not _is_only_behind(draft, name)
    ]
    for role, pattern in OPTION_NAMES.items():
        named = [name for name in free if pattern.fullmatch(name) and _may_be_folder(options[name])]
        # Results in several folders lie beside each other; for inputs one place is enough.
        if not found.has(role) or (role is Role.OUTPUT and not found.options.get(role) and not found.others.get(role)):
            several = [name for name in named if _SPLITS.match(name)]
            chosen = several if len(several) > 1 and role is Role.DATA else named[:1]
            folders = {name: is_folder_option(options[name]) for name in chosen}
            found.options.update({role: folders} if chosen else {})
    inputs = [name for name in free if _INPUTS.fullmatch(name) and _may_be_folder(options[name])]
    if found.options.get(Role.DATA) or len(inputs) > 1:
        found.options.setdefault(Role.DATA, {}).update(
            (name, "file" not in name and is_folder_option(options[name])) for name in inputs
        )
    if any(_SPLITS.match(name) for name in found.options.get(Role.DATA, {})):
        splits = [name for name in free if OPTION_NAMES[Role.DATA].fullmatch(name) and _SPLITS.match(name)]
        found.options[Role.DATA].update((name, is_folder_option(options[name])) for name in splits)
    if not found.has(Role.DATA):
        files = {name: False for name in free if _DATA_FILES.fullmatch(name)}
        found.options.update({Role.DATA: files} if files else {})


def is_unread(draft: Draft, option: Option) -> bool:
    """Whether no file of the program speaks of an option, and none takes all options together."""
    words = words_of(draft)
    is_seen = all(is_library(root) or root.lstrip(".") in draft.seen for root in roots_of(draft))
    if not is_seen or (
        words & _TAKES_ALL and any(_may_take_all(each, node) for each in files_of(draft) for node in each.nodes)
    ):
        return False
    return not any(
        isinstance(node, cst.Name) and node.value == option.name and not isinstance(each.parent(node), cst.Param)
        for each in files_of(draft)
        for node in (each.nodes if option.name in words else ())
    )


def _may_take_all(draft: Draft, node: cst.CSTNode) -> bool:
    """Whether options may be read together here; `vars(settings)` of what another file is named by are others."""
    if not isinstance(node, cst.Name) or node.value not in _TAKES_ALL:
        return False
    call = draft.parent(node)
    held = positional(call, 0) if isinstance(call, cst.Call) and call.func is node else None
    return not (isinstance(held, cst.Name) and draft.resolve(held))


def _is_cache(draft: Draft, name: str) -> bool:
    """Whether an option only says where a library keeps what it has fetched: `cache_dir=args.data_dir`."""
    loads = [node for node in draft.nodes if isinstance(node, cst.Attribute) and node.attr.value == name]
    around = [draft.parent(node) for node in loads]
    words = [each.keyword.value if isinstance(each, cst.Arg) and each.keyword is not None else "" for each in around]
    return bool(words) and all("cache" in word for word in words)


def _is_only_behind(draft: Draft, name: str) -> bool:
    """Whether an option is never more than the end of a text: a place there would follow another one."""
    reads = [
        (each, node)
        for each in files_of(draft)
        for node in each.nodes
        if isinstance(node, cst.Attribute) and node.attr.value == name
    ]
    return bool(reads) and all(_ends_text(each, node) for each, node in reads)


def _ends_text(draft: Draft, node: cst.CSTNode) -> bool:
    """`f"{name}{args.suffix}"`, `"runs/" + args.name`; of `f"./{args.out}"` the option is all."""
    whole = node
    around = draft.parent(node)
    while isinstance(around, cst.BinaryOperation | cst.FormattedStringExpression | cst.FormattedString):
        whole, around = around, draft.parent(around)
    *_, first = before = list(leading(whole))
    is_dot = isinstance(first, Literal) and not text_of(first).strip("./")
    return not is_dot and not any(each is node for each in before)


def _may_be_folder(option: Option) -> bool:
    """`--data cifar10` and `--output json` choose something; `--data-dir data` is a folder."""
    if CODE_FILE.search(option.default):
        return False
    is_word = bool(re.fullmatch(r"[\w-]+", option.default)) and option.name in _AMBIGUOUS
    if option.name in _EITHER and not (_WEIGHTS_FILE.search(option.default) or _LOADS.search(_help(option))):
        return False
    return not is_word or option.default in (option.name, "data", "dataset", "datasets", "output", "outputs", "results")
