#!/usr/bin/env bash
# Checks that the example of docs/guide/duplo.md compiles and runs as written, and that a parameter block of another convolution
# ends the program with an error.
source "$(dirname "$0")/common.sh"

examples_of guide/duplo.md
block cpp >convolution.hip
run_examples 2 < <(block sh | head -n 2)
grep -qx '0 wrong' out.txt || fail "the example is wrong"
# Each of 64 wavefronts looks up 9 fragments of 16 rows: 576 look-ups. Of every four wavefronts, three may hit the fragments in
# the registers of the first one.
[[ $(awk '/^workspaces/ { seen = 1 } seen && $1 == "convolve" { print $2, ($3 > 50) }' err.txt) == "576 1" ]] || fail "look-ups or hits are wrong"

# Filters of 9 x 1 have the same number of columns but repeat other elements.
sed 's/  (void)hipMemcpyToSymbol/  block.filter_height = 9, block.filter_width = 1, block.padding_top = block.padding_bottom = 4, block.padding_left = block.padding_right = 0;\n&/' convolution.hip >other.hip
expect 0 "$HIPCC" --offload-arch=gfx90a -std=c++17 -O3 -I include other.hip -o other
expect 4 "$LACUNA" exec --quiet --config titanv-like --set gpu.shader_arrays=1 --set duplo.mode=on --set duplo.release=never --out other-out -- ./other
grep -qx '0 wrong' out.txt || fail "results depend on the parameter block"
complains "convolve: workgroup"
complains "convolve_duplo does not describe what the kernel loads"

# The kernel's name in the code object (mangled) is not the one to which the block belongs.
sed 's/^extern "C" //' convolution.hip >mangled.hip
expect 0 "$HIPCC" --offload-arch=gfx90a -std=c++17 -O3 -I include mangled.hip -o mangled
expect 0 "$LACUNA" exec --quiet --config titanv-like --set gpu.shader_arrays=1 --set duplo.mode=on --out mangled-out -- ./mangled
complains "convolve_duplo has no kernel convolve in its code object"

# Blocks that the program fills with invalid values refuse the dispatch.
sed 's/  (void)hipMemcpyToSymbol/  reinterpret_cast<unsigned char*>(\&block)[atoi(argv[1])] = atoi(argv[2]);\n&/; s/int main()/int main(int, char** argv)/' convolution.hip >refused.hip
expect 0 "$HIPCC" --offload-arch=gfx90a -std=c++17 -O3 -I include refused.hip -o refused
# refused BYTE VALUE FIELD LEGAL: the kernel is refused with the field, its value and legal values if this byte of its block has this
# value.
refused() {
  expect 134 "$LACUNA" exec --quiet --config titanv-like --set gpu.shader_arrays=1 --set duplo.mode=on --out refused-out -- ./refused "$1" "$2"
  complains "kernel convolve: convolve_duplo: $3 is "
  complains "$4"
}
refused 22 0 "vertical stride" " is 0; it is at least 1"
refused 20 30 "filter height" " is 30; the padded input has 18 rows"
refused 13 5 "images" " is 1281; a tag names at most 1024"
refused 8 1 "pitch" " is 1; a row of the workspace has 144 elements"
refused 0 8 "workspace" "8; it is a multiple of 16"
refused 7 1 "workspace" "; 73728 bytes from there on have to be mapped"
refused 28 2 "form" " is 2; it is 0 (the workspace is in memory) or 1 (slabs of it are in LDS)"
refused 29 2 "row order" " is 2; it is 0 (images outermost) or 1 (images innermost)"
refused 31 1 "bytes 30 and 31" " is 256; they are 0"

# Records the trace of a run and replays it.
ln -s "$SOURCE/workloads" workloads
run_examples 2 < <(block sh "A trace of look-ups")
grep -q "look_ups [1-9]" out.txt || fail "nothing was replayed"

# The replay prints how long entries live; look-ups and hits equal those of the run.
expect 0 python3 "$SOURCE/experiments/duplo/entry_life.py" traced 10
read -r look_ups hits < <(awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = NF - i }
  /convolution_explicit/ { l = $(NF - at["duplo_look_ups"]); printf "%d %.1f\n", l, 100 * $(NF - at["duplo_hits"]) / l }' traced/kernels.csv)
says "$look_ups look-ups, $hits % hit"
says "life of entries"
