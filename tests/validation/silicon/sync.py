"""Recipes for silicon_sync.cl (firmware/kernels): passes with a barrier of all workgroups, maxima, and a transpose."""
from stencils import whole
from runs import Run, lengths, slope

CODE = "silicon_sync"


def passes(row, size, elements):
    """The slope between two numbers of passes (S3), in one launch of the workgroups that fit, each with at least `size` elements."""
    run = Run(row["preset"], CODE, seconds=8 if elements < 250000 else 30)
    groups = min(elements // size, run.gpu.units * run.gpu.wavefronts // max(1, size // 64))
    few, many = (8, 40) if elements < 100000 else (2, 6)
    for vector in "ab":
        run.buffer(vector, f"zero:{8 * elements}")
    for launch, count in enumerate(lengths(few, many)):
        sizes = (f"i32:{elements}", f"i32:{count}")
        run.buffer(f"counters{launch}", f"zero:{4 * many}")
        run.dispatch("passes", groups * size, f"buf:counters{launch}", "buf:a", "buf:b", *sizes, block=size)
    return run.result(lambda times, _: 16 * elements * (many - few) / slope("passes")(times, _))


# Maxima of 220 workgroups: the time of `LARGE` less that of `SMALL` elements or cells.
GROUPS, LARGE, SMALL = 220, 512, 256


def picoseconds(dispatches):
    return sum(float(dispatch["end_ps"]) - float(dispatch["start_ps"]) for dispatch in dispatches)


def maximum(row, two):
    """Streams fewer elements (S1); the time is linear in their number."""
    short, long = 8 << 20, 24 << 20
    run = Run(row["preset"], CODE, seconds=60)
    run.buffer("in", f"zero:{8 * long}").buffer("results", "zero:8192")
    for elements in lengths(short, long):
        run.dispatch("max_two" if two else "max_atomic", GROUPS * 1024, "buf:in", "buf:results", f"i32:{elements}", block=1024)
        if two:
            run.dispatch("max_two", 1024, "buf:results", "buf:results", "i32:1024", block=1024)

    def value(_, dispatches):
        step = 2 if two else 1
        before, after = dispatches[-2 * step:-step], dispatches[-step:]
        return (picoseconds(after) - picoseconds(before)) / 1e6 * (LARGE ** 3 - SMALL ** 3) / (long - short)

    return run.result(value)


def crossing(row):
    """Computes fewer planes of both grids (S2), with four ghost planes on each side."""
    ghosts = 4
    planes = {LARGE: (12, 28), SMALL: (24, 88)}
    cell = ("f64:3", "f64:3", "f64:3", "f64:1.66666666666666667")
    run = Run(row["preset"], CODE, seconds=140).buffer("result", "zero:8")
    for side, (few, many) in planes.items():
        run.buffer(f"fields{side}", f"fill:{5 * side * side * many}:f64:constant(2)")
        for nz in lengths(few, many):
            sizes = [f"i32:{value}" for value in (side, side, nz, ghosts)]
            run.dispatch("max_dti", GROUPS * 1024, f"buf:fields{side}", *sizes, *cell, "buf:result", block=1024)

    def value(_, dispatches):
        of_grid = {side: whole(*planes[side], side)(dispatches[3 * place:3 * place + 3], "time") for place, side in enumerate(planes)}
        return (of_grid[LARGE] - of_grid[SMALL]) / 1000

    return run.result(value)


def transpose(row):
    run = Run(row["preset"], CODE, seconds=2)
    for matrix in ("out", "in"):
        run.buffer(matrix, f"zero:{4 << 20}")
    run.dispatch("transpose16", "1024, 1024", "buf:out", "buf:in", "i32:1024", "i32:1024", block="16, 16").statistic("lds_conflict_cycles")
    return run.result(lambda *_: run.statistics["lds_conflict_cycles"])


RECIPES = [
    (r"mi210-passes-(\d+)-(\d+)", lambda row, size, elements: passes(row, int(size), int(elements))),
    (r"mi250x-max-(atomic|two)(?:-b)?", lambda row, name: maximum(row, name == "two")),
    (r"mi250x-max-dti", crossing),
    (r"mi210-transpose16-conflicts", transpose),
]
