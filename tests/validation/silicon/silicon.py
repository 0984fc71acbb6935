#!/usr/bin/env python3
"""Repeats measurements of GPUs on Lacuna, and compares the results with the measured numbers.

Usage: silicon.py BUILD FOLDER PAGE [--full] [--check] [--bounds] [--bands] [--set NAME=VALUE]... [ID...]

BUILD: the folder of a build. FOLDER: the folder for output of runs. PAGE: the Markdown page whose tables are regenerated,
together with the picture figures/silicon.svg next to the page. ID: a regular expression that selects numbers. Without ID,
--full selects all numbers; otherwise the quick set is selected.

Our values are stored in ours.csv next to measurements.csv, so that a run of some numbers does not change the values of the
others. With --check, our values must equal those of ours.csv, and nothing is written. With --set (see `lacuna launch`), numbers
of the set `inform` are repeated on a modified machine, and nothing is written. With --bounds, nothing is repeated: the command
fails if an error of ours.csv exceeds BOUNDS. With --bands, numbers are repeated with the parameters of unknowns.csv at the ends of
their ranges (bands.py): those that bands.csv does not have, or all with --full or --check; ID then selects parameters.

Errors are relative errors of the time per unit of work: theirs / ours - 1 for a rate, ours / theirs - 1 for a time. The plain
mean is over all numbers. In the weighted mean, each class has the same weight and, within a class, each table of a source
(`where`) has the same weight, so that a curve with many points does not dominate.
"""
import argparse
import csv
import json
import pathlib
import re
import subprocess
import sys
import time

import bands
import recipes
import tables
from errors import Summary, error, group, number

# Largest weighted error of the set `judge`, in per cent, by batch, target of the boards, and class. The test `silicon_bounds` compares;
# lower a bound when a preset improves.
BOUNDS = {"1": {"gfx90a": {"latency": 5, "cache-bandwidth": 11, "bandwidth": 8, "strides": 4, "occupancy": 20, "instruction-rate": 7, "mfma": 4,
                           "kernel": 13},
                "gfx803": {"latency": 13, "bandwidth": 7, "instruction-rate": 2}},
          "2": {"gfx90a": {"latency": 9, "cache-bandwidth": 13, "bandwidth": 8, "strides": 33, "occupancy": 37, "lds": 1, "traffic": 6,
                           "kernel": 17.5},
                "gfx803": {"strides": 7, "lds": 4, "atomics": 1, "instruction-rate": 17, "launch": 1}},
          "3": {"gfx90a": {"cache-bandwidth": 35, "bandwidth": 8, "atomics": 18, "kernel": 3}},
          "4": {"gfx90a": {"occupancy": 18, "launch": 5, "traffic": 1, "kernel": 17}}}

# The same of all classes of a kind and of all batches: README.md has these numbers, rounded.
BOUNDS_OF_KINDS = {"gfx90a": {"micro-benchmarks": 10, "traffic of kernels": 5.5, "kernels": 14.5}, "gfx803": {"micro-benchmarks": 5.5}}

BEGIN, END = "<!-- begin of the tables, by ./dev silicon -->", "<!-- end of the tables -->"
RESULTS = tables.HERE / "ours.csv"
RESULT_COLUMNS = ("id", "ours")


def read_results():
    if not RESULTS.exists():
        return {}
    with open(RESULTS, encoding="utf-8", newline="") as file:
        return {row["id"]: row for row in csv.DictReader(file)}


def write_results(results):
    with open(RESULTS, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, RESULT_COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(results[name] for name in sorted(results))


def join(rows, results):
    """Adds our value and its error to the rows that have one."""
    for row in rows:
        if not row["rule"] and row["id"] in results:
            row["ours"] = float(results[row["id"]]["ours"])
            row["error"] = error(row, row["ours"])


launched = {}  # times and dispatches of launch files without files of data, by preset, settings and text: several numbers may share them


def total(tree, name):
    """The sum of the values of all statistics of this name."""
    return sum(branch["value"] if key == name else total(branch, name) for key, branch in tree.items() if isinstance(branch, dict))


def measure(run, name, build, folder, settings):
    """Executes the run, unless its launch file has been executed before, and returns our value of the number."""
    key = None if run.files or run.outputs or run.statistics or isinstance(run, recipes.Program) else (run.preset, *settings, run.text())
    if key in launched:
        return run.value(*launched[key])
    lacuna, kernels, programs = build / "bin/lacuna", build / "firmware/kernels", build / "tests/rocm"
    place = folder / name
    place.mkdir(parents=True, exist_ok=True)
    for file, data in run.files.items():
        (place / file).write_bytes(data)
    if isinstance(run, recipes.Program):
        done = subprocess.run([lacuna, "exec", "--config", run.preset, *settings, "--out", "out", "--", programs / "silicon", *run.arguments],
                              cwd=place, text=True, capture_output=True, check=False)
        if done.returncode != 0:
            raise tables.Failure(f"{name}: {done.stdout}{done.stderr}")
        return run.value(float(done.stdout), None)
    (place / "run.launch").write_text(run.text().format(kernels=kernels), encoding="utf-8")
    done = subprocess.run([lacuna, "launch", "run.launch", "--config", run.preset, *settings, "--out", "out", "--quiet"], cwd=place, text=True,
                          capture_output=True, check=False)
    for file in run.files:
        (place / file).unlink()
    if done.returncode != 0:
        raise tables.Failure(f"{name}: {done.stdout}{done.stderr}")
    for output in run.outputs:
        run.outputs[output] = (place / f"{output}.bin").read_bytes()
    if run.statistics:
        tree = json.loads((place / "out/statistics.json").read_text(encoding="utf-8"))
        run.statistics = {statistic: total(tree, statistic) for statistic in run.statistics}
    with open(place / "out/kernels.csv", encoding="utf-8", newline="") as file:
        dispatches = list(csv.DictReader(file))
    times = {}
    for row in dispatches:
        times.setdefault(row["kernel"], []).append((float(row["end_ps"]) - float(row["start_ps"])) / 1000)
    if key:
        launched[key] = times, dispatches
    return run.value(times, dispatches)


def check_bounds(rows):
    """Whether the errors of the set `judge` are within BOUNDS. Prints them."""
    judging = [row for row in rows if "error" in row and row["set"] == "judge"]
    limits = [(f"batch {batch}, {target} {name}", bound,
               [row for row in judging if (row["batch"], group(row)[0], row["class"]) == (batch, target, name)])
              for batch, targets in BOUNDS.items() for target, names in targets.items() for name, bound in names.items()]
    limits += [(f"{target} {kind}", bound, [row for row in judging if group(row) == (target, kind)])
               for target, kinds in BOUNDS_OF_KINDS.items() for kind, bound in kinds.items()]
    status = 0
    for name, bound, chosen in limits:
        weighted = 100 * Summary(chosen).weighted
        print(f"{name}: {weighted:.1f} %, at most {bound} %")
        status |= weighted > bound
    return status


def summaries(rows, key, names):
    lines = [f"| {key} | set | numbers | weighted | plain | median | worst |", "|---|---|---|---|---|---|---|"]
    for name in names:
        for kind in tables.SETS:
            chosen = [row for row in rows if row["set"] == kind and name in ("all", row[key])]
            if chosen:
                lines.append(f"| {name} | {kind} | {Summary(chosen).cells()} |")
    return "\n".join(lines)


def by_target(rows):
    lines = ["| target | numbers of | set | numbers | weighted | plain | median | worst |", "|---|---|---|---|---|---|---|---|"]
    for key in sorted({group(row) for row in rows}, key=lambda key: (key[0], key[1] != "micro-benchmarks", key[1])):
        for kind in tables.SETS:
            chosen = [row for row in rows if row["set"] == kind and group(row) == key]
            if chosen:
                lines.append(f"| {key[0]} | {key[1]} | {kind} | {Summary(chosen).cells()} |")
    return "\n".join(lines)


def page(rows):
    compared = [row for row in rows if "error" in row]
    waiting = [row["id"] for row in rows if not row["rule"] and "error" not in row]
    boards = sorted({row["board"] for row in compared})
    varied = bands.varied(compared)
    text = [f"{len(rows)} numbers of {len({row['board'] for row in rows})} boards from {len({row['source'] for row in rows})} sources; "
            f"{sum(not row['rule'] for row in rows)} are comparable, {len(compared)} of them have been repeated.\n",
            "### By target\n", by_target(compared), "\n### By class\n", summaries(compared, "class", ("all", *tables.CLASSES)),
            "\n### By board\n", summaries(compared, "board", boards), "\n![Errors by class](figures/silicon.svg)\n",
            bands.section(compared, varied)]
    for name in tables.CLASSES:
        members = [row for row in compared if row["class"] == name]
        if not members:
            continue
        text.append(f"\n### {name}\n\n| number | board | measured | ours | band | unit | error | set |\n|---|---|---|---|---|---|---|---|")
        text += [f"| {row['id']} | {row['board']} | {number(float(row['value']))} | {number(row['ours'])} | "
                 f"{bands.cell(row, varied)} | {row['unit']} | {row['error']:+.1%} | {row['set']}{' (fitted)' if row['fitted'] else ''} |" for row in members]
    text.append("\n### Left out\n\n| rule | numbers | |\n|---|---|---|")
    for rule in tables.RULES:
        names = [row["id"] for row in rows if row["rule"] == rule]
        if names:
            text.append(f"| {rule} | {len(names)} | {', '.join(names)} |")
    if waiting:
        text.append(f"\nNot repeated yet: {', '.join(waiting)}.")
    return "\n".join(text)


def picture(rows, path):
    import matplotlib  # imported only here: the tests of the tables do not require it

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "lacuna"
    import matplotlib.pyplot as plt

    compared = [row for row in rows if "error" in row]
    names = [name for name in tables.CLASSES if any(row["class"] == name for row in compared)]
    figure, axes = plt.subplots(figsize=(9, 4.5))
    for kind, colour, offset in (("inform", "tab:blue", -0.15), ("judge", "tab:orange", 0.15)):
        points = [(names.index(row["class"]) + offset, 1 + row["error"]) for row in compared if row["set"] == kind]
        axes.scatter(*zip(*points), s=16, alpha=0.7, color=colour, label=kind)
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_yscale("log", base=2)
    axes.set_ylabel("time of a unit of work: ours / measured")
    axes.set_xticks(range(len(names)), names, rotation=25, ha="right")
    axes.grid(axis="y", alpha=0.3)
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def repeat(options, row, settings):
    """Returns our value of the number and the seconds that the run took, or None and 0 after an error, which is printed."""
    begin = time.monotonic()
    try:
        return measure(recipes.recipe(row), row["id"], options.build, options.folder, settings), time.monotonic() - begin
    except tables.Failure as failure:
        print(failure, file=sys.stderr)
        return None, 0


def repeat_bands(options, rows):
    """Repeats numbers at the ends of ranges, and stores the values unless --check compares them."""
    values = bands.read_values()
    wanted = bands.runs(rows, bands.read_unknowns())
    seconds_of = {row["id"]: recipes.recipe(row).seconds for row in {row["id"]: row for _, _, row in wanted}.values()}
    status = 0
    for unknown, end, row in sorted(wanted, key=lambda run: seconds_of[run[2]["id"]]):  # the short ones of all parameters first
        key = bands.key(unknown, end, row)
        if options.ids and not any(re.fullmatch(name, unknown["unknown"]) for name in options.ids):
            continue
        if options.check and key not in values or not options.check and not options.full and key in values:
            continue
        ours, seconds = repeat(options, row, [word for setting in bands.settings(unknown, end) for word in ("--set", setting)])
        if ours is None:
            status = 1
            continue
        print(f"{unknown['unknown']:<30} {end:<4} {row['id']:<28} {number(ours):>10} {row['unit']:<9} {seconds:6.1f} s", flush=True)
        if not options.check:
            values[key] = f"{ours:.6g}"
            bands.write_values(values)
        elif values[key] != f"{ours:.6g}":
            print(f"{' '.join(key)}: {ours:.6g}, bands.csv has {values[key]}", file=sys.stderr)
            status = 1
    return status


def repeat_numbers(options, rows, results, keeps):
    settings = [word for setting in options.set for word in ("--set", setting)]
    status = 0
    for row in rows:
        if row["rule"] or options.set and row["set"] != "inform" or options.ids and not any(re.fullmatch(name, row["id"]) for name in options.ids):
            continue
        run = recipes.recipe(row)
        if run is None or not (options.full or options.ids) and run.seconds > recipes.SECONDS_OF_QUICK:
            continue
        ours, seconds = repeat(options, row, settings)
        if ours is None:
            status = 1
            continue
        if options.check and results[row["id"]]["ours"] != f"{ours:.6g}":
            print(f"{row['id']}: {ours:.6g}, ours.csv has {results[row['id']]['ours']}", file=sys.stderr)
            status = 1
        elif keeps:
            results[row["id"]] = {"id": row["id"], "ours": f"{ours:.6g}"}
            write_results(results)
        print(f"{row['id']:<28} {number(float(row['value'])):>10} {number(ours):>10} {row['unit']:<9} {error(row, ours):+8.1%}  {seconds:6.1f} s",
              flush=True)
    return status


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("page", type=pathlib.Path)
    for flag in ("--full", "--check", "--bounds", "--bands"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("ids", nargs="*")
    options = parser.parse_intermixed_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    results = read_results()
    keeps = not options.check and not options.set and not options.bounds
    rows = tables.check()
    status = 0
    if options.bands:
        status = repeat_bands(options, rows)
    elif not options.bounds:
        status = repeat_numbers(options, rows, results, keeps)
    join(rows, results)
    if options.bounds:
        return check_bounds(rows)
    if keeps:
        text = options.page.read_text(encoding="utf-8")
        before, rest = text.split(BEGIN)
        options.page.write_text(before + BEGIN + "\n\n" + page(rows) + "\n\n" + END + rest.split(END)[1], encoding="utf-8")
        picture(rows, options.page.parent / "figures/silicon.svg")
    for kind in tables.SETS if keeps else ():
        print(f"{kind}: {Summary([row for row in rows if 'error' in row and row['set'] == kind]).cells()}")
    return status


if __name__ == "__main__":
    sys.exit(main())
