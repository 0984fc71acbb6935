#!/usr/bin/env python3
"""Refuses circular dependencies between the object files of a static library: check_link_cycles.py ARCHIVE...

A file depends on another when it uses a function or variable that the other defines. For each cycle the message lists the symbols that close it.
"""
import subprocess
import sys

STRONG = "TDBRC"  # nm's symbol types of definitions that are unique to one file, unlike inline functions and templates


def read_symbols(archive):
    """Two dictionaries: from a symbol to the file that defines it, and from a file to the symbols that it uses but does not define."""
    defined_in, used_by, member = {}, {}, ""
    for line in subprocess.run(["nm", archive], capture_output=True, text=True, check=True).stdout.splitlines():
        fields = line.split()
        if len(fields) == 1 and line.endswith(":"):
            member = line[:-1]
            used_by[member] = set()
        elif len(fields) == 2 and fields[0] == "U":
            used_by[member].add(fields[1])
        elif len(fields) == 3 and fields[1] in STRONG:
            defined_in[fields[2]] = member
    return defined_in, used_by


def dependencies(archive):
    """For each file: the files that it depends on, each with the symbols that it uses from there."""
    defined_in, used_by = read_symbols(archive)
    graph = {}
    for member, symbols in used_by.items():
        graph[member] = {}
        for symbol in sorted(symbols):
            if symbol in defined_in:
                graph[member].setdefault(defined_in[symbol], []).append(symbol)
    return graph


def find_cycle(graph):
    """A cycle as a list of files with the first file repeated at the end; empty if there is no cycle."""
    finished, path = set(), []

    def visit(member):
        if member in path:
            return path[path.index(member):] + [member]
        if member in finished:
            return []
        path.append(member)
        for other in graph[member]:
            cycle = visit(other)
            if cycle:
                return cycle
        path.pop()
        finished.add(member)
        return []

    for member in graph:
        cycle = visit(member)
        if cycle:
            return cycle
    return []


def main(archives):
    status = 0
    for archive in archives:
        graph = dependencies(archive)
        cycle = find_cycle(graph)
        if not cycle:
            continue
        status = 1
        print(f"{archive}: files depend on each other in a circle:")
        for user, definer in zip(cycle, cycle[1:]):
            print(f"  {user} uses {', '.join(graph[user][definer])} of {definer}")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
