"""The mover as a stint has it, without a package: inside_copy.py BUNDLE up|down|packed-up|packed-down FOLDER BUCKET"""

import os
import sys

sys.path.insert(0, sys.argv[1])

from outlast.inside.move.address import parse
from outlast.inside.move.engine import Listener, copy
from outlast.inside.move.packing import send_packed
from outlast.inside.move.plan import Options, Place
from outlast.inside.move.trees import open_tree
from outlast.inside.move.unpacking import fetch_packed
from outlast.inside.stores.access import from_environ

direction, folder, bucket = sys.argv[2:]
here, there = parse(folder + "/"), parse("s3://%s/" % bucket)
local, remote = open_tree(here), open_tree(there, from_environ("s3", os.environ))
if direction == "packed-up":
    send_packed(folder, remote, "packed")
elif direction == "packed-down":
    fetch_packed(remote, "", folder)
else:
    ends = [Place(here, local), Place(there, remote)]
    source, target = ends if direction == "up" else reversed(ends)
    if not copy([source], target, Options(), Listener()).complete:
        sys.exit(1)
