"""Recipes for matrices and long vectors: transposes, products y A x, and BabelStream's dot product (silicon_stencils.cl, silicon.cl)."""
from runs import MIB, Run, lengths, slope, u32
from stencils import COUNTERS, count, whole

# Products y A x of a matrix with SIDE rows and columns of doubles, by GROUPS workgroups of 64.
SIDE, GROUPS = 32768, 2048
LATENCY = "+".join(f"{level}_{part}_ps" for level in ("noc", "l2", "dram") for part in ("queueing", "service"))
READS = "+".join(f"{kind}_{place}" for kind in ("vector", "scalar_data", "scalar_arguments") for place in ("from_l2", "from_memory"))


# Numbers of a product from the counts that `get` returns. `clock`: in GHz.
MEASURES = {
    "time": lambda get, clock: get("time") * 1e-6,
    "waves": lambda get, clock: get("slots_used") / get("cycles"),
    "l1hit": lambda get, clock: 100 * (1 - COUNTERS["l2r"](get) / COUNTERS["l1"](get)),
    "l2hit": lambda get, clock: 100 * get("l2_read_hits") / get("l2_reads"),
    "l1lat": lambda get, clock: get(LATENCY) / get(READS) * clock / 1000,
    "l2read": lambda get, clock: COUNTERS["l2r"](get) / 64 / GROUPS,
    "l2miss": lambda get, clock: get("dram_used") / 128 / GROUPS,  # a miss reads a line of 128 B
    "ea-latency": lambda get, clock: get("dram_queueing_ps+dram_service_ps") / get("vector_from_memory") * clock / 1000,
}


def measure(run, what, of_all):
    """`of_all`: returns a count of the whole product, of the dispatches."""
    return run.result(lambda _, dispatches: MEASURES[what or "time"](lambda name: of_all(dispatches, name), run.gpu.clock))


def product(row, seconds, rows=SIDE, code="silicon_stencils"):
    run = Run(row["preset"], code, seconds=seconds)
    run.buffer("y", f"zero:{8 * SIDE}").buffer("x", f"zero:{8 * SIDE}").buffer("a", f"zero:{8 * SIDE * rows}")
    return run.buffer("sums", "zero:1048576")


def yax(row, groups, what="time"):
    """Computes some columns of all rows that are in flight; the pitch is that of the source's matrix."""
    rows = min(SIDE, groups * 64)
    short, long = (256, 768) if groups == 4 else (32, 96)
    run = product(row, 20, rows, "silicon")
    for columns in lengths(short, long):
        run.dispatch("yax", groups * 64, "buf:y", "buf:a", "buf:x", u32(rows), u32(columns), u32(SIDE), "buf:sums")
    if what == "time":
        return run.result(lambda times, _: slope("yax")(times, _) * 1e-6 * (SIDE / rows) * (SIDE / (long - short)))
    return measure(run, what, whole(short, long, SIDE))


def yax_lds(row, kib, what):
    """Computes some columns (S3) whose elements of x are in the LDS, and some whose elements are not. With 2 KiB, 0.8 % are."""
    kib, (short, long) = int(kib), (32, 96)
    held = kib * 128 if kib > 2 else 0
    run = product(row, 12)
    columns = [(number, 0) for number in lengths(short, long)] + ([(short, short), (long, long)] if held else [])
    for number, inside in columns:
        run.dispatch(f"yax_lds{kib}", GROUPS * 64, "buf:y", "buf:a", "buf:x", *(f"i32:{value}" for value in (SIDE, number, SIDE, inside)),
                     "buf:sums")
    outside = whole(short, long, SIDE - held)

    def of_all(dispatches, name):
        if not held:
            return outside(dispatches, name)
        within = count(dispatches[4], name) - count(dispatches[3], name)
        return outside(dispatches[:3], name) + within / (long - short) * held

    return measure(run, what, of_all)


def yax_column(row, what):
    short, long = 256, 768
    run = product(row, 10)
    for columns in lengths(short, long):
        run.dispatch("yax_column", GROUPS * 64, "buf:y", "buf:a", "buf:x", f"i32:{SIDE}", f"i32:{columns}", "buf:sums")
    return measure(run, what, whole(short, long, SIDE))


def yax_wide(row, what):
    run = product(row, 10)
    for _ in range(2):
        run.dispatch("yax_wide", GROUPS * 64, "buf:y", "buf:a", "buf:x", f"i32:{SIDE}", f"i32:{SIDE}", "buf:sums")
    if not what:
        return run.result(lambda times, _: times["yax_wide"][-1] / 1000)
    return measure(run, what, lambda dispatches, name: count(dispatches[-1], name))


def transpose(row, name):
    """Transposes 512 rows (of the output, if stores are in order) of 8192 (S2); the pitches are those of the source."""
    side, rows = 8192, 512
    run = Run(row["preset"], "silicon_stencils", seconds=9)
    for matrix in ("in", "out"):
        run.buffer(matrix, f"zero:{8 * side * side}")
    for _ in range(2):
        run.dispatch("transpose_" + name, f"{side}, {rows}", "buf:in", "buf:out", f"i32:{side}", f"i32:{side}")
    return run.result(lambda times, _: times["transpose_" + name][-1] / 1000 * side / rows)


def dot(row):
    """Vectors of 2^28 elements, by the slope between shorter ones (S1)."""
    short, long = 4 * MIB, 12 * MIB
    run = Run(row["preset"], "silicon_stencils", seconds=15)
    run.buffer("a", f"zero:{8 * long}").buffer("b", f"zero:{8 * long}").buffer("sums", "zero:2048")
    for elements in lengths(short, long):
        run.dispatch("dot", 256 * 1024, "buf:a", "buf:b", "buf:sums", f"i32:{elements}")
    elements = 1 << 28
    return run.result(lambda _, dispatches: 16 * elements / whole(short, long, elements)(dispatches, "time"))


RECIPES = [
    (r"mi210-transpose-(read|write|lds)", transpose),
    (r"mi210-yax-(\d+)", lambda row, groups: yax(row, int(groups))),
    (r"mi210-yax-nolds-waves", lambda row: yax(row, GROUPS, "waves")),
    (r"mi210-yax-row-l2hit", lambda row: yax(row, GROUPS, "l2hit")),
    (r"mi210-yax-lds(64|2)(?:-(waves))?", yax_lds),
    (r"mi210-yax-column(?:-(l1hit|l2hit|l1lat|l2miss))?", yax_column),
    (r"mi210-yax-wide(?:-(l1hit|l2read|ea-latency))?", yax_wide),
    (r"mi210-babel4-dot", dot),
]
