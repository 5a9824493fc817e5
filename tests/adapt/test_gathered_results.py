"""Results that a script finds again by a pattern lie where it has written them."""

from __future__ import annotations

import pytest
from checked import adapt
from torch_stage import HEAD, STEP

KEPT = """
import glob, os
net = nn.Linear(1, 1)
opt = torch.optim.SGD(net.parameters())
best, best_epoch = 9.0, 0
for epoch in range(4):
    loss = [step(net, opt, x, y) for x, y in POINTS][-1]
    torch.save(net.state_dict(), "{}.pkl".format(epoch))
    if loss < best:
        best, best_epoch = loss, epoch
    print(epoch)
    files = glob.glob("*.pkl")
    for file in files:
        if int(file.split(".")[0]) < best_epoch:
            os.remove(file)
files = glob.glob("*.pkl")
for file in files:
    if int(file.split(".")[0]) > best_epoch:
        os.remove(file)
net.load_state_dict(torch.load("{}.pkl".format(best_epoch)))
print("end", net(1.0).item())
"""


def test_what_a_pattern_finds_of_the_results_is_looked_for_there(run, tmp_path):
    text = HEAD + STEP + KEPT
    done = adapt(text)
    assert "glob.glob(os.path.join(contract.train_url or" in done.text and "data_url or" not in done.text
    assert "basename(os.path.basename" not in done.text
    # What the rounds have saved under such a name is what is loaded behind them, and nobody has to bring it.
    assert "pretrain_url" not in done.text
    lines = run(text).output.splitlines()
    assert run(done.text).output.splitlines() == lines, "without the options nothing may change"
    data, out = tmp_path / "rows", tmp_path / "out"
    data.mkdir()
    (data / "0.pkl").write_text("no result")
    options = "--data_url", str(data), "--train_url", str(out)
    assert run(done.text, *options, kill_after=3).was_killed
    assert run(done.text, *options).output.splitlines()[-1] == lines[-1]
    assert (data / "0.pkl").read_text() == "no result" and list(out.glob("*.pkl"))


@pytest.mark.parametrize(
    ("before", "behind"),
    [('rows = glob.glob("*.csv")', 'frame.to_csv(f"{name}.csv")'), ('rows = glob.glob("rows/*.csv")', "")],
)
def test_a_pattern_that_finds_what_was_there_before_is_data(before, behind):
    done = adapt(f"import glob\nimport pandas as pd\n{before}\nname, frame = 1, pd.read_csv(rows[0])\n{behind}\n")
    assert "contract.data_url or" in done.text


def test_a_path_that_a_name_begins_is_not_cut():
    done = adapt('import glob\nimport numpy as np\nfor path in glob.glob("*.npy"):\n    np.load(path.split(".")[0])\n')
    assert "basename" not in done.text
