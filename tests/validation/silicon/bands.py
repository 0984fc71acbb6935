"""Bands of our values: numbers that are repeated with a parameter without a source at either end of its range.

unknowns.csv has these parameters. `low` and `high` are settings of the two ends, separated by semicolons: of the parameter, and of
others that keep a measured sum. An empty end is the value of the preset. `numbers` are regular expressions. bands.csv has our
values at the ends; an end that is the preset's has the value of ours.csv. Parameters are varied one at a time.
"""
import csv
import re

import tables
from errors import Summary, error, group, number

FILE = tables.HERE / "bands.csv"
COLUMNS = ("machine", "unknown", "value", "low", "high", "numbers", "reason")
VALUE_COLUMNS = ("machine", "unknown", "end", "id", "ours")
ENDS = ("low", "high")
# Presets that have the parameters of a machine.
MACHINES = {"mi250x-gcd": ("mi210", "mi250x-gcd"), "fiji": ("fiji", "r9fury", "r9furyx", "s9300")}
STILL = 0.001  # smallest change of a number by which an unknown is said to move it
REFERENCE = tables.HERE.parents[2] / "docs/reference/parameters.md"


# The tables.

def settings(unknown, end):
    return [setting.strip() for setting in unknown[end].split(";") if setting.strip()]


def defaults(reference):
    """The default of each parameter, from the page that lists them."""
    lines = reference.read_text(encoding="utf-8").splitlines()
    cells = [line.split("|") for line in lines if line.startswith("| `")]
    return {cell[1].strip(" `"): cell[4].strip(" `") for cell in cells if "." in cell[1]}


def configured(path):
    """The values in a configuration file and the files that it includes."""
    values, section = {}, ""
    for line in path.read_text(encoding="utf-8").splitlines():
        text = line.split("#")[0].strip()
        if text.startswith("["):
            section = text.strip("[]")
        elif text:
            name, value = (part.strip() for part in text.split("=", 1))
            values.update({f"{section}.{name}": value} if section else configured(path.parent / value))
    return values


def applies(unknown, row):
    """Whether the number is repeated with the unknown."""
    return not row["rule"] and row["preset"] in MACHINES[unknown["machine"]] and any(
        re.fullmatch(pattern, row["id"]) for pattern in unknown["numbers"].split())


def read_unknowns():
    rows = []
    with open(tables.HERE / "unknowns.csv", encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        if tuple(reader.fieldnames) != COLUMNS:
            raise tables.Failure(f"unknowns.csv: columns are {', '.join(reader.fieldnames)}, expected {', '.join(COLUMNS)}")
        rows.extend(reader)
    return rows


def read_values():
    """Our values at the ends, by (machine, unknown, end, id)."""
    if not FILE.exists():
        return {}
    with open(FILE, encoding="utf-8", newline="") as file:
        return {tuple(row[column] for column in VALUE_COLUMNS[:-1]): row["ours"] for row in csv.DictReader(file)}


def write_values(values):
    with open(FILE, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(VALUE_COLUMNS)
        writer.writerows((*key, values[key]) for key in sorted(values))


def check(rows, configs, unknowns=None, values=None, reference=REFERENCE):
    """Raises Failure if the tables name a parameter, a number or a preset's value that does not exist."""
    unknowns = read_unknowns() if unknowns is None else unknowns
    values = read_values() if values is None else values
    known = defaults(reference)
    keys = {(unknown["machine"], unknown["unknown"]): unknown for unknown in unknowns}
    if len(keys) != len(unknowns):
        raise tables.Failure("unknowns.csv: a parameter of a machine occurs twice")
    for unknown in unknowns:
        def expect(condition, text):
            if not condition:
                raise tables.Failure(f"unknowns.csv: {unknown['machine']} {unknown['unknown']}: {text}")
        expect(None not in unknown and None not in unknown.values(), "wrong number of fields")
        expect(unknown["machine"] in MACHINES, "unknown machine")
        expect(unknown["unknown"] in known, "unknown parameter")
        preset = configured(configs / f"{unknown['machine']}.cfg").get(unknown["unknown"], known[unknown["unknown"]])
        expect(unknown["value"] == preset, f"the preset has {preset}")
        expect(unknown["reason"], "has no reason")
        ends = [settings(unknown, end) for end in ENDS]
        expect(any(ends), "has no range")
        for end in filter(None, ends):
            names = [setting.split("=", 1)[0] for setting in end]
            expect(unknown["unknown"] in names, "an end does not set the parameter")
            for name in names:
                expect(name in known, f"unknown parameter {name}")
        for pattern in unknown["numbers"].split():
            expect(any(re.fullmatch(pattern, row["id"]) and applies(unknown, row) for row in rows), f"no compared number is {pattern}")
    names = {row["id"]: row for row in rows}
    for machine, parameter, end, name in values:
        def expect_value(condition, text):
            if not condition:
                raise tables.Failure(f"bands.csv: {machine} {parameter} {end} {name}: {text}")
        expect_value((machine, parameter) in keys, "no such unknown")
        unknown = keys[machine, parameter]
        expect_value(end in ENDS and settings(unknown, end), "no such end")
        expect_value(name in names and applies(unknown, names[name]), "not a number of this unknown")
        expect_value(float(values[machine, parameter, end, name]) > 0, "value is not positive")


def runs(rows, unknowns):
    """All (unknown, end, row) that bands.csv should have a value of."""
    return [(unknown, end, row) for unknown in unknowns for end in ENDS if settings(unknown, end) for row in rows if applies(unknown, row)]


def key(unknown, end, row):
    return unknown["machine"], unknown["unknown"], end, row["id"]


# The tables of the page. Rows have `ours` and `error`.

class Varied:
    """The values of an unknown: of each of its numbers, at both ends. Numbers without a value at an end are left out."""

    def __init__(self, unknown, rows, values):
        self.unknown = unknown
        self.ends = {}
        for row in rows:
            if "error" not in row or not applies(unknown, row):
                continue
            found = {end: values.get(key(unknown, end, row)) if settings(unknown, end) else row["ours"] for end in ENDS}
            if None not in found.values():
                self.ends[row["id"]] = {end: float(value) for end, value in found.items()}

    def change(self, row):
        """The largest relative change of the number, with its sign."""
        return max((value / row["ours"] - 1 for value in self.ends[row["id"]].values()), key=abs)

    def at(self, rows, end):
        """The rows with the errors at an end."""
        return [{**row, "error": error(row, self.ends[row["id"]][end])} if row["id"] in self.ends else row for row in rows]


def band(row, all_varied):
    """Our value of the number and those at all ends."""
    return [row["ours"], *(value for varied in all_varied for value in varied.ends.get(row["id"], {}).values())]


def cell(row, all_varied):
    """The band of a number, the unknown that decides it, and how many were varied; a dash if none was."""
    deciding = [varied for varied in all_varied if row["id"] in varied.ends]
    if not deciding:
        return "–"
    most = max(deciding, key=lambda varied: abs(varied.change(row)))
    if abs(most.change(row)) < STILL:
        return f"within 0.1 % ({len(deciding)} varied)"
    values = band(row, all_varied)
    return f"{number(min(values))} to {number(max(values))} (`{most.unknown['unknown']}`, {len(deciding)} varied)"


def shown(unknown, end):
    return ", ".join(f"`{setting.replace('=', ' = ')}`" for setting in settings(unknown, end)) or "as the preset"


def ranges(all_varied):
    lines = ["| machine | parameter | preset | low | high | why this range |", "|---|---|---|---|---|---|"]
    for varied in all_varied:
        unknown = varied.unknown
        lines.append(f"| {unknown['machine']} | `{unknown['unknown']}` | `{unknown['value']}` | {shown(unknown, 'low')} | {shown(unknown, 'high')} | "
                     f"{unknown['reason']} |")
    return "\n".join(lines)


def movements(rows, all_varied):
    """For each unknown, the weighted errors of its numbers."""
    lines = ["| machine | parameter | numbers | largest change | inform: ours | low | high | judge: ours | low | high |",
             "|---|---|---|---|---|---|---|---|---|---|"]
    for varied in all_varied:
        members = [row for row in rows if row["id"] in varied.ends]
        if not members:
            continue
        most = max(members, key=lambda row: abs(varied.change(row)))
        change = f"{varied.change(most):+.1%} {most['id']}" if abs(varied.change(most)) >= STILL else "under 0.1%"
        cells = []
        for kind in tables.SETS:
            chosen = [row for row in members if row["set"] == kind]
            cells += [f"{Summary(some).weighted:.1%}" if some else "–" for some in (chosen, *(varied.at(chosen, end) for end in ENDS))]
        lines.append(f"| {varied.unknown['machine']} | `{varied.unknown['unknown']}` | {len(members)} | {change} | {' | '.join(cells)} |")
    return "\n".join(lines)


def judging(rows, all_varied):
    """For each target and kind, the weighted error of the whole set `judge`: with one unknown at an end, and with each number at the
    end of its band that is farther from the measured value."""
    lines = ["| target | numbers of | numbers | with a band | weighted error | smallest, one parameter at an end | largest | each number at the worse end | measured value within the band |",
             "|---|---|---|---|---|---|---|---|---|"]
    judges = [row for row in rows if row["set"] == "judge"]
    for target, kind in sorted({group(row) for row in judges}):
        members = [row for row in judges if group(row) == (target, kind)]
        banded = [row for row in members if any(row["id"] in varied.ends for varied in all_varied)]
        if not banded:
            continue
        ours = Summary(members).weighted
        ends = [(ours, "as the presets"), *((Summary(varied.at(members, end)).weighted, f"`{varied.unknown['unknown']}` {end}") for varied in all_varied
                                            for end in ENDS if settings(varied.unknown, end) and any(row["id"] in varied.ends for row in members))]
        worse = [{**row, "error": max((error(row, value) for value in band(row, all_varied)), key=abs)} for row in members]
        within = sum(min(band(row, all_varied)) <= float(row["value"]) <= max(band(row, all_varied)) for row in banded)
        texts = " | ".join(f"{value:.1%} {name}" for value, name in (min(ends), max(ends)))
        lines.append(f"| {target} | {kind} | {len(members)} | {len(banded)} | {ours:.1%} | {texts} | {Summary(worse).weighted:.1%} | "
                     f"{within} of {len(banded)} |")
    return "\n".join(lines)


def section(rows, all_varied):
    values = sum(len(varied.ends) for varied in all_varied)
    banded = {name for varied in all_varied for name in varied.ends}
    count = sum(bool(varied.ends) for varied in all_varied)
    return "\n".join([
        "\n### Bands\n",
        f"{count} parameters that no source gives, or that numbers of `inform` alone have decided, at both ends of their plausible ranges, one at a time, each for "
        f"some short numbers that it can move: {len(banded)} numbers, {values} pairs of a parameter and a number. The tables of the classes below have the band of each of "
        "these numbers: the least and the greatest of our values, the parameter that moves it most, and how many parameters were varied for it. A narrow band says that these do not "
        "move the number, not that no parameter does. A dash: none was varied; that is not a band of zero.\n",
        "Weighted errors of the set `judge`: all of its numbers, of which those with a band move.\n", judging(rows, all_varied),
        "\nWeighted errors of the numbers that were repeated with each parameter:\n", movements(rows, all_varied),
        "\nRanges:\n", ranges(all_varied)])


def varied(rows, values=None):
    """All unknowns with their values."""
    values = read_values() if values is None else values
    return [Varied(unknown, rows, values) for unknown in read_unknowns()]
