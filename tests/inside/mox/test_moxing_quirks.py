"""What the documents and the users of MoXing say about its corners, each with a test."""

from __future__ import annotations

import json
from pathlib import Path


def test_a_folder_of_obs_has_no_size_by_itself(store):
    store.play("""
        file.write(root + "/d/f", "12345")
        assert file.get_size(root + "/d") == 0 and file.get_size(root + "/d", recursive=True) == 5
    """)


def test_s3_and_obs_are_two_names_of_one_bucket_and_double_slashes_do_not_matter(store):
    store.play("""
        s3 = "s3" + root[3:]
        file.write(s3 + "/d//f", "x")
        assert file.read(root + "/d/f") == "x"
        assert file.glob(s3 + "/*/f") == [s3 + "/d/f"] and file.glob(root + "/d/*") == [root + "/d/f"]
        assert file.glob(root + "/**/f", recursive=True) == [root + "/d/f"]
    """)


def test_a_key_that_is_file_and_folder_is_named_as_such(mapped):
    # No folder and no server at hand holds both; a bucket of OBS can.
    memory = Path(__file__).resolve().parents[1] / "move"
    mapped.play(f"""
        sys.path.append({str(memory)!r})
        from bucket_tree import BucketTree
        from moxing.framework.file import places
        places._trees[os.getpid(), "obs://both"] = BucketTree("a", "a/b")
        assert file.exists("obs://both/a") and file.read("obs://both/a") == "a"
        for call in (file.stat, file.is_directory, file.list_directory, file.remove):
            error = refused(file.MoxFileNameDuplicateException, call, "obs://both/a")
            assert "obs://both/a is a file and a folder" in str(error)
        assert file.list_directory("obs://both/a/") == ["b"]
    """)


def test_without_map_and_keys_the_bucket_and_both_ways_out_are_named(mapped):
    mapped.play("""
        for call in (file.exists, file.read, file.list_directory, file.File):
            error = refused(file.MoxFileRespException, call, "s3://other/x")
            assert "obs://other" in str(error) and error.resp.status == 403
            assert "outlast store map obs://other ./folder" in str(error) and "outlast login obs" in str(error)
    """)


def test_keys_given_to_set_auth_open_a_server_that_is_named_by_number(seaweed, real):
    host, port = seaweed.endpoint.partition("://")[2].split(":")
    out = real.play(
        f"""
        refused(file.MoxFileRespException, file.write, root + "/f", "x")
        file.set_auth(ak={seaweed.key!r}, sk={seaweed.secret!r}, server={host!r}, port={port}, is_secure=False)
        file.set_auth(retry=3, long_conn_mode=True)
        file.write(root + "/f", "x")
        print(file.read(root + "/f"))
        file.set_auth(ak="nobody", sk="nothing")
        assert refused(file.MoxFileRespException, file.read, root + "/f").resp.status == 403
        """,
        OUTLAST_OBS_ACCESS="",
    )
    assert out == "x\n" and seaweed.secret not in real.said


def test_a_file_that_is_written_to_while_it_is_copied_goes_as_it_is_at_one_moment(store):
    store.play("""
        import threading
        log, ended = open(here + "/log", "wb", buffering=0), threading.Event()
        log.write(b"line\\n" * 200)
        def chatter():
            while not ended.wait(0.0005):
                log.write(b"line\\n" * 200)
        thread = threading.Thread(target=chatter); thread.start()
        try:
            for _ in range(3):
                file.copy_parallel(here, root + "/out")
                data = file.read(root + "/out/log", binary=True)
                assert len(data) >= 1000, "%d bytes arrived" % len(data)
                torn = data.replace(b"line\\n", b"")
                assert len(torn) < 5 and b"line\\n".startswith(torn), torn[:200]
        finally:
            ended.set(); thread.join(); log.close()
    """)


def test_links_of_the_source_are_followed_and_circles_are_not(store):
    store.play("""
        os.makedirs(here + "/src/sub"); os.makedirs(here + "/aside")
        file.write(here + "/aside/f", "x")
        os.symlink(here + "/aside", here + "/src/linked")
        os.symlink("..", here + "/src/sub/up")
        os.symlink("nowhere", here + "/src/dangling")
        os.mkfifo(here + "/src/pipe")
        file.copy_parallel(here + "/src", root + "/d")
        assert file.list_directory(root + "/d", recursive=True, skip_dir=True) == ["linked/f"]
    """)


def test_nothing_outside_the_mapped_folder_can_be_reached(mapped):
    (mapped.bucket / "out").symlink_to(mapped.here)
    mapped.play("""
        file.write(here + "/secret", "x")
        for url in ("obs://lab/out/secret", "obs://lab/../here/secret", "obs://lab/a/../../here/secret"):
            refused(file.MoxFileRespException, file.read, url)
            refused(file.MoxFileRespException, file.write, url, "y")
        refused(file.MoxFileRespException, file.remove, "obs://lab/out", recursive=True)
        assert file.read(here + "/secret") == "x"
    """)


def test_forked_workers_read_beside_their_parent(store):
    store.play("""
        import multiprocessing, warnings
        warnings.simplefilter("ignore", DeprecationWarning)
        for number in range(20):
            file.write(root + "/%d" % number, str(number) * 1000)
        def read(number):
            return file.read(root + "/%d" % number)
        with multiprocessing.get_context("fork").Pool(2) as pool:
            assert pool.map(read, range(20)) == [str(number) * 1000 for number in range(20)]
        assert read(3) == "3" * 1000
    """)


def test_copy_manifest_brings_every_file_that_is_named(store):
    lines = [
        {"source": "BUCKET/set/img/1.jpg", "annotation": [{"annotation-loc": "BUCKET/set/xml/1.xml"}]},
        {"source": "BUCKET/set/img/2.jpg", "usage": "TRAIN"},
        {"source": "content://a text sample"},
    ]
    store.play(f"""
        for name in ("img/1.jpg", "img/2.jpg", "img/3.jpg", "xml/1.xml"):
            file.write(root + "/set/" + name, name)
        manifest = {json.dumps(chr(10).join(map(json.dumps, lines)))}.replace("BUCKET", root)
        file.write(root + "/v1/V001.manifest", manifest)
        file.copy_manifest(root + "/v1", here + "/data")
        assert file.list_directory(here + "/data", recursive=True, skip_dir=True) == [
            "V001.manifest", "img/1.jpg", "img/2.jpg", "xml/1.xml"]
        refused(file.MoxFileNotExistsException, file.copy_manifest, root + "/set", here)
    """)


def test_shift_lets_the_functions_of_python_take_urls_and_gives_them_back(store):
    store.play("""
        import builtins, glob, shutil, stat
        before = (os.listdir, builtins.open, shutil.rmtree, glob.glob)
        refused(ValueError, file.shift, "mox", "tf")
        file.shift("os", "mox"); file.shift("os", "mox")
        os.makedirs(root + "/d/e", exist_ok=True); os.mkdir(root + "/d/g")
        with open(root + "/d/f", "w", encoding="utf-8") as out:
            out.write("hello")
        assert open(root + "/d/f").read() == "hello" and open(root + "/d/f", "rb").read() == b"hello"
        assert sorted(os.listdir(root + "/d")) == ["e", "f", "g"] and os.path.exists(root + "/d/f")
        assert os.path.isdir(root + "/d") and os.path.isfile(root + "/d/f") and not os.path.exists(root + "/no")
        assert os.path.getsize(root + "/d/f") == os.stat(root + "/d/f").st_size == 5
        assert stat.S_ISREG(os.stat(root + "/d/f").st_mode)
        assert glob.glob(root + "/d/f*") == [root + "/d/f"]
        assert [at for at, _, _ in os.walk(root + "/d")][0] == root + "/d"
        with os.scandir(root + "/d") as entries:
            assert {entry.name for entry in entries if entry.is_file()} == {"f"}
        shutil.copyfile(root + "/d/f", here + "/f"); shutil.copyfile(here + "/f", root + "/d/f2")
        shutil.copytree(root + "/d", here + "/tree"); shutil.copytree(here + "/tree", root + "/t")
        os.rename(root + "/t/f2", root + "/t/f3"); os.remove(root + "/t/f")
        assert "f3" in os.listdir(root + "/t") and "f" not in os.listdir(root + "/t")
        refused(FileNotFoundError, os.stat, root + "/no"); refused(FileNotFoundError, os.listdir, root + "/no")
        assert os.listdir(path=root + "/t") == os.listdir(root + "/t")
        shutil.copyfile(src=root + "/t/f3", dst=here + "/g"); os.remove(path=here + "/g")
        shutil.rmtree(root + "/t")
        assert not os.path.exists(root + "/t")
        assert sorted(os.listdir(here)) == ["f", "tree"] and open(here + "/f").read() == "hello"
        refused(FileExistsError, os.mkdir, here + "/tree"); refused(OSError, os.remove, here + "/none")
        shutil.rmtree(here + "/tree"); os.rename(here + "/f", here + "/g"); os.stat(here + "/g", follow_symlinks=False)
        file.shift("mox", "os")
        assert (os.listdir, builtins.open, shutil.rmtree, glob.glob) == before
        refused(FileNotFoundError, open, root + "/d/f")
    """)


def test_cache_lets_python_write_checkpoints_to_urls(mapped):
    mapped.play("""
        import moxing.tensorflow as tf_mox
        with tf_mox.cache():
            with open(root + "/ckpt", "wb") as out:
                out.write(b"weights")
        assert file.read(root + "/ckpt") == "weights"
        refused(FileNotFoundError, open, root + "/ckpt")
    """)
