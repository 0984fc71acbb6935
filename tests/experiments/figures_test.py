#!/usr/bin/env python3
"""experiments/figures.py: legends, captions of each scale, and that the pages of docs/results have the captions of the descriptions."""
import contextlib
import io
import pathlib
import re
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "experiments"))
import figures  # noqa: E402  (after the path)

BARS = """[figure]
title = Bars
sweep = bars
kind = bars
x = size
series = variant
x_label = Size
y = time
y_label = Time (s)
published = bars.csv
"""
OURS = """variant,size,batch,time_mean,time_low,time_high,time_samples,time_needed
first,1024,2,1,,,1,
first,2048,2,2,,,1,
second,1024,2,3,,,1,
second,2048,2,4,,,1,
third,4096,64,,,,0,
"""
SPREAD = """variant,size,batch,time_mean,time_low,time_high,time_samples,time_needed
first,1024,2,100,90,110,3,1234
first,2048,2,400,380,420,4,9
second,1024,2,3,3,3,5,2
second,2048,2,4,,,1,
"""

ENERGY = """variant,size,batch,time_mean,time_low,time_high,time_samples,time_needed,time_at_low_energies,time_at_high_energies
first,1024,2,1.5,1.4,1.6,3,12,1.25,1.75
first,2048,2,2,,,1,,2.25,1.75
second,1024,2,3,,,1,,3,3.5
second,2048,2,4,,,1,,,
"""

OWN = """l2.size,n,points,done,cycles_mean,cycles_min,cycles_max,cycles_samples,cycles_low,cycles_high,cycles_deviation,cycles_needed,misses_mean,misses_low,misses_high,misses_samples,misses_needed
64KiB,1024,3,3,30,29,31,3,28,32,1,40,5,,,1,
64KiB,2048,3,3,60,59,61,3,58,62,1,40,9,,,1,
256KiB,1024,3,3,20,19,21,3,18,22,1,40,4,,,1,
1MiB,1024,3,3,10,9,11,3,8,12,1,40,3,,,1,
"""


class Figures(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_figures(self, description, published="", scale="quick", ours=OURS):
        """The exit code, and what is printed to stderr."""
        (self.folder / "bars.figure").write_text(description, encoding="utf-8")
        (self.folder / "bars.csv").write_text("series,x,value,source\n" + published, encoding="utf-8")
        (self.folder / "ours.csv").write_text(ours, encoding="utf-8")
        errors = io.StringIO()
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(errors):
            code = figures.main([str(self.folder / "bars.figure"), scale, str(self.folder / "ours.csv"), str(self.folder / "out")])
        return code, errors.getvalue()

    def run_plot(self, *keys, ours=OWN):
        """The exit code, the names of the pictures, and what is printed to stderr."""
        (self.folder / "own.csv").write_text(ours, encoding="utf-8")
        output, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
            code = figures.main(["--plot", str(self.folder / "own.csv"), str(self.folder / "own"), *keys])
        return code, [pathlib.Path(line).name for line in output.getvalue().split()], errors.getvalue()

    def test_a_sweep_without_a_description_is_plotted(self):
        self.assertEqual(self.run_plot(), (0, ["cycles.png", "cycles.svg", "misses.png", "misses.svg"], ""))
        comments = re.findall(r"<!-- (.*?) -->", (self.folder / "own/cycles.svg").read_text(encoding="utf-8"))
        for text in ("cycles over l2.size", "64KiB", "256KiB", "1MiB", "n = 1024", "n = 2048"):  # ticks with units, and the other axis as lines
            self.assertIn(text, comments)
        self.assertEqual(self.run_plot("y=misses", "x=n", "title=Misses")[:2], (0, ["misses.png", "misses.svg"]))
        self.assertIn("<!-- Misses -->", (self.folder / "own/misses.svg").read_text(encoding="utf-8"))

    def test_mistakes_of_a_plot_name_what_there_is(self):
        self.assertIn("x=l2: ", self.run_plot("x=l2")[2])
        self.assertIn("has l2.size, n", self.run_plot("x=l2")[2])
        self.assertIn("y=cycle: ", self.run_plot("y=cycle")[2])
        self.assertIn("unknown key titel; known: title", self.run_plot("titel=x")[2])
        self.assertIn("is not what `lacuna results SWEEP --csv` prints", self.run_plot(ours="a,b\n1,2\n")[2])

    def test_quantities_have_the_units_of_configurations(self):
        for text, value in (("256KiB", 262144), ("1.5GHz", 1.5e9), ("16cycles", 16), ("-3", -3), ("1 %", 0.01), ("2e3", 2000)):
            self.assertEqual(figures.quantity(text), value)
        for text in ("tiny", "3x", "", "KiB"):
            self.assertIsNone(figures.quantity(text))

    def legend(self, description, published):
        """Labels of the legend, which matplotlib leaves in the SVG as comments."""
        self.assertEqual(self.run_figures(description, published), (0, ""))
        legend = (self.folder / "out/bars.svg").read_text(encoding="utf-8").split('<g id="legend_1">')
        return re.findall(r"<!-- (.*) -->", legend[1]) if len(legend) == 2 else []

    def caption(self, note, scale="quick", ours=OURS):
        self.assertEqual(self.run_figures(BARS + note, scale=scale, ours=ours), (0, ""))
        table = (self.folder / "out/bars.md").read_text(encoding="utf-8")
        return table.rstrip("\n").split("|\n\n")[-1] if not table.endswith("|\n") else ""

    def test_values_of_energies_have_a_line_between_their_ends(self):
        self.assertEqual(self.run_figures(BARS + "mean = arithmetic\n", ours=ENERGY), (0, ""))
        table = (self.folder / "out/bars.md").read_text(encoding="utf-8")
        self.assertIn("| 95 % interval | all energies low, all high | samples (for ± 1 %) |", table)
        self.assertIn("| first | 1024 | 1.50 | 1.40 … 1.60 | 1.25, 1.75 | 3 (12) |", table)
        self.assertIn("| first | mean | 1.75 | – | 1.75, 1.75 | 1 |", table)
        self.assertIn("| second | 2048 | 4.00 | – | – | 1 |", table)
        self.assertIn("| second | mean | 3.50 | – | – | 1 |", table)
        rows = [line for line in table.split("\n") if line.startswith("|")]
        self.assertEqual({row.count("|") for row in rows}, {10})
        self.assertIn(figures.ENDS_NOTE, table)
        picture = (self.folder / "out/bars.svg").read_text(encoding="utf-8")
        self.assertIn("<!-- grey: all energies low to all high -->", picture)
        self.assertEqual(self.run_figures(BARS), (0, ""))
        self.assertNotIn("energies", (self.folder / "out/bars.md").read_text(encoding="utf-8"))
        self.assertNotIn("energies", (self.folder / "out/bars.svg").read_text(encoding="utf-8"))

    def test_a_long_label_of_the_vertical_axis_takes_two_lines(self):
        self.legend(BARS.replace("y_label = Time (s)", "y_label = Operations of service queues that the core's own have delayed (%)"), "")
        picture = (self.folder / "out/bars.svg").read_text(encoding="utf-8")
        self.assertIn("<!-- Operations of service queues that the core's -->", picture)
        self.assertIn("<!-- own have delayed (%) -->", picture)

    def test_published_values_of_any_series_have_one_entry_in_the_legend(self):
        for published in ("first,1024,1,a\n", "second,1024,1,a\n", "third,1024,1,a\n", "first,1024,1,a\nsecond,2048,1,a\nsecond,best,1,a\n"):
            with self.subTest(published):
                labels = self.legend(BARS, published)
                self.assertEqual(labels.count("published"), 1, labels)
                self.assertEqual(labels[:2], ["first", "second"])
        self.assertEqual(self.legend(BARS, ""), ["first", "second"])

    def test_a_series_of_published_values_alone_is_named_beside_its_markers(self):
        self.assertEqual(self.legend(BARS, "fourth,1024,1,a\nsecond,2048,1,a\n"), ["first", "second", "published"])
        picture = (self.folder / "out/bars.svg").read_text(encoding="utf-8").split('<g id="legend_1">')[0]
        self.assertEqual([picture.count(f"<!-- {name} -->") for name in ("fourth", "second")], [1, 0])

    def test_published_values_of_lines_are_named_by_their_series(self):
        lines = BARS.replace("kind = bars", "kind = line")
        self.assertEqual(self.legend(lines, "second,1024,1,a\n"), ["first", "second", "second, published"])

    def test_other_values_than_published_ones_have_their_name(self):
        limits = BARS + "reference = limit\n"
        for description in (limits, limits.replace("kind = bars", "kind = line")):
            labels = self.legend(description, "second,1024,1,a\n")
            self.assertRegex(labels[-1], "limit$")
            self.assertIn("| limit | ratio | source |", (self.folder / "out/bars.md").read_text(encoding="utf-8"))
            self.assertNotIn("published", " ".join(labels))

    def test_names_come_from_a_file_and_the_description(self):
        (self.folder / "variants.names").write_text("[names]\nfirst = One\nsecond = Two\n", encoding="utf-8")
        named = BARS + "names = variants.names\n[names]\nsecond = 2\n"
        self.assertEqual(self.legend(named, ""), ["One", "2"])
        (self.folder / "variants.names").write_text("[figure]\nfirst = One\n", encoding="utf-8")
        self.assertIn("variants.names: has to have a section [names], and no other", self.run_figures(named)[1])
        self.assertIn("absent.names", self.run_figures(BARS + "names = absent.names\n")[1])

    def test_bars_of_one_series_and_published_values_have_a_legend(self):
        one = BARS.replace("series = variant\n", "where = variant\n")
        ours = "\n".join(line for line in OURS.split("\n") if not line.startswith("second"))
        self.assertEqual(self.run_figures(one, ",2048,1,a\n", ours=ours), (0, ""))
        self.assertIn("<!-- published -->", (self.folder / "out/bars.svg").read_text(encoding="utf-8"))

    def test_a_caption_has_the_values_of_its_own_points(self):
        note = "note = Sizes {size}; {batch} images, {size * batch} in all, {=16} bits.\n"
        self.assertEqual(self.caption(note), "Sizes 1,024 and 2,048; 2 images, 2,048 and 4,096 in all, 16 bits.")
        # A point that has run is named as soon as it has a value.
        self.assertIn("Sizes 1,024, 2,048 and 4,096; 2 and 64 images", self.caption(note, ours=OURS.replace("64,,,,0,", "64,5,,,1,")))
        code, message = self.run_figures(BARS + "note = {pulses} pulses.\n")
        self.assertEqual(code, 1)
        self.assertIn("note has {pulses}, but there is no axis pulses; columns: variant, size, batch", message)

    def rows(self, description, ours=SPREAD):
        """The table's rows: series, place, mean, interval, samples."""
        self.assertEqual(self.run_figures(description, ours=ours), (0, ""))
        table = (self.folder / "out/bars.md").read_text(encoding="utf-8").split("\n")
        return [tuple(cell.strip() for cell in line.split("|")[1:6]) for line in table if line.startswith("| ")]

    def test_intervals_are_those_of_the_means(self):
        header, *rows = self.rows(BARS)
        self.assertEqual(header, ("series", "Size", "Lacuna", "95 % interval", "samples (for ± 1 %)"))
        self.assertEqual(rows, [("first", "1024", "100", "90.0 … 110", "3 (1,234)"), ("first", "2048", "400", "380 … 420", "4 (9)"),
                                ("second", "1024", "3.00", "3.00 … 3.00", "5 (2)"), ("second", "2048", "4.00", "–", "1")])
        for kind in ("bars", "line"):
            self.assertEqual(self.run_figures(BARS.replace("kind = bars", f"kind = {kind}"), ours=SPREAD), (0, ""))

    def test_a_mean_of_means_has_an_interval_when_all_have_one(self):
        rows = self.rows(BARS + "mean = arithmetic\n")
        self.assertIn(("first", "mean", "250", "235 … 265", "3"), rows)
        self.assertIn(("second", "mean", "3.50", "–", "1"), rows)
        # the half-widths are 10 % of 100 and 5 % of 400, on average 7.5 %, of the geometric mean 200
        self.assertIn(("first", "mean", "200", "185 … 215", "3"), self.rows(BARS + "mean = geometric\n"))
        over = BARS.replace("x = size\n", "x = batch\nover = size\n")
        self.assertEqual(self.rows(over)[1:], [("first", "2", "250", "235 … 265", "3"), ("second", "2", "3.50", "–", "1")])

    def test_error_bars_are_the_intervals(self):
        drawn = {}
        for kind, draw in (("bars", figures.draw_bars), ("line", figures.draw_lines)):
            (self.folder / "ours.csv").write_text(SPREAD, encoding="utf-8")
            (self.folder / "bars.figure").write_text(BARS, encoding="utf-8")
            figure, _ = figures.read_description(self.folder / "bars.figure")
            ours, _ = figures.read_ours(self.folder / "ours.csv", figure)
            _, axes = figures.plt.subplots()
            draw(axes, ours, {}, ["first", "second"], lambda text: text)
            bars = [container for container in axes.containers if getattr(container, "has_yerr", False)]
            drawn[kind] = [[tuple(segment[:, 1]) for segment in container[2][0].get_segments()] for container in bars]
            figures.plt.close()
        for kind, ends in drawn.items():
            with self.subTest(kind):
                # The last value has one sample and therefore no interval.
                self.assertEqual(ends, [[(90, 110), (380, 420)], [(3, 3)]])

    def test_sampled_values_are_marked(self):
        header, *lines = SPREAD.strip().split("\n")
        ours = "\n".join([header + ",time_sampled", lines[0] + ",8", *(line + "," for line in lines[1:3]), "second,2048,2,4,3,5,1,,1", ""])
        self.assertEqual([row[4] for row in self.rows(BARS, ours)[1:]], ["3 (1,234), sampled timing", "4 (9)", "5 (2)", "1, sampled timing"])
        self.assertEqual(self.rows(BARS, ours)[4][3], "3.00 … 5.00")
        # A mean is marked as sampled if any of its values is sampled.
        self.assertIn(("first", "mean", "250", "235 … 265", "3, sampled timing"), self.rows(BARS + "mean = arithmetic\n", ours))
        for kind, mark in (("bars", "hatched: sampled timing"), ("line", "hollow: sampled timing")):
            with self.subTest(kind):
                description = BARS.replace("kind = bars", f"kind = {kind}")
                self.assertEqual(self.run_figures(description, "second,2048,1,a\n", ours=ours), (0, ""))
                legend = (self.folder / "out/bars.svg").read_text(encoding="utf-8").split('<g id="legend_1">')[1]
                labels = re.findall(r"<!-- (.*) -->", legend)
                self.assertEqual(labels[:3], ["first", "second", mark])
                self.assertIn("published", labels[3])
        # A single series has a legend because of its mark.
        one = "\n".join([header + ",time_sampled", lines[0] + ",8", ""])
        self.assertEqual(self.run_figures(BARS, ours=one), (0, ""))
        self.assertIn("hatched: sampled timing", (self.folder / "out/bars.svg").read_text(encoding="utf-8"))

    def test_values_that_are_not_sampled_have_the_same_files_with_and_without_the_column(self):
        files = []
        lines = SPREAD.strip().split("\n")
        for ours in (SPREAD, "\n".join([lines[0] + ",time_sampled", *(line + "," for line in lines[1:]), ""])):
            self.assertEqual(self.run_figures(BARS, ours=ours), (0, ""))
            files.append([(self.folder / f"out/bars.{kind}").read_bytes() for kind in ("md", "svg")])
        self.assertEqual(files[0], files[1])
        self.assertNotIn(b"sampled", b"".join(files[1]))

    def test_marks_are_at_the_sampled_values(self):
        values = {("", "1"): figures.Value(5), ("", "2"): figures.Value(7, 6, 8, 1, None, True)}
        for draw in (figures.draw_bars, figures.draw_lines, figures.draw_roofline):
            _, axes = figures.plt.subplots()
            draw(axes, values, {}, [""], lambda text: text)
            if draw is figures.draw_bars:
                marked = [bar for bars in axes.containers if not getattr(bars, "has_yerr", False) for bar in bars if bar.get_hatch()]
                self.assertEqual([(bar.get_x() + bar.get_width() / 2, bar.get_height()) for bar in marked], [(1, 7)])
            else:
                hollow = [line for line in axes.lines if line.get_markerfacecolor() == "white"]
                self.assertEqual([(list(line.get_xdata()), list(line.get_ydata())) for line in hollow], [([2], [7])])
            figures.plt.close()

    def test_series_of_several_axes_and_what_stands_beside_them(self):
        ours = OURS.replace("first,", "a b,").replace("second,", "a c,").replace("third,", "d c,").replace("variant", "variant,kind").replace(
            "a b,", "a,b,").replace("a c,", "a,c,").replace("d c,", "d,c,")
        two = BARS.replace("series = variant", "series = variant kind\nmean = geometric\nbeside = kind b") + "[names]\nb = the second\n"
        self.assertEqual(self.run_figures(two, ours=ours), (0, ""))
        table = (self.folder / "out/bars.md").read_text(encoding="utf-8")
        self.assertIn("| samples (for ± 1 %) | over the second | published |", table)
        self.assertIn("| a b | 1024 | 1.00 | – | 1 | – | – |", table)
        self.assertIn("| a c | 1024 | 3.00 | – | 1 | 3.00 | – |", table)
        self.assertIn("| a c | mean | 3.46 | – | 1 | 2.45 | – |", table)
        self.assertEqual(self.run_figures(two.replace("y = time", "y = time size").replace("x = size", "x = batch"),
                                          ours=ours.replace("time_needed", "time_needed,size_mean,size_low,size_high,size_samples,size_needed")
                                          .replace("1,\n", "1,,7,,,1,\n").replace("1024,2,3", "1024,3,3").replace("2048,2,4", "2048,4,4")
                                          .replace("2048,2,2", "2048,3,2").replace("0,\n", "0,,,,,,\n")), (0, ""))
        self.assertIn("| a b size | 2 | 7.00 | – | 1 | – | – |", (self.folder / "out/bars.md").read_text(encoding="utf-8"))
        code, message = self.run_figures(two.replace("beside = kind b", "beside = batch 2"), ours=ours)
        self.assertEqual(code, 1)
        self.assertIn("batch is an axis neither of x nor of series", message)
        self.assertIn("no place has a value", self.run_figures(two.replace("kind b", "kind x"), ours=ours)[1])

    def test_each_scale_has_its_own_sentences(self):
        note = "note = Always.\nnote.quick = On 8 compute units.\nnote.paper = On 108 compute units, {batch} images.\n"
        self.assertEqual(self.caption(note), "Always. On 8 compute units.")
        self.assertEqual(self.caption(note, "paper"), "Always. On 108 compute units, 2 images.")
        self.assertEqual(self.caption("note.quick = On 8 compute units.\n", "paper"), "")
        self.assertIn("scale large: must be one of quick, paper", self.run_figures(BARS, scale="large")[1])

    def test_a_number_of_one_scale_is_refused_in_the_note_of_both(self):
        for text, number in (("Layers with four images.", "four"), ("Six pulses; nothing else.", "Six"), ("2^18 points a batch.", "2"),
                             ("A ratio of 3.5.", "3.5"), ("As in Fig. 3, of 1,024 rows.", "1,024"), ("The paper has 3. Ours has 5.", "5")):
            with self.subTest(text):
                code, message = self.run_figures(BARS + f"note = {text}\n")
                self.assertEqual(code, 1)
                self.assertIn(f"note says {number} of every scale", message)
        for text in ("The paper has 1,024.", "ResNet-18 in f16, `--passes 4`, Figs. 3.11 and 3.12.", "Section 3.6, Table 2.4.", "Layers {size} of {=12}."):
            with self.subTest(text):
                self.assertEqual(self.run_figures(BARS + f"note = {text}\n"), (0, ""))

    def test_results_have_the_captions_of_the_descriptions(self):
        found = set()
        for page in sorted((ROOT / "docs/results").glob("*.md")):
            scale, prefix = ("paper", "paper_") if page.stem.endswith("_paper") else ("quick", "")
            for part in re.split(r"\n(?=##)", page.read_text(encoding="utf-8")):
                picture = re.search(r"!\[(\w+)\]\(figures/(\w+)\.svg\)", part)
                if not part.startswith("### ") or not picture:
                    continue
                paper = picture[2].removeprefix(prefix).removesuffix("_" + picture[1])
                self.assertEqual(page.stem, paper + ("_paper" if prefix else ""))
                figure, _ = figures.read_description(ROOT / "experiments" / paper / f"{picture[1]}.figure")
                with self.subTest(page=page.name, figure=f"{paper}:{picture[1]}"):
                    wanted = " ".join(" ".join(figure[key].split()) for key in ("note", f"note.{scale}") if figure.get(key))
                    text = re.sub(r"\\{(?!=)[^}]*\\}", ".+", re.escape(re.sub(r"\{=([^}]*)\}", r"\1", wanted)))
                    shown = part[part.rindex("|\n") + 2:part.index("![")].strip().removeprefix(figures.ENDS_NOTE).strip()
                    self.assertRegex(shown, f"^{text}$")
                    self.assertTrue(part.startswith(f"### {figure['title']}\n\n{figure['y_label']}.\n"))
                    found.add((scale, paper, picture[1]))
        known = {(path.parent.name, path.stem) for path in (ROOT / "experiments").glob("*/*.figure")}
        self.assertEqual({(paper, figure) for scale, paper, figure in found if scale == "quick"}, known)


if __name__ == "__main__":
    unittest.main()
