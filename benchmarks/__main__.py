"""python -m benchmarks [train] [allreduce] ... [--json] [--reps N]

One table per benchmark: name, ours, peer, ratio (above 1: we are faster), floor (the least that is accepted), aim.
Peers that are not installed are left out and named. Absolute times on shared machines swing by a third; ratios, taken
interleaved in one run, by about a tenth.
"""

import argparse
import json
import os
import sys
from importlib import import_module
from pathlib import Path

ALONE = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
HERE = Path(__file__).parent


def names() -> list[str]:
    """Every file here that offers `rows`."""
    return sorted(f.stem for f in HERE.glob("*.py") if "\ndef rows(" in f.read_text(encoding="utf-8"))


def show(name: str, rows: list[dict]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("case", "ours", "peer", "ratio", "floor", "aim", title=name)
    for row in rows:
        ratio, floor = row.get("ratio"), row.get("floor")
        colour = "" if ratio is None or floor is None else "[green]" if ratio >= floor else "[red]"
        shown = "" if ratio is None else f"{colour}{ratio:.2f}"
        goals = [f"{goal:.3g}" if goal else "" for goal in (floor, row.get("aim"))]
        table.add_row(row["name"], row["ours"], row["peer"], shown, *goals)
    Console().print(table)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.split("\n\n")[1])
    parser.add_argument("which", nargs="*", metavar="benchmark", help=f"of {', '.join(names())}; all by default")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    options = parser.parse_args()
    unknown = set(options.which) - set(names())
    if unknown:
        parser.error(f"there is no benchmark called {', '.join(unknown)}; choose of {', '.join(names())}")
    results = {}
    for name in options.which or names():
        results[name] = import_module(f"benchmarks.{name}").rows()
        if not options.json:
            show(name, results[name])
    if options.json:
        json.dump(results, sys.stdout, indent=1)


if __name__ == "__main__":
    for variable in ALONE:  # one thread each; read by the libraries when they are imported
        os.environ.setdefault(variable, "1")
    main()
