#!/usr/bin/env python3
"""Refuses phrases of phrases.txt in comments and pages that a change adds: check_phrases.py [BASE]

BASE is the commit to compare the working tree with. Default: the merge base with the upstream branch, or else the previous commit.
"""
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = (".h", ".cpp", ".c", ".hip", ".cl", ".inc", ".py", ".sh", ".cmake", ".txt", ".cfg")
COMMENT = {".py": r"#\s(.*)", ".sh": r"#\s(.*)", ".cmake": r"#\s(.*)", ".txt": r"#\s(.*)", ".cfg": r"#\s(.*)"}
GENERATED = re.compile(r"docs/(results/\w+|reference/[\w-]+)\.md|"
                       r"cmake/phrases\.txt")


def git(*arguments):
    return subprocess.run(["git", *arguments], capture_output=True, text=True, check=True).stdout


def base():
    for attempt in (["merge-base", "HEAD", "@{upstream}"], ["rev-parse", "HEAD~1"]):
        found = subprocess.run(["git", *attempt], capture_output=True, text=True, check=False)
        if found.returncode == 0 and found.stdout.strip() != git("rev-parse", "HEAD").strip():
            return found.stdout.strip()
    return None


def phrases():
    for line in (HERE / "phrases.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            pattern, instead = line.split("\t")
            yield re.compile(pattern), instead


def added(diff):
    """(file, line number, text) of each line that a diff without context adds."""
    name, number = "", 0
    for line in diff.splitlines():
        if line.startswith("+++ "):
            name = line[6:] if line.startswith("+++ b/") else ""
        elif line.startswith("@@"):
            number = int(re.search(r"\+(\d+)", line)[1])
        elif line.startswith("+") and name:
            yield name, number, line[1:]
            number += 1


def prose(name, text):
    """The prose of a line: all of its text on a page, the comment in a source file."""
    suffix = pathlib.Path(name).suffix
    if suffix == ".md":
        return text
    if suffix not in SOURCES:
        return ""
    comment = re.search(COMMENT.get(suffix, r"(?://+<?|/\*|^\s*\*)\s(.*)"), text)
    return comment[1] if comment else ""


def main():
    start = sys.argv[1] if len(sys.argv) > 1 else base()
    if start is None:
        return 0
    known = list(phrases())
    mistakes = 0
    for name, number, text in added(git("diff", "-U0", "-M", "--no-color", start)):
        if GENERATED.fullmatch(name):
            continue
        for pattern, instead in known:
            found = pattern.search(prose(name, text))
            if found:
                print(f"{name}:{number}: \"{found[0]}\": {instead}", file=sys.stderr)
                mistakes += 1
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
