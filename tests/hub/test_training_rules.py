"""The rules of a training's fields, of its records and of its report: nothing here starts anything."""

import pytest
from training_lab import COMPUTE

from outlast.model.states import EndReason, RunState
from outlast.server.hub.trainings.book import MOST_RECORDS, TrainingBook, next_name
from outlast.server.hub.trainings.computes import COMPUTES
from outlast.server.hub.trainings.envelope import Refusal
from outlast.server.hub.trainings.judging import split_runs
from outlast.server.hub.trainings.progress import judge
from outlast.server.hub.trainings.wishes import read_wish
from outlast.track.series import Series, SeriesPoint

BODY = {"name": "first_try", "boot_file": "train.py", "compute": COMPUTE}


def _refused(**words):
    with pytest.raises(Refusal) as caught:
        read_wish({**BODY, **words})
    return caught.value.reason, str(caught.value)


def test_a_body_with_only_what_is_needed_is_enough():
    wish = read_wish(BODY)
    assert (wish.code_dir, wish.enable_output, wish.enable_aim, wish.models) == ("", False, False, ())
    assert read_wish(wish.to_json()) == wish


def test_a_full_body_is_read_and_written_back():
    ref = {"key": "data_url", "owner": "ann", "name": "mnist", "File": "train/a.bin"}
    full = {
        **BODY, "desc": "第一次", "code_dir": "/src//net/", "hyperparameter": [{"key": "lr", "value": ""}],
        "env": [{"key": "SEED", "value": "7"}], "models": None, "datasets": [ref], "enable_output": True,
        "enable_aim": True, "unknown": 1,
    }  # fmt: skip
    wish = read_wish(full)
    assert (wish.code_dir, wish.hyperparameters[0].value, wish.datasets[0].file) == ("src/net", "", "train/a.bin")
    assert wish.to_json()["code_dir"] == "src/net/" and wish.to_json()["datasets"] == [ref]
    assert read_wish(wish.to_json()) == wish


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"name": "four"}, "name:"), ({"name": "x" * 51}, "name:"), ({"name": "has space"}, "name:"),
        ({"name": "новое_имя"}, "name:"), ({"name": "a/../b"}, "name:"), ({"name": "first_try\n"}, "name:"),
        ({"desc": "x" * 257}, "desc:"), ({"desc": "bell\a"}, "desc:"),
        ({"code_dir": "../up"}, "code_dir:"), ({"code_dir": "a.b/"}, "code_dir:"),
        ({"code_dir": "x" * 51}, "code_dir:"),
        ({"boot_file": ""}, "boot_file:"), ({"boot_file": "../train.py"}, "boot_file:"),
        ({"boot_file": "a/../../train.py"}, "boot_file:"), ({"boot_file": "/etc/passwd"}, "boot_file:"),
        ({"boot_file": "a/.."}, "boot_file:"), ({"boot_file": "tr ain.py"}, "boot_file:"),
        ({"boot_file": "x" * 51}, "boot_file:"), ({"boot_file": "."}, "boot_file:"),
        ({"hyperparameter": [{"key": "", "value": "1"}]}, "hyperparameter[0].key"),
        ({"hyperparameter": [{"key": "x" * 21, "value": "1"}]}, "hyperparameter[0].key"),
        ({"hyperparameter": [{"key": "--lr", "value": "1"}]}, "hyperparameter[0].key"),
        ({"hyperparameter": [{"key": "lr", "value": "x" * 41}]}, "hyperparameter[0].value"),
        ({"hyperparameter": [{"key": "lr", "value": "a\nb"}]}, "hyperparameter[0].value"),
        ({"hyperparameter": [{"key": "lr"}] * 101}, "101 rows"),
        ({"hyperparameter": [{"key": "lr"}, {"key": "lr"}]}, "'lr' is given twice"),
        ({"hyperparameter": [{"key": "output_path"}], "enable_output": True}, "'output_path' is given twice"),
        ({"env": [{"key": "A-B", "value": ""}]}, "env[0].key"), ({"env": [{"key": "A"}, {"key": "A"}]}, "'A' is given"),
        ({"models": [{"key": "m", "owner": "ann", "name": "x", "File": "../y"}]}, "models[0].File"),
        ({"models": [{"key": "m", "owner": "ann", "name": "x", "File": "y@main"}]}, "models[0].File"),
        ({"datasets": [{"key": "a b", "owner": "ann", "name": "x"}]}, "datasets[0].key"),
        ({"compute": {**COMPUTE, "version": "mindspore_9"}}, "versions: mindspore_1.3.0"),
        ({"compute": {**COMPUTE, "type": "MPI"}}, "of type 'MPI'"), ({"compute": None}, "compute:"),
    ],
)  # fmt: skip
def test_a_value_that_breaks_a_rule_is_refused_by_the_name_of_its_field(words, said):
    reason, message = _refused(**words)
    assert reason == "bad_request_param" and said in message


@pytest.mark.parametrize(
    "words",
    [{"name": 5}, {"hyperparameter": {"lr": 1}}, {"env": [1]}, {"enable_aim": "yes"}, {"compute": "MPI"},
     {"models": "x"}, {"hyperparameter": [{"key": "lr", "value": 0.1}]}],
)  # fmt: skip
def test_a_body_of_another_shape_is_refused(words):
    assert _refused(**words)[0] == "bad_request_body"


def test_every_row_of_the_versions_table_can_be_asked_for():
    for each in COMPUTES:
        assert read_wish({**BODY, "compute": each._asdict()}).compute == each


def _book(tmp_path):
    return TrainingBook(tmp_path), read_wish(BODY)


def test_a_project_keeps_five_records_each_name_once_and_one_open(tmp_path):
    book, wish = _book(tmp_path)
    first = book.add(wish, "ann", "run-1", "c" * 40, lambda each: True)
    with pytest.raises(Refusal, match="exists already") as caught:
        book.add(wish, "ann", "run-2", "c" * 40, lambda each: True)
    assert caught.value.reason == "duplicate_training_name"
    other = read_wish({**BODY, "name": "other"})
    with pytest.raises(Refusal, match="'first_try' goes on"):
        book.add(other, "ann", "run-2", "c" * 40, lambda each: False)
    for number in range(MOST_RECORDS - 1):
        book.add(read_wish({**BODY, "name": f"more_{number}"}), "ann", f"run-{number}", "c" * 40, lambda each: True)
    with pytest.raises(Refusal, match="keeps 5 trainings") as caught:
        book.add(other, "ann", "run-9", "c" * 40, lambda each: True)
    assert caught.value.reason == "train_excced_max_num"
    book.remove(first.id)
    assert book.add(other, "ann", "run-9", "c" * 40, lambda each: True).name == "other"
    assert book.all()[0].name == "other" and book.last_config()["name"] == "other"


def test_what_was_deleted_meanwhile_does_not_come_back(tmp_path):
    book, wish = _book(tmp_path)
    made = book.add(wish, "ann", "run-1", "c" * 40, lambda each: True)
    book.remove(made.id)
    book.change(made, error="too late")
    assert book.all() == [] and book.last_config()["name"] == "first_try"
    with pytest.raises(Refusal) as caught:
        book.find(made.id)
    assert (caught.value.reason, caught.value.status) == ("train_not_found", 404)


def test_a_training_made_from_another_has_a_name_that_is_not_too_long():
    assert next_name("first_try", 1700000000) == "first_try-1700000000"
    assert len(next_name("x" * 50, 1700000000)) == 50


@pytest.mark.parametrize(
    ("state", "reason", "stopping", "planned", "status"),
    [
        (RunState.QUEUED, None, False, False, "scheduling"), (RunState.QUEUED, None, False, True, "Running"),
        (RunState.RUNNING, None, False, True, "Running"), (RunState.RUNNING, None, True, True, "Terminating"),
        (RunState.SUCCEEDED, EndReason.FINISHED, True, True, "Completed"),
        (RunState.FAILED, EndReason.SCRIPT_ERROR, False, True, "Failed"),
        (RunState.FAILED, EndReason.TIME_LIMIT, False, True, "Terminated"),
        (RunState.FAILED, EndReason.HAND_OVER, False, True, "Terminated"),
        (RunState.STOPPED, EndReason.STOPPED, True, True, "Terminated"),
    ],
)  # fmt: skip
def test_states_are_worded_as_on_the_wire(state, reason, stopping, planned, status):
    assert judge(state, reason, stopping=stopping, planned=planned) == status


def test_a_new_run_of_a_grid_begins_where_the_epoch_goes_back():
    def series(name, epochs):
        return Series(name, [SeriesPoint(1, float(at), epoch, None, at) for at, epoch in enumerate(epochs)])

    cut = split_runs({"loss": series("loss", [1, 2, 2, 1, 2, 1]), "acc": series("acc", [1, 2, 1])})
    assert [[point.epoch for point in one["loss"].points] for one in cut] == [[1, 2, 2], [1, 2], [1]]
    assert ["acc" in one for one in cut] == [True, True, False]
    assert split_runs({}) == []
    assert len(split_runs({"loss": series("loss", [None, None])})) == 1
