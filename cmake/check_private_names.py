#!/usr/bin/env python3
"""Refuses private functions that another file compiled together with theirs may call by mistake: check_private_names.py BUILD_FOLDER

A unity build compiles several files as one. Two equal private names are then an error of the compiler, but a private function whose name
another file uses for a function of a header becomes one more overload of it, silently. Reads the unity files that CMake wrote.
"""
import re
import sys
from pathlib import Path

PRIVATE = re.compile(r"^namespace \{$(.*?)^\}  // namespace$", re.M | re.S)
FUNCTION = re.compile(r"^(?!using|return|TEST)[\w:<>,&*\[\]]+[\w:<>,&*\[\] ]*?[ &*](\w+)\(", re.M)
KNOWN_ELSEWHERE = {"operator"}


def without_comments(text):
    return re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', re.sub(r"//.*", "", text.replace("}  // namespace", "}  /* namespace")))


def private_functions(text):
    text = re.sub(r'R"(\w*)\(.*?\)\1"', '""', re.sub(r"//(?! namespace).*", "", text), flags=re.S)
    return {name for part in PRIVATE.findall(text) for name in FUNCTION.findall(part)} - KNOWN_ELSEWHERE


def hidden(name, text):
    """Whether the file declares the name as a member, a lambda or a local variable, which hide functions of namespaces."""
    return re.search(rf"^ .*[\w>&*\]] (?<!return )(?<!else )(?<!throw )[&*]?{name}(\(| =|\{{|;)|\b(auto&?|const auto&?) {name}\b", text, re.M)


def path_of(text):
    """The named namespaces around a file's private names, as a list."""
    before = text.split("\nnamespace {\n")[0]
    return [part for name in re.findall(r"^namespace ([\w:]+) \{$", before, re.M) for part in name.split("::")]


def reaches(name, text, other):
    """Whether a private function of `text` is found by name in `other`: from the same namespace, or from one inside it that has none of
    that name."""
    mine, theirs = path_of(text), path_of(other)
    if theirs[: len(mine)] != mine:
        return False
    return mine == theirs or not re.search(rf"^[\w:<>,&* ]+\b{name}\(", other, re.M)


def calls(name, text):
    return re.search(rf"(?<![\w.:>~]){name}\(", text)


def check(unity):
    files = [Path(path) for path in re.findall(r'^#include "(.*)"$', unity.read_text(), re.M)]
    texts = {path: path.read_text() for path in files}
    plain = {path: without_comments(text) for path, text in texts.items()}
    found = []
    for path, text in texts.items():
        for name in sorted(private_functions(text)):
            for other in files:
                if other != path and reaches(name, text, texts[other]) and calls(name, plain[other]) and not hidden(name, plain[other]):
                    found.append(f"{path}: private function {name}() is visible in {other}, which calls another of that name: rename it")
    return found


def main():
    found = [line for unity in sorted(Path(sys.argv[1]).rglob("Unity/unity_*_cxx.cxx")) for line in check(unity)]
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
