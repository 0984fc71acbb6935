"""Recipes for silicon_instructions.cl and silicon_lds.cl (firmware/kernels): instructions, the scalar cache, loads of each width, small workgroups."""
import statistics
import struct

from runs import MIB, Run, lengths, slope, u32

CODE = "silicon_instructions"

# Instructions of the short and of the long block of an instruction's two kernels, by the beginning of its name.
BLOCKS = (("ds_", (7, 15)), ("s_load_", (2, 6)), ("", (128, 384)))
LOOPS = 64


def blocks(instruction):
    return next(pair for prefix, pair in BLOCKS if instruction.startswith(prefix))


def name_of(words):
    return words.replace("-", "_")


# Workgroups without work, and code that is in no cache.

def dispatch(row, wavefronts):
    """Returns the slope of the time over the number of workgroups. The first launch is not counted; then each number has four."""
    run = Run(row["preset"], CODE, seconds=1)
    workgroups = [groups for groups in range(128, 1025, 128) for _ in range(4)]
    for groups in (workgroups[0], *workgroups):
        run.dispatch("nothing", groups * wavefronts * 64, block=wavefronts * 64)
    return run.result(lambda times, _: statistics.linear_regression(workgroups, times["nothing"][1:]).slope)


def cold_additions(row):
    """Launches each program once, after another kernel, so that only its own code is in no cache."""
    counts = range(129)
    run = Run(row["preset"], CODE, seconds=1).dispatch("nothing", 64)
    for count in counts:
        run.dispatch(f"adds_{count}", 64)
    return run.result(lambda times, _: statistics.linear_regression(counts, [times[f"adds_{count}"][0] for count in counts]).slope)


# The scalar cache.

def scalar_latency(row, kernel, mean):
    """The `mean` of all samples but the first."""
    run = Run(row["preset"], CODE, seconds=1)
    run.buffer("table", "fill:512:u32:iota(0,1)").output("cycles", 1024)
    run.dispatch(kernel, 1, "buf:table", "buf:cycles", u32(0))
    return run.result(lambda *_: mean(struct.unpack("<256I", run.outputs["cycles"])[1:]))


def scalar_reads(row):
    run = Run(row["preset"], CODE, seconds=1)
    run.buffer("data", "zero:8192").output("cycles", 8)
    run.dispatch("scalar_reads", 1024, "buf:data", "buf:cycles", u32(8), u32(128), u32(2048))
    return run.result(lambda *_: struct.unpack("<2I", run.outputs["cycles"])[0])


# Instructions.

def issue(row, instruction):
    """Returns the cycles from one instruction to the next of a wavefront: slope between two lengths of a block (S3)."""
    short, long = blocks(instruction)
    run = Run(row["preset"], CODE, seconds=1).buffer("data", "zero:64")
    for length in (short, long, short, long):
        run.dispatch(f"{instruction}_{length}", 64, "buf:data", u32(LOOPS))

    def value(times, _):
        difference = times[f"{instruction}_{long}"][-1] - times[f"{instruction}_{short}"][-1]
        return difference * run.gpu.clock / (LOOPS * (long - short))

    return run.result(value)


def rate(row, instruction):
    """Returns the instructions of a compute unit per cycle, with four wavefronts on each of its SIMDs."""
    length = blocks(instruction)[1]
    kernel = f"{instruction}_{length}"
    run = Run(row["preset"], CODE, seconds=1).buffer("data", "zero:64")
    for loops in lengths(LOOPS, 5 * LOOPS):
        run.dispatch(kernel, 1024, "buf:data", u32(loops), block=1024)
    return run.result(lambda times, _: 16 * length * 4 * LOOPS / (slope(kernel)(times, _) * run.gpu.clock))


def lds_conflict(row):
    """The only wavefront waits for its only LDS access, so it waits for all cycles that conflicts add."""
    run = Run(row["preset"], CODE, seconds=1).buffer("values", "zero:8")
    run.dispatch("lds_stride", 2, "buf:values", u32(32), u32(0), block=2)
    return run.result(lambda _, dispatches: float(dispatches[-1]["cycles_lds_conflict"]))


def lds_access(row):
    """The cycles for which a load of two lanes that meet in a bank occupies the LDS: slope, with 16 wavefronts in one compute unit."""
    run = Run(row["preset"], "silicon_lds", seconds=2).buffer("sums", "zero:64")
    for loops in lengths(4, 12):
        run.dispatch("lds_lanes", 1024, "buf:sums", u32(2), u32(32), u32(loops))
    return run.result(lambda times, _: slope("lds_lanes")(times, _) * run.gpu.clock / (16 * 64 * 8))


# Memory.

HASH = 0x3504f333  # the source's: lanes start at three times their number modulo 16


def raw_loads(row, width, order):
    """The time of a dword that starts at random, divided by the time of these loads, of four times the workgroups that fit (S4)."""
    orders = {"linear": (u32(1), u32(255)), "random": (u32(HASH), u32(15))}
    run = Run(row["preset"], CODE, seconds=9)
    run.buffer("data", "zero:16384").buffer("sums", "zero:64")
    for kernel, how in ((f"raw_{width or 1}", order), ("raw_1", "random")):
        for groups in (run.gpu.units, 4 * run.gpu.units * run.gpu.wavefronts // 4):
            run.dispatch(kernel, groups * 256, "buf:data", "buf:sums", *orders[how], u32(0))
    return run.result(lambda times, _: times["raw_1"][-1] / times[f"raw_{width or 1}"][1])


def spatter(row, kernel, length, stride, span=8):
    """Gathers or scatters a pattern with a stride. The second of two launches is measured.

    Elements occupy `span` bytes of the L2's lines, together eight times its capacity (S1).
    """
    count = 64 * MIB // (span * length)
    run = Run(row["preset"], CODE, seconds=10 if span == 8 else 6)
    run.buffer("pattern", f"fill:{length}:u64:iota(0,{stride})").buffer("sparse", f"zero:{8 * count * length * stride}")
    run.buffer("dense", f"zero:{8 * length}")
    sizes = [f"u64:{size}" for size in (length, length * stride, 1, count)]
    for _ in range(2):
        run.dispatch(kernel, count * length, "buf:pattern", "buf:sparse", "buf:dense", *sizes, block=length)
    return run.result(lambda times, _: 8 * count * length / times[kernel][-1])


RECIPES = [
    (r"nano-dispatch-(\d)", lambda row, wavefronts: dispatch(row, int(wavefronts))),
    (r"nano-vadd-cold", cold_additions),
    (r"mi210-scalar-l1", lambda row: scalar_latency(row, "scalar_latency", statistics.mean)),
    (r"mi210-scalar-l1-2025", lambda row: scalar_latency(row, "scalar_latency_immediate", statistics.median)),
    (r"mi210-scalar-bw", scalar_reads),
    (r"gcn-(.+)-issue", lambda row, words: issue(row, name_of(words))),
    (r"gcn-(ds-.+)", lambda row, words: rate(row, name_of(words))),
    (r"gcn-(.+)", lambda row, words: issue(row, name_of(words))),
    (r"mi250-lds-two-conflict", lds_conflict),
    (r"mi250-lds-two-access", lds_access),
    (r"fury-raw-dword(?:x(\d))?-(linear|random)", raw_loads),
    (r"mi210-spatter-(gather|scatter)", lambda row, kernel: spatter(row, kernel, 256, 1)),
    (r"mi210-scatter-(\d+)-(\d+)", lambda row, length, stride: spatter(row, "scatter", int(length), int(stride), span=128)),
]
