"""What looks like a path and is none, and paths that are spelled in unusual ways."""

from __future__ import annotations

from checked import adapt


def test_a_function_of_the_script_takes_the_model_that_it_saves():
    done = adapt("""
        import os
        from gan import nets
        place = os.path.join(os.path.dirname(__file__), "trained")
        def save_model(model):
            model.save(place)
        generator = nets.generator
        save_model(generator)
    """)
    assert "    model.save(place)" in done.text and "generator = nets.generator\n" in done.text
    assert "place = contract.train_url or" in done.text or "contract.train_url" in done.text.split("place = ")[1]


def test_a_function_of_another_file_takes_the_model_too():
    done = adapt("from tools import save_model\nimport nets\nnet = nets.best\nsave_model(net)\n")
    assert "net = nets.best\n" in done.text


def test_a_method_that_saves_takes_the_place():
    done = adapt("import xgboost\nbooster = xgboost.Booster()\nbooster.save_model('b.json')\n")
    assert "booster.save_model(os.path.join(contract.train_url or '', 'b.json'))" in done.text


def test_an_f_string_that_nothing_is_filled_into_is_a_text():
    plain = """
        import os
        import matplotlib.pyplot as plt
        def show(rows):
            folder = os.path.join(os.path.dirname(__file__), "./out/")
            plt.savefig(os.path.join(folder, f"{len(os.listdir(folder))}.png"))
        show([1])
    """
    done = adapt(plain.replace('"./out/"', 'f"./out/"'))
    assert done.text.replace('f"./out/"', '"./out/"') == adapt(plain).text
    assert 'folder = os.path.join(contract.train_url, "") if contract.train_url else' in done.text
