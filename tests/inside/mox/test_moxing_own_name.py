"""Scripts that follow the document and scripts that follow the tutorial: both find their files."""

from __future__ import annotations

import textwrap

SETUP = """
for name in ("labels.txt", "train/cat/1.jpg", "train/dog/2.jpg"):
    file.write("obs://lab/free_train/data/" + name, name)
file.make_dirs("obs://lab/free_train/data/empty")
cache = here + "/cache/"
os.mkdir(cache)
"""
NAMES = '["labels.txt", "train/cat/1.jpg", "train/dog/2.jpg"]'


def script(text):
    return SETUP + textwrap.dedent(text)


def test_both_kinds_of_script_find_their_files_with_listdir_walk_and_glob(mapped):
    mapped.play(
        script(f"""
        import glob, shutil
        file.copy_parallel("obs://lab/free_train/data", cache)
        def walked(folder):
            return sorted(os.path.relpath(os.path.join(at, name), folder)
                          for at, _, names in os.walk(folder) for name in names)
        for folder in (cache, cache + "data"):                      # the document's kind, the tutorial's kind
            for name in {NAMES}:
                assert file.read(os.path.join(folder, name)) == name
            assert set(os.listdir(folder)) >= {{"labels.txt", "train", "empty"}}
            assert len(glob.glob(os.path.join(folder, "train/*/*.jpg"))) == 2
        assert walked(cache + "data") == {NAMES} and walked(cache + "train") == ["cat/1.jpg", "dog/2.jpg"]
        # Whoever walks above both finds each file twice, and comes to an end.
        assert len(walked(cache)) == 6 and len(glob.glob(cache + "**/*.jpg", recursive=True)) == 4
        assert os.path.samefile(cache + "labels.txt", cache + "data/labels.txt")
        shutil.rmtree(cache + "data")
        assert walked(cache) == {NAMES}
        """)
    )
    notices = [line for line in mapped.said.splitlines() if "documents" in line]
    assert len(notices) == 1 and "directly in" in notices[0] and "/cache/data" in notices[0]


def test_a_slash_after_the_source_or_none_after_the_destination_means_the_document_alone(mapped):
    mapped.play(
        script("""
        file.copy_parallel("obs://lab/free_train/data/", cache)
        file.copy_parallel("obs://lab/free_train/data", here + "/named")
        file.copy_parallel("obs://lab/free_train/data", here + "/data/")
        for folder in (cache, here + "/named", here + "/data"):
            assert sorted(os.listdir(folder)) == ["empty", "labels.txt", "train"], folder
        """)
    )
    assert "documents" not in mapped.said


def test_without_hard_links_the_second_tree_has_links(mapped):
    mapped.play(
        script("""
        def refuse(*_, **__):
            raise PermissionError(1, "Operation not permitted")
        os.link = refuse
        file.copy_parallel("obs://lab/free_train/data", cache)
        assert os.path.islink(cache + "data/labels.txt") and file.read(cache + "data/labels.txt") == "labels.txt"
        os.symlink = refuse
        file.copy_parallel("obs://lab/free_train", cache)
        assert file.read(cache + "data/labels.txt") == "labels.txt"
        """)
    )
    assert "cache/free_train: operation not permitted" in mapped.said


def test_a_second_copy_renews_what_is_there_and_spares_what_belongs_to_others(mapped):
    mapped.play(
        script("""
        file.copy_parallel("obs://lab/free_train/data", cache)
        file.write("obs://lab/free_train/data/labels.txt", "new")
        file.copy_parallel("obs://lab/free_train/data", cache)
        assert file.read(cache + "data/labels.txt") == file.read(cache + "labels.txt") == "new"
        os.makedirs(here + "/mine/data")
        file.write(here + "/mine/data/labels.txt", "my own")
        file.copy_parallel("obs://lab/free_train/data", here + "/mine/")
        assert file.read(here + "/mine/data/labels.txt") == "my own"
        assert file.read(here + "/mine/data/train/cat/1.jpg") == "train/cat/1.jpg"
        os.mkdir(here + "/taken")
        file.write(here + "/taken/data", "a file")
        file.copy_parallel("obs://lab/free_train/data", here + "/taken/")
        assert file.read(here + "/taken/data") == "a file" and file.read(here + "/taken/labels.txt") == "new"
        file.write("obs://lab/free_train/data/data/inner", "x")
        os.mkdir(here + "/inner")
        file.copy_parallel("obs://lab/free_train/data", here + "/inner/")
        assert os.listdir(here + "/inner/data") == ["inner"]
        """)
    )


def test_the_loop_of_the_tutorial_resumes_from_what_it_saved(store):
    loop = """
    import shutil
    cache = here + "/cache/"
    shutil.rmtree(cache, ignore_errors=True); os.mkdir(cache)
    base = root + "/free_train/"
    file.copy_parallel(base + "ckpt", cache)
    epoch = int(file.read(cache + "ckpt/last.ckpt")) if os.path.exists(cache + "ckpt/last.ckpt") else 0
    os.makedirs(cache + "ckpt", exist_ok=True)
    file.write(cache + "ckpt/last.ckpt", str(epoch + 1))
    file.copy_parallel(cache + "ckpt", base)
    print(epoch + 1)
    """
    assert [store.play(loop) for _ in range(3)] == ["1\n", "2\n", "3\n"]
    assert "which this script asks for" in store.said


def test_results_are_not_stored_twice_for_scripts_of_the_document(store):
    store.play("""
        file.write(root + "/old/results/model", "old")
        os.mkdir(here + "/results")
        file.write(here + "/results/model", "new")
        file.copy_parallel(here + "/results", root + "/train_url/")
        file.copy_parallel(here + "/results", root + "/old/")
        assert file.list_directory(root + "/train_url", recursive=True) == ["model"]
        assert file.read(root + "/old/results/model") == "old" and file.read(root + "/old/model") == "new"
    """)
    assert f"for {store.root}/train_url/results write that as the destination" in store.said


def test_an_empty_folder_that_waits_in_the_bucket_is_filled(store):
    store.play("""
        file.make_dirs(root + "/free_train/ckpt")
        os.mkdir(here + "/ckpt")
        file.write(here + "/ckpt/last", "1")
        file.copy_parallel(here + "/ckpt", root + "/free_train/")
        assert file.list_directory(root + "/free_train", recursive=True) == ["ckpt", "ckpt/last", "last"]
    """)
