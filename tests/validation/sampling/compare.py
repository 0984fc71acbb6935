#!/usr/bin/env python3
"""Compares sampled with detailed timing, kernel by kernel.

Usage: compare.py LACUNA WORKLOADS FOLDER CONFIG [PROGRAM[:OPTIONS]]...

LACUNA: the executable. WORKLOADS: the folder of the built workloads. FOLDER: the folder for output of runs. CONFIG: a preset.
Without PROGRAM, the programs of programs.txt are run. The environment variable EXTRA may contain further options for both runs.

Prints a line for each program, and one for all programs together. A line contains the number of kernels and, for the kernels of
which a part was not timed: their number, the mean and the largest error of their cycles, the number of them whose confidence
interval contains the detailed cycles, and their instructions; then the host's processor time for each of the two runs.
"""
import csv
import os
import resource
import subprocess
import sys
from pathlib import Path


def run(lacuna, config, mode, folder, program):
    """Runs a program; returns the rows of its kernels.csv and the processor time in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([lacuna, "exec", "--quiet", "--config", config, "--set", f"gpu.timing={mode}", *os.environ.get("EXTRA", "").split(),
                    "--out", folder, "--", *program], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = sum(getattr(after, kind) - getattr(before, kind) for kind in ("ru_utime", "ru_stime"))
    with open(folder / "kernels.csv", newline="") as file:
        return list(csv.DictReader(file)), spent


def compared(detailed, sampled):
    """Yields, for each kernel with an untimed part: error, whether the interval contains the detailed cycles, instructions."""
    for one, other in zip(detailed, sampled, strict=True):
        if int(other["untimed_instructions"]) == 0:
            continue
        true, cycles = int(one["cycles"]), int(other["cycles"])
        yield (cycles - true) / true, abs(cycles - true) <= int(other["half_width_cycles"]), int(one["wavefront_instructions"])


def line(name, kernels, rows, times):
    if not rows:
        return f"{name}: {kernels} kernels, none sampled"
    errors = [abs(row[0]) for row in rows]
    return (f"{name}: {kernels} kernels, {len(rows)} sampled, error {100 * sum(errors) / len(errors):.2f} % in the mean, "
            f"{100 * max(errors):.2f} % at most, interval holds {sum(row[1] for row in rows)}, "
            f"{sum(row[2] for row in rows) / 1e6:.1f} M instructions, {times[0]:.1f} s detailed, {times[1]:.1f} s sampled")


def main(lacuna, workloads, folder, config, *programs):
    if not programs:
        lines = (Path(__file__).parent / "programs.txt").read_text().splitlines()
        programs = [text for text in lines if text and not text.startswith("#")]
    everything, count, sums = [], 0, [0.0, 0.0]
    for text in programs:
        name, _, options = text.partition(":")
        program = [str(Path(workloads) / name), *options.split()]
        place = Path(folder) / config / text.replace(" ", "_").replace(":", "_")
        detailed, first = run(lacuna, config, "loose", place / "loose", program)
        sampled, second = run(lacuna, config, "sampled", place / "sampled", program)
        rows = list(compared(detailed, sampled))
        print(line(text, len(detailed), rows, (first, second)), flush=True)
        everything += rows
        count += len(detailed)
        sums[0] += first
        sums[1] += second
    print(line(f"{config}, all", count, everything, sums))


if __name__ == "__main__":
    main(*sys.argv[1:])
