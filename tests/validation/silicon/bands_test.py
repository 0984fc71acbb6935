#!/usr/bin/env python3
"""bands.py: tables that name what does not exist are refused, bands, errors at the ends, and that the page has the tables.

Usage: bands_test.py CONFIGS PAGE
"""
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
import bands  # noqa: E402  (after the setting)
import silicon  # noqa: E402
import tables  # noqa: E402

CONFIGS, PAGE = (pathlib.Path(name) for name in sys.argv[1:3])


def unknown(**changes):
    row = {"machine": "mi250x-gcd", "unknown": "l1v.mshrs", "value": "128", "low": "l1v.mshrs=72", "high": "", "numbers": "mi210-chase-1k",
           "reason": "not public"}
    return {**row, **changes}


def measured(**changes):
    row = {"id": "mi210-chase-1k", "class": "latency", "board": "MI210", "preset": "mi210", "value": "100", "unit": "cycles", "source": "s",
           "where": "w", "rule": "", "set": "judge", "ours": 110.0}
    row.update(changes)
    row["error"] = bands.error(row, row["ours"])
    return row


class Check(unittest.TestCase):
    def refused(self, text, changes, values=None):
        with self.assertRaisesRegex(tables.Failure, text):
            bands.check(tables.check(), CONFIGS, [unknown(**changes)], values or {})

    def test_accepts_a_valid_row(self):
        bands.check(tables.check(), CONFIGS, [unknown()], {("mi250x-gcd", "l1v.mshrs", "low", "mi210-chase-1k"): "120"})

    def test_refuses_a_parameter_that_no_module_has(self):
        self.refused("unknown parameter", {"unknown": "l1v.mshr", "low": "l1v.mshr=72"})
        self.refused("unknown parameter l1v.mshr", {"low": "l1v.mshrs=72; l1v.mshr=72"})

    def test_refuses_a_number_that_is_not_compared(self):
        self.refused("no compared number is mi210-chase-2k", {"numbers": "mi210-chase-1k mi210-chase-2k"})
        self.refused("no compared number is nano-read-64b", {"numbers": "nano-read-64b"})
        self.refused("no compared number is mi210-lds-latency", {"numbers": "mi210-lds-latency"})

    def test_refuses_a_value_that_is_not_the_presets(self):
        self.refused("the preset has 128", {"value": "64"})

    def test_refuses_a_range_without_ends_and_an_end_of_another_parameter(self):
        self.refused("has no range", {"low": ""})
        self.refused("does not set the parameter", {"low": "l2.mshrs=72"})

    def test_refuses_values_that_no_unknown_explains(self):
        for key, text in ((("fiji", "l1v.mshrs", "low", "mi210-chase-1k"), "no such unknown"),
                          (("mi250x-gcd", "l1v.mshrs", "high", "mi210-chase-1k"), "no such end"),
                          (("mi250x-gcd", "l1v.mshrs", "low", "mi210-chase-9k"), "not a number of this unknown")):
            self.refused(text, {}, {key: "120"})


class Bands(unittest.TestCase):
    def varied(self, row, values, **changes):
        keys = {("mi250x-gcd", "l1v.mshrs", end, row["id"]): value for end, value in values.items()}
        return bands.Varied(unknown(**changes), [row], keys)

    def test_has_the_least_and_the_greatest_value_and_what_moves_most(self):
        row = measured()
        first = self.varied(row, {"low": "105", "high": "112"}, high="l1v.mshrs=256")
        second = self.varied(row, {"low": "120"}, unknown="l2.mshrs")
        second.ends[row["id"]] = {"low": 120.0, "high": 110.0}
        self.assertEqual(bands.cell(row, [first, second]), "105 to 120 (`l2.mshrs`, 2 varied)")

    def test_an_empty_end_has_the_value_of_the_preset(self):
        self.assertEqual(self.varied(measured(), {"low": "105"}).ends, {"mi210-chase-1k": {"low": 105.0, "high": 110.0}})

    def test_a_number_that_was_not_varied_has_a_dash(self):
        row = measured()
        self.assertEqual(bands.cell(row, [self.varied(row, {})]), "–")

    def test_a_number_that_does_not_move_says_so(self):
        row = measured()
        self.assertEqual(bands.cell(row, [self.varied(row, {"low": "110.05"})]), "within 0.1 % (1 varied)")

    def test_errors_at_an_end_are_of_its_values(self):
        row, other = measured(), measured(id="mi210-chase-9k")
        moved, still = self.varied(row, {"low": "150"}).at([row, other], "low")
        self.assertAlmostEqual(moved["error"], 0.5)
        self.assertEqual(still, other)


class Page(unittest.TestCase):
    def test_has_the_tables_of_the_stored_values(self):
        rows, results = tables.check(), silicon.read_results()
        silicon.join(rows, results)
        text = PAGE.read_text(encoding="utf-8")
        written = text.split(silicon.BEGIN)[1].split(silicon.END)[0].strip()
        self.assertTrue(written == silicon.page(rows), f"{PAGE.name} differs from the stored values: ./dev silicon --bands writes it")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
