#!/usr/bin/env bash
# Checks that gpu.start_phase delays each dispatch by the given number of core cycles and changes no result. With hashed
# partitions and sets, a product of matrices whose rows are as long as one round of the partitions takes less time and has the
# same result. Numbers of partitions and sets that cannot be hashed are refused.
source "$(dirname "$0")/common.sh"

cp "$FIRMWARE/kernels/matmul_tiled.co" .
cat >product.launch <<'END'
[code]
file = matmul_tiled.co
[buffer a]
contents = fill:262144:f32:uniform(-1,1)
[buffer b]
contents = fill:32768:f32:uniform(-1,1)
[buffer c]
contents = zero:131072
save = c.bin
[dispatch matmul_tiled]
grid = 64, 512
block = 16, 16
arg = buf:a
arg = buf:b
arg = buf:c
arg = u32:64
arg = u32:512
END
# time_of NAME COLUMN: prints a column of kernels.csv for the dispatch.
time_of() {
  awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i } NR == 2 { print $column[name] }' "$1/kernels.csv"
}
# product NAME SETTING...: runs the matrix product; its result is in NAME.bin.
product() {
  local name=$1
  shift
  expect 0 "$LACUNA" launch product.launch --config r9nano "${@/#/--set=}" --out "$name"
  mv c.bin "$name.bin"
}

product now gpu.partition_hash=none l2.set_hash=none
product later gpu.partition_hash=none l2.set_hash=none gpu.start_phase=777cycles
product hashed gpu.partition_hash=xor l2.set_hash=xor
cmp now.bin later.bin || fail "a later start changes results"
product mi200 gpu.partition_hash=mi200
cmp now.bin hashed.bin || fail "hashes change results"
cmp now.bin mi200.bin || fail "the hash of MI200 changes results"
[[ $(time_of later start_ps) == $(($(time_of now start_ps) + 777000)) ]] || fail "the dispatch is not 777 cycles late"
camped=$(time_of now cycles) spread=$(time_of hashed cycles)
[[ $((spread * 10)) -lt $((camped * 9)) ]] || fail "hashed partitions: $spread cycles, all rows in one: $camped"

expect 2 "$LACUNA" run "$FIRMWARE/hello.elf" --config r9nano --set gpu.memory_partitions=24
complains "gpu.partition_hash = xor needs a power of two of partitions, gpu.memory_partitions = 24 is none"
expect 2 "$LACUNA" run "$FIRMWARE/hello.elf" --config r9nano --set gpu.partition_hash=mi200 --set gpu.partition_interleave=8KiB
complains "gpu.partition_hash = mi200 needs gpu.partition_interleave x gpu.memory_partitions of at most 64 KiB, not 131072"
expect 2 "$LACUNA" run "$FIRMWARE/hello.elf" --config r9nano --set l2.size=195KiB
complains "set_hash needs an even number of sets, size / (line x ways) is 195"
