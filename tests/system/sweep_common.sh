# Common functions of the tests of sweeps, in addition to common.sh.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# query SQL: prints the result of a query of the database lacuna-results.db.
query() { sqlite3 -cmd '.timeout 60000' lacuna-results.db "$1"; }

# relu_launch: writes relu.launch, whose constants are n and seed, and copies its kernel to the same folder.
relu_launch() {
  cp "$FIRMWARE/kernels/relu_scalar.co" .
  cat >relu.launch <<'END'
[constants]
n = 256
seed = 1
[code]
file = relu_scalar.co
[buffer x]
contents = fill:{n}:f32:uniform(-1,1):{seed}
[buffer y]
contents = zero:{4 * n}
[dispatch relu_scalar]
grid = n
block = 64
arg = buf:x
arg = buf:y
arg = u32:n
END
}

# failing_sweeps: writes three sweeps and their programs. bad.sweep has a point that fails and one that succeeds; the point of
# endless.sweep does not end; that of slow.sweep is ended after a second.
failing_sweeps() {
  cp "$FIRMWARE"/{exit_42,loop_forever,hello}.elf .
  printf '%s\n' '[sweep]' 'command = run' 'program = {program}.elf' '[axes]' 'program = exit_42, hello' >bad.sweep
  printf '%s\n' 'include = bad.sweep' '[axes]' 'program = loop_forever' >endless.sweep
  printf '%s\n' 'include = endless.sweep' '[sweep]' 'timeout = 1s' >slow.sweep
}
