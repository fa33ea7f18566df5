"""What Kurochkin and Papanov report (their slides, Moscow, 25-26 September 2023), and what they do not."""

ITERATIONS, GOOD, FAILED, HOSTS = 64, 19_000, 1_027, 75
WEIGHTS, LAYERS, MEGABYTE = 258_794, 7, 1.0  # a parameter set is "1 MB": 1.035 of float32
SUCCESS = GOOD / (GOOD + FAILED)  # 94.87 %, of the VM run
UNITS = round(GOOD / ITERATIONS)  # 297 in an iteration, if each was answered once

SILENT = (
    "They do not say how many rows a local set has, how many steps a unit makes, which quorum and deadline were set, "
    "how long a unit or an iteration took, how often hosts were on, or which accuracy was reached. These are our "
    "choices, made with results in sight; the share of failures was fitted, so that it agrees confirms nothing. "
    "How the failures divide, and how the share moves with deadline and delivery, was not fitted."
)
