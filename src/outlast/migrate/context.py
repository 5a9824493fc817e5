"""Is this string a device, or does it only look like one?

The judgement climbs from the literal to the place where its value ends up: an argument, a variable, a default, a
comparison, a dictionary. Texts for people and keys are never devices; a bare `'cuda'` needs evidence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum, auto

import libcst as cst

from outlast.migrate.engine import Script
from outlast.migrate.names import OTHER_DEVICES, is_device_name
from outlast.migrate.tree import inner, positional, tail


class Use(Enum):
    """What a string is for."""

    DEVICE = auto()
    PROSE = auto()  # somebody reads it
    KEY = auto()  # a name: of an option, an attribute, an entry
    UNSURE = auto()


class Shape(Enum):
    """How much the literal itself says."""

    BARE = auto()  # 'cuda'
    INDEXED = auto()  # 'cuda:0', f'cuda:{i}', 'cuda:' + …: hardly ever anything but a device
    BACKEND = auto()  # 'nccl': hardly ever anything but the library


_PROSE_CALLS = frozenset(
    "print info warning warn error debug exception critical log write writelines echo secho fail skip pprint print_log "
    "log_once info_once warning_once print_once rank_zero_info rank_zero_warn set_description set_postfix "
    "set_postfix_str add_text set_title title xlabel ylabel suptitle print_rank_0 print_rank0 logging_info abort "
    "skipTest subTest ArgumentParser".split()
)
_PROSE_KEYWORDS = frozenset(
    "help description epilog title label desc msg message metavar doc reason text usage prog summary short_help".split()
)
_KEY_KEYWORDS = frozenset("name key tag prefix suffix dest dirname ext extension filename path group mark".split())
_KEY_CALLS = frozenset(
    "getattr hasattr setattr delattr get pop setdefault add_argument add_option add_parser add_argument_group "
    "register_buffer add_module getLogger get_logger import_module __import__ find_spec join "
    "joinpath Path PurePath open exists isfile isdir makedirs mkdir listdir glob getenv putenv system load_library "
    "which findall match search sub compile fullmatch namedtuple TypeVar NewType Enum skipif skipIf usefixtures "
    "is_package_available requires_backends has_module Extension CUDAExtension CppExtension popen check_output "
    "Popen add_subparsers with_name with_suffix basename dirname set_defaults importorskip".split()
)
_TEXT_METHODS = frozenset(
    "startswith endswith replace split rsplit find rfind index count lstrip rstrip strip removeprefix removesuffix "
    "partition rpartition".split()
)
_DEVICE_CALLS = frozenset(
    "to device autocast set_device Generator GradScaler set_default_device init_device_mesh DeviceMesh to_empty "
    "pin_memory Stream Event get_device_module type set_default_tensor_type get_autocast_dtype is_autocast_enabled "
    "set_autocast_dtype set_autocast_enabled get_default_backend_for_device get_rng_state set_rng_state fork_rng "
    "synchronize current_stream memory_allocated max_memory_allocated get_device_name get_device_properties "
    "mem_get_info memory_reserved reset_peak_memory_stats custom_fwd custom_bwd as_tensor load_model from_pretrained "
    "init_process_group new_group Accelerator".split()
)
_OPTION_CALLS = frozenset(
    "add_argument add_option option Option argument Argument DEFINE_string DEFINE_enum DEFINE_list add".split()
)
_FIELD_CALLS = frozenset("field Field Option Argument Parameter attrib ib".split())
_BRANCHES = (cst.BooleanOperation, cst.ConcatenatedString, cst.NamedExpr, cst.StarredElement, cst.Lambda,
             cst.FormattedStringExpression, cst.FormattedString)  # fmt: skip
#: Variables whose strings become parts of names: `suffixes = ['cpu', 'cuda']` of libraries that are built.
_LISTS_NAMES = re.compile(r"^__all__$|(?:^|_)(?:suffix|suffixes|suffices|ext|exts|libs?|libraries|tags?)$")
_CONTAINERS = (cst.List, cst.Tuple, cst.Set)


def use_of(node: cst.CSTNode, shape: Shape, script: Script) -> Use:
    """Judge the string at which the walk stands."""
    return _Judge(script, shape).judge(node, script.parents)


def is_prose_call(name: str) -> bool:
    """Whether a call of that name shows its texts to somebody: `print`, `logger.info`, an error."""
    return name in _PROSE_CALLS or name.endswith(("Error", "Exception", "Warning"))


def is_device(node: cst.CSTNode | None, script: Script) -> bool:
    """Whether an expression holds a device: by its name, by where it goes, or by what it is made from."""
    if isinstance(node, cst.Name | cst.Attribute):
        name = tail(node)
        if name == "type" and isinstance(node, cst.Attribute):
            return True  # x.device.type, device.type: nothing else called type is compared with 'cuda'
        return is_device_name(name) or name in script.names.devices
    if isinstance(node, cst.Call):
        name = tail(node.func)
        if name in ("str", "repr"):
            return is_device(positional(node, 0), script)
        if name in _TEXT_METHODS | {"lower", "format", "get"} and isinstance(node.func, cst.Attribute):
            return is_device(node.func.value, script) or is_device_name(inner(positional(node, 0)))
        return is_device_name(name)
    if isinstance(node, cst.Subscript):
        return is_device_name(tail(node)) or tail(node) in script.names.devices or is_device(node.value, script)
    if isinstance(node, cst.BooleanOperation):
        return is_device(node.left, script) or is_device(node.right, script)
    return False


class _Judge:
    def __init__(self, script: Script, shape: Shape) -> None:
        self._script = script
        self._shape = shape
        #: beside another device: 'cpu' in the same list, or the other branch of a condition
        self._accompanied = False
        #: beside the target device: the program knows both already
        self._knows_both = False

    def judge(self, node: cst.CSTNode, parents: Sequence[cst.CSTNode]) -> Use:
        at, child = len(parents) - 1, node
        while at >= 0:
            parent = parents[at]
            step = self._climb(child, parent, parents[at - 1] if at else None)
            if step is None:
                return Use.UNSURE
            if step == 0:
                break
            at -= step
            child = parents[at + 1]
        if at < 0:
            return Use.UNSURE
        return Use.KEY if self._knows_both else self._settle(child, parents[: at + 1])

    def _climb(self, child: cst.CSTNode, parent: cst.CSTNode, above: cst.CSTNode | None) -> int | None:
        """How many levels the value passes through here; 0: it ends up here, None: it becomes something else."""
        if isinstance(parent, cst.IfExp):
            if parent.test is child:
                return None
            other = parent.orelse if parent.body is child else parent.body
            self._accompanied |= self._is_plain_device(other) or b"is_available" in self._bytes(parent.test)
            return 1
        if isinstance(parent, cst.BinaryOperation):
            joins = isinstance(parent.operator, cst.Add | cst.Modulo) and parent.left is child
            return 1 if joins else None
        if isinstance(parent, cst.Attribute) and parent.attr.value in ("format", "lower", "strip"):
            return 2 if isinstance(above, cst.Call) else None
        if isinstance(parent, cst.Element):
            if isinstance(above, _CONTAINERS):
                self._beside([element.value for element in above.elements if element is not parent])
            return 2
        if isinstance(parent, cst.ListComp | cst.SetComp | cst.GeneratorExp):
            return 1 if parent.elt is child else None
        return 1 if isinstance(parent, _BRANCHES) else 0

    def _beside(self, others: Sequence[cst.CSTNode]) -> None:
        self._accompanied |= any(self._is_plain_device(other) for other in others)
        self._knows_both |= any(inner(other) == self._script.direction.target for other in others)

    def _settle(self, child: cst.CSTNode, parents: Sequence[cst.CSTNode]) -> Use:
        parent = parents[-1]
        settle = {
            cst.Arg: self._argument,
            cst.DictElement: self._entry,
            cst.ComparisonTarget: self._compared,
            cst.Comparison: self._compared,
        }.get(type(parent))
        if settle is not None:
            return settle(child, parents)
        if isinstance(parent, cst.Expr):
            return Use.PROSE
        if isinstance(parent, cst.Assert | cst.Raise):
            return Use.PROSE if not isinstance(parent, cst.Assert) or parent.msg is child else Use.UNSURE
        if isinstance(parent, cst.Index | cst.SubscriptElement | cst.Slice):
            return self._subscript(child, parents)
        names = self._receivers(child, parent, parents)
        if names is None:
            return Use.UNSURE
        if self._shape is Shape.BARE and any(_LISTS_NAMES.search(name) for name in names):
            return Use.KEY
        return self._with_evidence(any(self._holds_device(name) for name in names))

    def _subscript(self, child: cst.CSTNode, parents: Sequence[cst.CSTNode]) -> Use:
        """A key, but for `device: Literal['cpu', 'cuda']`, which says what the default may be."""
        subscript = next((each for each in reversed(parents) if isinstance(each, cst.Subscript)), None)
        if subscript is None or tail(subscript.value) != "Literal":
            return Use.KEY
        values = [each.slice.value for each in subscript.slice if isinstance(each.slice, cst.Index)]
        self._beside([value for value in values if value is not child])
        holder = next((each for each in reversed(parents) if isinstance(each, cst.Param | cst.AnnAssign)), None)
        name = holder.name.value if isinstance(holder, cst.Param) else tail(holder.target) if holder else ""
        return Use.KEY if self._knows_both else self._with_evidence(self._holds_device(name))

    def _receivers(self, child: cst.CSTNode, parent: cst.CSTNode, parents: Sequence[cst.CSTNode]) -> list[str] | None:
        """The names that take the value; None where a value has no such name."""
        if isinstance(parent, cst.Assign):
            return [tail(each.target) for each in parent.targets]
        if isinstance(parent, cst.AnnAssign | cst.For | cst.CompFor):
            return [tail(parent.target)]
        if isinstance(parent, cst.Param):
            return [parent.name.value]
        if isinstance(parent, cst.Return):
            return self._returned(parents)
        if isinstance(parent, cst.MatchValue):
            match = next((each for each in reversed(parents) if isinstance(each, cst.Match)), None)
            return ["device"] if match and is_device(match.subject, self._script) else []
        return None

    def _returned(self, parents: Sequence[cst.CSTNode]) -> list[str]:
        function = next((each for each in reversed(parents) if isinstance(each, cst.FunctionDef)), None)
        if function is None:
            return []
        body = self._bytes(function)
        self._accompanied |= b"'cpu'" in body or b'"cpu"' in body
        return [function.name.value]

    def _argument(self, child: cst.CSTNode, parents: Sequence[cst.CSTNode]) -> Use:
        arg, call = parents[-1], parents[-2] if len(parents) > 1 else None
        if not isinstance(arg, cst.Arg) or not isinstance(call, cst.Call):
            return Use.UNSURE
        name, keyword = tail(call.func), arg.keyword.value if arg.keyword else ""
        if self._is_prose(name, keyword):
            return Use.PROSE
        if keyword in _KEY_KEYWORDS:
            return Use.KEY
        if name in _FIELD_CALLS and (keyword == "default" or arg is call.args[0]):
            outer = parents[:-2]
            return self._settle(call, outer) if outer else Use.UNSURE
        if name in _OPTION_CALLS and any(inner(each.value) for each in call.args[:2] if each.keyword is None):
            return self._option(call, arg)
        if keyword:
            return self._with_evidence(self._holds_device(keyword) or name in _DEVICE_CALLS)
        return self._positional(call, arg, name)

    def _positional(self, call: cst.Call, arg: cst.Arg, name: str) -> Use:
        at = call.args.index(arg)
        if name in ("get", "pop", "setdefault", "getattr", "getenv") and at == (2 if name == "getattr" else 1):
            key = inner(positional(call, at - 1))
            return self._with_evidence(is_device_name(key) or key in self._script.names.devices)
        if name in _KEY_CALLS:
            return Use.KEY
        if name in _TEXT_METHODS and isinstance(call.func, cst.Attribute):
            return Use.DEVICE if is_device(call.func.value, self._script) else Use.UNSURE
        if name in ("append", "add", "extend", "insert", "set", "list", "tuple"):
            return self._with_evidence(
                isinstance(call.func, cst.Attribute) and is_device(call.func.value, self._script)
            )
        if name in _DEVICE_CALLS:
            return Use.DEVICE
        known = self._script.names.functions.get(name)
        if known is not None:
            offset = 1 if known[:1] in (("self",), ("cls",)) else 0
            return self._with_evidence(at + offset < len(known) and self._holds_device(known[at + offset]))
        return self._with_evidence(self._script.is_torch())

    def _option(self, call: cst.Call, arg: cst.Arg) -> Use:
        """`add_argument('--device', default='cuda')`, `DEFINE_string('device', 'cuda', …)`."""
        texts = [inner(each.value) for each in call.args if each.keyword is None]
        if arg.keyword is None and (call.args.index(arg) == 0 or inner(arg.value).startswith("-")):
            return Use.KEY
        if arg.keyword is None and call.args.index(arg) > 2:
            return Use.PROSE
        choices = next((each.value for each in call.args if each.keyword and each.keyword.value == "choices"), None)
        if isinstance(choices, _CONTAINERS):
            self._beside([element.value for element in choices.elements])
        return self._with_evidence(any(self._holds_device(text.lstrip("-").replace("-", "_")) for text in texts[:2]))

    def _entry(self, child: cst.CSTNode, parents: Sequence[cst.CSTNode]) -> Use:
        entry = parents[-1]
        assert isinstance(entry, cst.DictElement)
        outer = self._dict_is_device(parents)
        whole = parents[-2]
        if isinstance(whole, cst.Dict):
            self._beside(
                [each.key for each in whole.elements if isinstance(each, cst.DictElement) and each is not entry]
            )
        if self._knows_both:
            return Use.KEY
        if entry.key is child:
            maps = self._shape is Shape.INDEXED and self._is_indexed(entry.value)
            return Use.DEVICE if outer or maps or self._accompanied else Use.KEY
        return self._with_evidence(outer or self._holds_device(inner(entry.key)))

    def _dict_is_device(self, parents: Sequence[cst.CSTNode]) -> bool:
        """A dictionary passed as or kept in `map_location`, `device_map`."""
        above = parents[-3] if len(parents) > 2 else None
        if isinstance(above, cst.Arg):
            return above.keyword is not None and is_device_name(above.keyword.value)
        targets = [each.target for each in above.targets] if isinstance(above, cst.Assign) else []
        return any(is_device_name(tail(target)) for target in targets)

    def _compared(self, child: cst.CSTNode, parents: Sequence[cst.CSTNode]) -> Use:
        comparison = next(each for each in reversed(parents) if isinstance(each, cst.Comparison))
        sides = [comparison.left, *(each.comparator for each in comparison.comparisons)]
        others = [side for side in sides if side is not child]
        return self._with_evidence(any(is_device(side, self._script) for side in others))

    def _with_evidence(self, found: bool) -> Use:
        return Use.DEVICE if found or self._accompanied or self._shape is not Shape.BARE else Use.UNSURE

    def _holds_device(self, name: str) -> bool:
        return is_device_name(name) or name in self._script.names.devices

    def _is_prose(self, call: str, keyword: str) -> bool:
        return keyword in _PROSE_KEYWORDS or (not keyword and is_prose_call(call))

    def _is_plain_device(self, node: cst.CSTNode) -> bool:
        text = inner(node)
        return text in OTHER_DEVICES or (text.startswith(("cuda:", "npu:")))

    def _is_indexed(self, node: cst.CSTNode) -> bool:
        return self._bytes(node).lstrip(b"fF\"'(").startswith((b"cuda:", b"npu:"))

    def _bytes(self, node: cst.CSTNode) -> bytes:
        start, end = self._script.span(node)
        return self._script.data[start:end]
