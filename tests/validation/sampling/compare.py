#!/usr/bin/env python3
"""Compares sampled with detailed timing, kernel by kernel.

Usage: compare.py LACUNA WORKLOADS FOLDER CONFIG [PROGRAM[:OPTIONS]]...
       compare.py --speedups FOLDER CONFIG CONFIG

LACUNA: the program. WORKLOADS: the folder of the built workloads. FOLDER: for runs. CONFIG: preset. Without PROGRAM: those of
programs.txt. Prints a line for each program and one for all kernels of which a part was not timed: number, mean and largest error of
their cycles, share whose interval holds the detailed cycles, instructions and host processor time of both runs; then, for kernels of
more than 10^7 instructions, how much less host time they take than in detail. EXTRA in the environment holds further options for
both runs.

--speedups compares two machines whose runs are in FOLDER: the speed-up of the second one over the first, by program, in sampled and in
detailed timing.
"""
import csv
import os
import statistics
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
    return read_kernels(folder), spent


def compared(detailed, sampled):
    """Yields, for each kernel with an untimed part: error, whether the interval contains the detailed cycles, instructions."""
    for one, other in zip(detailed, sampled, strict=True):
        if int(other["untimed_instructions"]) == 0:
            continue
        true, cycles = int(one["cycles"]), int(other["cycles"])
        yield (cycles - true) / true, abs(cycles - true) <= int(other["half_width_cycles"]), int(one["wavefront_instructions"])


def read_kernels(folder):
    with open(folder / "kernels.csv", newline="") as file:
        return list(csv.DictReader(file))


LARGE = 10**7  # instructions


def host_speedups(detailed, sampled):
    """Host time of large kernels in detailed timing over that in sampled timing."""
    for one, other in zip(detailed, sampled, strict=True):
        if int(one["wavefront_instructions"]) > LARGE:
            yield float(one["wall_seconds"]) / max(1e-6, float(other["wall_seconds"]))


def speedups(folder, first, second):
    """Prints by program by how much the second machine is faster, in sampled and in detailed timing."""
    errors = []
    for place in sorted((Path(folder) / first).iterdir()):
        other = Path(folder) / second / place.name
        if not other.is_dir():
            continue
        kernels = {(machine, mode): read_kernels(at / mode) for machine, at in ((1, place), (2, other)) for mode in ("loose", "sampled")}
        if not any(int(row["untimed_instructions"]) for machine in (1, 2) for row in kernels[machine, "sampled"]):
            continue
        time = {key: sum(int(row["end_ps"]) - int(row["start_ps"]) for row in rows if "(HSA runtime)" not in row["kernel"]) for key, rows in kernels.items()}
        detailed, sampled = (time[1, mode] / time[2, mode] for mode in ("loose", "sampled"))
        errors.append(abs(sampled / detailed - 1))
        print(f"{place.name}: {detailed:.4f} detailed, {sampled:.4f} sampled, {100 * (sampled / detailed - 1):+.2f} %")
    if errors:
        print(f"{second} over {first}: {len(errors)} programs, {100 * sum(errors) / len(errors):.2f} % in the mean, "
              f"{100 * max(errors):.2f} % at most")


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
    everything, count, sums, factors = [], 0, [0.0, 0.0], []
    for text in programs:
        name, _, options = text.partition(":")
        program = [str(Path(workloads) / name), *options.split()]
        place = Path(folder) / config / text.replace(" ", "_").replace(":", "_")
        detailed, first = run(lacuna, config, "loose", place / "loose", program)
        sampled, second = run(lacuna, config, "sampled", place / "sampled", program)
        rows = list(compared(detailed, sampled))
        print(line(text, len(detailed), rows, (first, second)), flush=True)
        everything += rows
        factors += host_speedups(detailed, sampled)
        count += len(detailed)
        sums[0] += first
        sums[1] += second
    print(line(f"{config}, all", count, everything, sums))
    if factors:
        print(f"{len(factors)} kernels of more than 10^7 instructions: median {statistics.median(factors):.1f} times less host time, "
              f"{min(factors):.1f} to {max(factors):.1f}")


if __name__ == "__main__":
    speedups(*sys.argv[2:]) if sys.argv[1:2] == ["--speedups"] else main(*sys.argv[1:])
