"""Lifetime of load history entries, and time until their data are requested again, in steps of the product along K.

    entry_life.py FOLDER STEPS

FOLDER is the output folder of a run of `conv2d --method explicit` with duplo.trace = true. STEPS is the number of steps of 32 columns
that a compute unit executes in sequence: columns of the workspace / 32, times rounds of workgroups (workgroups / compute units /
concurrent workgroups). The duration of a step is the kernel's time divided by STEPS. Prints the shares of look-ups that hit, and
that would hit if entries stayed for N steps after the last look-up of their tile.
"""

import csv
import gzip
import sys
from collections import Counter
from pathlib import Path

WINDOWS = (1, 2, 3, 4)


def quartiles(values):
    values = sorted(values)
    return " ".join(f"{values[int(part * (len(values) - 1))]:.1f}" for part in (0.25, 0.5, 0.75)) if values else "-"


def main(folder, steps):
    rows = list(csv.DictReader(open(folder / "kernels.csv")))
    product = next(row for row in rows if row["kernel"].startswith("convolution_explicit"))
    step = float(product["end_ps"]) - float(product["start_ps"])
    step /= steps
    look_ups, hits, within = 0, 0, Counter()
    last, born, register = {}, {}, {}
    lives, waits = [], []
    at = 0
    for event in csv.DictReader(gzip.open(folder / "look_ups.csv.gz", "rt")):
        unit, kind = event["unit"], event["event"]
        place = (unit, event["simd"], event["first"])
        if kind == "find":
            at = float(event["at_ps"]) / step
            tag = (unit, event["tag_simd"], event["image"], event["element"], event["filter_x"], event["filter_y"])
            look_ups += 1
            hits += event["outcome"] == "hit"
            if event["outcome"] == "released":
                waits.append(at - last[tag])
                within.update(window for window in WINDOWS if at - last[tag] <= window)
            last[tag] = at
        elif kind == "allocate":
            born[unit, event["entry"]] = at
            register[place] = (unit, event["entry"])
        elif kind == "overwrite" and event["outcome"] not in ("", "0"):
            entry = register.get(place)
            if entry in born:
                lives.append(float(event["at_ps"]) / step - born.pop(entry))
    print(f"{look_ups} look-ups, {100 * hits / look_ups:.1f} % hit; with entries of "
          + ", ".join(f"{window}: {100 * (hits + within[window]) / look_ups:.1f} %" for window in WINDOWS) + " steps")
    print(f"life of entries, quartiles, steps: {quartiles(lives)}")
    print(f"from the last look-up of a tile to one that finds it gone, quartiles, steps: {quartiles(waits)}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__.strip())
    main(Path(sys.argv[1]), float(sys.argv[2]))
