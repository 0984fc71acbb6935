# Shared by the tests of sweeps, besides what common.sh brings.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# query SQL: of the database lacuna-results.db.
query() { sqlite3 -cmd '.timeout 60000' lacuna-results.db "$1"; }

# failing_sweeps: bad.sweep has a point that fails and a good one; the point of endless.sweep does not end, that of slow.sweep is
# ended after a second. Their programs are beside them.
failing_sweeps() {
  cp "$FIRMWARE"/{exit_42,loop_forever,hello}.elf .
  printf '%s\n' '[sweep]' 'command = run' 'program = {program}.elf' '[axes]' 'program = exit_42, hello' >bad.sweep
  printf '%s\n' 'include = bad.sweep' '[axes]' 'program = loop_forever' >endless.sweep
  printf '%s\n' 'include = endless.sweep' '[sweep]' 'timeout = 1s' >slow.sweep
}
