"""Speed, as ratios against a peer measured in the same run. `make bench` prints them and writes results.json."""
