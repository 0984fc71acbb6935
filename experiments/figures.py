#!/usr/bin/env python3
"""Makes a figure of an experiment: picture (PNG, SVG) and table (Markdown) that compare our values with the published ones.

Usage: figures.py DESCRIPTION SCALE OURS.csv OUTPUT_FOLDER
       figures.py --plot OURS.csv OUTPUT_FOLDER [x=AXIS] [y=METRIC] [series=AXIS] [KEY=VALUE ...]

--plot makes a figure of any sweep, without a description: a picture of each metric (or of y) over the axis x, by default the axis of numbers
with the most values, with a line for each combination of the other axes. Other keys are those of [figure] below.

SCALE is that of OURS.csv, quick or paper.

DESCRIPTION is an INI file:
  [figure]
  title, x_label, y_label   texts; labels have units
  sweep                     OURS.csv is from SWEEP.quick.sweep or SWEEP.paper.sweep in the description's folder
  kind                      line, bars or roofline: points whose x is a metric as well, under roofs given by the lines of `published`
  x                         axis of the sweep along x; several, separated by blanks, are combined in one label
  series                    axis of the sweep whose values are the lines, or the bars of a group; several, separated by blanks, are
                            combined in one label; optional
  y                         metrics of the sweep: columns y_mean, y_low, y_high, y_samples, y_needed of OURS.csv; several, separated
                            by blanks, are the series, combined with each value of the axes of `series`, if any
  over, average             axes, separated by blanks, whose values are averaged: arithmetic (default) or geometric
  where                     a condition of `lacuna results`: the points that the figure shows
  x_scale, y_scale          linear (default), log2 or log10
  beside                    AXIS VALUE: adds a column with the ratio of each value to the one at the same place with this value of an
                            axis of x or series, for comparison with a machine other than that of the published values
  mean                      arithmetic or geometric: adds a place `mean` with the mean over the others
  published                 CSV in the description's folder: series, x, value, source; series and x as in ours
  reference                 name of these values in legend and table, if they are not published ones
  note                      text below the table at both scales. {AXIS} is replaced by the values of an axis in the figure, {AXIS * AXIS}
                            by products. A number that is neither one of the paper's nor the number of a section, figure or table
                            may depend on the scale and is rejected, unless it is written {=NUMBER}
  note.quick, note.paper    text for that scale only, after `note`
  names                     a file in the description's folder with a section [names], which that of the description extends
  [names]                   VALUE = TEXT: text in legend and x axis for a value of an axis

OURS.csv is what `lacuna results SWEEP --where WHERE --csv` prints. Error bars and intervals are those of its _low and _high: the 95 %
confidence interval of the mean. A value of a single sample has none. Values with an interval of sampled timing (column y_sampled, if there is
one) have hatched bars or hollow points, and are marked in the table. Values of energies (columns y_at_low_energies, y_at_high_energies)
have a grey line between the values with all energies at their low and at their high ends, and a column of both in the table.
"""
import configparser
import csv
import math
import pathlib
import re
import sys
import textwrap
import typing

try:
    import matplotlib
except ImportError:
    sys.exit(f"figures.py: {sys.executable} has no matplotlib: install Debian's python3-matplotlib (./dev deps does), and run this file by "
             "/usr/bin/python3; `lacuna results SWEEP --csv` has the values for any other program")

matplotlib.use("Agg")
import matplotlib.lines  # noqa: E402  (after the choice of the backend)
import matplotlib.patches  # noqa: E402
import matplotlib.pyplot as plt  # noqa: E402
import matplotlib.ticker  # noqa: E402

KINDS = ("line", "bars", "roofline")
SCALES = {"linear": 0, "log2": 2, "log10": 10}
TITLE_WIDTH = 78  # characters of a line, at the width of the picture
Y_LABEL_WIDTH = 46  # the same, at its height
RUN_SCALES = ("quick", "paper")
# Unit suffixes of quantities in configurations, and their factors.
UNITS = {"": 1, "B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "Hz": 1, "kHz": 1e3, "MHz": 1e6, "GHz": 1e9,
         "ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1, "cycles": 1, "%": 0.01}
QUANTITY = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?) ?([A-Za-z%]*)")
# Columns of each value in OURS.csv.
SUFFIXES = ("_mean", "_low", "_high", "_samples", "_needed")
SAMPLED = "_sampled"  # optional
ENERGY_ENDS = ("_at_low_energies", "_at_high_energies")  # optional
GREY = "0.35"
ENDS_NOTE = ("\"All energies low, all high\": the value with every energy, on all machines, at the low or at the high end of what is "
             "known of it. Errors of energies are common to all machines, so a ratio of energies is known better than the energies.")
KEYS = ("title", "sweep", "x_label", "y_label", "kind", "x", "series", "y", "x_scale", "y_scale", "mean",
        "over", "average", "where", "published", "beside", "names", "reference", "note", *(f"note.{scale}" for scale in RUN_SCALES))
# Numbers that a note may contain at both scales: published numbers, and numbers of the paper's sections, figures and tables.
SOURCE = re.compile(r"\b(paper|published|text|thesis)\b")
REFERENCE = re.compile(r"\b([Ss]ections?|Figs?\.|Tables?) \d[\d.]*( \([a-z]\))?((,| and) \d[\d.]*( \([a-z]\))?)*")
# A separate number, not a part of a name such as f16, ResNet-18 or conv5_2_1.
NUMBER = re.compile(r"(?<![\w.,:/-])\d+([.,/]\d+)*(?![\w:-])|\b(two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|sixteen)\b",
                    re.IGNORECASE)


class Failure(Exception):
    """An error reported to the user in one sentence."""


class Value(typing.NamedTuple):
    """A mean with its interval, which is nan for a single sample."""
    mean: float
    low: float = math.nan
    high: float = math.nan
    samples: int = 1
    needed: typing.Optional[int] = None  # number of samples required for an interval of 1 % of the mean
    sampled: bool = False  # whether it is an estimate by sampled timing
    ends: typing.Tuple[float, ...] = ()  # the mean with all energies at their low and at their high ends; empty: not of energies

    def has_interval(self):
        return not math.isnan(self.low)


def read_sections(path):
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str
    try:
        with open(path, encoding="utf-8") as file:
            parser.read_file(file)
    except (OSError, configparser.Error) as error:
        raise Failure(f"{path}: {error}") from error
    return parser


def read_names(path):
    parser = read_sections(path)
    if parser.sections() != ["names"]:
        raise Failure(f"{path}: has to have a section [names], and no other")
    return dict(parser["names"])


def read_description(path):
    parser = read_sections(path)
    if not parser.has_section("figure"):
        raise Failure(f"{path}: has no section [figure]")
    figure = dict(parser["figure"])
    for key in figure:
        if key not in KEYS:
            raise Failure(f"{path}: unknown key {key} in [figure]; known: {', '.join(KEYS)}")
    for key in ("title", "sweep", "x_label", "y_label", "kind", "x", "y"):
        if key not in figure:
            raise Failure(f"{path}: [figure] has no {key}")
    if figure["kind"] not in KINDS:
        raise Failure(f"{path}: kind = {figure['kind']}: must be one of {', '.join(KINDS)}")
    figure.setdefault("reference", "published")
    for key in ("x_scale", "y_scale"):
        if figure.setdefault(key, "linear") not in SCALES:
            raise Failure(f"{path}: {key} = {figure[key]}: must be one of {', '.join(SCALES)}")
    names = read_names(pathlib.Path(path).parent / figure["names"]) if "names" in figure else {}
    names.update(parser["names"] if parser.has_section("names") else {})
    for key in ("mean", "average"):
        if figure.get(key, "arithmetic") not in ("arithmetic", "geometric"):
            raise Failure(f"{path}: {key} = {figure[key]}: must be one of arithmetic, geometric")
    for sentence in sentences(figure.get("note", "")):
        found = NUMBER.search(REFERENCE.sub("", re.sub(r"\{[^}]*\}|`[^`]*`", "", sentence)))
        if found and not SOURCE.search(sentence):
            raise Failure(f"{path}: note says {found[0]} of every scale: \"{sentence}\"; put the sentence into note.quick or note.paper, "
                          "an axis of the sweep as {AXIS}, or a number that holds at any scale as {=" + found[0] + "}")
    return figure, names


def sentences(text):
    return re.split(r"(?<=[.;])(?<!Fig.)(?<!Figs.) ", " ".join(text.split()))


def listed(values):
    return values[0] if len(values) == 1 else ", ".join(values[:-1]) + " and " + values[-1]


def caption(path, figure, scale, rows):
    """The text below the table: `note`, then that of the scale, with values from the rows of OURS.csv."""
    def value(match):
        text = match[1].strip()
        if text.startswith("="):
            return text[1:].strip()
        axes = [axis.strip() for axis in text.split("*")]
        missing = [axis for axis in axes if axis not in rows[0]]
        if missing:
            raise Failure(f"{path}: note has {{{text}}}, but there is no axis {missing[0]}; columns: {', '.join(rows[0])}")
        if len(axes) == 1:
            return listed([spelled(one) for one in unique(row[text] for row in rows)])
        return listed([spelled(one) for one in unique(str(math.prod(int(row[axis]) for axis in axes)) for row in rows)])

    parts = [" ".join(figure[key].split()) for key in ("note", f"note.{scale}") if figure.get(key)]
    return re.sub(r"\{([^}]*)\}", value, " ".join(parts))


def spelled(text):
    return f"{int(text):,}" if text.isdigit() else text


def number(text, where):
    try:
        return float(text)
    except ValueError as error:
        raise Failure(f"{where}: {text!r} is not a number") from error


def read_ours(path, figure):
    """{(series, x): Value} in the order of the file, and the rows with values."""
    metrics = figure["y"].split()
    roofline = figure["kind"] == "roofline"
    xs = [figure["x"] + "_mean"] if roofline else figure["x"].split()
    series_axes = figure.get("series", "").split()
    columns = xs + series_axes + figure.get("over", "").split()
    with open(path, encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        missing = [name for name in columns + [metric + suffix for metric in metrics for suffix in SUFFIXES] if name not in (rows.fieldnames or [])]
        if missing:
            raise Failure(f"{path}: has no column {missing[0]}; columns: {', '.join(rows.fieldnames or [])}")
        places = {}
        used = []
        for row in rows:
            x = " ".join(row[name] for name in xs)
            if roofline and x:
                x = f"{float(x):.4g}"
            for metric in metrics:
                series = " ".join([row[name] for name in series_axes] + ([metric] if len(metrics) > 1 else []))
                if row[metric + "_mean"] == "":  # no run of this point has succeeded
                    continue
                where = f"{path}, line {rows.line_num}"
                places.setdefault((series, x), []).append(value_of(row, metric, where))
                if len(places[series, x]) > 1 and not figure.get("over"):
                    raise Failure(f"{where}: a second value of {figure['x']} = {x} {series}; `where` and `over` choose among several")
                if not used or used[-1] is not row:
                    used.append(row)
    if not places:
        raise Failure(f"{path}: has no values of {figure['y']}")
    return {place: averaged(values, figure.get("average")) for place, values in places.items()}, used


def value_of(row, metric, where):
    mean, low, high, samples, needed = (row[metric + suffix] for suffix in SUFFIXES)
    interval = (number(low, where), number(high, where)) if low else (math.nan, math.nan)
    own = row.get(metric + SAMPLED)
    ends = [row.get(metric + suffix) for suffix in ENERGY_ENDS]
    return Value(number(mean, where), *interval, int(number(samples, where)), int(number(needed, where)) if needed else None,
                 bool(own) and number(own, where) > 0, tuple(number(end, where) for end in ends) if all(ends) else ())


def mean_of(numbers, kind):
    if kind == "geometric":
        return math.exp(sum(math.log(one) for one in numbers) / len(numbers))
    return sum(numbers) / len(numbers)


def averaged(values, kind):
    """The mean of means. Its interval has their average width (for a geometric mean: relative to the means), so that it is valid
    even if they are correlated; start phases are the same for all. It has none if one of them has none."""
    if len(values) == 1:
        return values[0]
    samples = min(value.samples for value in values)
    mean = mean_of([value.mean for value in values], kind)
    if kind == "geometric":
        half = mean * sum((value.high - value.low) / 2 / value.mean for value in values) / len(values)
    else:
        half = sum((value.high - value.low) / 2 for value in values) / len(values)
    ends = tuple(mean_of(ends, kind) for ends in zip(*(value.ends for value in values))) if all(value.ends for value in values) else ()
    return Value(mean, mean - half, mean + half, samples, sampled=any(value.sampled for value in values), ends=ends)


def with_means(points, figure):
    """Adds a place `mean` to each series: the mean of its means."""
    if not figure.get("mean"):
        return points
    means = {}
    for series in unique(s for s, _ in points):
        values = [value for (s, _), value in points.items() if s == series]
        means[series, "mean"] = averaged(values, figure["mean"])
    return points | means


def read_published(description, figure):
    """{(series, x): (value, source)}"""
    if not figure.get("published"):
        return {}
    path = description.parent / figure["published"]
    with open(path, encoding="utf-8", newline="") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        if rows.fieldnames != ["series", "x", "value", "source"]:
            raise Failure(f"{path}: the first line must be series,x,value,source")
        return {(row["series"], row["x"]): (number(row["value"], path), row["source"]) for row in rows}


def unique(values):
    return list(dict.fromkeys(values))


def scale(axis, setter, name):
    if SCALES[name]:
        setter("log", base=SCALES[name])
        axis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda value, _: f"{value:,g}"))
        axis.set_minor_locator(matplotlib.ticker.NullLocator())


def draw_intervals(axes, points, colour):
    """Error bars of the values with an interval, by position along the x axis."""
    have = [(x, value) for x, value in points if value.has_interval()]
    if have:
        axes.errorbar([x for x, _ in have], [value.mean for _, value in have],
                      yerr=[(value.high - value.low) / 2 for _, value in have], fmt="none", ecolor=colour, capsize=3)


def draw_ends(axes, points):
    """Lines between the values with all energies at their low and at their high ends, by position along the x axis."""
    for x, value in points:
        if value.ends:
            axes.plot([x, x], value.ends, color=GREY, alpha=0.5, linewidth=4, solid_capstyle="butt", zorder=2.5)


def mark_sampled_points(axes, points, colour, size):
    """Makes the points of sampled values hollow, by position along the x axis."""
    have = [(x, value.mean) for x, value in points if value.sampled]
    if have:
        axes.plot(*zip(*have), linestyle="none", marker="o", markersize=size, markerfacecolor="white", markeredgecolor=colour)


def mark_sampled_bars(axes, bars, width):
    """Hatches the bars of sampled values, by position along the x axis."""
    have = [(x, value.mean) for x, value in bars if value.sampled]
    if have:
        axes.bar(*zip(*have), width, facecolor="none", edgecolor="white", linewidth=0, hatch="///")


def legend_of_sampled(kind):
    """The entry of the legend that explains the mark of sampled values."""
    if kind == "bars":
        return matplotlib.patches.Patch(facecolor="0.5", edgecolor="white", linewidth=0, hatch="///", label="hatched: sampled timing")
    return matplotlib.lines.Line2D([], [], linestyle="none", marker="o", markerfacecolor="white", markeredgecolor="0.3",
                                   label="hollow: sampled timing")


def legend_of_ends():
    """The entry of the legend that explains the lines of draw_ends()."""
    return matplotlib.lines.Line2D([], [], color=GREY, alpha=0.5, linewidth=4, label="grey: all energies low to all high")


def quantity(text):
    """The number that a value of an axis is in its base unit, or None: 262144 of 256KiB."""
    match = QUANTITY.fullmatch(text)
    return float(match[1]) * UNITS[match[2]] if match and match[2] in UNITS else None


def place_on_line(text):
    place = quantity(text)
    if place is None:
        raise Failure(f"x: {text!r} is neither a number nor a quantity such as 256KiB; a figure of bars (kind = bars) shows any values")
    return place


def draw_lines(axes, ours, published, series, name, reference="published"):
    for index, one in enumerate(series):
        colour = f"C{index}"
        points = sorted((place_on_line(x), value) for (s, x), value in ours.items() if s == one)
        if points:
            axes.plot([x for x, _ in points], [value.mean for _, value in points], color=colour, marker="o", markersize=4,
                      linewidth=1.5, label=name(one) or "Lacuna")
            draw_ends(axes, points)
            draw_intervals(axes, points, colour)
            mark_sampled_points(axes, points, colour, 4)
        theirs = sorted((place_on_line(x), value[0]) for (s, x), value in published.items() if s == one)
        if theirs:
            label = f"{name(one)}, {reference}" if name(one) else reference
            axes.plot([x for x, _ in theirs], [value for _, value in theirs], linestyle="none", marker="D", markersize=8,
                      markerfacecolor="none", markeredgecolor=colour, markeredgewidth=1.5, label=label, zorder=4)


def draw_roofline(axes, ours, published, series, name, _=None):
    for index, one in enumerate(s for s in series if s in {measured for measured, _ in ours}):
        points = [(float(x), value) for (s, x), value in ours.items() if s == one]
        axes.plot([x for x, _ in points], [value.mean for _, value in points], linestyle="none", color=f"C{index}", marker="o", markersize=6,
                  label=name(one) or "Lacuna")
        mark_sampled_points(axes, points, f"C{index}", 6)
    for one in unique(s for s, _ in published):
        roof = sorted((float(x), value[0]) for (s, x), value in published.items() if s == one)
        axes.plot(*zip(*roof), color="black", linewidth=1)
        axes.annotate(name(one), roof[-1], ha="right", va="bottom", fontsize=8)


def draw_bars(axes, ours, published, series, name, reference="published"):
    xs = unique(x for _, x in [*ours, *published])
    width = 0.8 / len(series)
    label = reference  # labelled for the first series only, as all markers look the same
    for index, one in enumerate(series):
        colour = f"C{index}"
        place = {x: i + (index - (len(series) - 1) / 2) * width for i, x in enumerate(xs)}
        have = [x for x in xs if (one, x) in ours]
        values = [ours[one, x] for x in have]
        if have:
            axes.bar([place[x] for x in have], [value.mean for value in values], width * 0.92, color=colour, alpha=0.75,
                     label=name(one) or "Lacuna")
        mark_sampled_bars(axes, [(place[x], ours[one, x]) for x in have], width * 0.92)
        draw_ends(axes, [(place[x], ours[one, x]) for x in have])
        draw_intervals(axes, [(place[x], ours[one, x]) for x in have], "black")
        theirs = [x for x in xs if (one, x) in published]
        if theirs:
            axes.plot([place[x] for x in theirs], [published[one, x][0] for x in theirs], linestyle="none", marker="D",
                      markersize=7, markerfacecolor="white", markeredgecolor="black", markeredgewidth=1.2, label=label, zorder=4)
            label = None
        for x in theirs if not have else []:  # a series without bars has no colour in the legend
            axes.annotate(name(one), (place[x], published[one, x][0]), textcoords="offset points", xytext=(-8, 0), ha="right", va="center", fontsize=8)
    axes.set_xticks(range(len(xs)))
    labels = [name(x) for x in xs]
    crowded = len(labels) * max(len(label) for label in labels) > 90
    axes.set_xticklabels(labels, rotation=35 if crowded else 0, ha="right" if crowded else "center")
    axes.margins(x=0.02)


def draw(figure, names, ours, published, stem):
    def name(value):
        return names.get(value, value)

    series = unique(s for s, _ in [*ours, *published])
    plt.rcParams.update({"font.size": 10, "svg.hashsalt": "lacuna"})
    picture, axes = plt.subplots(figsize=(8, 4.5), layout="constrained")
    {"line": draw_lines, "bars": draw_bars, "roofline": draw_roofline}[figure["kind"]](axes, ours, published, series, name,
                                                                                             figure["reference"])
    if figure["kind"] != "bars":
        scale(axes.xaxis, axes.set_xscale, figure["x_scale"])
    ticks = {quantity(x): x for _, x in [*ours, *published]} if figure["kind"] == "line" else {}
    if any(text[-1].isalpha() or text[-1] == "%" for text in ticks.values()):  # values with units are written as in the sweep
        axes.set_xticks(list(ticks), labels=[name(text) for text in ticks.values()])
    scale(axes.yaxis, axes.set_yscale, figure["y_scale"])
    if figure["y_scale"] == "linear":
        shown_values = [end for value in ours.values() for end in (*value[:3], *value.ends) if not math.isnan(end)]
        shown_values += [value for value, _ in published.values()]
        axes.set_ylim(bottom=1.15 * min(0, *shown_values), top=axes.get_ylim()[1] * 1.05)
    axes.set_title(textwrap.fill(figure["title"], TITLE_WIDTH))
    axes.set_xlabel(figure["x_label"])
    axes.set_ylabel(textwrap.fill(figure["y_label"], Y_LABEL_WIDTH))
    axes.grid(axis="y", alpha=0.3)
    axes.set_axisbelow(True)
    handles, labels = axes.get_legend_handles_labels()
    sampled, ends = (any(map(has, ours.values())) for has in (lambda value: value.sampled, lambda value: value.ends))
    for entry in [legend_of_sampled(figure["kind"])] * sampled + [legend_of_ends()] * ends:
        handles.append(entry)
        labels.append(entry.get_label())
    if len(handles) > 1:
        ours_first = sorted(zip(handles, labels), key=lambda entry: entry[1].endswith(figure["reference"]))
        columns = max(1, min(len(handles), 4, 120 // (max(map(len, labels)) + 5)))
        rows = math.ceil(len(handles) / columns)
        further = 0.21 * max(0, rows - 2)  # inches that a long legend adds to the picture, instead of taking them from the axes
        picture.set_figheight(4.5 + further)
        below = (0.315 * min(rows, 2) + further) / picture.get_figheight()
        picture.legend(*zip(*ours_first), loc="lower center", ncols=columns, frameon=False)
        picture.get_layout_engine().set(rect=(0, below, 1, 1 - below))
    picture.savefig(f"{stem}.png", dpi=150)
    picture.savefig(f"{stem}.svg", metadata={"Date": None})
    plt.close(picture)


def shown(value):
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{min(digits, 6)}f}"


def besides(path, figure, names, ours):
    """The heading of the column added by `beside`, and {(series, x): ratio}."""
    if not figure.get("beside"):
        return "", {}
    axis, _, value = figure["beside"].partition(" ")
    for part, axes in enumerate((figure.get("series", "").split(), figure["x"].split())):
        if axis in axes:
            at = axes.index(axis)
            break
    else:
        raise Failure(f"{path}: beside = {figure['beside']}: {axis} is an axis neither of x nor of series")
    ratios = {}
    for key, own in ours.items():
        words = key[part].split(" ")
        if words[at:at + 1] in ([], [value]):  # a mean, which has no axes, or the reference itself
            continue
        words[at] = value
        other = ours.get((" ".join(words), key[1]) if part == 0 else (key[0], " ".join(words)))
        if other and other.mean:
            ratios[key] = own.mean / other.mean
    if not ratios:
        raise Failure(f"{path}: beside = {figure['beside']}: no place has a value of it and another one")
    return f"over {names.get(value, value)}", ratios


def table(figure, names, ours, published, note, stem, beside=("", {})):
    """One line per point: our value with its interval, its ends if it is one of energies, the number of start phases and the number
    required for 1 %, the published value, their ratio, and the ratio of `beside`."""
    with_series = any(s for s, _ in [*ours, *published])
    with_ends = any(value.ends for value in ours.values())
    heading, ratios = beside
    ends = " all energies low, all high |" if with_ends else ""
    lines = [f"| {'series | ' if with_series else ''}{figure['x_label']} | Lacuna | 95 % interval |{ends} samples (for ± 1 %) |"
             f"{f' {heading} |' if heading else ''} {figure['reference']} | ratio | source |",
             "|---" * (7 + with_series + with_ends + bool(heading)) + "|"]
    for key in unique([*ours, *published]):
        own = ours.get(key)
        mean = own and own.mean
        value, source = published.get(key, (None, ""))
        cells = [names.get(key[0], key[0])] if with_series else []
        cells += [names.get(key[1], key[1]), "–" if mean is None else shown(mean),
                  f"{shown(own.low)} … {shown(own.high)}" if own and own.has_interval() else "–",
                  *([", ".join(map(shown, own.ends)) if own and own.ends else "–"] if with_ends else []),
                  "–" if own is None else f"{own.samples}" + (f" ({own.needed:,})" if own.needed else "") + (", sampled timing" if own.sampled else ""),
                  *([f"{ratios[key]:.2f}" if key in ratios else "–"] if heading else []),
                  "–" if value is None else shown(value),
                  f"{mean / value:.2f}" if mean is not None and value else "–", source]
        lines.append("| " + " | ".join(cells) + " |")
    text = f"### {figure['title']}\n\n{figure['y_label']}.\n\n" + "\n".join(lines) + "\n"
    if with_ends:
        text += "\n" + ENDS_NOTE + "\n"
    if note:
        text += "\n" + note + "\n"
    pathlib.Path(f"{stem}.md").write_text(text, encoding="utf-8")


def geometric(places):
    """Whether values on an axis are nearer to powers than to equal distances."""
    return len(places) > 2 and places[0] > 0 and places[-1] / places[0] >= 8 and (places[1] - places[0]) * len(places) < places[-1] - places[0]


def own_figures(path, keys):
    """A description for each metric of a sweep that has none: {stem: figure}."""
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    if not rows or "points" not in rows[0]:
        raise Failure(f"{path}: is not what `lacuna results SWEEP --csv` prints")
    columns = list(rows[0])
    axes = columns[:columns.index("points")]
    metrics = [column[:-len("_mean")] for column in columns if column.endswith("_mean")]
    values = {axis: unique(row[axis] for row in rows) for axis in axes}
    for key, names in (("x", axes), ("series", axes), ("y", metrics)):
        for one in keys.get(key, "").split():
            if one not in names:
                raise Failure(f"{key}={one}: {path} has {', '.join(names) or 'none'}")
    for key in keys:
        if key not in KEYS:
            raise Failure(f"unknown key {key}; known: {', '.join(KEYS)}")
    if not axes:
        raise Failure(f"{path}: the sweep has no axis to plot over")
    numbers = [axis for axis in axes if all(quantity(value) is not None for value in values[axis])]
    x = keys.get("x") or max(numbers or axes, key=lambda axis: len(values[axis]))
    others = [axis for axis in axes if axis not in x.split() and len(values[axis]) > 1]
    line = x in numbers
    figures = {}
    for metric in [keys["y"]] if "y" in keys else metrics:
        stem = re.sub(r"[^A-Za-z0-9_.-]+", "_", metric)
        figures[stem] = {
            "title": f"{metric} over {x}", "kind": "line" if line else "bars", "x": x, "x_label": x, "y": metric, "y_label": metric,
            "series": " ".join(others), "reference": "published", "y_scale": "linear",
            "x_scale": "log2" if line and geometric(sorted(map(quantity, values[x]))) else "linear", **keys}
    return figures


def named(axes, series):
    """What the legend says: "l2.size = 64KiB, n = 4" of the axes' values."""
    values = series.split(" ")
    return ", ".join(f"{axis} = {value}" for axis, value in zip(axes, values)) if axes and len(axes) == len(values) else series


def plot(arguments):
    keys = dict(argument.partition("=")[::2] for argument in arguments[2:])
    try:
        if len(arguments) < 2 or not all("=" in argument for argument in arguments[2:]):
            raise Failure("--plot needs OURS.csv and OUTPUT_FOLDER, then KEY=VALUE; see --help")
        path, folder = map(pathlib.Path, arguments[:2])
        figures = own_figures(path, keys)
        folder.mkdir(parents=True, exist_ok=True)
        for name, figure in figures.items():
            ours, _ = read_ours(path, figure)
            ours = {(named(figure["series"].split(), series), x): value for (series, x), value in with_means(ours, figure).items()}
            stem = folder / name
            draw(figure, {}, ours, {}, stem)
            print(f"{stem}.png\n{stem}.svg")
    except (Failure, OSError) as error:
        print(f"figures.py: {error}", file=sys.stderr)
        return 1
    return 0


def main(arguments):
    if arguments[:1] == ["--plot"]:
        return plot(arguments[1:])
    if len(arguments) != 4 or arguments[0] in ("-h", "--help"):
        print(__doc__.strip(), file=sys.stdout if arguments[:1] in (["-h"], ["--help"]) else sys.stderr)
        return 0 if arguments[:1] in (["-h"], ["--help"]) else 2
    scale_of_run = arguments.pop(1)
    description, ours_path, folder = map(pathlib.Path, arguments)
    try:
        if scale_of_run not in RUN_SCALES:
            raise Failure(f"scale {scale_of_run}: must be one of {', '.join(RUN_SCALES)}")
        figure, names = read_description(description)
        ours, rows = read_ours(ours_path, figure)
        note = caption(description, figure, scale_of_run, rows)
        ours = with_means(ours, figure)
        published = read_published(description, figure)
        folder.mkdir(parents=True, exist_ok=True)
        stem = folder / description.stem
        draw(figure, names, ours, published, stem)
        # Rooflines are bounds, not values to compare with.
        table(figure, names, ours, {} if figure["kind"] == "roofline" else published, note, stem, besides(description, figure, names, ours))
    except (Failure, OSError) as error:
        print(f"figures.py: {error}", file=sys.stderr)
        return 1
    print(f"{stem}.png\n{stem}.svg\n{stem}.md")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
