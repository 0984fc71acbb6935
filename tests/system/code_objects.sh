#!/usr/bin/env bash
# Tests code objects that differ from the default output of compilers: kernels with hidden visibility, version 2 with features
# in e_flags, and code objects that cannot be loaded.
source "$(dirname "$0")/common.sh"

libraries=$(dirname "$(ls -d /usr/lib/*/amdgcn/bitcode/opencl.bc /usr/lib/amdgcn/bitcode/opencl.bc 2>/dev/null | head -n 1)")
cat >kernels.cl <<'EOF'
kernel void count_up(global int* out) { out[get_global_id(0)] = 3 * (int)get_global_id(0) + 1; }
EOF
assembly() { # assembly VERSION: prints kernels.cl as assembly code
  clang-16 -x cl -cl-std=CL2.0 -target amdgcn-amd-amdhsa -mcpu=gfx803 -mcode-object-version="$1" "--rocm-device-lib-path=$libraries" \
    -O2 -S kernels.cl -o -
}
link() { # link FILE [OPTION...]: assembles standard input to a code object
  clang-16 -x assembler -target amdgcn-amd-amdhsa -mcpu=gfx803 -mcode-object-version="$version" -c - -o linked.o
  ld.lld-16 -shared linked.o -o "$@"
}
counts() { # counts FILE: checks that the kernel of FILE is found, runs, and has the right results
  expect 0 "$LACUNA" isa check "$1"
  says "kernel count_up: runs"
  expect 0 "$LACUNA" launch "$1" -k count_up --grid 64 -a out:256:out.bin --config tiny --out out
  [[ $(od -An -v -td4 -w4 out.bin | sed -n '4p;64p' | xargs) == "10 190" ]] || fail "$1: wrong results"
  grep -q '^0,count_up,' out/kernels.csv || fail "$1: kernels.csv does not name the kernel"
}

# A kernel with hidden visibility is only in .symtab, so it cannot be found if that section has been stripped.
for version in 2 4; do
  assembly $version | sed 's/\.protected/.hidden/' | link hidden.co
  ! llvm-readelf-16 --dyn-syms hidden.co | grep -q count_up || fail "the kernel is not hidden"
  counts hidden.co
  llvm-objcopy-16 --strip-all hidden.co stripped.co
  expect 2 "$LACUNA" launch stripped.co -k count_up --grid 64 -a zero:256 --config tiny --out refused
  complains "the metadata list kernel count_up, but no symbol says where it is"
  [[ ! -e refused ]] || fail "an output folder was made"
done

# Code objects of version 2 name their processor in a note; the low bits of e_flags are features (1: XNACK, 2: trap handler).
version=2
assembly 2 | link plain.co
for flags in 0 1 2 3; do
  { head -c 48 plain.co; printf "\\x0$flags"; tail -c +50 plain.co; } >features.co
  counts features.co
  expect 0 "$LACUNA" disasm features.co
done
assembly 2 | sed 's/\.hsa_code_object_isa 8,0,3/.hsa_code_object_isa 9,0,0/' | link other.co
expect 2 "$LACUNA" isa check other.co
complains "processor gfx900 of its note is not one of gfx803, gfx90a"

# Files that only the driver refuses are reported as wrong input, too.
assembly 2 | link gnu_hash.co --hash-style=gnu
expect 2 "$LACUNA" launch gnu_hash.co -k count_up --grid 64 -a zero:256 --config tiny --out out
complains "no symbol hash table"
expect 2 "$LACUNA" launch plain.co -k count_up --grid 64 -a zero:256 --config tiny --set gpu.target=gfx90a --out out
complains "the code object is for gfx803, the device is gfx90a"

# The 256 bytes that precede a version 2 kernel are printed as by clang, and the output can be assembled again.
directives() { sed -n '/\.amd_kernel_code_t/,/\.end_amd_kernel_code_t/p' | sed 's/[ \t]*\([^ \t].*\)/\1/'; }
expect 0 "$LACUNA" disasm plain.co
diff <(assembly 2 | directives) <(directives <out.txt) >&2 || fail "amd_kernel_code_t is not clang's"
sed -n '/<count_up>:/,$p' out.txt | sed '1d; s|//.*||' >again.s
{ echo '.hsa_code_object_version 2,1'; echo '.hsa_code_object_isa 8,0,3,"AMD","AMDGPU"'; cat again.s; } |
  llvm-mc-16 -triple amdgcn-amd-amdhsa -mcpu=gfx803 --amdhsa-code-object-version=2 -filetype=obj -o again.o
for file in plain.co again.o; do llvm-objcopy-16 --dump-section .text=$file.text $file /dev/null; done
cmp plain.co.text again.o.text || fail "the listing does not assemble to the same bytes"
