"""Names of scores, footings, states and default data. Imports nothing: the command line reads them for its help."""

from __future__ import annotations

SCORES = ("acc", "nmi", "purity", "fscore", "ari")
FOOTINGS = ("fixed", "agreement", "best")
DONE, FAILED, TIMEOUT = "done", "failed", "timeout"
DEFAULT_DATA = ("simulated", "digits", "breast-cancer")
