// Names of the commands, and their texts for `lacuna --help` and `lacuna COMMAND --help`.
#pragma once

#include <array>

#include "platform/command_line.h"

namespace lacuna {

struct CommandInfo {
  const char* name;
  Command command;
  const char* operand;
  const char* summary;
  const char* examples;  ///< lines with line breaks
  const char* text;      ///< one paragraph, wrapped when printed
};

/// All commands, in the order of the general help.
inline constexpr std::array<CommandInfo, 12> kCommands{
    {{"exec", Command::exec, "-- PROGRAM [ARGUMENTS]", "run a HIP program on virtual GPUs",
      "  lacuna exec --config r9nano -- ./vector_add\n"
      "  lacuna exec --config mi210 --set l2.size=1MiB --out larger -- ./vector_add\n"
      "  lacuna exec -- rocminfo\n",
      "Runs a program of AMD's ROCm stack unmodified, as hipcc --offload-arch=gfx803 or gfx90a built it, in its own process. "
      "Exit code, input and output are the program's. A report of its kernels follows on stderr. Several GPUs: --set "
      "rocm.gpus=gfx803,gfx90a. Without lacuna exec, LD_LIBRARY_PATH=FOLDER ./program does the same, FOLDER being that of "
      "Lacuna's libhsakmt.so.1. Guide: docs/guide/rocm.md."},
     {"launch", Command::launch, "CODE-OBJECT|LAUNCH-FILE", "run kernels of a code object, without a host program",
      "  lacuna launch vadd.co --kernel vadd --grid 1024 --block 256 --arg in:a.bin \\\n"
      "    --arg 'fill:1024:f32:uniform(-1,1)' --arg out:4096:c.bin --arg i32:1024\n"
      "  lacuna launch product.launch --define n=512 --config r9nano\n",
      "Runs one kernel of a gfx803 or gfx90a code object, or the dispatches that a launch file describes. An ARGUMENT is "
      "in:FILE, inout:FILE, out:SIZE:FILE, zero:SIZE, fill:COUNT:TYPE:PATTERN[:SEED], buf:NAME, null, TYPE:VALUE (i8 to u64, "
      "f16, bf16, f32, f64), bytes:HEX, raw:FILE or lds:BYTES. Guide: docs/guide/launch.md."},
     {"run", Command::run, "FIRMWARE.elf", "boot firmware on the RISC-V hart, with the GPU on its bus",
      "  lacuna run build/release/firmware/demo.elf --config r9nano\n"
      "  lacuna run app.elf --config r9nano --set l2.size=512KiB --out larger\n"
      "  lacuna run app.elf --config tiny --gdb 1234\n",
      "Boots a bare-metal RV64GC program on a platform with hart, RAM, CLINT, PLIC, UART, finisher and GPU. The run ends when "
      "the program exits, by semihosting, HTIF or the finisher. stdout carries the program's console only; the report goes to "
      "stderr. Guide: firmware/README.md."},
     {"hart", Command::hart, "PROGRAM.elf [-- ARGUMENTS]", "run a bare-metal program on the hart, without the GPU",
      "  lacuna hart build/release/firmware/hello.elf\n"
      "  lacuna hart test.elf --max-time 10ms -- first second\n",
      "Runs a bare-metal RV64GC program on the same platform without the GPU and returns its exit code. The program reads "
      "ARGUMENTS by semihosting. Only its console is printed, and files are written only with --out."},
     {"sweep", Command::sweep, "FILE", "run a workload for many values of parameters, options and seeds",
      "  lacuna sweep l2.sweep --dry-run\n"
      "  lacuna sweep l2.sweep -j 8\n"
      "  lacuna results l2\n",
      "Runs lacuna exec, launch, run or sida once for each combination of values in a sweep file, and stores configuration, "
      "statistics and kernels in a database. Points that have been run with the same inputs are not run again: after an "
      "interruption, or when values were added to the file, the same command runs the rest. Guide: docs/guide/sweep.md. Exit "
      "code 1: not all points are done, or an interval is wider than `until` of the file allows."},
     {"results", Command::results, "[SWEEP[@VERSION]]", "list, filter, export and compare results of sweeps",
      "  lacuna results\n"
      "  lacuna results l2 --where 'n >= 1024' --csv\n"
      "  lacuna results l2 --metric 'misses=gpu.l2_*.read_misses'\n"
      "  lacuna results l2 --compare l2@0.1.0\n",
      "Without SWEEP lists the sweeps of a database. With it prints, for each combination of axes, the mean of each metric "
      "over "
      "the repetitions, its 95 % confidence interval, and how many samples a narrower one needs. @VERSION selects the results "
      "of one build: a version, or the first digits of a commit. experiments/figures.py --plot draws what --csv prints. Exit "
      "code 1: --compare has found a change."},
     {"isa", Command::isa_check, "check FILE...", "list kernels: arguments, resources, instructions",
      "  lacuna isa check build/release/firmware/kernels/relu.co\n"
      "  lacuna isa check --json a.out\n",
      "Lists for each kernel of gfx803 and gfx90a code objects, bundles and HIP executables its arguments, the resources of a "
      "compute unit that it needs, and its instructions, called functions included, as exact, approximate or unsupported. "
      "Nothing is run. Exit code 1 when a kernel cannot run."},
     {"disasm", Command::disasm, "CODE-OBJECT", "print the instructions of a code object",
      "  lacuna disasm build/release/firmware/kernels/relu.co\n",
      "Prints the executable sections of a gfx803 or gfx90a code object in the format of llvm-objdump -d."},
     {"finalize", Command::finalize, "FILE", "tag code for near-data computing",
      "  lacuna finalize vector_add.co\n"
      "  lacuna finalize vector_add.co --out tagged.co --report chains.json\n",
      "Finds the offload chains of near-data computing in each kernel of a code object or an offload bundle: one or two loads, "
      "up to two operations, and a store or a result. Prints them by kernel and pattern, and for every other vector load the "
      "reason why it is in none. Guide: docs/guide/near-data.md."},
     {"mesh", Command::mesh, "", "show a mesh network, and where data of two caches meet",
      "  lacuna mesh --config mesh56\n"
      "  lacuna mesh --config mesh56 --core 12 --out mesh.svg\n",
      "Prints the mesh of a configuration with its cores and last-level caches, and for one core the node at which data from "
      "each pair of last-level caches meet en route to it. Guide: docs/guide/near-data.md."},
     {"sida", Command::sida, "run|explain PROGRAM | info|prepare MATRIX | generate KIND | machine",
      "programs and matrices of the sparse accelerator",
      "  lacuna sida run pr --matrix power:rows=20000,entries=256000 --iterations 20\n"
      "  lacuna sida explain pr\n"
      "  lacuna sida generate power:rows=20000,entries=256000 --out power.mtx\n"
      "  lacuna sida info power.mtx --order natural --order rcm\n",
      "run prints a program's iterations, time and bytes; explain says which products share a pass over the matrix. info "
      "prints a matrix's sizes and how much of it the buffer holds; generate writes a Matrix Market file, prepare one that "
      "loads quickly; machine prints parts and area. A MATRIX is a file or KIND:NAME=VALUE,... Guide: docs/guide/sida.md; "
      "kinds and orders: docs/reference/sida.md."},
     {"docs", Command::docs, "FOLDER", "write the generated pages of the documentation", "  lacuna docs docs/reference\n",
      "Writes parameters.md, memory-map.md, isa-coverage.md, kernels-csv.md, duplo.md, lazygpu.md, matrix-unit.md and sida.md "
      "to FOLDER."}}};

}  // namespace lacuna
