#!/usr/bin/env python3
"""Writes the tables of published claims into the summary page of results.

Usage: claims.py FOLDER CLAIMS.csv...

FOLDER is docs/results: README.md gets the tables, PAPER.md contains the measured values in its figures' tables. Each CLAIMS.csv
(experiments/PAPER/claims.csv) has one line per published claim:
  claim         the claim in words
  source        its section or figure
  relation      required relation of the measured to the published value:
                  =       within 15 % of it, or its 95 % interval holds it
                  gain    within 15 % of it and with its whole interval on its side of 1, or its interval holds it: for speedups
                  change  within 15 % of it and on its side of 1, or its interval holds it but not 1, which would mean no change
                  same    within 5 % of it, or its interval holds it: for claims that nothing changes
                  points  within 5 percentage points of it, for shares and differences in percent
                  >=, <=  at least or at most as large, or its interval holds it: for bounds, without tolerance
  published     the published value
  as_published  position in the paper's page of the value of the experiment as the paper ran it (its machine, baseline, kernels and sizes):
                  FIGURE > PLACE or FIGURE > SERIES > PLACE
                           as named in the figure's table. If no place of the series has that name, `largest` and `smallest` are
                           the largest and the smallest value of the series, without its mean
                  POSITION ÷ POSITION
                           ratio of two values; POSITION % of POSITION: the ratio in percent. Their intervals count as independent
                  POSITION; POSITION; ...
                           geometric mean of several values or ratios, and that of the bounds of their intervals
                  empty    not run in that form
                  –        no figure has a value of this claim; then `ours` is empty
  ours          the same for the experiment on the machine and baseline that we trust; empty: only the paper's exists
  why           explanation in a sentence or two; {FIGURE} becomes a link to a figure of the paper's page

The verdict follows from the values:
  reproduced                      all values agree: the one as published and ours, or the only one
  reproduced only as published    the value as published agrees, ours does not
  reproduced only in our setting  our value agrees, the one as published does not
  not reproduced                  no value agrees
  not compared                    no figure has a value
The tables are written between the lines BEGIN and END of README.md; it is an error if the paper's page lacks a claim's value.
"""
import csv
import math
import pathlib
import re
import sys

BEGIN = "<!-- begin of the tables of claims, by experiments/claims.py -->"
END = "<!-- end of the tables of claims -->"
COLUMNS = ["claim", "source", "relation", "published", "as_published", "ours", "why"]
RELATIONS = ["=", "gain", "change", "same", "points", ">=", "<="]
VERDICTS = ["reproduced", "reproduced only as published", "reproduced only in our setting", "not reproduced", "not compared"]
TOLERANCE = 0.15
POINTS = 5
MISSING = "–"
MEAN = "mean"
EXTREMES = {"largest": max, "smallest": min}
RATIOS = {" ÷ ": 1, " % of ": 100}


class Failure(Exception):
    """An error reported to the user in one sentence."""


def number(text):
    return float(text.replace(",", ""))


def anchor(title):
    """The fragment of GitHub's link to a heading."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def read_page(text):
    """{figure: (heading, {(series, place): (mean, low, high)})}"""
    figures = {}
    heading, header, values = "", [], {}
    for line in text.splitlines():
        if line.startswith("### "):
            heading, header, values = line[4:].strip(), [], {}
        elif match := re.match(r"    \./dev reproduce \w+:(\w+) \w+$", line):
            figures[match[1]] = (heading, values)
        elif line.startswith("| "):
            cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
            if "Lacuna" in cells:
                header = cells
            elif header and len(cells) == len(header):
                at = header.index("Lacuna")
                if cells[at] == MISSING:
                    continue
                low, high = (map(number, cells[at + 1].split(" … ")) if "…" in cells[at + 1] else (math.nan, math.nan))
                values[cells[0] if at == 2 else "", cells[at - 1]] = (number(cells[at]), low, high)
        elif not line.startswith("|"):
            header = []
    return figures


def look_up(figures, reference, where):
    """(heading, (mean, low, high)); for several references, the geometric mean and the heading of the first"""
    found = [look_up_ratio(figures, one, where) for one in reference.split(";")]
    if len(found) == 1:
        return found[0]
    return found[0][0], tuple(math.exp(sum(map(math.log, column)) / len(found)) for column in zip(*(value for _, value in found)))


def look_up_ratio(figures, reference, where):
    for sign, factor in RATIOS.items():
        if sign in reference:
            (heading, over), (_, under) = (look_up_one(figures, one, where) for one in reference.split(sign, 1))
            mean = factor * over[0] / under[0]
            half = abs(mean) * math.hypot(*((high - low) / 2 / middle for middle, low, high in (over, under)))
            return heading, (mean, mean - half, mean + half)
    return look_up_one(figures, reference, where)


def look_up_one(figures, reference, where):
    parts = [part.strip() for part in reference.split(">")]
    figure, place = parts[0], (parts[1] if len(parts) == 3 else "", parts[-1])
    if figure not in figures:
        raise Failure(f"{where}: the page has no figure {figure}; there are: {', '.join(figures)}")
    heading, values = figures[figure]
    series = [value for (name, x), value in values.items() if name == place[0] and x != MEAN]
    if place not in values and place[1] in EXTREMES and series:
        return heading, EXTREMES[place[1]](series)
    if place not in values:
        there = "; ".join(" > ".join(filter(None, one)) for one in values)
        raise Failure(f"{where}: {figure} has no value of {' > '.join(filter(None, place))}; there are: {there}")
    return heading, values[place]


def agrees(relation, published, value):
    mean, low, high = value
    if relation == "change" and low <= 1 <= high:
        return False
    if low <= published <= high:
        return True
    if relation == "points":
        return abs(mean - published) <= POINTS
    if relation == "same":
        return abs(mean / published - 1) <= POINTS / 100
    if relation == ">=":
        return mean >= published
    if relation == "<=":
        return mean <= published
    if relation in ("gain", "change") and ((mean - 1) * (published - 1) < 0 or low < 1 < high):
        return False
    return abs(mean / published - 1) <= TOLERANCE


def shown(value):
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def cell(found, page):
    if found is None:
        return MISSING
    heading, (mean, low, high) = found
    spread = "" if math.isnan(low) else f" ± {(high - low) / 2:.2g}"
    return f"[{shown(mean)}{spread}]({page}#{anchor(heading)})"


def explained(figures, text, page, where):
    """The text with links to figures in place of their names in braces."""
    def link(match):
        if match[1] not in figures:
            raise Failure(f"{where}: the page has no figure {match[1]}; there are: {', '.join(figures)}")
        return f"[{match[1]}]({page}#{anchor(figures[match[1]][0])})"

    return re.sub(r"\{(\w+)\}", link, text)


def verdict(relation, published, theirs, ours):
    """The verdict, as the table shows it."""
    agreement = [agrees(relation, published, found[1]) for found in (theirs, ours) if found is not None]
    if not agreement:
        return "not compared"
    if all(agreement):
        return "reproduced"
    if not any(agreement):
        return "**not reproduced**"
    return "reproduced only as published" if agreement[0] else "reproduced only in our setting"


def rows(figures, path, page):
    with open(path, encoding="utf-8", newline="") as file:
        reader = csv.DictReader(line for line in file if not line.startswith("#"))
        if reader.fieldnames != COLUMNS:
            raise Failure(f"{path}: the first line must be {','.join(COLUMNS)}")
        for row in reader:
            where = f"{path}: {row['claim']}"
            if row["relation"] not in RELATIONS:
                raise Failure(f"{where}: relation {row['relation']}: must be one of {', '.join(RELATIONS)}")
            if not row["why"]:
                raise Failure(f"{where}: has no sentence in `why`")
            if row["as_published"] == MISSING and row["ours"]:
                raise Failure(f"{where}: {MISSING} in `as_published` says that no figure has a value, but `ours` has one")
            theirs, ours = (look_up(figures, row[key], where) if row[key] not in ("", MISSING) else None for key in ("as_published", "ours"))
            if theirs is None and ours is None and row["as_published"] != MISSING:
                raise Failure(f"{where}: has a value neither as published nor ours; if no figure has one, `as_published` is {MISSING}")
            published = float(row["published"])
            relation = {">=": "≥ ", "<=": "≤ "}.get(row["relation"], "")
            yield [row["claim"], row["source"], f"{relation}{shown(published)}", cell(theirs, page), cell(ours, page),
                   verdict(row["relation"], published, theirs, ours), explained(figures, row["why"], page, where)]


def tables(folder, files):
    """The number of claims by paper and verdict, then a table of claims for each paper."""
    summary, lines = [], []
    for path in map(pathlib.Path, files):
        page = folder / f"{path.parent.name}.md"
        figures = read_page(page.read_text(encoding="utf-8"))
        if not figures:
            raise Failure(f"{path}: {page} has no figures")
        titled = path.with_name("README.md").read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
        found = list(rows(figures, path, page.name))
        counts = [sum(one[5].strip("*") == name for one in found) for name in VERDICTS]
        summary.append((f"[{titled}]({page.name})", [len(found), *counts]))
        lines += ["", f"## {titled}", "", "| claim | source | published | as published | ours | verdict | why |", "|---|---|---|---|---|---|---|"]
        lines += ["| " + " | ".join(one) + " |" for one in found]
    summary.append(("all", [sum(column) for column in zip(*(counts for _, counts in summary))]))
    head = ["| paper | claims | " + " | ".join(VERDICTS) + " |", "|---" * (2 + len(VERDICTS)) + "|"]
    head += [f"| {name} | " + " | ".join(map(str, counts)) + " |" for name, counts in summary]
    return "\n".join(head + lines) + "\n"


def main(arguments):
    if len(arguments) < 2 or arguments[0] in ("-h", "--help"):
        asked = arguments[:1] in (["-h"], ["--help"])
        print(__doc__.strip(), file=sys.stdout if asked else sys.stderr)
        return 0 if asked else 2
    folder = pathlib.Path(arguments[0])
    path = folder / "README.md"
    try:
        page = path.read_text(encoding="utf-8")
        if page.count(BEGIN) != 1 or page.count(END) != 1 or page.index(BEGIN) > page.index(END):
            raise Failure(f"{path}: must have the lines\n{BEGIN}\n{END}")
        before, rest = page.split(BEGIN)
        path.write_text(f"{before}{BEGIN}\n{tables(folder, arguments[1:])}{END}{rest.split(END)[1]}", encoding="utf-8")
    except (Failure, OSError, ValueError) as error:
        print(f"claims.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
