"""Places of the code's folder that have one last name: below the contract's folder each keeps what tells them apart."""

from __future__ import annotations

from checked import adapt

TEXT = """
    from pathlib import Path
    import numpy as np

    ROOT = Path(__file__).resolve().parent
    MODELS = ROOT / "models" / "net"
    SCORES = ROOT / "scores" / "{last}"
    MODELS.mkdir(parents=True, exist_ok=True)
    SCORES.mkdir(parents=True, exist_ok=True)
    w = 0.0
    for epoch in range(3):
        w += 1
        np.save(MODELS / "w.npy", w)
        np.save(SCORES / "w.npy", -w)
"""


def test_folders_of_one_name_do_not_fall_together():
    done = adapt(TEXT.replace("{last}", "net")).text
    assert 'os.path.join(contract.train_url, "models", "net")' in done
    assert 'os.path.join(contract.train_url, "scores", "net")' in done


def test_folders_of_other_names_keep_these_alone():
    done = adapt(TEXT.replace("{last}", "all")).text
    assert 'os.path.join(contract.train_url, "net")' in done and 'os.path.join(contract.train_url, "all")' in done


FILLED = """
    import os
    import numpy as np

    def read(name):
        kind = "streets"
        folder = os.path.expanduser(f"~/sets/{%s}")
        return np.load(os.path.join(folder, "x.npy"))

    w = read("a").sum()
    for epoch in range(3):
        w += 1
        np.save("w.npy", w)
"""


def test_a_text_that_is_filled_with_a_constant_is_one_place():
    assert 'contract.data_url or f"~/sets/{kind}"' in adapt(FILLED % "kind").text


def test_a_text_that_is_filled_with_a_parameter_may_be_several():
    assert 'contract.data_url or "~/sets"' in adapt(FILLED % "name").text


FITTED = """
    import keras
    from here import model, x, y

    kept = keras.callbacks.ModelCheckpoint("net.keras", {often})
    model.fit(x, y, epochs=3, callbacks=[kept])
"""


def test_a_callback_that_saves_by_batches_goes_on_counting_them():
    assert "_batches_seen_since_last_saving" in adapt(FITTED.replace("{often}", "save_freq=100")).text


def test_a_callback_that_saves_by_epochs_counts_no_batches():
    assert "_batches_seen_since_last_saving" not in adapt(FITTED.replace("{often}", "save_best_only=True")).text
