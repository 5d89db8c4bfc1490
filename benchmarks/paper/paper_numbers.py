"""Numbers that papers have published.

FMVACC: S. Wang et al., Align then fusion, NeurIPS 2022: the main table, the tables of the ablation and of the running
times.
"""

from __future__ import annotations

NOT_ORTHOGONAL = "fmvacc, not orthogonal"

_SETS = ("3-Sources", "UCI-Digit", "BDGP", "SUNRGBD", "MNIST", "YTF-10", "YTF-20")

# One column for each of _SETS. The block of the table on orthogonal anchors that is headed "Purity" is under F-score.
_SCORES = """
acc    | lmvsc  | unaligned | 46.25±1.18 66.78±3.74 40.77±0.07 13.74±0.22 97.25±2.84 68.30±3.57 65.51±2.36
acc    | lmvsc  | aligned   | 47.11±0.97 82.97±6.23 55.49±0.34 17.41±0.39 97.85±3.42 72.09±2.88 67.27±2.84
acc    | lmvsc  | concat    | 42.36±0.90 88.55±3.52 50.19±0.03 18.64±0.25 95.47±5.39 69.29±4.46 63.02±3.56
acc    | fmvacc | unaligned | 52.81±4.13 81.43±5.46 49.97±4.17 18.00±0.80 98.35±1.85 71.69±4.80 71.45±3.38
acc    | fmvacc | aligned   | 60.37±7.13 89.47±5.41 58.63±2.74 22.17±0.66 98.67±1.93 76.64±4.21 72.54±2.73
acc    | loose  | aligned   | 51.80±3.96 66.67±4.70 46.76±0.00 18.24±0.60 95.57±3.16 76.11±4.76 72.40±3.67
acc    | msgl   | own       | 46.25±1.18 66.78±3.74 40.77±0.07 13.74±0.22 97.25±2.84 68.30±3.57 65.51±2.36
nmi    | lmvsc  | unaligned | 26.38±0.42 64.89±1.57 18.17±0.07 18.76±0.14 94.06±1.49 74.71±1.41 74.63±0.82
nmi    | lmvsc  | aligned   | 27.66±4.04 79.35±1.97 26.87±0.12 24.22±0.23 96.45±1.41 75.87±1.48 75.90±1.30
nmi    | lmvsc  | concat    | 29.79±1.60 83.12±1.04 25.41±0.07 25.75±0.20 95.61±2.02 75.42±1.95 74.02±1.68
nmi    | fmvacc | unaligned | 43.95±3.17 77.81±2.40 27.35±2.53 17.91±0.55 95.90±0.65 75.55±2.42 78.94±1.23
nmi    | fmvacc | aligned   | 56.85±5.44 84.33±2.37 36.81±2.69 19.88±0.61 96.74±0.75 77.13±1.87 78.47±1.01
nmi    | loose  | aligned   | 39.06±2.32 61.74±1.31 27.70±0.01 23.42±0.33 91.33±0.79 76.88±2.08 81.51±1.32
nmi    | msgl   | own       | 26.38±0.42 64.89±1.57 18.17±0.07 18.76±0.14 94.06±1.49 74.71±1.41 74.63±0.82
fscore | lmvsc  | unaligned | 39.17±0.54 57.62±2.17 32.10±0.04 8.84±0.14  95.36±2.70 65.26±2.06 57.87±1.37
fscore | lmvsc  | aligned   | 41.33±2.77 75.56±4.59 40.11±0.18 11.01±0.23 96.97±3.05 66.88±2.47 60.80±2.52
fscore | lmvsc  | concat    | 38.75±1.16 80.92±2.28 37.82±0.04 11.68±0.14 94.84±4.84 64.41±4.05 47.94±3.59
fscore | fmvacc | unaligned | 47.21±4.51 73.35±3.95 35.73±2.37 10.74±0.32 97.03±1.52 64.49±3.72 66.51±3.24
fscore | fmvacc | aligned   | 54.71±7.67 83.33±4.29 44.25±2.43 12.94±0.29 97.65±1.68 71.29±4.22 66.40±2.16
fscore | loose  | aligned   | 44.18±3.97 56.62±2.44 38.91±0.01 11.11±0.31 92.52±2.17 70.82±2.91 68.55±3.51
"""

# The main table, for the three sets that are at hand; columns as in _SECONDS.
_MAIN = """
acc    | 3-Sources | 38.34±3.21 20.84±0.25 61.34±5.68 34.32 47.92 42.36±0.90 65.09 46.25±1.18 37.27 60.37±7.13
acc    | UCI-Digit | 82.50±8.08 82.26±3.55 33.95±1.96 81.85 67.00 88.55±3.52 54.85 66.78±3.74 84.70 89.47±5.41
acc    | BDGP      | 52.09±4.59 35.17±1.20 26.44±0.19 41.44 29.48 50.19±0.03 31.08 40.77±0.07 20.08 58.63±2.74
nmi    | 3-Sources | 20.20±2.15 8.42±0.22 47.53±7.79 21.72 46.65 29.79±1.60 51.96 26.38±0.42 10.92 56.85±5.44
nmi    | UCI-Digit | 87.57±2.85 86.14±1.39 43.20±1.53 76.04 56.69 83.12±1.04 57.17 64.89±1.57 89.48 84.33±2.37
nmi    | BDGP      | 33.07±2.81 17.61±1.20 3.69±0.19 28.12 4.60 25.41±0.07 10.29 18.17±0.07 2.25 36.81±2.69
fscore | 3-Sources | 29.52±2.05 26.91±0.25 54.06±5.44 30.18 42.77 38.75±1.16 59.00 53.02±0.43 38.32 54.71±7.67
fscore | UCI-Digit | 81.67±6.58 79.84±3.62 28.50±0.75 72.10 54.03 80.92±2.28 50.40 68.37±2.46 83.88 83.33±4.29
fscore | BDGP      | 40.43±2.22 34.69±0.77 29.55±0.10 36.28 26.51 37.82±0.04 28.89 43.88±0.05 33.15 44.25±2.43
"""

# Seconds, MATLAB 2020b on an Intel Core i7-7820X; OM: out of memory.
_SECONDS = """
MSC-IAS | 6.51   10.62 13.26    OM      OM      OM     OM
AMGL    | 0.15   27.64 73.71    4039.10 OM      OM     OM
PMSC    | 34.00 722.99 15215.00 OM      OM      OM     OM
RMKM    | 1.01    3.06 7.53     233.92  1468.30 675.42 1780.50
BMVC    | 3.49    0.34 0.35     1.79    17.63   108.22 80.53
LMVSC   | 0.35    2.26 2.85     39.94   604.68  196.70 513.52
FMCNOF  | 0.39    0.72 1.77     18.23   63.84   39.88  86.88
MSGL    | 0.70    3.50 3.80     61.40   684.51  488.63 822.92
SFMC    | 0.43   51.43 38.99    5313.32 OM      OM     OM
FMVACC  | 1.64    2.31 5.47     256.71  571.10  248.47 628.20
"""

# Figure 4: the largest weight in the mean of LMVSC's graphs of UCI-Digit, unaligned and aligned.
LARGEST_WEIGHTS = (0.7, 0.9)


def published(data: str, score: str, method: str, arm: str) -> str | None:
    """A score as published, such as "60.37 ± 7.13", or None."""
    return _TABLE.get((data, score, method, arm))


def number(text: str) -> float:
    """The number of a published score, without its deviation."""
    return float(text.partition("±")[0])


def main_table(score: str) -> dict[str, dict[str, str]]:
    """A score of the paper's main table, by data set and method."""
    methods = [line.split("|")[0].strip() for line in _SECONDS.strip().splitlines()]
    rows = [[part.strip() for part in line.split("|")] for line in _MAIN.strip().splitlines()]
    return {data: dict(zip(methods, numbers.split(), strict=True)) for found, data, numbers in rows if found == score}


def published_seconds() -> dict[str, dict[str, float]]:
    """Running times as published, by data set and method; without those that did not finish."""
    rows = [line.split("|") for line in _SECONDS.strip().splitlines()]
    found: dict[str, dict[str, float]] = {name: {} for name in _SETS}
    for method, numbers in rows:
        for name, text in zip(_SETS, numbers.split(), strict=True):
            if text not in ("-", "OM"):
                found[name][method.strip()] = float(text)
    return found


def _parsed() -> dict[tuple[str, str, str, str], str]:
    table = {}
    for line in _SCORES.strip().splitlines():
        score, method, arm, numbers = (part.strip() for part in line.split("|"))
        for name, text in zip(_SETS, numbers.split(), strict=True):
            if text != "-":
                where = (name, score, NOT_ORTHOGONAL if method == "loose" else method, arm)
                table[where] = text.replace("±", " ± ")
    return table


_TABLE = _parsed()
