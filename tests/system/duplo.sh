#!/usr/bin/env bash
# duplo.sh: runs an OpenCL C kernel, whose parameter block is an initialised variable, by `lacuna launch`. Its loads must be
# looked up, many must hit, and its results must equal those without Duplo and those of a direct convolution.
source "$(dirname "$0")/common.sh"

cp "$FIRMWARE/kernels/lowered_convolution.co" .
cat >convolve.launch <<'END'
[code]
file = lowered_convolution.co
[buffer numbers]
contents = fill:4096:i16:uniform(-8,8):1
[buffer filter_numbers]
contents = fill:9216:i16:uniform(-4,4):2
[buffer input]
contents = zero:8192
[buffer filters]
contents = zero:18432
[buffer output]
contents = zero:65536
save = output.bin
[buffer expected]
contents = zero:65536
save = expected.bin
[dispatch to_half]
grid = 4096
arg = buf:numbers
arg = buf:input
[dispatch to_half]
grid = 9216
arg = buf:filter_numbers
arg = buf:filters
[dispatch lower]
grid = 256 * 144
arg = buf:input
[dispatch convolve]
blocks = 16
block = 256
arg = buf:filters
arg = buf:output
[dispatch direct]
grid = 256 * 64
arg = buf:input
arg = buf:filters
arg = buf:expected
END
# convolve MODE [OPTION...]: runs the launch, and sets `look_ups` and `hits` to those of its kernel.
convolve() {
  expect 0 "$LACUNA" launch convolve.launch --config titanv-like --set gpu.shader_arrays=1 --set "duplo.mode=$1" --out "$1" "${@:2}"
  [[ $(od -An -v -tf4 -w4 expected.bin | sort -u | wc -l) -gt 100 ]] || fail "the direct convolution has hardly any values"
  cmp -s output.bin expected.bin || fail "duplo.mode = $1: the product is not the convolution"
  look_ups=$(column "$1" duplo_look_ups) hits=$(column "$1" duplo_hits)
}
# column FOLDER NAME: prints a column of kernels.csv for kernel convolve.
column() {
  awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == name) at = i } NR > 1 && $2 == "convolve" { print $at }' "$1/kernels.csv"
}

convolve off
[[ $look_ups == 0 ]] || fail "$look_ups look-ups without Duplo"
# Look-ups: 16 x 9 tiles, each read by the four wavefronts of a workgroup.
convolve on
[[ $look_ups == 576 ]] || fail "$look_ups look-ups, not 576"
((hits >= 144)) || fail "$hits hits"
convolve on --set duplo.release=never --set duplo.entries=0
((hits >= 3 * 144)) || fail "$hits hits, though nothing is forgotten"
complains "looked up"

# Functional mode, which has no look-ups, is refused.
expect 2 "$LACUNA" launch convolve.launch --config titanv-like --set duplo.mode=on --set gpu.timing=functional --out functional
complains "duplo.mode"

# Invalid parameter blocks refuse the dispatch: the message has kernel, field, value and legal values. The blocks are changed in the
# code object: a byte of the initialised variable (patch BYTE VALUE), the size of its symbol, or the address that the symbol has.
cp "$FIRMWARE/kernels/lowered_convolution.co" right.co
patch() {
  python3 - "$@" <<'PYTHON'
import struct, sys

what, value = sys.argv[1], int(sys.argv[2], 0)
elf = bytearray(open("right.co", "rb").read())
programs, sections = struct.unpack_from("<QQ", elf, 0x20)
entry, number, section, count = struct.unpack_from("<HHHH", elf, 0x36)
headers = [struct.unpack_from("<IIQQQQIIQQ", elf, sections + i * section) for i in range(count)]
for _, kind, _, _, at, size, link, _, _, _ in headers:
    if kind not in (2, 11): continue  # SHT_SYMTAB, SHT_DYNSYM
    for symbol in range(at, at + size, 24):
        name, = struct.unpack_from("<I", elf, symbol)
        if elf[headers[link][4] + name:].split(b"\0", 1)[0] != b"convolve_duplo": continue
        block, = struct.unpack_from("<Q", elf, symbol + 8)
        if what == "size": struct.pack_into("<Q", elf, symbol + 16, value)
        elif what == "address": struct.pack_into("<Q", elf, symbol + 8, value)
if what not in ("size", "address"):
    for i in range(number):
        kind, _, offset, address, _, in_file = struct.unpack_from("<IIQQQQ", elf, programs + i * entry)
        if kind == 1 and address <= block < address + in_file: elf[offset + block - address + int(what)] = value
open("lowered_convolution.co", "wb").write(elf)
PYTHON
}
# refused WHAT VALUE TEXT: the dispatch of the kernel with this change is refused with TEXT.
refused() {
  patch "$1" "$2"
  expect 1 "$LACUNA" launch convolve.launch --config titanv-like --set gpu.shader_arrays=1 --set duplo.mode=on --out refused
  complains "kernel convolve: convolve_duplo$3"
}
refused 22 0 ": vertical stride is 0; it is at least 1"
refused 20 30 ": filter height is 30; the padded input has 18 rows"
refused 13 5 ": images is 1281; a tag names at most 1024"
refused 8 1 ": pitch is 1; a row of the workspace has 144 elements"
refused 28 2 ": form is 2; it is 0 (the workspace is in memory) or 1 (slabs of it are in LDS)"
refused 29 2 ": row order is 2; it is 0 (images outermost) or 1 (images innermost)"
refused 31 1 ": bytes 30 and 31 is 256; they are 0"
refused size 24 " has 24 bytes; a parameter block of Duplo has 32"
refused address 0x7fff00000000 " is at 0x"
complains "; its 32 bytes have to be mapped"
