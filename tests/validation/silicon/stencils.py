"""Recipes for stencils: Laplacians of seven points, and stencils of up to nine points in x, y and z (silicon_stencils.cl).

A grid of the source has 512 planes. Most recipes compute fewer (README.md, S2): the times and counts of a dispatch with few and of
one with more planes are extrapolated linearly to 512.
"""
from runs import Run, u32

N = 512  # points in each direction
BYTES = 4  # of a point
PAGE = 2 << 20  # bytes of a page of the TLBs


def count(dispatch, name):
    """The time in ns, or a column or sum of columns, of a row of kernels.csv."""
    if name == "time":
        return (float(dispatch["end_ps"]) - float(dispatch["start_ps"])) / 1000
    return sum(float(dispatch[column]) for column in name.split("+"))


# Counters of the sources, in bytes, by functions that return a column or a sum of columns: accesses of the L1; reads from it to the L2,
# except of lines that it has requested already; its writes to the L2; transfers of memory. `l1_used` has 64 B for each group of lanes,
# as the source's counter if no group accesses two lines.
COUNTERS = {"l1": lambda get: get("l1_used"), "l2r": lambda get: 64 * get("vector_from_l2+vector_from_memory"),
            "l2w": lambda get: get("l2_used") - 64 * get("l2_reads"), "hbm": lambda get: get("dram_used"),
            "read": lambda get: get("dram_used") - BYTES * N ** 3}


def whole(short, long, full):
    """Returns a function of the dispatches and a count: the count of `full` steps, from those of the last two dispatches, which have
    `short` and `long` steps."""
    def value(dispatches, name):
        before, after = (count(dispatch, name) for dispatch in dispatches[-2:])
        return before + (after - before) * (full - short) / (long - short)
    return value


# Laplacians.

def laplace(row, kernel, n, nz, block, rows=1, what="bandwidth", code="silicon"):
    """`rows`: points of y per work-item."""
    run = Run(row["preset"], code, seconds=15 if n == N else 45)
    for name in "fu":
        run.buffer(name, f"zero:{n * n * nz * 8}")
    constants = ("f64:1", "f64:1", "f64:1", "f64:-6")
    for _ in range(2):
        run.dispatch(kernel, f"{n}, {n // rows}, {nz}", "buf:f", "buf:u", u32(n), u32(n), u32(nz), *constants, block=block)
    inner = (n - 2) * (n - 2) * (nz - 2)
    moved = 8 * (n * n * nz - 8 - 8 * (n - 2) - 4 * (nz - 2) + inner)
    if what == "bandwidth":
        return run.result(lambda times, _: moved / times[kernel][-1])
    return run.result(lambda _, dispatches: (float(dispatches[-1]["dram_used"]) - 8 * inner) / (8 * n * n * nz))


def laplace_of(row, kernel, rows="1", what=None):
    return laplace(row, kernel, N, 32, "256, 1, 1", int(rows), what or "bandwidth", "silicon_stencils")


# Stencils in one or several directions.

class Grid:
    """Floats with a halo of `radius` points on all sides of N * N points in each of some planes.

    Aligned: the inner points of a row begin at a multiple of 256 bytes.
    """

    def __init__(self, radius, aligned):
        self.radius = radius
        self.line = -(-(N + 2 * radius) // 64) * 64 if aligned else N + 2 * radius
        self.slice = self.line * (N + 2 * radius)
        self.offset = (64 - radius) * BYTES if aligned else 0

    def bytes(self, planes):
        return self.offset + BYTES * self.slice * (planes + 2 * self.radius)


def stencil(row, kernel, what, radius=4, aligned=True, points=1, block="64, 4", directions=1, planes=(16, 64), depth=None,
            seconds=14):
    """`points`: points of x per work-item. `directions`: number of directions that add up. `depth`: planes that a work-item slides along.

    `planes`: of the last two dispatches; only one number: the whole grid is computed. Dispatches before them fetch the code and
    translate the pages, as the source's earlier launches do.
    """
    grid = Grid(radius, aligned)
    run = Run(row["preset"], "silicon_stencils", seconds=seconds)
    size = grid.bytes(planes[-1])
    run.buffer("out", f"zero:{size}").buffer("in", f"zero:{size}").buffer("factors", "zero:108").buffer("sums", "zero:256")
    pages = -(-size // PAGE)
    for name in ("out", "in"):
        run.dispatch("touch", pages, f"buf:{name}", "buf:sums", u32(PAGE), u32(size), block=64)
    for nz in (2 * radius, *planes):
        sizes = [f"i32:{value}" for value in (grid.line, grid.slice, N, N, nz, *((depth,) if depth else ()))]
        run.dispatch(kernel, f"{N // points}, {N}, {-(-nz // depth) if depth else nz}", f"buf:out+{grid.offset}", f"buf:in+{grid.offset}",
                     "buf:factors", *sizes, block=block + ", 1")
    of_grid = whole(*planes, N) if len(planes) > 1 else lambda dispatches, name: count(dispatches[-1], name)
    if what:
        return run.result(lambda _, dispatches: COUNTERS[what](lambda name: of_grid(dispatches, name)) / 1e6)
    moved = BYTES * (2 * N ** 3 + 2 * radius * directions * N * N)
    return run.result(lambda _, dispatches: moved / of_grid(dispatches, "time"))


def baseline(row, direction, radius, aligned=None, what=None):
    """In z, a plane is read again until the workgroups are `radius` planes beyond it. They are in flight in less than two planes."""
    block = {"x": "256, 1", "y": "64, 4", "z": "64, 8"}[direction]
    return stencil(row, f"fd_{direction}{radius}", what, int(radius), bool(aligned), block=block,
                   seconds={"x": 12, "y": 16, "z": 12 * int(radius)}[direction])


def window(row, name, depth, what=None):
    """With a small depth, some layers of workgroups stand for all. With a large one there are few layers, and all are computed."""
    kernel, points, directions = {"zwin": ("fd_z4_window", 1, 1), "xyz": ("fd_xyz4_window", 4, 3)}[name]
    depth = int(depth)
    planes = (16, 64) if depth <= 4 else (32, 128) if depth <= 16 else (N,)
    return stencil(row, kernel, what, points=points, directions=directions, planes=planes, depth=depth,
                   seconds=25 if len(planes) > 1 else 65 if name == "zwin" else 85)


RECIPES = [
    (r"mi250x-laplace-1", lambda row: laplace(row, "laplace", N, 32, "256, 1, 1")),
    (r"mi250x-laplace-1-fetch", lambda row: laplace(row, "laplace", N, 32, "256, 1, 1", what="fetch")),
    (r"mi250x-laplace-5-1024", lambda row: laplace(row, "laplace_rows", 1024, 16, "256, 1, 1", 8)),
    (r"mi250x-laplace-5-1024z", lambda row: laplace(row, "laplace_rows", 1024, 16, "128, 1, 8", 8)),
    (r"mi250x-laplace-1-nt(?:-(fetch))?", lambda row, what: laplace_of(row, "laplace_nt", what=what)),
    (r"mi250x-laplace-([234])-m(\d+)(?:-(fetch))?",
     lambda row, kernel, rows, what: laplace_of(row, f"laplace{kernel}_m{rows}", rows, what)),
    (r"mi250x-laplace-5(?:-(fetch))?", lambda row, what: laplace_of(row, "laplace5_m8", 8, what)),
    (r"mi250x-fd-([xyz])([1-4])(?:-(l2r|l2w|hbm))?",
     lambda row, direction, radius, what: baseline(row, direction, radius, what=what)),
    (r"mi250x-fd-([xyz])(4)-(aligned)(?:-(l2r|l2w|hbm))?", baseline),
    (r"mi250x-fd-([yz])(4)-(aligned)-(l1)", baseline),
    (r"mi250x-fd-([xy])4-vec([124])(?:-(l2r))?",
     lambda row, direction, points, what: stencil(row, f"fd_{direction}4_vec{points}", what, points=int(points))),
    (r"mi250x-fd-y4-vec([24])-(l1)", lambda row, points, what: stencil(row, f"fd_y4_vec{points}", what, points=int(points))),
    (r"mi250x-fd-y4-lds(?:-(l1|l2r))?", lambda row, what: stencil(row, "fd_y4_lds", what, points=4)),
    (r"mi250x-fd-xy4-lds", lambda row: stencil(row, "fd_xy4_lds", None, points=4, directions=2)),
    (r"mi250x-fd-(zwin|xyz)-(\d+)(?:-(read))?", window),
]
