#!/usr/bin/env python3
"""Refuses private names that another file of the same unity build may use by mistake: check_private_names.py BUILD_FOLDER

A unity build compiles several files as one. The compiler rejects two equal private names, but it accepts a private function, constant or
type that silently hides, or overloads, a name from a header that another file uses. Reads the unity files that CMake wrote. Works on text
with the layout of clang-format: private names stand at the beginning of a line between
"namespace {" and "}  // namespace".
"""
import re
import sys
from pathlib import Path

PRIVATE = re.compile(r"^namespace \{$(.*?)^\}  // namespace$", re.M | re.S)
FUNCTION = re.compile(r"^(?!using|return|TEST)[\w:<>,&*\[\]]+[\w:<>,&*\[\] ]*?[ &*](\w+)\(", re.M)
CONSTANT = re.compile(r"^(?:inline |static |constexpr |const )+[\w:<>,&* ]*?[ &*](\w+)(?:\[\w*\])?(?: =|\{|;)", re.M)
TYPE = re.compile(r"^(?:struct|class|enum class) (\w+)(?: :| final| \{)", re.M)


def plain(text):
    """The text without comments and without the contents of strings."""
    text = re.sub(r'R"(\w*)\(.*?\)\1"', '""', re.sub(r"//(?! namespace).*", "", text), flags=re.S)
    return re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', text)


def private_names(text, *patterns):
    return {name for part in PRIVATE.findall(text) for pattern in patterns for name in pattern.findall(part)} - {"operator"}


def hidden(name, text):
    """Whether the file declares the name as a member, a lambda or a local variable, which hides a name of a namespace."""
    return re.search(rf"^ .*[\w>&*\]] (?<!return )(?<!else )(?<!throw )[&*]?{name}(\(| =|\{{|;)|\b(auto&?|const auto&?) {name}\b", text, re.M)


def path_of(text):
    """The named namespaces around a file's private names, as a list."""
    before = text.split("\nnamespace {\n")[0]
    return [part for name in re.findall(r"^namespace ([\w:]+) \{$", before, re.M) for part in name.split("::")]


def found_in(text, other):
    """The private names of `text` that `other` uses and that name lookup would resolve to `text`."""
    mine, theirs = path_of(text), path_of(other)
    found = set()
    if theirs[: len(mine)] == mine:
        # Name lookup in a nested namespace also finds these functions, unless the nested namespace declares a function of that
        # name. A constant or type would be ambiguous, which the compiler rejects.
        found = {name for name in private_names(text, FUNCTION)
                 if re.search(rf"(?<![\w.:>~]){name}\(", other)
                 and (mine == theirs or not re.search(rf"^[\w:<>,&* ]+\b{name}\(", other, re.M))}
    if mine == theirs:
        found |= {name for name in private_names(text, CONSTANT, TYPE) if re.search(rf"(?<![\w.:>]){name}\b", other)}
    return sorted(name for name in found if not hidden(name, other))


def check(unity):
    """The findings for the files of a unity file; none if it is stale, that is, lists files that no longer exist."""
    files = [Path(path) for path in re.findall(r'^#include "(.*)"$', unity.read_text(), re.M)]
    if not all(path.exists() for path in files):
        return []
    texts = {path: plain(path.read_text()) for path in files}
    return [f"{path}: private {name} is visible in {other}, which uses another of that name: rename it"
            for path, text in texts.items()
            for other, others in texts.items()
            if other != path
            for name in found_in(text, others)]


def main():
    found = [line for unity in sorted(Path(sys.argv[1]).rglob("Unity/unity_*_cxx.cxx")) for line in check(unity)]
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
