"""HDFS over WebHDFS, with nothing but the standard library on this side."""
