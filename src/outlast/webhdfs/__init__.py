"""A WebHDFS server over a folder: scripts and clients written for HDFS find one where there is none."""
