#!/usr/bin/env python3
"""Runs the commands of a documentation page exactly as they are written: run_page.py SOURCE BUILD PAGE

The commands run one after the other in one shell, in a folder with copies of the tracked files, the finished build as
build/release, and the files that the page tells the reader to create. PATH includes build/release/bin unless the page sets PATH.
Commands of not_run.txt are omitted; all others must succeed and print what the page shows. Then checks/PAGE.sh, if it exists,
checks their files and output, with functions from checks/common.sh.
"""
import fnmatch
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import page as pages  # noqa: E402  (no bytecode is left in the source folder)

# Time limit in seconds; a page that takes longer is considered hung, even on a busy machine.
TIME_LIMIT = 1200


def checkout(source, build, folder):
    for name in pages.tracked(source):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source / name, target, follow_symlinks=False)
    (folder / "build").mkdir()
    (folder / "build/release").symlink_to(build)


def environment():
    """The environment without variables by which the user or CTest could influence the commands."""
    prefixes = ("HSA_", "HIP_", "ROC", "AMD_", "LACUNA", "LD_")
    return {name: value for name, value in os.environ.items() if not name.startswith(prefixes)} | {"LC_ALL": "C"}


def script(commands, output):
    lines = []
    for number, command in enumerate(commands):
        stem = shlex.quote(str(output / str(number)))
        lines += [f"echo $EPOCHREALTIME >{stem}.begin; exec >{stem}.out 2>{stem}.err", command.text,
                  f"lacuna_page_code=$?; echo $EPOCHREALTIME >{stem}.end; [[ $lacuna_page_code == 0 ]] || exit $lacuna_page_code"]
    return "\n".join(lines) + "\n"


def run(source, build, name):
    page = pages.read(source, name)
    commands = [command for command in page.commands if not command.reason]
    with tempfile.TemporaryDirectory() as temporary:
        folder, output = pathlib.Path(temporary, "lacuna"), pathlib.Path(temporary, "output")
        folder.mkdir()
        output.mkdir()
        checkout(source, build, folder)
        for file, text in page.files.items():
            if (folder / file).exists():
                raise pages.Mistake(f"{file} of the page is a file of the checkout, too")
            (folder / file).write_text(text, encoding="utf-8")
        pathlib.Path(temporary, "commands.sh").write_text(script(commands, output), encoding="utf-8")
        variables = environment()
        if not any(command.text.startswith("export PATH=") for command in commands):
            variables["PATH"] = f"{folder}/build/release/bin:{variables['PATH']}"
        code = run_script(folder, pathlib.Path(temporary, "commands.sh"), variables)
        for number, command in enumerate(commands):
            begin, end = output / f"{number}.begin", output / f"{number}.end"
            if not begin.exists():
                print(f"{name}:{command.line}: not reached: {command.text}")
                continue
            seconds = f"{float(end.read_text()) - float(begin.read_text()):.1f} s" if end.exists() else "did not end"
            print(f"{name}:{command.line}: {seconds}: {command.text}")
            (output / f"{number}.command").write_text(command.text + "\n", encoding="utf-8")
            last = number
        for command in page.commands:
            if command.reason:
                print(f"{name}:{command.line}: not run: {command.text} ({command.reason})")
        if code != 0:
            show(output, last)
            raise pages.Mistake(f"line {commands[last].line}: ended with {code}: {commands[last].text}")
        for shown in page.outputs:
            compare(shown, commands, output)
        check = pathlib.Path(__file__).parent / "checks" / (name.removesuffix(".md").replace("/", "_") + ".sh")
        if check.exists():
            subprocess.run(["bash", check], cwd=folder, check=True,
                           env=variables | {"PAGE": str(source / name), "OUTPUT": str(output)})


def compare(shown, commands, output):
    """Raises Mistake unless the command has printed the lines of the block."""
    found = [number for number, command in enumerate(commands) if fnmatch.fnmatchcase(command.without_comment(), shown.pattern)]
    if len(found) != 1:
        raise pages.Mistake(f"line {shown.line}: {len(found)} commands match {shown.pattern}")
    printed = "".join((output / f"{found[0]}.{stream}").read_text(encoding="utf-8") for stream in ("out", "err"))
    missing = shown.missing(printed.replace("\r", ""))
    if missing is not None:
        show(output, found[0])
        raise pages.Mistake(f"line {shown.line}: {commands[found[0]].text} does not print: {missing}")


def run_script(folder, path, variables):
    process = subprocess.Popen(["bash", path], cwd=folder, env=variables, stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        return process.wait(TIME_LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return f"SIGKILL after {TIME_LIMIT} s"


def show(output, number):
    for stream in ("out", "err"):
        text = (output / f"{number}.{stream}").read_text(encoding="utf-8", errors="replace")
        print(f"--- std{stream}", *text.split("\n")[-40:], sep="\n")


def main(arguments):
    source, build, name = arguments
    begin = time.monotonic()
    try:
        run(pathlib.Path(source), pathlib.Path(build), name)
    except pages.Mistake as mistake:
        print(f"FAILED: {name}: {mistake}")
        return 1
    except subprocess.CalledProcessError as error:
        print(f"FAILED: {name}: {error}")
        return 1
    print(f"{time.monotonic() - begin:.1f} s in all")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
