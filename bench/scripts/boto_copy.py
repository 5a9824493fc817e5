"""boto3 as one would use it for many files: one transfer manager, ten threads. boto_copy.py up|down FOLDER BUCKET"""

import os
import sys

import boto3
from boto3.s3.transfer import TransferConfig, create_transfer_manager
from botocore.config import Config

THREADS = 10
direction, folder, bucket = sys.argv[1:]
client = boto3.client("s3", config=Config(max_pool_connections=THREADS))

with create_transfer_manager(client, TransferConfig(max_concurrency=THREADS)) as manager:
    futures = []
    if direction == "up":
        for parent, _, names in os.walk(folder):
            for name in names:
                path = os.path.join(parent, name)
                futures.append(manager.upload(path, bucket, os.path.relpath(path, folder)))
    else:
        for page in client.get_paginator("list_objects_v2").paginate(Bucket=bucket):
            for item in page.get("Contents", ()):
                path = os.path.join(folder, item["Key"])
                os.makedirs(os.path.dirname(path), exist_ok=True)
                futures.append(manager.download(bucket, item["Key"], path))
    for future in futures:
        future.result()
