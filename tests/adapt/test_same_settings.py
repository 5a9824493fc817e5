"""One place of settings that functions hand to each other under several names."""

from __future__ import annotations

from checked import adapt

SETTINGS = """
import yaml
with open("config.yaml") as f:
    loaded = yaml.safe_load(f)
first = open(loaded["general"]["data_path"] + "/a.txt").read()
def main(config):
    folder = config['general']['data_path']
    print(open(folder + "/b.txt").read())
if __name__ == "__main__":
    main(loaded)
"""


def test_a_place_under_two_names_is_one_place():
    done = adapt(SETTINGS)
    assert 'contract.data_url or loaded["general"]["data_path"]' in done.text
    assert "folder = contract.data_url or config['general']['data_path']" in done.text


def test_two_places_of_the_same_settings_are_found_by_their_names():
    done = adapt(SETTINGS.replace("config['general']['data_path']", "config['general']['labels_path']"))
    assert "contract.data_url or " not in done.text
