"""Launch files and programs that measure a number of measurements.csv."""

KIB, MIB = 1024, 1 << 20


class Gpu:
    """Properties of a preset: target, number of compute units, clock in GHz, and capacity of a compute unit in wavefronts."""

    def __init__(self, target, units, clock, wavefronts=32):
        self.target, self.units, self.clock, self.wavefronts = target, units, clock, wavefronts

    def code(self, name):
        return name + ("" if self.target == "gfx803" else "_" + self.target)


GPUS = {"mi210": Gpu("gfx90a", 104, 1.7), "mi250x-gcd": Gpu("gfx90a", 110, 1.7), "fiji": Gpu("gfx803", 64, 1.0, 40),
        "r9fury": Gpu("gfx803", 56, 1.0, 40), "r9furyx": Gpu("gfx803", 64, 1.05, 40), "s9300": Gpu("gfx803", 64, 0.85, 40),
        "titanv-like": Gpu("gfx90a", 80, 1.2), "a100-like": Gpu("gfx90a", 108, 1.41)}


class Run:
    """A launch file. value(times, dispatches) returns the measured number.

    `times`: for each kernel, the times of its dispatches in ns, in order. `dispatches`: the rows of kernels.csv.
    """

    def __init__(self, preset, code="silicon", seconds=5):
        self.preset, self.gpu, self.seconds = preset, GPUS[preset], seconds
        self.parts = ["[code]\nfile = {kernels}/%s.co\n" % self.gpu.code(code)]
        self.files = {}
        self.outputs = {}  # contents of the output buffers after the run
        self.statistics = {}  # statistics.json after the run: sums of the values of this name
        self.value = None

    def buffer(self, name, contents):
        self.parts.append(f"[buffer {name}]\ncontents = {contents}\n")
        return self

    def file(self, name, data):
        self.files[name + ".bin"] = data
        return self.buffer(name, f"in:{name}.bin")

    def output(self, name, size):
        """Adds a buffer whose contents value() finds in `outputs`."""
        self.outputs[name] = b""
        self.parts.append(f"[buffer {name}]\ncontents = zero:{size}\nsave = {name}.bin\n")
        return self

    def statistic(self, name):
        """Requests a sum that value() finds in `statistics`."""
        self.statistics[name] = 0
        return self

    def dispatch(self, kernel, grid, *arguments, block=None):
        lines = [f"[dispatch {kernel}]", f"grid = {grid}"] + ([f"block = {block}"] if block else [])
        self.parts.append("\n".join(lines + ["arg = " + argument for argument in arguments]) + "\n")
        return self

    def result(self, value):
        self.value = value
        return self

    def text(self):
        return "".join(self.parts)


def lengths(short, long):
    """Returns the lengths of the dispatches for slope(), which ignores the first: it fetches code and translates pages."""
    return short, short, long


class Program(Run):
    """A HIP program of tests/rocm/programs that prints a number."""

    def __init__(self, preset, arguments, seconds=8):
        super().__init__(preset, seconds=seconds)
        self.arguments = arguments


def slope(kernel):
    """Returns a function of the times: the difference between those of the last two dispatches of the kernel."""
    return lambda times, _: times[kernel][-1] - times[kernel][-2]


def u32(value):
    return f"u32:{value}"
