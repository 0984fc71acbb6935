#!/usr/bin/env bash
# Tests the results of a run: each kernel by name with its times, the statistics, and a configuration with which the run can be
# repeated.
source "$(dirname "$0")/common.sh"

on_gpu --config tiny --set l2.size=128KiB --out first -- algorithms
expect 0 "${command[@]}"
has_results first
for kernel in matrix_product scan_blocks bitonic_step life_step visit sparse_product mandelbrot; do
  grep -q "$kernel" first/kernels.csv || fail "kernels.csv does not have $kernel"
done
[[ $(grep -c bitonic_step first/kernels.csv) == 66 ]] || fail "bitonic_step was launched 66 times"
grep -q '^size = 128KiB' first/effective.cfg || fail "effective.cfg does not have the L2's size"
on_gpu --config first/effective.cfg --out second -- algorithms
expect 0 "${command[@]}"
cmp first/effective.cfg second/effective.cfg || fail "the effective configuration is not repeated"

# The report goes to stderr, and Lacuna writes nothing to stdout; with --quiet there is no report.
complains "all kernels"
complains "bounded by"
[[ $(wc -l <out.txt) == 1 ]] || fail "the output is not only the program's"
on_gpu --config tiny --quiet --out quiet -- vector_add
expect 0 "${command[@]}"
[[ ! -s err.txt ]] || fail "stderr is not empty"
has_results quiet

# During long runs a notice with kernel, time and speed is printed once, but not with --quiet.
on_gpu --config tiny --set rocm.notice_after=1ns --out noticed -- vector_add
expect 0 "${command[@]}"
[[ $(grep -c "^lacuna: simulating for .* of simulated time, .* million wavefront instructions/s; .*gpu.timing=functional" err.txt) == 1 ]] ||
  fail "not one notice"
on_gpu --config tiny --set rocm.notice_after=1ns --quiet --out noticed -- vector_add
expect 0 "${command[@]}"
[[ ! -s err.txt ]] || fail "stderr is not empty"

# Without --out, runs are numbered.
on_gpu --config tiny -- vector_add
expect 0 "${command[@]}"
expect 0 "${command[@]}"
has_results lacuna-out/run-0001
has_results lacuna-out/run-0002

# --max-time ends the run at a simulated time.
on_gpu --config tiny --max-time 1ms --out limited -- exits wait-for-signal endless
expect 124 "${command[@]}"
has_results limited

# A configuration with the energies of another machine causes a warning.
on_gpu --config mi210 --config energy/r9nano --out other -- vector_add
expect 0 "${command[@]}"
complains "warning at 0 ps: energies are of another machine: energy.fits = r9nano r9nano-mgpusim tiny, the configuration is mi210"
