"""Lists of files that a comprehension names, trainings in one call, and trainings for each of several settings."""

from __future__ import annotations

from checked import adapt, said

from outlast.migrate.engine import Kind

FILES = """
    import os
    from os import listdir
    from os.path import join
    import tensorflow as tf

    names = [join("records", name) for name in listdir("records")]
    rows = tf.data.TFRecordDataset(names)
    net = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    net.fit(rows, epochs=5)
    {last}
"""


def test_files_that_are_listed_are_read_where_they_are_listed():
    done = adapt(FILES.replace("{last}", 'net.save("net.h5")'))
    assert "for name in listdir(contract.data_url or" in done.text and 'join("records", name)' not in done.text


def test_names_that_are_only_shown_stay_as_they_are():
    done = adapt("""
        import numpy as np

        print([name + "/shown" for name in ("a", "b")])
        w = np.load("rows/x.npy")
        for epoch in range(3):
            w += 1
            np.save("w.npy", w)
        """)
    assert 'name + "/shown"' in done.text


def test_vectors_of_words_are_trained_in_one_call():
    done = adapt("""
        from gensim.models import word2vec

        rows = word2vec.LineSentence("words/texts.txt")
        net = word2vec.Word2Vec(rows, vector_size=8)
        net.save("net.model")
        """)
    assert "trains in one call that cannot be continued" in said(done, Kind.DIFFERS) and not said(done, Kind.HAND)


SETTINGS = """
    import mindspore
    from mindspore import nn
    from mindspore.train import Model

    for {name} in {over}:
        net = nn.Dense(3, 3)
        model = Model(net, nn.MSELoss(), nn.Momentum(net.trainable_params(), 0.1, 0.9))
        model.train(5, rows)
"""


def test_a_training_for_each_setting_is_refused_as_such():
    done = adapt(SETTINGS.replace("{name}", "rate").replace("{over}", "[0.1, 0.01]"), "xihe")
    assert "Model.train is called for each of several settings" in said(done, Kind.HAND)


def test_a_training_in_each_of_the_rounds_is_no_setting():
    done = adapt(SETTINGS.replace("{name}", "epoch").replace("{over}", "range(5)"), "xihe")
    assert "several settings" not in said(done, Kind.HAND)


TABLES = """
    from datasets import load_dataset
    from transformers import Trainer, TrainingArguments

    files = {names}
    rows = load_dataset("csv", data_files=files)
    trainer = Trainer(args=TrainingArguments("out"), train_dataset=rows["train"])
    trainer.train()
"""


def test_tables_of_a_dictionary_are_read_from_the_contract_by_its_name():
    done = adapt(TABLES.replace("{names}", '{"train": "work/train.csv", "test": "work/test.csv"}'))
    assert '"train": os.path.join(contract.data_url or "work", "train.csv")' in done.text
    assert '"test": os.path.join(contract.data_url or "work", "test.csv")' in done.text


HERE = """
    import csv
    import os
    import numpy as np

    FOLDER = "."
    rows = []
    for name in os.listdir(FOLDER):
        if name.endswith({ending}):
            {taken}
    w = 0.0
    for epoch in range(3):
        w += sum(rows)
        np.save("saved/w.npy", w)
"""


def test_files_that_are_listed_beside_the_script_and_read_are_data():
    done = adapt(HERE.replace("{ending}", '".csv"').replace(
        "{taken}", "rows += [float(row[0]) for row in csv.reader(open(os.path.join(FOLDER, name)))]"))  # fmt: skip
    assert 'FOLDER = contract.data_url or "."' in done.text


def test_files_that_are_only_listed_beside_the_script_are_none():
    done = adapt(HERE.replace("{ending}", '".py"').replace("{taken}", "rows.append(len(name))"))
    assert 'FOLDER = "."' in done.text
