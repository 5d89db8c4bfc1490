"""Cluster views that are Dask arrays, on your cluster or on two processes of this machine.

    python examples/on_dask.py [--rows N]
    python examples/on_dask.py --scheduler tcp://host:8786 --rows 10000000
    python examples/on_dask.py --scheduler tcp://host:8786 --zarr A.zarr B.zarr --clusters 10
    python examples/on_dask.py --parquet DIR DIR --clusters 10 --persist

Without files, the workers make two views of planted clusters, chunk by chunk; no process ever holds a whole view. All
workers must be able to read the files. The workers need the same version of anchor-align.
"""

from __future__ import annotations

import argparse
import time
from contextlib import ExitStack
from typing import Any

import numpy as np

from anchor_align import AlignedClusterer, AnchorAlignError
from anchor_align.metrics import acc

N_CLUSTERS, N_FEATURES = 10, 16
# Rows of a chunk: large enough for few visits, and small enough to fit many times into a worker.
CHUNK = 100_000


def make_chunk(view: int, block_info: Any = None) -> np.ndarray:
    """One chunk of a planted view. The same chunk always has the same numbers, on every worker."""
    place = block_info[None]
    centres = np.random.default_rng(view).standard_normal((N_CLUSTERS, N_FEATURES))
    number, size = place["chunk-location"][0], place["chunk-shape"][0]
    noise = np.random.default_rng([view, number]).standard_normal((size, N_FEATURES))
    block: np.ndarray = (1.5 * centres[clusters_of(number, size)] + noise).astype(np.float32)
    return block


def clusters_of(number: int, size: int) -> np.ndarray:
    """Planted clusters of one chunk, the same in all views."""
    return np.random.default_rng([9, number]).integers(N_CLUSTERS, size=size)


def planted(n_rows: int) -> tuple[list[Any], np.ndarray]:
    """Two lazy views and the clusters of their samples."""
    import dask.array as da

    # At least two chunks, so that both workers have work.
    size = min(CHUNK, -(-n_rows // 2))
    sizes = tuple(min(size, n_rows - start) for start in range(0, n_rows, size))
    meta = np.empty((0, N_FEATURES), np.float32)
    views = [
        da.map_blocks(make_chunk, view, chunks=(sizes, (N_FEATURES,)), dtype=np.float32, meta=meta) for view in range(2)
    ]
    return views, np.concatenate([clusters_of(number, size) for number, size in enumerate(sizes)])


def read_views(arguments: argparse.Namespace) -> list[Any]:
    """Lazy views of files: whole rows, and the same rows in each chunk of all views."""
    if arguments.zarr:
        import dask.array as da

        return [da.from_zarr(path).rechunk((CHUNK, -1)) for path in arguments.zarr]
    import dask.dataframe as dd

    return [dd.read_parquet(path) for path in arguments.parquet]


def run(arguments: argparse.Namespace) -> None:
    """Connect, fit, show the labels."""
    import dask.array as da
    from distributed import Client, LocalCluster

    with ExitStack() as stack:
        cluster = arguments.scheduler
        if cluster is None:
            local = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0")
            cluster = stack.enter_context(local)
        client = stack.enter_context(Client(cluster))
        print(f"{len(client.nthreads())} workers")
        if arguments.zarr or arguments.parquet:
            views, truth = read_views(arguments), None
        else:
            views, truth = planted(arguments.rows)
        if arguments.persist:  # otherwise they are made, or read, again in each pass
            views = client.persist(views)
        # Graphs are not stored, and k-means of the anchors uses a sample: few passes over the views, little memory.
        clusterer = AlignedClusterer(
            "lmvsc",
            n_clusters=arguments.clusters,
            adapter_params={"kmeans": "sample"},
            storage="never",
            random_state=0,
        )
        start = time.perf_counter()
        labels: Any = clusterer.fit(views).labels_
        print(f"{labels.shape[0]} samples, fitted in {time.perf_counter() - start:.1f} s")
        sizes = da.bincount(labels, minlength=arguments.clusters).compute()
        print(f"clusters of {', '.join(map(str, sorted(sizes.tolist(), reverse=True)))} samples")
        if truth is not None:
            print(f"ACC {acc(truth, labels.compute()):.3f}")
        print(f"labels_ is a Dask array in {labels.npartitions} chunks, which stays with the workers.")
        print('labels_.to_zarr("labels.zarr") writes it from there; labels_.compute() or gather=True brings it here.')


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Cluster views that are Dask arrays.")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="of a cluster that runs; else one of two processes here")
    parser.add_argument("--rows", type=int, default=200_000, metavar="N", help="samples that are made [200000]")
    files = parser.add_mutually_exclusive_group()
    files.add_argument("--zarr", nargs="+", metavar="ARRAY", help="views of your own, one zarr array each")
    files.add_argument(
        "--parquet", nargs="+", metavar="DIR", help="views of your own, one folder of parquet files each"
    )
    parser.add_argument("--clusters", type=int, default=N_CLUSTERS, metavar="K", help=f"[{N_CLUSTERS}]")
    parser.add_argument("--persist", action="store_true", help="keep the views in the workers' memory, if they fit")
    arguments = parser.parse_args()
    if arguments.rows < 1000:
        parser.error("--rows must be 1000 or more")
    if arguments.clusters < 1:
        parser.error("--clusters must be 1 or more")
    try:
        run(arguments)
    except ImportError as error:
        parser.error(f'Dask, or a package that reads the files, is missing ({error}): pip install "anchor-align[dask]"')
    except (AnchorAlignError, OSError, ValueError) as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
