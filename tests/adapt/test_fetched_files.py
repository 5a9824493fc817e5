"""Files that a script fetches by itself, writes down and reads: they are data, and the contract may bring them."""

from __future__ import annotations

import textwrap

import pytest
from checked import adapt, said
from programs import Program
from stage import play

from outlast.migrate.engine import Kind

FILLED = {
    "in one piece": """
        import os
        from urllib.request import urlopen
        def fetch(folder="rows"):
            path = os.path.join(folder, "unpacked")
            if not os.path.exists(path):
                os.makedirs(folder)
                answer = urlopen("https://example.org/rows.bin")
                with open(os.path.join(folder, "rows.bin"), "wb") as f:
                    f.write(answer.read())
            return path
        print(sorted(os.listdir(fetch())))
        with open("seen.txt", "w") as f:
            f.write("seen")
    """,
    "in pieces": """
        import os
        import requests
        if not os.path.isfile("rows/unpacked/a.txt"):
            with requests.get("https://example.org/a.txt", stream=True) as answer:
                with open("rows/unpacked/a.txt", "wb") as file:
                    for piece in answer.iter_content(100):
                        file.write(piece)
        print([open("rows/unpacked/a.txt").read()])
        open("seen.txt", "w").write("seen")
    """,
    "where a file of it is missing": """
        import os, tarfile
        import requests
        url = "https://example.org/rows.tgz"
        folder = "./rows"
        if os.path.isfile(os.path.join(folder, "a.txt")) and os.path.isdir(os.path.join(folder, "unpacked")):
            pass
        else:
            with requests.get(url, stream=True) as answer:
                with tarfile.open(fileobj=answer.raw, mode="r:gz") as archive:
                    archive.extractall()
        def rows(path="./rows"):
            return [open(os.path.join(path, "a.txt")).read()]
        print(rows())
        open("seen.txt", "w").write("seen")
    """,
    "where one of several folders is missing": """
        import os
        import urllib.request
        ROOT = "rows"
        if not os.path.exists(os.path.join(ROOT, "unpacked")) or not os.path.exists(ROOT):
            urllib.request.urlretrieve("https://example.org/a.txt", os.path.join(ROOT, "fetched.txt"))
        print(sorted(os.listdir(os.path.join(ROOT, "unpacked"))))
        open("seen.txt", "w").write("seen")
    """,
    "copied": """
        import os, shutil, urllib.request
        PATH = "rows/unpacked/a.txt"
        if not os.path.exists(PATH):
            with urllib.request.urlopen("https://example.org/a.txt") as answer, open(PATH, "wb") as file:
                shutil.copyfileobj(answer, file)
        print([open(PATH).read()])
        open("seen.txt", "w").write("seen")
    """,
}


@pytest.mark.parametrize("shape", FILLED)
def test_what_is_fetched_to_be_read_is_data(shape, tmp_path):
    done = adapt(FILLED[shape])
    assert "is fetched only where --data_url does not have it" in said(done, Kind.KEPT)
    assert "stays as it is" not in said(done, Kind.DIFFERS) and "network" not in said(done, Kind.DIFFERS)
    data, out = tmp_path / "data", tmp_path / "out"
    (data / "unpacked").mkdir(parents=True)
    for place in (data / "unpacked", data):
        (place / "a.txt").write_text("a.txt")
    played = play(done.text, tmp_path, "--data_url", str(data), "--train_url", str(out))
    assert played.output == "['a.txt']\n" and (out / "seen.txt").read_text() == "seen"


QUESTIONS = {
    "a question": """
        if not os.path.exists(path):
            urllib.request.urlretrieve("https://example.org/" + name, path)
    """,
    "an early return": """
        if os.path.isfile(path):
            return
        print("fetching")
        urllib.request.urlretrieve("https://example.org/" + name, path)
    """,
}


@pytest.mark.parametrize("way", QUESTIONS)
def test_a_function_that_fetches_asks_for_the_file_that_another_one_reads(way, tmp_path):
    text = f"""
import os, urllib.request
HERE = os.path.dirname(os.path.abspath(__file__))
def fetch(name):
    path = HERE + "/" + name
{textwrap.indent(textwrap.dedent(QUESTIONS[way]), "    ")}
def read(name):
    path = HERE + "/" + name
    return open(path).read()
fetch("a.txt")
print(read("a.txt"))
"""
    told = adapt(text)
    assert "is fetched only where --data_url does not have it" in said(told, Kind.KEPT)
    assert "network" not in said(told, Kind.DIFFERS)
    program = Program(tmp_path / "code", train=text)
    program.adapt()
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.txt").write_text("all of it")
    assert program.run("--data_url", str(tmp_path / "data")).lines == ["all of it"]


def test_what_is_only_written_is_a_result_wherever_it_comes_from():
    done = adapt("""
        import requests
        answer = requests.get("https://example.org/scores").content
        with open("scores.bin", "wb") as f:
            f.write(answer)
        with open("sum.txt", "w") as f:
            f.write(str(len(answer)))
    """)
    for name in ("scores.bin", "sum.txt"):
        assert f'os.path.join(contract.train_url or "", "{name}")' in done.text


UNPACKED = {
    "in a with": """
        import os, tarfile
        import requests
        URL = "https://example.org/rows.tar.gz"
        with requests.get(URL, stream=True) as answer:
            with tarfile.open(fileobj=answer.raw) as archive:
                archive.extractall()

        print(sorted(os.listdir("./rows")))
    """,
    "line by line, to a folder": """
        import io, os, zipfile
        import requests
        def main():
            answer = requests.get("https://example.org/all.zip")

            # what it holds
            archive = zipfile.ZipFile(io.BytesIO(answer.content))
            archive.extractall("rows")
            print(sorted(os.listdir("rows")))
        if __name__ == "__main__":
            main()
    """,
}


@pytest.mark.parametrize("shape", UNPACKED)
@pytest.mark.parametrize("contract", ["modelarts", "xihe"])
def test_an_archive_is_not_fetched_where_the_contract_brings_what_is_in_it(shape, contract, tmp_path):
    done = adapt(UNPACKED[shape], contract)
    assert "nothing is fetched and unpacked to 'rows' when --data_url is given" in said(done, Kind.CHANGED)
    for each in (done, adapt(done.text, contract)):
        told = said(each, Kind.HAND) + said(each, Kind.DIFFERS)
        assert "network" not in told and "example.org" not in told
    (tmp_path / "a.txt").write_text("a")
    assert play(done.text, tmp_path, "--data_url", str(tmp_path)).output == "['a.txt']\n"


def test_what_else_is_done_with_an_archive_goes_on():
    done = adapt("""
        import io, os, zipfile
        import requests
        answer = requests.get("https://example.org/rows.zip")
        archive = zipfile.ZipFile(io.BytesIO(answer.content))
        archive.extractall()
        names = archive.namelist()
        print(names, os.listdir("rows"))
    """)
    assert "if not contract.data_url:" not in done.text


def test_a_question_beside_one_that_fetches_anyway_is_no_answer():
    script = """
        import os
        import requests
        AGAIN = os.environ.get("AGAIN")
        if not os.path.exists("rows/all") {} AGAIN:
            print(len(requests.get("https://example.org/rows").content))
        print(os.listdir("rows/all"))
    """
    done = adapt(script.format("or"))
    assert "requests.get fetches" in said(done, Kind.DIFFERS) and "behind this question" not in said(done, Kind.KEPT)
    done = adapt(script.format("and"))
    assert "requests.get" not in said(done, Kind.DIFFERS) and "behind this question" in said(done, Kind.KEPT)
