#!/usr/bin/env python3
"""Checks that every command of every page is run by CTest or listed in not_run.txt, and that every link is valid.

Usage: pages_test.py PAGE...     the pages that CTest runs
"""
import importlib.util
import pathlib
import re
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
import links  # noqa: E402  (no bytecode is left in the source folder)
import page as pages  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUN = []
# Rows of the table in docs/guide/extending.md.
PARTS = ["replacement policy", "policy of L1 caches", "packet that an engine executes", "packet type", "counter column", "topology",
         "instruction", "parameter", "statistic", "preset", "energy entry", "research machine", "figure or an experiment"]
# Paths that docs/guide/extending.md names for its examples as parts of the simulator, where no files exist.
EXAMPLES_AS_PART = ["models/cache/replacement/fifo.h", "models/noc/topology/all_to_all.h"]


class Pages(unittest.TestCase):
    def test_commands_of_every_page_are_run_or_listed(self):
        for name in (name for name in pages.tracked(ROOT) if name.endswith(".md")):
            with self.subTest(name):
                left = [command for command in pages.read(ROOT, name).commands if not command.reason]
                self.assertEqual(bool(left), name in RUN, f"{name}: CTest must run the page if, and only if, it has commands that "
                                 f"{pages.NOT_RUN.name} does not list: {left[:1]}")

    def test_commands_are_what_a_shell_takes(self):
        for name in (name for name in pages.tracked(ROOT) if name.endswith(".md")):
            for block in re.findall(r"^```sh\n(.*?)^```", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
                shell = subprocess.run(["bash", "-n"], input=block, text=True, capture_output=True, check=False)
                self.assertEqual(shell.returncode, 0, f"{name}: {shell.stderr}{block}")

    def test_listed_pages_exist(self):
        for name in [*pages.exceptions(), *RUN]:
            self.assertTrue((ROOT / name).is_file(), name)

    def test_quoted_files_are_as_quoted(self):
        page = pages.read(ROOT, "docs/guide/extending.md")
        examples = {str(path.relative_to(ROOT)) for path in (ROOT / "tests/extending").glob("*.h")}
        self.assertEqual(set(page.files), examples, "docs/guide/extending.md quotes every example")
        for name, text in page.files.items():
            self.assertEqual(text, (ROOT / name).read_text(encoding="utf-8"), f"docs/guide/extending.md quotes another {name}")

    def test_named_files_exist(self):
        text = (ROOT / "docs/guide/extending.md").read_text(encoding="utf-8")
        for name in re.findall(r"`((?:models|tests|platform|configs|docs|experiments)/[\w/.-]+)`", text):
            self.assertTrue(name in EXAMPLES_AS_PART or (ROOT / name).exists(), f"docs/guide/extending.md names {name}")

    def test_what_is_added_has_a_place(self):
        text = (ROOT / "docs/guide/extending.md").read_text(encoding="utf-8")
        rows = re.findall(r"^\| an? (.*?) \|(.*)\|$", text[text.index("## Where do I add"):], re.MULTILINE)
        self.assertEqual([name for name, _ in rows], PARTS)
        for name, places in rows:
            paths = re.findall(r"`((?:models|platform|configs|experiments)(?:/[\w/.-]+)?)`", places)
            self.assertTrue(paths, f"docs/guide/extending.md does not say where {name} is added")
            for path in paths:
                self.assertTrue((ROOT / path).exists(), f"docs/guide/extending.md adds {name} to {path}")

    def test_functions_of_lives_exist(self):
        headers = {path: path.read_text(encoding="utf-8") for path in (ROOT / "models").rglob("*.h")}
        for name in ("docs/guide/life-of-a-load.md", "docs/guide/life-of-a-dispatch.md"):
            found = re.findall(r"`(?:(\w+)::)?(\w+)\(\)`", (ROOT / name).read_text(encoding="utf-8"))
            self.assertGreater(len(found), 15, name)
            for owner, function in found:
                declared = re.compile(rf"\b{function}\(")
                candidates = [text for text in headers.values() if not owner or re.search(rf"\b(?:class|struct) (?:alignas\(\w+\) )?{owner}\b[^;]*?{{", text)]
                self.assertTrue(any(declared.search(text) for text in candidates), f"{name} names {owner}::{function}()")

    def test_links_lead_to_files_and_headings(self):
        anchors = {path: links.anchors(text) for path, text in links.pages(ROOT)}
        for path, text in links.pages(ROOT):
            for link, anchor in links.links(text):
                target = (path.parent / link).resolve() if link else path
                name = path.relative_to(ROOT)
                self.assertTrue(target.exists(), f"{name} links to {link}")
                if anchor and target in anchors:
                    self.assertIn(anchor, anchors[target], f"{name} links to {link}#{anchor}")

    def test_picture_shows_the_runs_of_the_tutorial(self):
        specification = importlib.util.spec_from_file_location("machine", ROOT / "docs/machine.py")
        machine = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(machine)
        self.assertEqual((ROOT / "docs/machine.svg").read_text(encoding="utf-8"), machine.picture(), "docs/machine.py draws another one")

    def test_every_page_is_reachable_from_the_index(self):
        texts = dict(links.pages(ROOT))
        found, left = set(), [ROOT / "docs/README.md"]
        while left:
            path = left.pop()
            if path in found or path not in texts:
                continue
            found.add(path)
            left += [(path.parent / link).resolve() for link, _ in links.links(texts[path]) if link]
        unreachable = [str(path.relative_to(ROOT)) for path in texts if (ROOT / "docs") in path.parents and path not in found]
        self.assertEqual(unreachable, [], "no path of links leads there from docs/README.md")


class Parsing(unittest.TestCase):
    def commands(self, text):
        return [(command.line, command.text) for command in pages.parse(text).commands]

    def test_commands(self):
        self.assertEqual(self.commands("Text.\n```sh\na b  # c\n\n# d\ne \\\n  f\n```\n"), [(3, "a b  # c"), (7, "e   f")])
        self.assertEqual(self.commands("x:\n\n    ./dev test\n    some = code;\n"), [(3, "./dev test")])
        self.assertEqual(self.commands("Run `build/release/bin/x --help`, `A=b ./y` or `lacuna run`, not `build/release/bin`."),
                         [(1, "build/release/bin/x --help"), (1, "A=b ./y")])

    def test_files(self):
        page = pages.parse("This is `a.launch`:\n\n```ini\n[b]\nc = d\n```\nMore:\n```c\nint x;\n```\n<!-- e/f.hip -->\n```cpp\nint y;\n```\n")
        self.assertEqual(page.files, {"a.launch": "[b]\nc = d\n", "e/f.hip": "int y;\n"})

    def test_outputs(self):
        page = pages.parse("<!-- output: * -j 2 -->\n```\na  1\nb 2.5 s 1.0 2.0\n…\nc\n```\n")
        self.assertEqual([(shown.line, shown.pattern) for shown in page.outputs], [(2, "* -j 2")])
        self.assertIsNone(page.outputs[0].missing("0\na 1\nb 3.5 s 7.0 8.0\nx\nc\n"))
        self.assertEqual(page.outputs[0].missing("c\na 1\nb 3.5 s 7.0 8.0\n"), "c")
        self.assertEqual(page.outputs[0].missing("a 2\nb\nc\n"), "a  1")
        self.assertEqual(pages.simulated("simulated time  9 us in 2.7 s, 5 hart instructions, peak memory 9 MiB"),
                         "simulated time 9 us 5 hart instructions")

    def test_commands_in_other_blocks_are_refused(self):
        for line in ("$ lacuna launch x", "build/release/bin/lacuna run", "hipcc x.hip", "./dev test"):
            with self.subTest(line), self.assertRaisesRegex(pages.Mistake, r"line 3: a command in a block that is not ```sh"):
                pages.parse(f"```\nlacuna launch FILE\n{line}\n```\n")
        with self.assertRaisesRegex(pages.Mistake, "line 1: the block does not end"):
            pages.parse("```sh\na\n")


class Links(unittest.TestCase):
    def test_links(self):
        text = "[a](b.md#c) ![d](e.svg) [f](#g) [h](https://i) `[j](k)`\n```\n[l](m)\n```\n"
        self.assertEqual(links.links(text), [("b.md", "c"), ("e.svg", ""), ("", "g")])

    def test_anchors_are_those_of_the_web_page(self):
        text = "# A `b_c`: (d, e)\n## M³XU – [f](g)\n```sh\n# no heading\n```\n## Twice\n## Twice\n<a id=\"h\"></a>\n"
        self.assertEqual(links.anchors(text), {"a-b_c-d-e", "mxu--f", "twice", "twice-1", "h"})


class Phrases(unittest.TestCase):
    """Tests of cmake/check_phrases.py with diffs."""
    def setUp(self):
        spec = importlib.util.spec_from_file_location("check_phrases", ROOT / "cmake/check_phrases.py")
        self.checker = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.checker)

    def found(self, name, line):
        diff = f"+++ b/{name}\n@@ -3,0 +7 @@\n+{line}\n"
        return [(number, pattern.pattern) for where, number, text in self.checker.added(diff)
                for pattern, _ in self.checker.phrases() if where == name and pattern.search(self.checker.prose(name, text))]

    def test_comments_and_pages_are_read_and_code_is_not(self):
        self.assertEqual([number for number, _ in self.found("a/b.h", "  int x;  ///< nobody sets it")], [7])
        self.assertEqual(len(self.found("a/b.md", "All are sent at once.")), 1)
        self.assertEqual(len(self.found("a/b.sh", "# what is under way")), 1)
        self.assertEqual(self.found("a/b.h", 'throw Error("nobody answers");'), [])
        self.assertEqual(self.found("a/b.svg", "at once"), [])
        self.assertEqual(self.found("a/b.md", "All are sent together."), [])


if __name__ == "__main__":
    RUN = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
