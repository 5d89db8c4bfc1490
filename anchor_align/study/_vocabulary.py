"""Names of scores, arms, footings, states, outcomes and default data. Imports nothing: the command line reads them."""

from __future__ import annotations

SCORES = ("acc", "nmi", "purity", "fscore", "ari")
FOOTINGS = ("fixed", "agreement", "best")
DONE, FAILED, TIMEOUT, NO_MEMORY = "done", "failed", "timeout", "memory"
# The arm of a baseline, which has no graphs to fuse.
BASELINE = "baseline"
# The arm of an adapter that is compared with other methods.
MAIN_ARM = "aligned"
DEFAULT_DATA = ("simulated", "mfeat")
# The arms whose difference a study tests by default: first - second.
DEFAULT_VERSUS = ("aligned", "unaligned")
# Outcomes of a comparison. The test decides on the first three. The others are not tested: there are too few repeats,
# both arms are the same in every repeat, or the anchors of the views correspond by construction.
BETTER, WORSE, UNCLEAR = "better", "worse", "unclear"
TOO_FEW, HIGHER, LOWER, EQUAL, NOTHING_TO_ALIGN = "too few", "higher", "lower", "equal", "nothing to align"
