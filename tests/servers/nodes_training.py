"""A training whose nodes need each other at every step, and what it comes to when nothing is lost or repeated."""

#: Every step is the work of all nodes: node 0 adds up what they send, and all go on with the sum. At the step HOLD it
#: waits until the file GATE is there, so that a test can do its worst in the middle; after ONCE steps of a stint it
#: leaves with the code that means "saved, come back".
TRAINING = """
import json, os, pathlib, socket, sys, time
import outlast

rank, world = int(os.environ["NODE_RANK"]), int(os.environ["NNODES"])
here = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
held = int(os.environ.get("HOLD", 0))
print("node", rank, "of", world, "restored", outlast.info().restored, flush=True)
folder = outlast.restore()
state = json.loads(pathlib.Path(folder, "state.json").read_text()) if folder else {"step": 0, "sum": 0}

def meet():
    if rank == 0:
        door = socket.create_server(here)
        return [door.accept()[0].makefile("rw") for _ in range(world - 1)]
    while True:
        try:
            return [socket.create_connection(here).makefile("rw")]
        except ConnectionRefusedError:
            time.sleep(0.01)

def hear(line):
    word = line.readline()
    if not word:
        raise ConnectionError("the other node is gone")
    return int(word)

def tell(line, number):
    line.write("%d\\n" % number)
    line.flush()

lines, began = meet(), state["step"]
while state["step"] < 12:
    step = state["step"] + 1
    if rank == 0 and str(step - began) == os.environ.get("ONCE"):
        sys.exit(85)
    while rank == 0 and step == held and not os.path.exists(os.environ["GATE"]):
        time.sleep(0.01)
    if rank and str(step) == os.environ.get("FAIL"):
        print("Traceback: node 1 has no memory left")
        sys.exit(3)
    mine = step * 31 + rank * 7
    if rank == 0:
        total = (state["sum"] * 3 + mine + sum(map(hear, lines))) % 1000003
        for line in lines:
            tell(line, total)
    else:
        tell(lines[0], mine)
        total = hear(lines[0])
    state = {"step": step, "sum": total}
    outlast.save(lambda folder: pathlib.Path(folder, "state.json").write_text(json.dumps(state)))
    print("step", step, "sum", total, flush=True)
os.makedirs("out", exist_ok=True)
pathlib.Path("out", "sum.txt").write_text(str(state["sum"]))
"""


def expected_sum(steps=12, nodes=2):
    total = 0
    for step in range(1, steps + 1):
        total = (total * 3 + sum(step * 31 + node * 7 for node in range(nodes))) % 1000003
    return total
