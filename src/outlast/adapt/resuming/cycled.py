"""Functions of the program that go through a loader without end: `batches = cycle(loader)`, `next(batches)`.

    def cycle(loader):
        while True:
            for batch in loader:
                yield batch

Each pass draws an order of its own as it begins, so it is enough to know the random numbers of that moment and how much
of the pass was dealt: the passes before it need not be gone through again.
"""

from __future__ import annotations

import libcst as cst

from outlast.adapt.arguments.namespaces import parameters_of
from outlast.adapt.draft import Draft
from outlast.adapt.elsewhere import function_elsewhere
from outlast.migrate.tree import dotted, tail

CLASS = [
    "class {0}:  # goes through a loader without end, and a later stint can bring it to where it was",
    "    def __init__(self, cycle, source):",
    "        self.cycle, self.source, self.numbers, self.dealt = cycle, source, None, 0",
    "        self.rest = iter(cycle(self))",
    "",
    "    def __iter__(self):  # one pass, which cycle asks for",
    "        self.numbers, self.dealt = {1}.get_rng_state(), 0",
    "        for sample in self.source:",
    "            self.dealt += 1",
    "            yield sample",
    "",
    "    def __next__(self):",
    "        return next(self.rest)",
    "",
    "    def state_dict(self):",
    '        return {{"numbers": self.numbers, "dealt": self.dealt}}',
    "",
    "    def load_state_dict(self, state):",
    "        now = {1}.get_rng_state()",
    "        self.rest = iter(self.cycle(self))",
    '        if state["dealt"]:',
    '            {1}.set_rng_state(state["numbers"])',
    '        for _ in range(state["dealt"]):',
    "            next(self.rest)",
    "        {1}.set_rng_state(now)",
]
#: With one of these a sample that comes in is not one that goes out, or something is counted.
_ELSE = (cst.AugAssign, cst.Break, cst.Continue, cst.Return, cst.Global, cst.Nonlocal, cst.If, cst.Await)


def goes_on_without_end(draft: Draft, call: cst.Call) -> bool:
    """Whether a call is of a function of the program that deals what it is given, one by one, again and again."""
    if len(call.args) != 1 or call.args[0].keyword is not None or call.args[0].star:
        return False
    own = [each for each in draft.functions() if each.name.value == dotted(call.func)]
    elsewhere = function_elsewhere(draft, call) if not own else None
    function = own[0] if len(own) == 1 else elsewhere[1] if elsewhere is not None else None
    if function is None or function.asynchronous is not None or len(parameters_of(function)) != 1:
        return False
    return _deals_again((elsewhere[0] if elsewhere is not None else draft), function, parameters_of(function)[0])


def _deals_again(home: Draft, function: cst.FunctionDef, given: str) -> bool:
    nodes = list(home.below(function.body))
    yields = [node for node in nodes if isinstance(node, cst.Yield)]
    loops = [node for node in nodes if isinstance(node, cst.While) and _is_endless(node)]
    if len(yields) != 1 or len(loops) != 1 or any(isinstance(node, _ELSE) for node in nodes):
        return False
    inside = list(home.below(loops[0].body))
    passes = [node for node in nodes if isinstance(node, cst.For | cst.While) and node is not loops[0]]
    if yields[0] not in inside:
        return False
    if isinstance(yields[0].value, cst.From):
        return not passes and dotted(yields[0].value.item) == given
    if passes:  # `for batch in loader: yield batch`, and no loop in that
        over = passes[0].iter if isinstance(passes[0], cst.For) else None
        return len(passes) == 1 and dotted(over) == given and yields[0] in list(home.below(passes[0].body))
    # `try: yield next(batches)`, `except StopIteration: batches = iter(loader)`
    drawn = [node for node in inside if isinstance(node, cst.Call) and tail(node.func) == "next"]
    made = [node for node in nodes if isinstance(node, cst.Call) and tail(node.func) == "iter"]
    caught = [tail(node.type) for node in inside if isinstance(node, cst.ExceptHandler)]
    is_anew = bool(made) and all(dotted(call.args[0].value) == given for call in made if call.args)
    return len(drawn) == 1 and caught == ["StopIteration"] and is_anew and len(drawn[0].args) == 1


def _is_endless(loop: cst.While) -> bool:
    return tail(loop.test) == "True" or (isinstance(loop.test, cst.Integer) and loop.test.value == "1")
