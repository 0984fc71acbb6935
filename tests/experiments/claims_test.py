#!/usr/bin/env python3
"""experiments/claims.py: verdicts, rejected input, and that docs/results has the tables that the script writes."""
import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "experiments"))
import claims  # noqa: E402  (after the path)

SUMMARY = f"""# Results

{claims.BEGIN}
what was here before
{claims.END}
After.
"""
PAGE = """# A paper

| a table | of the text | 1 |
|---|---|---|
| Lacuna | 3 | 4 |

### A figure: speed

| series | Machine | Lacuna | 95 % interval | samples (for ± 1 %) | published | ratio | source |
|---|---|---|---|---|---|---|---|
| old | one | 1.00 | 0.980 … 1.02 | 3 (4) | – | – |  |
| new | one | 2.00 | – | 1 | 2.20 | 0.91 | text |
| new | two | – | – | – | 2.20 | – | text |

    ./dev reproduce paper:speed quick

### Rates

| Machine | Lacuna | 95 % interval | samples (for ± 1 %) | published | ratio | source |
|---|---|---|---|---|---|---|
| one | 1,250 | 1,200 … 1,300 | 3 | – | – |  |

    ./dev reproduce paper:rates quick
"""
HEADER = ",".join(claims.COLUMNS) + "\n"


class Claims(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        (self.folder / "paper").mkdir()
        (self.folder / "paper/README.md").write_text("# The paper (A '01)\n", encoding="utf-8")

    def run_on(self, rows, summary=SUMMARY):
        """(exit code, what it says, the summary page)"""
        path, file = self.folder / "README.md", self.folder / "paper/claims.csv"
        path.write_text(summary, encoding="utf-8")
        (self.folder / "paper.md").write_text(PAGE, encoding="utf-8")
        file.write_text(HEADER + "".join(row + "\n" for row in rows), encoding="utf-8")
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            code = claims.main([str(self.folder), str(file)])
        return code, said.getvalue(), path.read_text(encoding="utf-8")

    def verdict(self, relation, published, theirs, ours):
        code, said, page = self.run_on([f"It is fast,section 1,{relation},{published},{theirs},{ours},As measured."])
        self.assertEqual((code, said), (0, ""))
        line = next(line for line in page.splitlines() if line.startswith("| It is fast"))
        return line.split(" | ")[5]

    def test_verdicts_follow_from_the_values(self):
        old, new = "speed > old > one", "speed > new > one"
        for relation, published, theirs, ours, expected in [
                ("=", 2.2, new, "", "reproduced"),
                ("=", 2.2, "", new, "reproduced"),
                ("=", 2.2, new, new, "reproduced"),
                ("=", 2.2, old, new, "reproduced only in our setting"),
                ("=", 2.2, new, old, "reproduced only as published"),
                (">=", 1.9, old, new, "reproduced only in our setting"),
                ("<=", 1.9, old, new, "reproduced only as published"),
                ("<=", 2.1, old, new, "reproduced"),
                ("=", 2.2, claims.MISSING, "", "not compared"),
                ("=", 3, new, old, "**not reproduced**"),
                ("=", 1.01, old, "", "reproduced"),
                ("gain", 2.2, new, "", "reproduced"),
                ("gain", 0.95, new, "", "**not reproduced**"),
                ("gain", 1.1, old, "", "**not reproduced**"),  # its interval contains 1
                ("same", 1.12, old, "", "**not reproduced**"),
                ("same", 1.02, old, "", "reproduced"),
                ("points", 6, new, "", "reproduced"),
                ("points", -4, new, "", "**not reproduced**"),
                (">=", 1.9, new, "", "reproduced"),
                (">=", 2.1, new, "", "**not reproduced**"),
                ("<=", 1.9, new, "", "**not reproduced**"),
                ("<=", 5, new, "", "reproduced"),
                (">=", 1.01, old, "", "reproduced"),
                ("<=", 0.99, old, "", "reproduced")]:
            with self.subTest(relation=relation, published=published, theirs=theirs, ours=ours):
                self.assertEqual(self.verdict(relation, published, theirs, ours), expected)

    def test_a_loss_is_no_gain(self):
        self.assertFalse(claims.agrees("gain", 1.05, (0.98, 0.97, 0.99)))
        self.assertTrue(claims.agrees("=", 1.05, (0.98, 0.97, 0.99)))
        self.assertTrue(claims.agrees("gain", 1.05, (0.98, 0.9, 1.06)))
        self.assertTrue(claims.agrees("gain", 0.9, (0.98, 0.97, 0.99)))

    def test_an_interval_that_holds_1_shows_no_change(self):
        self.assertTrue(claims.agrees("gain", 0.92, (1.07, 0.9, 1.24)))
        self.assertFalse(claims.agrees("change", 0.92, (1.07, 0.9, 1.24)))
        self.assertFalse(claims.agrees("change", 0.92, (0.93, 0.85, 1.01)))
        self.assertTrue(claims.agrees("change", 0.92, (0.85, 0.72, 0.98)))
        self.assertTrue(claims.agrees("change", 0.92, (0.93, float("nan"), float("nan"))))
        self.assertFalse(claims.agrees("change", 0.92, (1.02, 1.01, 1.03)))

    def test_several_values_are_one_geometric_mean(self):
        code, _, page = self.run_on(["both,s,=,1.41,,speed > old > one; speed > new > one,w"])
        self.assertEqual(code, 0)
        self.assertIn("| [1.41](paper.md#a-figure-speed) | reproduced |", page)
        code, _, page = self.run_on(["both,s,=,35.4,,speed > old > one; rates > one,w"])
        self.assertIn("| [35.4 ± 1.1](paper.md#a-figure-speed) | reproduced |", page)
        code, said, _ = self.run_on(["both,s,=,2,,speed > old > one; speed > old > two,w"])
        self.assertNotEqual(code, 0)
        self.assertIn("speed has no value of old > two", said)

    def test_ratios_of_values(self):
        figures = claims.read_page(PAGE)
        _, (mean, low, high) = claims.look_up(figures, "rates > one ÷ speed > old > one", "")
        self.assertAlmostEqual(mean, 1250)
        self.assertAlmostEqual(high - mean, 1250 * (0.04**2 + 0.02**2) ** 0.5)
        self.assertAlmostEqual(mean - low, high - mean)
        _, (mean, low, _) = claims.look_up(figures, "speed > old > one % of speed > new > one", "")
        self.assertAlmostEqual(mean, 50)
        self.assertNotEqual(low, low, "a single sample has no interval, and neither has a ratio to it")
        _, (mean, _, _) = claims.look_up(figures, "speed > new > one ÷ speed > old > one; speed > new > one ÷ rates > one", "")
        self.assertAlmostEqual(mean, (2 * 0.0016) ** 0.5)
        self.assertEqual(self.verdict("points", 52, "speed > old > one % of speed > new > one", ""), "reproduced")
        self.assertIn("speed has no value of new > two", self.run_on(["A,s,=,1,rates > one ÷ speed > new > two,,w"])[1])

    def test_the_largest_and_smallest_value_of_a_series(self):
        rows = "| new | three | 3.00 | 2.50 … 3.50 | 3 | – | – |  |\n| new | mean | 9.00 | – | 1 | – | – |  |\n"
        figures = claims.read_page(PAGE.replace("| new | two |", f"{rows}| new | two |"))
        for place, value in (("three", 3), ("largest", 3), ("smallest", 2), ("mean", 9)):
            with self.subTest(place):
                self.assertEqual(claims.look_up(figures, f"speed > new > {place}", "")[1][0], value)
        self.assertEqual(claims.look_up(figures, "speed > new > largest", "")[1][1:], (2.5, 3.5), "the interval is that of the value")
        self.assertEqual(claims.look_up(figures, "rates > largest", "")[1][0], 1250)
        named = claims.read_page(PAGE.replace("| new | one |", "| new | largest |").replace("| new | two | – |", "| new | two | 7.00 |"))
        self.assertEqual(claims.look_up(named, "speed > new > largest", "")[1][0], 2, "a place of that name comes first")
        self.assertIn("speed has no value of newer > largest", self.run_on(["A,s,=,1,speed > newer > largest,,w"])[1])

    def test_the_table_replaces_the_one_before_and_links_to_the_figures(self):
        rows = ["Rate,Table 1,=,1300,,rates > one,As measured.", "Speed,section 2,=,9,speed > new > one,,One machine ({rates})."]
        code, _, page = self.run_on(rows)
        self.assertEqual(code, 0)
        self.assertNotIn("what was here before", page)
        self.assertIn("| [The paper (A '01)](paper.md) | 2 | 1 | 0 | 0 | 1 | 0 |\n| all | 2 | 1 | 0 | 0 | 1 | 0 |\n", page)
        self.assertIn("\n## The paper (A '01)\n", page)
        self.assertTrue(page.endswith(f"{claims.END}\nAfter.\n"))
        self.assertIn("| paper | claims | reproduced | reproduced only as published | reproduced only in our setting | "
                      "not reproduced | not compared |", page)
        self.assertIn("| Rate | Table 1 | 1,300 | – | [1,250 ± 50](paper.md#rates) | reproduced | As measured. |", page)
        self.assertIn("| Speed | section 2 | 9 | [2](paper.md#a-figure-speed) | – | **not reproduced** | One machine ([rates](paper.md#rates)). |", page)
        self.assertEqual(self.run_on(rows, page)[2], page, "written again, nothing changes")

    def test_every_claim_has_one_verdict(self):
        new, old = "speed > new > one", "speed > old > one"
        code, _, page = self.run_on([f"{number},s,=,2.2,{values},w" for number, values in enumerate(
            (f"{new},{new}", f"{new},{old}", f"{old},{new}", f"{old},{old}", f"{claims.MISSING},"))])
        self.assertEqual(code, 0)
        self.assertIn("| all | 5 | 1 | 1 | 1 | 1 | 1 |", page)
        self.assertIn("| 4 | s | 2.2 | – | – | not compared | w |", page)

    def test_refusals(self):
        for row, said in [
                ("A,s,=,1,speed > old > two,,w", "speed has no value of old > two; there are: old > one; new > one"),
                ("A,s,=,1,spead > old > one,,w", "the page has no figure spead; there are: speed, rates"),
                ("A,s,=,1,speed > new > two,,w", "speed has no value of new > two"),
                ("A,s,~,1,rates > one,,w", "relation ~: must be one of =, gain, change, same"),
                ("A,s,=,1,rates > one,,", "has no sentence in `why`"),
                ("A,s,=,1,rates > one,,As in {spead}.", "the page has no figure spead; there are: speed, rates"),
                ("A,s,=,1,,,w", "has a value neither as published nor ours"),
                ("A,s,=,1,–,rates > one,w", "says that no figure has a value, but `ours` has one"),
                ("A,s,=,1,,–,w", "has a value neither as published nor ours"),
                ("A,s,=,x,rates > one,,w", "could not convert")]:
            with self.subTest(row):
                code, message, page = self.run_on([row])
                self.assertEqual(code, 1)
                self.assertIn(said, message)
                self.assertEqual(page, SUMMARY, "the page stays as it was")
        self.assertIn("must have the lines", self.run_on([], "# No place\n")[1])

    def test_page_has_the_tables_of_its_values(self):
        page = (ROOT / "docs/results/README.md").read_text(encoding="utf-8")
        tables = claims.tables(ROOT / "docs/results", sorted(map(str, (ROOT / "experiments").glob("*/claims.csv"))))
        self.assertIn(f"{claims.BEGIN}\n{tables}{claims.END}", page, "experiments/claims.py writes other tables")

    def test_readme_has_the_numbers_of_claims(self):
        total = next(line for line in (ROOT / "docs/results/README.md").read_text(encoding="utf-8").splitlines() if line.startswith("| all |"))
        claims_in_all, reproduced, as_published, ours, not_reproduced, not_compared = [cell.strip() for cell in total.strip("|").split("|")][1:]
        self.assertEqual(int(claims_in_all), sum(map(int, (reproduced, as_published, ours, not_reproduced, not_compared))))
        self.assertIn(f"of {claims_in_all} claims, {reproduced} are reproduced, {as_published} only under the publication's assumptions, "
                      f"{ours} only under ours, and {not_reproduced} are not; {not_compared} have no value to compare",
                      (ROOT / "README.md").read_text(encoding="utf-8"))

    def test_every_paper_has_claims(self):
        for folder in (ROOT / "experiments").iterdir():
            if folder.is_dir() and list(folder.glob("*.figure")):
                self.assertTrue((folder / "claims.csv").is_file(), folder)


if __name__ == "__main__":
    unittest.main()
