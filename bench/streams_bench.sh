#!/usr/bin/env bash
# Simulated memory bandwidth of each preset: reads, copies and STREAM's triad of vectors of doubles, in GB/s and in per cent of
# DRAM's peak. A vector of 128 MiB is three times as large as the largest last-level cache.
# Usage: [ELEMENTS=N] streams_bench.sh LACUNA FIRMWARE_FOLDER CONFIGS_FOLDER [PRESET...]
set -euo pipefail
lacuna=$(realpath "$1") kernels=$(realpath "$2/kernels") configs=$(realpath "$3")
shift 3
[[ $# != 0 ]] || set -- $(cd "$configs" && printf '%s\n' *.cfg | sed 's/\.cfg$//')
elements=${ELEMENTS:-$((16 << 20))}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# rate KERNEL BYTES: prints the kernel's GB/s, and in parentheses the share of what DRAM could transfer in the kernel's time
rate() {
  awk -F, -v kernel="$1" -v bytes="$2" '
    NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; next }
    $column["kernel"] == kernel {
      printf "%.0f (%.0f %%)", bytes * 1000 / ($column["end_ps"] - $column["start_ps"]), 100 * bytes / $column["dram_peak"]
    }' out/kernels.csv
}

printf '%-26s %16s %16s %16s\n' '' read copy triad
for preset; do
  vectors=$elements
  # The memory of the preset `tiny` is too small for three vectors of the usual size.
  [[ $preset != tiny ]] || vectors=$((1 << 20))
  target=
  "$lacuna" launch "$kernels/empty.co" --kernel empty --grid 64 --config "$preset" --out out --quiet >log.txt 2>&1 || target=_gfx90a
  {
    printf '[code]\nfile = %s/memory_streams%s.co\n' "$kernels" "$target"
    # Nonzero contents: zero caches would serve accesses to zeros without DRAM.
    for buffer in a b; do printf '[buffer %s]\ncontents = fill:%d:f64:uniform(1,2)\n' $buffer "$vectors"; done
    printf '[buffer c]\ncontents = zero:%d\n' $((8 * vectors))
    printf '[dispatch read]\ngrid = %d\narg = buf:a\narg = buf:c\n' "$vectors"
    printf '[dispatch copy]\ngrid = %d\narg = buf:b\narg = buf:c\n' "$vectors"
    printf '[dispatch triad]\ngrid = %d\narg = buf:a\narg = buf:b\narg = buf:c\narg = f64:1.75\n' "$vectors"
  } >streams.launch
  rm -rf out
  "$lacuna" launch streams.launch --config "$preset" --out out --quiet >log.txt 2>&1 || { cat log.txt >&2; exit 1; }
  printf '%-26s %16s %16s %16s\n' "$preset" "$(rate read $((8 * vectors)))" "$(rate copy $((16 * vectors)))" \
    "$(rate triad $((24 * vectors)))"
done
