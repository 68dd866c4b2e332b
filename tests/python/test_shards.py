"""Work spread over processes and machines merges to the bytes of one process."""

import multiprocessing

import numpy as np
import pytest
from support import scene

from kandinsky import Calibrator


def shard(seed):
    """Runs in another process: its own images, its own calibrator, sent back with its data."""
    probs, labels = scene(8, seed=seed)
    return Calibrator("kmeans").partial_fit(probs, labels, np.full(8, seed))


def whole(seeds):
    parts = [scene(8, seed=seed) for seed in seeds]
    return Calibrator("kmeans").fit(np.concatenate([p for p, _ in parts]), np.concatenate([y for _, y in parts]),
                                    np.repeat(seeds, 8))


def merged(shards):
    total = Calibrator("kmeans")
    for one in shards:
        total.merge(one)
    return total.calibrate()


def test_shards_of_processes_merge_to_the_same_bytes(saved):
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        shards = pool.map(shard, [5, 3, 4, 1])
    assert saved(merged(shards)) == saved(merged(shards[::-1])) == saved(whole([1, 3, 4, 5]))


def test_shards_of_a_dask_cluster_merge_to_the_same_bytes(saved):
    distributed = pytest.importorskip("distributed", reason="dask[distributed] is not installed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None,
                                  host="127.0.0.1") as cluster, distributed.Client(cluster) as client:
        shards = [future.result() for future in distributed.as_completed(client.map(shard, [5, 3, 4, 1]))]
    assert saved(merged(shards)) == saved(whole([1, 3, 4, 5]))
