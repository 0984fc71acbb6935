"""Recipes that measure the numbers of measurements.csv on Lacuna, by launch files for silicon.cl and memory_streams.cl
(firmware/kernels). Recipes for instructions are in instructions.py, for stencils in stencils.py, for matrices in matrices.py,
for workgroups that exchange data in sync.py, for programs in programs.py.

A recipe returns a Run. Most values are slopes between a short and a long run of the same loop (README.md, S3), so that the time
to start a kernel has no effect.
"""
import array
import random
import re

import instructions
import matrices
import programs
import stencils
import sync
from runs import GPUS, KIB, MIB, Program, Run, lengths, slope, u32

SECONDS_OF_QUICK = 8  # maximum estimated time of a run in the quick set


# Latencies, measured by a wavefront that follows pointers.

def chase(row, kib):
    """Follows the whole chain once before measuring, in the same dispatch if the chain is to stay in the L1."""
    line, hops = 64, 8192
    lines = kib * KIB // line
    order = list(range(1, lines))
    random.Random(1).shuffle(order)
    table = array.array("I", bytes(lines * line))
    at = 0
    for place in order:
        table[at * line // 4] = place * line
        at = place
    run = Run(row["preset"], "memory_streams", seconds=1 + lines // 100000)
    run.file("table", table.tobytes()).buffer("last", "zero:4")
    around = (lines + 7) // 8 * 8
    if kib <= 64:
        for length in lengths(around, around + hops):
            run.dispatch("chase", 64, "buf:table", "buf:last", u32(0), u32(length))
        return run.result(lambda times, _: slope("chase")(times, _) / hops * run.gpu.clock)
    # Computes the offset at which the first dispatch ends: `around` - `lines` hops after one pass over the chain.
    start = 0
    for _ in range(around - lines):
        start = table[start // 4]
    run.dispatch("chase", 64, "buf:table", "buf:last", u32(0), u32(around))
    run.dispatch("chase", 64, "buf:table", "buf:last", u32(start), u32(hops))
    return run.result(lambda times, _: times["chase"][-1] / hops * run.gpu.clock)


def walk(row, before, loads):
    """Returns the slope between two numbers of loads, which read separate buffers that are in no cache."""
    run = Run(row["preset"])
    run.buffer("sums", "zero:256")
    for place, count in enumerate(lengths(*loads)):
        run.buffer(f"data{place}", f"zero:{max(before, count, 1) * 64}")
        run.dispatch("walk", 64, f"buf:data{place}", "buf:sums", u32(before), u32(count))
    return run.result(lambda times, _: slope("walk")(times, _) / (loads[1] - loads[0]))


# Bandwidths.

def cache(row, kernel, kib):
    size = {"cache_f4": 16, "cache_d": 8}[kernel]
    elements = kib * KIB // size
    around = -(-elements // 256)
    steps = max(512, around) // 16 * 16 + 16
    # One pass over the data takes so long that the start of the dispatch is negligible.
    whole = kib > 2 * KIB
    counts = (steps, steps) if whole else lengths(steps, 2 * steps)
    run = Run(row["preset"], seconds=1 + sum(counts) * GPUS[row["preset"]].units * 4 // (300000 if kib <= 16 else 45000))
    run.buffer("data", f"zero:{elements * size}").buffer("sums", "zero:4194304")
    for count in counts:
        run.dispatch(kernel, run.gpu.units * 256, "buf:data", "buf:sums", u32(elements), u32(count))
    moved = run.gpu.units * 256 * size * steps
    return run.result(lambda times, _: moved / (times[kernel][-1] if whole else slope(kernel)(times, _)))


def roof_l1(row):
    groups = 8 * GPUS[row["preset"]].units
    run = Run(row["preset"], "silicon_rooflines", seconds=8)
    run.buffer("data", "zero:16384").buffer("sums", "zero:1024")
    for passes in lengths(16, 80):
        run.dispatch("roof_l1", groups * 256, "buf:data", "buf:sums", u32(passes))
    return run.result(lambda times, _: groups * 16 * KIB * 64 / slope("roof_l1")(times, _))


def roof_l2(row):
    """Reads the data once (S3) in four times the workgroups that fit (S4), after one pass that fills the L2."""
    units = GPUS[row["preset"]].units
    run = Run(row["preset"], "silicon_rooflines", seconds=300)
    run.buffer("data", f"zero:{8 * MIB}").buffer("sums", "zero:1024")
    for groups in (units, 32 * units):
        run.dispatch("roof_l2", groups * 256, "buf:data", "buf:sums", u32(1))
    return run.result(lambda times, _: 32 * units * 8 * MIB / times["roof_l2"][-1])


def roof_lds(row):
    """Each load counts as four bytes, as in the source."""
    groups = 8 * GPUS[row["preset"]].units
    run = Run(row["preset"], "silicon_rooflines", seconds=8)
    run.buffer("sums", "zero:1024")
    for loads in lengths(128, 640):
        run.dispatch("roof_lds", groups * 256, "buf:sums", u32(loads))
    return run.result(lambda times, _: groups * 256 * 4 * 512 / slope("roof_lds")(times, _))


def parts(row, kib):
    count, groups = kib // 512, 8 * GPUS[row["preset"]].units
    run = Run(row["preset"], seconds=25)
    run.buffer("data", f"zero:{kib * KIB}").buffer("sums", "zero:16777216")
    run.dispatch("parts", max(count, groups // 2) * 1024, "buf:data", "buf:sums", u32(count))
    run.dispatch("parts", groups * 1024, "buf:data", "buf:sums", u32(count))
    return run.result(lambda times, _: groups * 512 * KIB / times["parts"][-1])


MOVED = {"init": 1, "read": 1, "copy": 2, "mul": 2, "scale": 2, "add": 3, "triad": 3}


def stream(row, name, block=256, half=False, elements=0):
    """Streams vectors of at least eight times the last-level cache in total (S1). The second of two launches is measured."""
    kernel = ("half_" if half else "") + {"mul": "scale"}.get(name, name)
    elements = elements or (8 * MIB if MOVED[name] == 1 else 4 * MIB)
    run = Run(row["preset"], seconds=2 + elements * MOVED[name] // MIB)
    for vector in "abc":
        run.buffer(vector, f"zero:{8 * elements}")
    for _ in range(2):
        run.dispatch(kernel, elements, "buf:a", "buf:b", "buf:c", u32(0), block=block)
    return run.result(lambda times, _: 8 * MOVED[name] * elements / times[kernel][-1])


def eight(row, kernel, elements=8 * MIB):
    size = {"eight_f": 4, "eight_f2": 8, "eight_d": 8, "eight_f4": 16}[kernel]
    elements *= 8 // size if size < 16 else 1
    run = Run(row["preset"], seconds=6)
    run.buffer("data", f"zero:{elements * size}").buffer("sums", "zero:67108864")
    for _ in range(2):
        run.dispatch(kernel, elements // 8, "buf:data", "buf:sums")
    return run.result(lambda times, _: size * elements / times[kernel][-1])


def strides(row, kernel, stride, width=1):
    steps = 64
    run = Run(row["preset"], seconds=1)
    run.buffer("data", "zero:4194304").buffer("sums", "zero:65536")
    for count in lengths(steps, 3 * steps):
        run.dispatch(kernel, 1024, "buf:data", "buf:sums", u32(0), u32(stride), u32(width), u32(count))
    return run.result(lambda times, _: slope(kernel)(times, _) * run.gpu.clock / (2 * steps * 8 * 32))


# Instructions.

def chain(row, kernel, kind, width=1, per_cycle=False):
    run = Run(row["preset"], seconds=4)
    groups = run.gpu.units * run.gpu.wavefronts // 4
    run.buffer("sums", f"zero:{groups * 256 * 8}")
    for loops in lengths(16, 80):
        run.dispatch(kernel, groups * 256, "buf:sums", kind, u32(loops))
    operations = groups * 256 * 64 * 64 * 2 * width
    scale = run.gpu.units * run.gpu.clock if per_cycle else 1
    return run.result(lambda times, _: operations / slope(kernel)(times, _) / scale)


def products(row, kind):
    kernel, operations = "mfma_" + kind, {"bf16": 16384, "f16": 16384, "f32": 4096, "i8": 16384, "f64": 2048}[kind]
    run = Run(row["preset"], seconds=4)
    groups = run.gpu.units * 2
    run.buffer("sums", "zero:2097152")
    for loops in lengths(64, 576):
        run.dispatch(kernel, groups * 256, "buf:sums", u32(loops))
    return run.result(lambda times, _: operations * groups * 4 * 512 / slope(kernel)(times, _))


def thousand(row, kernel, what):
    """Runs workgroups of 16 wavefronts with 1000 instructions each.

    `what`: "issued", instructions per compute unit and cycle; "time", ms for 2^20 workgroups; "cycles", cycles per instruction.
    """
    run = Run(row["preset"], seconds=8)
    few, many = run.gpu.units * 2, run.gpu.units * (4 if "mfma" in kernel else 6)
    for groups in lengths(few, many):
        run.dispatch(kernel, groups * 1024, u32(0))

    def per_group(times):
        return slope(kernel)(times, None) / (many - few)

    values = {"issued": lambda times, _: 16000 / (per_group(times) * run.gpu.units * run.gpu.clock),
              "time": lambda times, _: per_group(times) * 1e-6 * (1 << 20),
              "cycles": lambda times, _: per_group(times) * run.gpu.units * run.gpu.clock * 4 / 16000}
    return run.result(values[what])


def lds_lane(row):
    run = Run(row["preset"])
    run.buffer("sums", "zero:64")
    for loops in lengths(4, 12):
        run.dispatch("lds_lane", 1024, "buf:sums", u32(loops))
    return run.result(lambda times, _: slope("lds_lane")(times, _) * run.gpu.clock / (16 * 64 * 8))


# Kernels.

def copy_of_a_million(row):
    run = Run(row["preset"], seconds=6)
    for vector in "abc":
        run.buffer(vector, f"zero:{8 * MIB}")
    for _ in range(5):
        run.dispatch("copy", MIB, "buf:a", "buf:b", "buf:c", u32(0), block=256)
    return run.result(lambda times, _: sum(times["copy"][1:]) / 4 / 1000)


def vcopy_counter(row, name):
    """The mean latency of loads between L2 and memory in core cycles, or the number of 64 B written: of later launches."""
    run = copy_of_a_million(row)

    def value(_, dispatches):
        later = [{key: float(dispatch[key]) for key in ("dram_queueing_ps", "dram_service_ps", "vector_from_memory", "dram_used")}
                 for dispatch in dispatches[1:]]
        loads = sum(dispatch["vector_from_memory"] for dispatch in later)
        if name == "writes":
            return (sum(dispatch["dram_used"] for dispatch in later) / 64 - loads) / len(later)
        return sum(dispatch["dram_queueing_ps"] + dispatch["dram_service_ps"] for dispatch in later) / loads * run.gpu.clock / 1000

    return run.result(value)


def waves(row):
    """The mean number of wavefronts in flight, in 16 generations of workgroups."""
    run = Run(row["preset"], "silicon_rooflines", seconds=4)
    run.buffer("sums", "zero:1024").dispatch("whole_lds", 16 * run.gpu.units * 256, "buf:sums", u32(64))
    return run.result(lambda _, dispatches: float(dispatches[-1]["slots_used"]) / float(dispatches[-1]["cycles"]))


def jacobi(row, name):
    width, cut = 4096, 4
    height = width if name == "boundary" else width // cut
    elements = width * height
    run = Run(row["preset"], seconds=8)
    for vector in ("right", "au", "residual", "u"):
        run.buffer(vector, f"zero:{8 * elements}")
    for _ in range(2):
        if name == "update":
            run.dispatch("jacobi_update", elements, "buf:right", "buf:au", "buf:residual", "buf:u", u32(elements), "f64:0.25")
        elif name == "laplace":
            run.dispatch("jacobi_laplace", elements, "buf:u", "buf:au", u32(width), u32(elements), "f64:1", "f64:1")
        else:
            # The source's loop runs the Laplacian before, which leaves little of the boundary in the L2.
            run.dispatch("jacobi_laplace", elements // cut, "buf:u", "buf:au", u32(width), u32(elements // cut), "f64:1", "f64:1")
            run.dispatch("jacobi_boundary", 16384, "buf:u", "buf:au", u32(width), u32(height), "f64:1", "f64:1")
    return run.result(lambda times, _: times["jacobi_" + name][-1] * 1e-6 * width * width / elements)


# Measurements that need the runtime.

def launches(row, kib):
    elements, count = kib * KIB // 16, 16
    run = Program(row["preset"], ["launches", str(elements), str(count)], seconds=6 + kib // 2000)
    return run.result(lambda printed, _: 16 * elements / printed)


def copy_to_device(row, kib):
    """Copies at most 64 MiB (S3); the value is a rate in bytes per ns."""
    size = min(kib * KIB, 64 * MIB)
    run = Program(row["preset"], ["copy", str(size)])
    return run.result(lambda printed, _: size / printed)


F32, F64, I32 = "f32:1", "f64:1", "u32:1"
RECIPES = [
    (r"mi210-chase-(\d+)k", lambda row, kib: chase(row, int(kib))),
    (r"nano-read-64b", lambda row: walk(row, 0, (128, 4096))),
    (r"nano-l2-64b", lambda row: walk(row, 16384, (0, 128))),
    (r"mi210-cache-f4-(\d+)k", lambda row, kib: cache(row, "cache_f4", int(kib))),
    (r"mi210-cache-d-(\d+)k", lambda row, kib: cache(row, "cache_d", int(kib))),
    (r"mi210-l2-(\d+)k", lambda row, kib: parts(row, int(kib))),
    (r"mi210-stream-(\w+)-(\d+)", lambda row, name, block: stream(row, name, int(block), half=True)),
    (r"mi210-roof-hbm", lambda row: stream(row, "copy")),
    (r"mi210-roof-l1", roof_l1),
    (r"mi210-roof-l2", roof_l2),
    (r"mi210-roof-lds", roof_lds),
    (r"(?:nano|fury|furyx|s9300)-babel\d-(\w+)", lambda row, name: stream(row, name)),
    (r"(?:mi210-babel4|nano-babelhc)-(copy|mul|add|triad)", lambda row, name: stream(row, name, 1024)),
    (r"a100-stream-(\w+)-1024", lambda row, name: stream(row, name, 1024, elements=40 * MIB if MOVED[name] == 1 else 20 * MIB)),
    (r"nano-read-f1?|nano-mix-read", lambda row: eight(row, "eight_f")),
    (r"nano-read-f2", lambda row: eight(row, "eight_f2")),
    (r"nano-read-f4|titanv-read-f4", lambda row: eight(row, "eight_f4")),
    (r"nano-mix-read-d", lambda row: eight(row, "eight_d")),
    (r"a100-read-f4", lambda row: eight(row, "eight_f4", 20 * MIB)),
    (r"mi210-stride-([fd])-(\d+)", lambda row, kind, stride: strides(row, "stride_" + kind, int(stride))),
    (r"mi210-block-f-(\d+)", lambda row, width: strides(row, "block_f", 4098, int(width))),
    (r"(?:mi250x|nano|nano-alt|a100|a100-ocl|mi210-roof)-f32", lambda row: chain(row, "chain_f32", F32)),
    (r"(?:mi250x|nano|nano-alt|a100|a100-ocl|mi210-roof)-f64", lambda row: chain(row, "chain_f64", F64)),
    (r"(?:mi250x|nano|nano-mix)-i32", lambda row: chain(row, "chain_i32", I32)),
    (r"mi250x-i24", lambda row: chain(row, "chain_i24", I32)),
    (r"mi250x-f32x2", lambda row: chain(row, "chain_f32x2", "f32x2:1,1", 2)),
    (r"mi250x-f16", lambda row: chain(row, "chain_f16", "f16:1")),
    (r"mi250x-f16x2", lambda row: chain(row, "chain_f16x2", "f16x2:1,1", 2)),
    (r"rx(?:570|460-mix)-f32", lambda row: chain(row, "chain_f32", F32, per_cycle=True)),
    (r"rx(?:570|460-mix)-f64", lambda row: chain(row, "chain_f64", F64, per_cycle=True)),
    (r"rx(?:570|460-mix)-i32", lambda row: chain(row, "chain_i32", I32, per_cycle=True)),
    (r"mi210-mfma-(\w+)", products),
    (r"mi250-ipc-(\w+)", lambda row, name: thousand(row, "thousand_" + name, "issued")),
    (r"mi250-time-(vmov|smov|mfma)", lambda row, name: thousand(row, "thousand_" + name, "time")),
    (r"mi250-time-vmov-1", lambda row: thousand(row, "thousand_vmov_lane", "time")),
    (r"mi250-cycles-mfma", lambda row: thousand(row, "thousand_mfma", "cycles")),
    (r"mi250-lds-one", lds_lane),
    (r"mi210-vcopy-[23]", copy_of_a_million),
    (r"mi210-vcopy-(ea-latency|writes)", vcopy_counter),
    (r"mi250-waves-lds", waves),
    (r"mi250-jacobi-(update|laplace|boundary)", jacobi),
    (r"mi210-scale-(\d+)k", lambda row, kib: launches(row, int(kib))),
    (r"v100-h2d-(\d+)k", lambda row, kib: copy_to_device(row, int(kib))),
    *instructions.RECIPES,
    *matrices.RECIPES,
    *programs.RECIPES,
    *stencils.RECIPES,
    *sync.RECIPES,
]


def recipe(row):
    """Returns the Run for a row of measurements.csv, or None if the row is not compared or has no recipe yet."""
    if row["rule"]:
        return None
    for pattern, make in RECIPES:
        match = re.fullmatch(pattern, row["id"])
        if match:
            return make(row, *match.groups())
    return None
