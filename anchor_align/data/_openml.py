"""The UCI multiple features digits, from OpenML."""

from __future__ import annotations

import http.client
import urllib.error
import warnings

import numpy as np

from ..errors import FileError
from ._types import MultiViewData

# Names of the views, OpenML's numbers of the data sets, and features each must have.
PARTS = (("factors", 12, 216), ("fourier", 14, 76), ("karhunen", 16, 64))


def load_uci_digit() -> MultiViewData:
    """Profile correlations, Fourier and Karhunen-Loeve coefficients of 2000 digits; kept once they are downloaded."""
    from sklearn.datasets import fetch_openml

    views, targets = [], []
    for name, number, n_features in PARTS:
        try:
            with warnings.catch_warnings():
                # That it tries again is of no concern; that it failed is said below.
                warnings.simplefilter("ignore")
                part = fetch_openml(data_id=number, as_frame=False, parser="liac-arff", n_retries=1)
        # What a network, a server or a broken download can do; scikit-learn's own errors for the last are ValueErrors.
        except (OSError, urllib.error.URLError, http.client.HTTPException, ValueError, KeyError) as error:
            raise FileError(
                f"Cannot download mfeat-{name} (number {number}) from OpenML: {error}; check the connection, or load a "
                "copy of the data set from a file."
            ) from error
        X = np.asarray(part.data)
        if X.ndim != 2 or X.shape[1] != n_features or len(part.target) != len(X):
            raise FileError(
                f"OpenML's mfeat-{name} (number {number}) has shape {X.shape}; expected {n_features} features and a "
                "label for each sample."
            )
        views.append(X.astype(np.float64))
        targets.append(np.asarray(part.target).astype(np.float64).astype(np.int64))
    for (name, _, _), target in zip(PARTS, targets, strict=True):
        if not np.array_equal(target, targets[0]):
            raise FileError(
                f"OpenML's mfeat-{PARTS[0][0]} and mfeat-{name} do not list the same samples in the same order."
            )
    labels = np.unique(targets[0], return_inverse=True)[1].astype(np.int64)
    return MultiViewData(views, labels, [name for name, _, _ in PARTS])
