"""Commands of a documentation page, and the files that it tells the reader to create.

Commands are the lines of blocks

    ```sh

lines of code that are indented by four blanks and begin with a program, and code within a sentence that names a program by its path
(`build/release/...`, or `VARIABLE=value ./...`). A line that ends in \\ continues in the next line.

A file is a block of any other language below its name: a sentence that ends in `NAME`: or a comment <!-- NAME -->.

A block below a comment <!-- output: PATTERN --> shows output of the only command that matches the pattern; it may omit lines.
"""
import dataclasses
import fnmatch
import pathlib
import re
import subprocess

FENCE = re.compile(r"^```(\w*)\s*$")
OUTPUT = re.compile(r"^<!-- output: (.+) -->$")
FILE_NAME = re.compile(r"(?:`([\w./-]+)`:|<!-- ([\w./-]+\.\w+) -->)$")
PROGRAM = r"(?:\./|build/release/|lacuna |hipcc |cmake |ctest |clang|ld\.lld|python3 )"
INDENTED = re.compile(r"^    ((?:\w+=\S+ )*" + PROGRAM + r".*)$")
WITHIN_SENTENCE = re.compile(r"`((?:\w+=\S+ )+\./[^`]+|(?:\w+=\S+ )*build/release/[^` ]+ [^`]+)`")
# Matches commands in a block other than ```sh, where the reader would overlook them, and commands with a prompt, which cannot
# be run.
STRAY = re.compile(r"^(?:\$ |" + PROGRAM.replace("lacuna |", "") + ")")
NOT_RUN = pathlib.Path(__file__).with_name("not_run.txt")


class Mistake(Exception):
    """Error in a page, described by one sentence."""


@dataclasses.dataclass
class Command:
    line: int
    text: str
    reason: str = ""  # reason for not running the command; "": it is run

    def without_comment(self):
        return re.sub(r"\s+#\s.*$", "", self.text)


@dataclasses.dataclass
class Output:
    line: int
    pattern: str
    lines: list

    def missing(self, printed):
        """First line that is missing in `printed` or out of order, or None. Values that depend on the host are ignored."""
        following = iter([simulated(line) for line in printed.split("\n")])
        for line in self.lines:
            wanted = simulated(line)
            if wanted and wanted != "…" and wanted not in following:
                return line
        return None


@dataclasses.dataclass
class Page:
    commands: list
    files: dict
    outputs: list


def simulated(line):
    """Removes host times, speeds and memory sizes from a line, and repeated blanks."""
    line = re.sub(r"\s+", " ", line.strip())
    line = re.sub(r" [0-9.]+ s [0-9.-]+ [0-9.-]+$", "", line)
    return re.sub(r" in [0-9.]+ s, (?:(.*), )?peak memory .*", r" \1", line)


def blocks(lines):
    """Yields (line number, language, lines) of each fenced block and of each line outside of blocks, whose language is None."""
    inside = None
    for number, line in enumerate(lines, 1):
        fence = FENCE.match(line)
        if inside is None and fence:
            inside = (number, fence[1], [])
        elif inside and line.startswith("```"):
            yield inside
            inside = None
        elif inside:
            inside[2].append(line)
        else:
            yield number, None, [line]
    if inside:
        raise Mistake(f"line {inside[0]}: the block does not end")


def parse(text):
    page = Page([], {}, [])
    above = ""
    for number, language, lines in blocks(text.split("\n")):
        if language is None:
            indented = INDENTED.match(lines[0])
            if indented:
                page.commands.append(Command(number, indented[1]))
            else:
                page.commands += [Command(number, found) for found in WITHIN_SENTENCE.findall(lines[0])]
            above = lines[0].strip() or above
            continue
        if language == "sh":
            begun = ""
            for offset, line in enumerate(lines, 1):
                begun += line
                if begun.endswith("\\"):
                    begun = begun[:-1]
                elif begun.strip() and not begun.lstrip().startswith("#"):
                    page.commands.append(Command(number + offset, begun.strip()))
                if not line.endswith("\\"):
                    begun = ""
        else:
            for offset, line in enumerate(lines, 1):
                if STRAY.match(line):
                    raise Mistake(f"line {number + offset}: a command in a block that is not ```sh: {line}")
            name = FILE_NAME.search(above)
            output = OUTPUT.match(above)
            if output:
                page.outputs.append(Output(number, output[1], lines))
            elif name:
                page.files[name[1] or name[2]] = "\n".join(lines) + "\n"
        above = ""
    return page


def read(source, name):
    """Parses a page, and sets the reasons for which commands are not run."""
    page = parse((source / name).read_text(encoding="utf-8"))
    for command, reason in exceptions().get(name, {}).items():
        found = [one for one in page.commands if fnmatch.fnmatchcase(one.without_comment(), command)]
        if not found:
            raise Mistake(f"{NOT_RUN.name} has a command of {name} that is not there: {command}")
        for one in found:
            one.reason = reason
    return page


def exceptions():
    """Reads not_run.txt. Returns {page: {command: reason}}."""
    found = {}
    entry = None
    for number, line in enumerate(NOT_RUN.read_text(encoding="utf-8").split("\n"), 1):
        if line.startswith("#") or not line.strip():
            continue
        if line.startswith("  "):
            if not entry:
                raise Mistake(f"{NOT_RUN.name}, line {number}: a reason without a command")
            found[entry[0]][entry[1]] = (found[entry[0]][entry[1]] + " " + line.strip()).strip()
            continue
        page, separator, command = line.partition(": ")
        if not separator or not page.endswith(".md"):
            raise Mistake(f"{NOT_RUN.name}, line {number}: must be PAGE.md: COMMAND, with the reason below, indented")
        entry = page, command.strip()
        found.setdefault(page, {})[entry[1]] = ""
    for page, commands in found.items():
        for command, reason in commands.items():
            if not reason:
                raise Mistake(f"{NOT_RUN.name}: no reason for {page}: {command}")
    return found


def tracked(source):
    """Tracked files that exist in the checkout."""
    listed = subprocess.run(["git", "-C", source, "ls-files", "-z"], check=True, capture_output=True).stdout.decode()
    return [name for name in listed.split("\0") if name and (source / name).is_file()]
