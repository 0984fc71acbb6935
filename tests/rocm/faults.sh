#!/usr/bin/env bash
# faults.sh TARGET: checks that invalid operations of a kernel end the program with the runtime's own report and a more detailed
# report by Lacuna.
source "$(dirname "$0")/common.sh"

target=$1
# fault NAME PART...: checks that the program aborts and that the messages contain the parts.
fault() {
  local name=$1 part
  shift
  # With --strict-memory each allocation of the program is a separate allocation of the driver, so the first page after it
  # causes a fault.
  on_gpu --config tiny --set gpu.target="$target" --out "$name" --strict-memory -- faults "$name"
  expect 134 "${command[@]}"
  for part in "$@"; do
    grep -qE -- "$part" err.txt || fail "$name: stderr does not say: $part"
  done
  has_results "$name"
}

memory_fault() {
  local name=$1
  shift
  fault "$name" "Memory access fault by GPU node-1" "Page not present|[Rr]ead-only" "kernel.*$1" "PC 0x[0-9a-f]+" "wavefront" "lane" "${@:2}"
}

memory_fault write-far-beyond write_at "global_store|flat_store" "lane 5"
memory_fault write-just-beyond write_at "global_store|flat_store" "bytes (before|behind) the mapping" "lane 5"
# The program was compiled with line tables.
complains "faults.hip:$(grep -n 'if (threadIdx.x == 5) memory\[index\] = 1;' "$SOURCE/tests/rocm/programs/faults.hip" | cut -d: -f1)"
# Without --strict-memory the store goes undetected, because its address is in memory that the runtime has allocated in the same
# block.
on_gpu --config tiny --set gpu.target="$target" --out silent -- faults write-just-beyond
expect 3 "${command[@]}"
memory_fault write-in-function call_to_store "PC 0x[0-9a-f]+ \(function .*store_in_function.* \+0x[0-9a-f]{1,3}\)" "lane 5"
memory_fault read-before read_at "global_load|flat_load"
memory_fault null-pointer write_at "bytes at 0x0, lane 5"
memory_fault host-pointer write_at
memory_fault atomic-beyond add_at "atomic"
memory_fault use-after-free read_at "not mapped"
memory_fault use-after-unregister write_at
memory_fault broken-list walk
# Accesses outside private memory: through a buffer, through a generic pointer, and by the stack of a recursion.
private_fault() {
  local name=$1
  shift
  fault "$name" "HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION" "private memory of [0-9]+ bytes a lane exceeded" "kernel.*$1" "PC 0x[0-9a-f]+" \
    "wavefront" "private_segment_size of the dispatch packet" "${@:2}"
}
private_fault private-beyond store_private "store or atomic of 4 bytes at its byte 40[0-9][0-9], lane 5:" "_store_dword"
private_fault private-before store_private "store or atomic of 4 bytes 39[0-9][0-9] bytes before its beginning, lane 5:" "_store_dword"
private_fault private-far-beyond store_private "store or atomic of 4 bytes at its byte 671088[0-9][0-9], lane 5:" "_store_dword"
private_fault private-beyond-in-function store_private_in_function "lane 5:" "function .*store_in_function" "flat_store"
private_fault private-recursion recurse "function .*descend" "lane 0:"
# On gfx803 the aperture of LDS ends where that of private memory begins; stores beyond LDS are dropped.
if [[ $target == gfx90a ]]; then
  memory_fault private-before-in-function store_private_in_function "39[0-9][0-9] bytes before the aperture of private memory" "lane 5"
fi
fault trap "HSA_STATUS_ERROR_EXCEPTION|exception" "trap 2, 64 lanes, the first is lane 0:" "kernel.*trap"
fault trap-in-some-lanes "HSA_STATUS_ERROR_EXCEPTION|exception" "trap 2, 8 lanes, the first is lane 3:" "kernel.*trap_in_some_lanes"
complains "mistakes of the guest: 1 stopped queues"
fault illegal-instruction "HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION|illegal instruction" "illegal_instruction"

# Arrays need image instructions, which the GPU does not have: the runtime's kernels for them are refused, with the kernel's
# name.
on_gpu --config tiny --set gpu.target="$target" --out arrays -- textures images
expect 134 "${command[@]}"
complains "__amd_rocclr_copyBufferToImage cannot run"
complains "HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION"
has_results arrays
