#!/usr/bin/env python3
"""Draws the measured numbers that may inform parameters of the presets; all other numbers only judge the presets.

Usage: split.py [--check CONFIGS]

Of each class, two thirds of the numbers are in the set `inform`, the others in the set `judge`. The draw is random, with a seed
derived from SEED, the class and the batch; numbers that are compared and numbers that are not are drawn separately. A number to
which a preset was fitted, or with which it was compared, before the draw (column `fitted`) is always in `inform` and counts
towards the two thirds. Writes the column `set` of measurements.csv. With --check, writes nothing, and fails if the tables are
invalid, those of bands included, or the column differs from the draw. CONFIGS: the folder of the presets.
"""
import pathlib
import random
import sys

import bands
import tables

SEED = 20261130


def draw(rows):
    """Returns the set of each id: "inform" or "judge"."""
    strata = {}
    for row in rows:
        strata.setdefault((row["batch"], row["class"], "left out" if row["rule"] else "compared"), []).append(row)
    chosen = {}
    for key, members in sorted(strata.items()):
        fitted = sorted(row["id"] for row in members if row["fitted"])
        others = sorted(row["id"] for row in members if not row["fitted"])
        random.Random(f"{SEED}/{'/'.join(key)}").shuffle(others)
        inform = max(0, round(len(members) * 2 / 3) - len(fitted))
        for place, name in enumerate(others):
            chosen[name] = "inform" if place < inform else "judge"
        chosen.update((name, "inform") for name in fitted)
    return chosen


def main():
    checking = "--check" in sys.argv
    configs = pathlib.Path(sys.argv[-1])
    presets = {path.stem for path in configs.glob("*.cfg")} if checking else None
    try:
        rows = tables.check(presets)
        if checking:
            bands.check(rows, configs)
        chosen = draw(rows)
        if checking:
            for row in rows:
                if row["set"] != chosen[row["id"]]:
                    raise tables.Failure(f"measurements.csv: {row['id']} is in {row['set'] or 'no set'}, drawn was {chosen[row['id']]}")
        else:
            for row in rows:
                row["set"] = chosen[row["id"]]
            tables.write(rows)
    except tables.Failure as failure:
        print(failure, file=sys.stderr)
        return 1
    print(f"seed {SEED}")
    print(f"{'':<20} {'compared':>14}   {'left out':>8}\n{'class':<20} {'inform':>7} {'judge':>6}   inform judge")
    for name in tables.CLASSES:
        count = [[sum(row["class"] == name and row["set"] == kind and bool(row["rule"]) == left for row in rows) for kind in tables.SETS]
                 for left in (False, True)]
        print(f"{name:<20} {count[0][0]:>7} {count[0][1]:>6}   {count[1][0]:>6} {count[1][1]:>5}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
