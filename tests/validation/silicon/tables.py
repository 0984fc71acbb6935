"""Reads measurements.csv and sources.csv, and checks that they are valid."""
import csv
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
COLUMNS = ("id", "class", "board", "preset", "core_mhz", "memory_mhz", "driver", "what", "value", "unit", "spread", "source", "where",
           "fitted", "rule", "batch", "set")
SOURCE_COLUMNS = ("id", "title", "author", "address", "date", "read")
CLASSES = ("latency", "cache-bandwidth", "bandwidth", "random", "strides", "occupancy", "lds", "atomics", "instruction-rate",
           "instruction-latency", "mfma", "launch", "event", "copy", "traffic", "kernel")
# Reasons why a number is not compared (README.md, "Rules").
RULES = ("board", "core", "host", "link", "clock", "unknown", "program", "size")
# For each unit, whether larger values are faster.
UNITS = {"cycles": False, "ns": False, "us": False, "ms": False, "GB/s": True, "GFLOP/s": True, "TFLOP/s": True, "GOP/s": True, "op/cycle": True,
         "1/cycle": True, "Mcell/s": True, "requests": False, "ratio": False, "%": True, "wavefronts": True, "MB": False, "1/wavefront": False, "speed-up": True, "Gkey/s": True, "Mhash/s": True,
         "B/cycle": True, "GiB/s": True, "s": False}
SETS = ("inform", "judge")


class Failure(Exception):
    """An error in the tables or in a run, described in one sentence."""


def read(name, columns):
    with open(HERE / name, encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        if tuple(reader.fieldnames) != columns:
            raise Failure(f"{name}: columns are {', '.join(reader.fieldnames)}, expected {', '.join(columns)}")
        rows = list(reader)
    for number, row in enumerate(rows, 2):
        if None in row or None in row.values():
            raise Failure(f"{name}:{number}: wrong number of fields")
    if len({row["id"] for row in rows}) != len(rows):
        raise Failure(f"{name}: an id occurs twice")
    return rows


def measurements():
    return read("measurements.csv", COLUMNS)


def sources():
    return read("sources.csv", SOURCE_COLUMNS)


def write(rows):
    with open(HERE / "measurements.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def check(presets=None):
    """Returns the rows of measurements.csv. Raises Failure at the first error. `presets`: valid names of presets, or None."""
    known = {row["id"] for row in sources()}
    rows = measurements()
    for row in rows:
        def expect(condition, text):
            if not condition:
                raise Failure(f"measurements.csv: {row['id']}: {text}")
        expect(row["class"] in CLASSES, f"unknown class {row['class']}")
        expect(row["unit"] in UNITS, f"unknown unit {row['unit']}")
        expect(row["source"] in known, f"unknown source {row['source']}")
        expect(row["rule"] in ("", *RULES), f"unknown rule {row['rule']}")
        expect(row["fitted"] in ("", "yes"), "fitted is neither empty nor yes")
        expect(float(row["value"]) > 0, "value is not positive")
        for column in ("core_mhz", "memory_mhz", "spread"):
            expect(not row[column] or float(row[column]) >= 0, f"{column} is no number")
        for column in ("board", "what", "where"):
            expect(row[column], f"{column} is empty")
        expect(row["preset"] or row["rule"] == "board", "has no preset")
        expect(presets is None or not row["preset"] or row["preset"] in presets, f"unknown preset {row['preset']}")
        expect(row["rule"] or row["batch"], "has no batch")
    unused = known - {row["source"] for row in rows}
    if unused:
        raise Failure(f"sources.csv: no number is from {', '.join(sorted(unused))}")
    return rows
