"""The server's stores as folders of its HDFS: `/stores/obs/bucket/data` is `obs://bucket/data`."""
