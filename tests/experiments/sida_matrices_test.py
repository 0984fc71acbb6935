#!/usr/bin/env python3
"""Stand-ins of experiments/sida at scale quick against Table 4.1: rows and entries over their scale, peak and mean of what waits.

Usage: sida_matrices_test.py LACUNA EXPERIMENTS
"""
import csv
import pathlib
import re
import subprocess
import sys

# Numbers of rows and entries published in Table 4.1; except for wi, entries are those of the lower triangle.
SIZES = {"ca": (18772, 198110), "gy": (17361, 178896), "g2": (150102, 438388), "co": (434102, 16036720), "bu": (513351, 10360701),
         "wi": (3566907, 45030389), "ad": (6815744, 13624320), "ro": (23947347, 28854312), "eu": (50912018, 54054660)}


def axes(path):
    """{name: [value]} of the zip in a sweep file."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        name, equals, values = line.partition(" = ")
        if equals and not line.startswith("#"):
            found[name] = next(csv.reader([values], skipinitialspace=True))
    return found


def close(what, value, wanted, tolerance):
    if abs(value / wanted - 1) > tolerance:
        sys.exit(f"{what}: {value:g}, published {wanted:g}")


def main(lacuna, folder):
    folder = pathlib.Path(folder)
    sweep = axes(folder / "matrices.quick.sweep")
    with open(folder / "table_4_1.csv", encoding="utf-8", newline="") as file:
        shares = {(row["series"], row["x"]): float(row["value"]) for row in csv.DictReader(file)}
    assert sweep["matrix"] == list(SIZES)
    for matrix, scale, entries_of in zip(sweep["matrix"], map(int, sweep["scale"]), sweep["entries_of"]):
        output = subprocess.run([lacuna, "sida", "info", entries_of, "--order", "natural"], check=True, capture_output=True, text=True).stdout
        rows, entries = (int(text.replace(",", "")) for text in re.search(r"size +([\d,]+) rows, .* columns, ([\d,]+) entries", output).groups())
        peak, mean = map(float, re.search(r"natural .* % +[\d,]+ +([\d.]+) % +[\d,]+ +([\d.]+) %", output).groups())
        # Except for wi, the published file has one triangle. The stand-in has both triangles: twice as many entries, and half of
        # the published shares.
        twice = 1 if matrix == "wi" else 2
        close(f"{matrix}, rows", rows * scale, SIZES[matrix][0], 0.001)
        close(f"{matrix}, entries", entries * scale, twice * SIZES[matrix][1], 0.03)
        # `lacuna sida info` rounds shares to a tenth of a percent.
        rounding = 0.05 * twice
        close(f"{matrix}, peak", peak * twice, shares["peak", matrix], 0.1 + rounding / shares["peak", matrix])
        close(f"{matrix}, mean", mean * twice, shares["mean", matrix], 0.2 + rounding / shares["mean", matrix])
    for name in ("sida.buffer", "sida.pes", "sida.bytes_per_cycle"):
        values = [int(re.match(r"\d+", text)[0]) * {"": 1, "KiB": 1 << 10, "MiB": 1 << 20}[re.sub(r"\d+", "", text)] for text in sweep[name]]
        assert len({value * int(scale) for value, scale in zip(values, sweep["scale"])}) == 1, f"{name} is not scaled as the rows are"


if __name__ == "__main__":
    main(*sys.argv[1:])
