#!/usr/bin/env bash
# Tests warnings about configurations that are valid but unlikely to be intended: each warning explains the problem and the
# setting that solves it.
source "$(dirname "$0")/sweep_common.sh"

relu_launch
# warns SENTENCE OPTION...: checks that the run begins with the warning, which must also be in the log.
warns() {
  rm -rf out
  expect 0 "$LACUNA" launch relu.launch --out out "${@:2}"
  complains "$1"
  grep -qF -- "$1" out/log.txt || fail "the log does not say: $1"
}
silent() {
  rm -rf out
  expect 0 "$LACUNA" launch relu.launch --out out "$@"
  grep -q warning err.txt && fail "a warning of $*"
  return 0
}

# A wider DRAM data bus alone changes nothing, since bursts become longer than the requests.
silent --config r9nano
complains "of 256.0 GB/s ("
warns "dram: at most 256.0 of the data buses' 512.0 GB/s can be reached: a burst of 128 bytes (dram.burst x dram.bytes_per_cycle) is \
longer than a request, l2.sector = 64 bytes" --config r9nano --set dram.bytes_per_cycle=32
complains "of 512.0 GB/s ("
complains "of which 256.0 GB/s can be reached"
warns "a burst takes dram.burst = 2 cycles, but column commands are 4 cycles apart; set dram.tCCDS and dram.tCCDL = 2cycles" \
  --config r9nano --set dram.bytes_per_cycle=32 --set dram.burst=2cycles
silent --config r9nano --set dram.bytes_per_cycle=32 --set dram.burst=2cycles --set dram.tCCDS=2cycles --set dram.tCCDL=2cycles
complains "of 512.0 GB/s ("
# The preset r9nano-mgpusim, whose numbers are those of another simulator, causes no warning unless the user changes its DRAM.
silent --config r9nano-mgpusim
complains "of which 256.0 GB/s can be reached"
warns "dram: at most 256.0 of the data buses' 1024.0 GB/s can be reached" --config r9nano-mgpusim --set dram.bytes_per_cycle=128 --set dram.row_size=256B
expect 2 "$LACUNA" launch relu.launch --config r9nano --set dram.bandwidth=512 --out refused
complains "unknown parameter dram.bandwidth: it is dram.clock x dram.bytes_per_cycle x dram.pseudo_channels x gpu.memory_partitions."

# Energies of another machine cause a warning.
silent --config r9nano --config energy/r9nano
silent --config r9nano-lazygpu-baseline --set l2.sector=64B --set l1v.sector=64B --config energy/r9nano
warns "energies are of another machine: energy.fits = r9nano r9nano-mgpusim tiny, the configuration is mi210" \
  --config mi210 --set gpu.target=gfx803 --config energy/r9nano
silent --config mi210 --set gpu.target=gfx803 --config energy/r9nano --set energy.fits=mi210
cp out/effective.cfg .
silent --config effective.cfg
