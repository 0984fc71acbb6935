#!/usr/bin/env bash
# Checks that the example of docs/guide/launch.md runs as written, and that its two algorithms agree.
source "$(dirname "$0")/common.sh"

cp "$FIRMWARE/kernels/launch_examples.co" .
sed -n '/^```ini$/,/^```$/p' "$SOURCE/docs/guide/launch.md" | sed '/^```/d' >paths.launch
expect 0 "$LACUNA" launch paths.launch --out out
grep -q '^floyd_warshall  *64 ' err.txt || fail "not 64 dispatches of floyd_warshall"
[[ $(wc -l <out/kernels.csv) -ge 67 ]] || fail "kernels.csv has too few lines"

# Prints row 0 of the paths without the first element: Floyd-Warshall may find a detour from vertex 0 to itself.
numbers() { od -An -v -td4 -w4 -j4 -N252 "$1"; }
diff <(numbers paths.bin) <(numbers distances.bin) >&2 || fail "Floyd-Warshall and relaxation disagree"
[[ $(od -An -td4 -N4 distances.bin) -eq 0 ]] || fail "vertex 0 is not at distance 0"

# --define overrides a constant; two runs with the same value are equal.
expect 0 "$LACUNA" launch paths.launch --define n=32 --out small
[[ $(stat -c %s paths.bin) == 4096 ]] || fail "--define n=32 had no effect"
expect 0 "$LACUNA" launch paths.launch --define n=32 --out again
[[ $(run_value small run_hash) == $(run_value again run_hash) ]] || fail "run hashes differ"

# The name and folder of the file have no effect on the simulation, also if the launch fails.
mkdir -p a/folder/with/a/rather/long/name
name=a/folder/with/a/rather/long/name/of_a_launch_file_that_is_longer_than_that_of_the_other.launch
cp paths.launch "$name"
cp launch_examples.co a/folder/with/a/rather/long/name
expect 0 "$LACUNA" launch "$name" --define n=32 --out renamed
[[ $(run_value small run_hash) == $(run_value renamed run_hash) ]] || fail "the run hash depends on the launch file's name"
printf '%s\n' '[code]' 'file = launch_examples.co' '[dispatch shape]' 'grid = 64' 'arg = null' >fault.launch
cp fault.launch "$name"
expect 1 "$LACUNA" launch fault.launch --out fault
complains "lacuna: fault.launch:3: "
expect 1 "$LACUNA" launch "$name" --out renamed_fault
complains "lacuna: $name:3: "
[[ $(run_value fault run_hash) == $(run_value renamed_fault run_hash) ]] || fail "the run hash of a failure depends on the file's name"
# The name of a code object has no effect either.
cp launch_examples.co an_object_with_another_name.co
for object in launch_examples.co an_object_with_another_name.co; do
  expect 0 "$LACUNA" launch $object -k nothing --grid 64 -a zero:4 --out "$object.out"
done
[[ $(run_value launch_examples.co.out run_hash) == $(run_value an_object_with_another_name.co.out run_hash) ]] ||
  fail "the run hash depends on the code object's name"
