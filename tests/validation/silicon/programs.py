"""Recipes for silicon_programs.cl (firmware/kernels): products of matrices, steps of Jacobi's method, and forces between bodies."""
from matrices import measure
from runs import Run, lengths, slope
from stencils import count, whole

CODE = "silicon_programs"


def product(row, kind, side):
    """Sums over a part of the inner dimension (S6) for some rows (S2, S4): seven rounds of workgroups, or all of them. With three times
    as long a part, whose rows of b no longer stay in the L2, mi250x-product-f64-4096 takes 1.4 % more."""
    groups, short, long = 1536, 32, 96
    size = int(kind) // 8
    rows = min(side, groups * 1024 // side)
    run = Run(row["preset"], CODE, seconds=150)
    run.buffer("a", f"zero:{size * rows * side}").buffer("b", f"zero:{size * long * side}").buffer("c", f"zero:{size * rows * side}")
    for inner in lengths(short, long):
        run.dispatch(f"product_f{kind}", f"{side}, {rows}", "buf:a", "buf:b", "buf:c", f"i64:{rows}", f"i64:{inner}", f"i64:{side}", f"i64:{side}",
                     block="32, 32")
    return run.result(lambda times, _: 2 * rows * side * (long - short) / slope(f"product_f{kind}")(times, _))


# Jacobi's steps: points in a row, and rows of the source's grid; rows of the dispatches (S5).
WIDTH, FULL = 4096, 4096
FEW, MANY = 512, 1536
CELL = ("f64:0.5", "f64:0.5")
# Bytes read from memory by the vector caches' requests of 64 B, and the other bytes that memory transfers.
TRAFFIC = {"read": lambda get: 64 * get("vector_from_memory"), "write": lambda get: get("dram_used") - 64 * get("vector_from_memory")}


def grid(run, rows):
    for vector in ("right", "au", "residual", "u"):
        run.buffer(vector, f"zero:{8 * WIDTH * rows}")


def laplace(run, kernel, rows):
    sizes = (f"i32:{WIDTH - 2}", f"i32:{rows - 2}", f"i32:{WIDTH}")
    run.dispatch(kernel, f"{WIDTH}, {rows}", *sizes, *CELL, "buf:u", "buf:au", block="16, 16")


def step(row, name, what):
    """`name`: update, laplace or factors."""
    run = Run(row["preset"], CODE, seconds=15)
    grid(run, MANY)
    for rows in lengths(FEW, MANY):
        if name == "update":
            run.dispatch("step_update", WIDTH * rows, f"i32:{WIDTH * rows}", *CELL, "buf:right", "buf:au", "buf:residual", "buf:u", block=512)
        else:
            laplace(run, "step_" + name, rows)
    of_grid = whole(FEW, MANY, FULL)
    if what in TRAFFIC:
        return run.result(lambda _, dispatches: TRAFFIC[what](lambda column: of_grid(dispatches, column)) / 1e6)
    if what:
        return measure(run, what, of_grid)
    return run.result(lambda _, dispatches: of_grid(dispatches, "time") / 1000)


def border(row):
    """The border of the whole grid, after the inner points of a quarter of it."""
    run = Run(row["preset"], CODE, seconds=10).buffer("outside", f"zero:{8 * (2 * WIDTH + 2 * FULL)}")
    grid(run, FULL)
    for _ in range(2):
        laplace(run, "step_laplace", FULL // 4)
        run.dispatch("step_border", 2 * WIDTH + 2 * FULL, f"i32:{WIDTH}", f"i32:{FULL}", *CELL, "buf:u", "buf:outside", "buf:au", block=512)
    return run.result(lambda times, _: times["step_border"][-1] / 1000)


def norm(row, second):
    run = Run(row["preset"], CODE, seconds=8).buffer("u", f"zero:{8 * WIDTH * FULL}").buffer("sums", "zero:1024").buffer("norm", "zero:8")
    for rows in (FULL // 16, FULL // 16 if second else FULL):
        run.dispatch("step_norm", 128 * 128, f"i32:{WIDTH * rows}", *CELL, "buf:u", "buf:sums", block=128)
        run.dispatch("step_norm2", 128, "i32:128", "buf:sums", "buf:norm", block=128)
    return run.result(lambda _, dispatches: count(dispatches[-1 if second else -2], "time") / 1000)


def forces(row, bodies):
    """Sums over some of the other bodies (S3)."""
    short, long = 256, 1024
    run = Run(row["preset"], CODE, seconds=90).buffer("bodies", f"fill:{6 * bodies}:f32:uniform(-1, 1)")
    for others in lengths(short, long):
        run.dispatch("forces", bodies, "buf:bodies", "f32:0.01", f"i32:{bodies}", f"i32:{others}", block=256)
    return run.result(lambda times, _: slope("forces")(times, _) * bodies / (long - short) / 1e6)


RECIPES = [
    (r"mi250x-product-f(32|64)-(\d+)", lambda row, kind, side: product(row, kind, int(side))),
    (r"mi250x-step-(?:b-)?(update|laplace|factors)(?:-(read|write|waves))?", step),
    (r"mi250x-step-(?:b-)?(update|laplace)-once", lambda row, name: step(row, name, None)),
    (r"mi250x-step-(?:b-)?border", border),
    (r"mi250x-step-(?:b-)?norm(2)?", lambda row, second: norm(row, bool(second))),
    (r"mi250-nbody-(\d+)", lambda row, bodies: forces(row, int(bodies))),
]
