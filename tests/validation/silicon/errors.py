"""Errors of our values, and their means. silicon.py defines both."""
import statistics

import tables


def error(row, ours):
    theirs = float(row["value"])
    return theirs / ours - 1 if tables.UNITS[row["unit"]] else ours / theirs - 1


class Summary:
    """Means, median, bias and worst case of the errors of some numbers."""

    def __init__(self, rows):
        self.count = len(rows)
        if not rows:
            return
        errors = [abs(row["error"]) for row in rows]
        self.plain, self.median = statistics.mean(errors), statistics.median(errors)
        self.bias = statistics.mean(row["error"] for row in rows)
        self.worst = max(rows, key=lambda row: abs(row["error"]))
        groups = {}
        for row in rows:
            groups.setdefault(row["class"], {}).setdefault((row["source"], row["where"]), []).append(abs(row["error"]))
        self.weighted = statistics.mean(statistics.mean(statistics.mean(group) for group in members.values()) for members in groups.values())

    def cells(self):
        if not self.count:
            return "0 | | | | "
        return (f"{self.count} | {self.weighted:.1%} | {self.plain:.1%} | {self.median:.1%} | "
                f"{self.worst['error']:+.0%} {self.worst['id']}")


def group(row):
    """The target of a row's board and the kind of its class."""
    makes = {"MI": "gfx90a", "R9": "gfx803", "RX": "gfx803", "S9": "gfx803", "GC": "gfx803"}
    kinds = {"kernel": "kernels", "traffic": "traffic of kernels"}
    return makes.get(row["board"][:2], "other targets"), kinds.get(row["class"], "micro-benchmarks")


def number(value):
    return f"{value:.4g}" if value < 1000 else f"{value:.0f}"
