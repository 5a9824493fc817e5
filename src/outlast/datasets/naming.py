"""What the names of a data set's files say: which belong together, which folder is a class, which word is a split."""

from __future__ import annotations

import posixpath
import re

#: Folders that hold one aspect of a sample each; `images/a.jpg` and `labels/a.txt` are one sample.
ROLES = frozenset(
    """image images img imgs jpegimages photo photos rgb leftimg8bit input inputs data
    label labels annotation annotations annot annots ann anns xml xmls json jsons bbox bboxes target targets
    mask masks seg segmentation segmentations segmentationclass segmentationobject gt gtfine gtcoarse
    groundtruth ground_truth trimap trimaps depth depths edge edges keypoints captions transcripts
    hr lr""".split()
)
_MARK = re.compile(
    r"[._-](masks?|gt|ground_?truth|labels?|seg|segmentation|annotations?|trimap|depth|leftimg8bit|gt(fine|coarse)_\w+)$",
    re.IGNORECASE,
)
_SPLIT = re.compile(r"(?:^|[^a-z])(train(?:ing|val)?|val(?:id(?:ation)?)?|test(?:ing)?|dev|eval)(?![a-z])")
_DOUBLE = (".nii.gz", ".tar.gz", ".tar.bz2", ".tar.xz")

MEDIA = frozenset(
    """.jpg .jpeg .png .bmp .gif .tif .tiff .webp .ppm .pgm .pbm .jp2 .heic .dcm .nii .nii.gz
    .wav .flac .mp3 .ogg .m4a .opus .mp4 .avi .mov .mkv .webm .ply .pcd .off .obj .las .laz""".split()
)
#: Files that may name other files line by line, row by row, entry by entry.
LISTS = frozenset(".txt .lst .list .csv .tsv .json .jsonl".split())
TEXTS = LISTS | frozenset(".xml .yaml .yml .md .rst .names .html .htm .ini .toml .cfg .prototxt .pbtxt .py .sh".split())
ARRAYS = frozenset((".npy", ".npz"))
RECORDS = re.compile(r"\.tfrecords?(-\d+-of-\d+)?$|\.tfrecords?\.\d+$|\.record$", re.IGNORECASE)
IDX = re.compile(r"[.-]idx\d-ubyte(\.gz)?$", re.IGNORECASE)
ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz")


def extension(path: str) -> str:
    """`.jpg`, lower case; `.nii.gz` counts as one; empty for `.gitignore` and `README`."""
    name = posixpath.basename(path).lower()
    for double in _DOUBLE:
        if name.endswith(double) and name != double:
            return double
    return posixpath.splitext(name)[1]


def stem(path: str) -> str:
    """The name without its extension and without a mark such as `_mask`: what the files of one sample share."""
    name = posixpath.basename(path)
    bare = name[: len(name) - len(extension(path))]
    return _MARK.sub("", bare) or bare


def sample_key(path: str) -> tuple[str, str]:
    """Files with the same key are one sample: (folder without the names of roles, stem)."""
    parts = posixpath.dirname(path).split("/")
    return "/".join(part for part in parts if part.lower() not in ROLES), stem(path)


def split_of(name: str) -> str:
    """The split that a name speaks of: `train`, `val`, `test`, `trainval`, …; empty for none."""
    found = _SPLIT.search(name.lower())
    return found[1] if found else ""
