"""Replays the recorded events of a run's load history buffers (duplo.trace = true) in a second implementation of the buffers.

    replay_look_ups.py FOLDER

FOLDER is the run's output folder: look_ups.csv.gz, effective.cfg, kernels.csv. The simulator has one array of entries and
detects lazily which entries have been removed. This implementation removes an entry in order of time, when the last of its
loads retires, and keeps the entries in a dictionary. All outcomes must agree: hit or reason of a miss, the allocation that was
hit, and the entries removed by registers, stores and invalidations. Their sums must be equal to those of kernels.csv.

For every compute unit and kernel, the number of hits is at most the number of look-ups minus the number of distinct tags. The
two are equal if entries are unlimited and never released, without the lazy core, and if the core neither stores to its
workspace nor invalidates its cache.
"""

import configparser
import csv
import gzip
import heapq
import sys
from collections import Counter
from pathlib import Path


class Mismatch(Exception):
    pass


def expect(condition, what):
    if not condition:
        raise Mismatch(what)


def set_of(tag, zeros, sets, hashing):
    """Returns the set of a tag, given as the parts that determine the set: (image, element, rows)."""
    image, element, rows = tag
    bits = sets.bit_length() - 1
    if bits == 0:
        return 0
    mask = sets - 1
    place = element if hashing == "low" else element >> zeros
    result = place & mask
    if hashing == "xor":
        mixed = int(f"{image & mask:0{bits}b}"[::-1], 2) if rows == 1 else image & mask
        result ^= mixed ^ (image >> bits & mask)
        rest = place >> bits
        while rest:
            result ^= rest & mask
            rest >>= bits
    return result


class Entry:
    def __init__(self, number, tag, place):
        self.number, self.tag, self.place = number, tag, place
        self.loads = 1  # number of loads that have not retired
        self.registers = set()


class Kernel:
    """Look-ups of a kernel's convolution in one compute unit."""

    def __init__(self):
        self.look_ups = self.hits = 0
        self.tags = set()
        self.dropped = False  # whether entries were dropped by a store or an invalidation


class Buffer:
    """The load history buffer of one compute unit."""

    def __init__(self, config, lazy):
        self.never_misses_again = config["entries"] == "0" and config["release"] == "never" and lazy == "eager"
        self.gone = Counter()
        self.entries = int(config["entries"])
        self.ways = int(config["ways"])
        self.hashing = config["hash"]
        self.release = config["release"]
        self.by_row = config["entry"] == "row"
        self.clear()

    def clear(self):
        self.by_number = {}  # entries in the buffer, by allocation number
        self.by_tag = {}
        self.sets = {}  # entries of a set, least recently used first
        self.by_register = {}
        self.past = {}  # by tag: reason for which its last entry was removed
        self.used_at = {}  # by tag: number of allocations until its last use
        self.retirements = []
        self.allocations = 0
        self.kernels = {}  # kernel of each convolution, by number

    def place(self, tag, zeros):
        if self.entries == 0:
            return None
        return set_of((tag[2], tag[3], tag[6]), zeros, self.entries // self.ways, self.hashing)

    def remove(self, entry, why):
        del self.by_number[entry.number]
        del self.by_tag[entry.tag]
        if entry.place is not None:
            self.sets[entry.place].remove(entry)
        for register in entry.registers:
            if self.by_register.get(register) is entry:
                del self.by_register[register]
        self.past[entry.tag] = why

    def advance(self, at):
        """Processes the retirements until `at`."""
        while self.retirements and self.retirements[0][0] <= at:
            number = heapq.heappop(self.retirements)[1]
            entry = self.by_number.get(number)
            if entry is None:
                continue
            entry.loads -= 1
            if entry.loads == 0 and self.release == "retire":
                self.remove(entry, "released")
                self.gone["retired"] += 1

    def use(self, entry):
        self.used_at[entry.tag] = self.allocations
        if entry.place is not None:
            self.sets[entry.place].remove(entry)
            self.sets[entry.place].append(entry)

    def find(self, tag):
        entry = self.by_tag.get(tag)
        if entry is not None:
            self.use(entry)
            return entry, "hit"
        if tag not in self.past:
            return None, "compulsory"
        if self.past[tag] == "replaced":
            return None, "conflict" if self.allocations - self.used_at[tag] <= self.entries else "capacity"
        return None, "released"

    def allocate(self, tag, zeros, registers):
        self.allocations += 1
        entry = Entry(self.allocations, tag, self.place(tag, zeros))
        if entry.place is not None:
            others = self.sets.setdefault(entry.place, [])
            if len(others) == self.ways:
                self.remove(others[0], "replaced")
                self.gone["replaced"] += 1
            others.append(entry)
        self.by_number[entry.number] = self.by_tag[tag] = entry
        self.used_at[tag] = self.allocations
        for register in registers:
            self.hold(entry, register)
        return entry

    def hold(self, entry, register):
        if self.release == "never":
            return
        entry.registers.add(register)
        self.by_register[register] = entry

    def overwrite(self, register):
        entry = self.by_register.pop(register, None)
        if entry is None:
            return 0
        entry.registers.discard(register)
        if self.by_row and entry.registers:
            return 0  # another register still holds the row
        self.remove(entry, "released")
        return 1

    def drop(self, convolution=None):
        gone = [e for e in self.by_number.values() if convolution is None or e.tag[0] == convolution]
        for entry in gone:
            self.remove(entry, "released")
            if entry.tag[0] in self.kernels:
                self.kernels[entry.tag[0]].dropped = True
        return len(gone)

    def count_look_up(self, tag, hit):
        kernel = self.kernels.setdefault(tag[0], Kernel())
        kernel.look_ups += 1
        kernel.hits += hit
        kernel.tags.add(tag)

    def end_kernel(self, convolution, totals):
        """Compares the hits of a convolution whose kernel has ended with the maximum possible number."""
        kernel = self.kernels.pop(convolution, None)
        if kernel is None:
            return
        most = kernel.look_ups - len(kernel.tags)
        expect(kernel.hits <= most, f"{kernel.hits} hits of {kernel.look_ups} look-ups of {len(kernel.tags)} tags")
        if self.never_misses_again and not kernel.dropped:
            expect(kernel.hits == most, f"{kernel.hits} hits of {kernel.look_ups} look-ups of {len(kernel.tags)} tags, not all")
            totals["kernels_with_all_hits"] += 1

    def forget(self, convolution):
        self.drop(convolution)
        self.past = {tag: why for tag, why in self.past.items() if tag[0] != convolution}


def number(text):
    return int(text) if text else None


def replay_event(buffer, row, totals):
    event = row["event"]
    at = number(row["at_ps"])
    if at is not None and event != "retire":
        buffer.advance(at)
    entry_number = number(row["entry"])
    register = (number(row["simd"]), number(row["first"]))
    if event in ("find", "allocate"):
        columns = ("convolution", "tag_simd", "image", "element", "filter_x", "filter_y", "rows", "columns")
        tag = tuple(number(row[c]) for c in columns)
    if event == "find":
        entry, outcome = buffer.find(tag)
        expect(outcome == row["outcome"], f"found: {outcome}")
        expect((entry.number if entry else None) == entry_number, f"the entry is that of allocation {entry and entry.number}")
        buffer.count_look_up(tag, entry is not None)
        totals["look_ups"] += 1
        totals[outcome] += 1
    elif event == "allocate":
        registers = [register] + ([(register[0], number(row["second"]))] if row["second"] else [])
        entry = buffer.allocate(tag, number(row["zeros"]), registers)
        expect(entry.number == entry_number, f"it is allocation {entry.number}")
    elif event == "relay":
        expect(entry_number in buffer.by_number, "the entry has gone")
        buffer.by_number[entry_number].loads += 1
        totals["relays"] += 1
    elif event == "hold":
        expect(entry_number in buffer.by_number, "the entry has gone")
        buffer.hold(buffer.by_number[entry_number], register)
    elif event == "retire":
        heapq.heappush(buffer.retirements, (at, entry_number))
    elif event == "overwrite":
        gone = buffer.overwrite(register)
        expect(gone == number(row["outcome"]), f"{gone} entries go")
        totals["overwritten"] += gone
    elif event == "drop":
        gone = buffer.drop(number(row["convolution"]))
        expect(gone == number(row["outcome"]), f"{gone} entries go")
        totals["stores"] += gone
    elif event == "drop_all":
        gone = buffer.drop()
        expect(gone == number(row["outcome"]), f"{gone} entries go")
        totals["invalidated"] += gone
    elif event == "forget":
        buffer.end_kernel(number(row["convolution"]), totals)
        buffer.forget(number(row["convolution"]))
    elif event == "reset":
        buffer.clear()
    else:
        raise Mismatch("unknown event")


def columns_of(folder):
    """Returns the sum of each of Duplo's columns over the run's kernels."""
    sums = Counter()
    with open(folder / "kernels.csv", newline="") as file:
        for row in csv.DictReader(file):
            for name, value in row.items():
                if name.startswith("duplo_"):
                    sums[name.removeprefix("duplo_")] += int(value)
    return sums


def main(folder):
    config = configparser.ConfigParser(inline_comment_prefixes=("#",))
    config.read(folder / "effective.cfg")
    totals = Counter()
    buffers = {}
    with gzip.open(folder / "look_ups.csv.gz", "rt", newline="") as file:
        for line, row in enumerate(csv.DictReader(file), start=2):
            unit = (row["device"], row["unit"])
            buffer = buffers.setdefault(unit, Buffer(config["duplo"], config["lazy"]["mode"]))
            try:
                replay_event(buffer, row, totals)
            except Mismatch as mismatch:
                sys.exit(f"{folder}/look_ups.csv.gz:{line}: {','.join(row.values())}: {mismatch}")
    for buffer in buffers.values():
        totals.update(buffer.gone)
    sums = columns_of(folder)
    # kernels.csv counts entries whose registers are lost at the end of a wavefront separately, as `ended`.
    sums["overwritten"] += sums["ended"]
    compared = ["overwritten", "stores", "retired", "replaced"]
    # The lazy core looks up loads when they execute and again when they are sent, so that its columns count other look-ups.
    if config["lazy"]["mode"] == "eager":
        compared += ["look_ups", "compulsory", "released", "conflict", "capacity"]
        if totals["hit"] != sums["hits"]:
            sys.exit(f"{folder}: {totals['hit']} hits, kernels.csv has {sums['hits']}")
    for name in compared:
        if totals[name] != sums[name]:
            sys.exit(f"{folder}: {totals[name]} {name}, kernels.csv has {sums[name]}")
    if totals["relays"] != sums["hits"]:
        sys.exit(f"{folder}: {totals['relays']} relays, kernels.csv has {sums['hits']} hits")
    if totals["look_ups"] == 0:
        sys.exit(f"{folder}: nothing was looked up")
    print(", ".join(f"{name} {count}" for name, count in sorted(totals.items())))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
