#!/usr/bin/env bash
# Tests the program's output about itself (help, version, parameters), and output folders.
source "$(dirname "$0")/common.sh"

expect 0 "$LACUNA" --version
says "lacuna 0."
grep -qE "^lacuna [0-9.]+, commit ([0-9a-f]{12}(-dirty)?|unknown)( \(v[0-9.]+-[0-9]+-g[0-9a-f]{12}\))?$" out.txt || fail "the version has no commit"
version=$(sed 's/^lacuna \([0-9.]*\),.*/\1/' out.txt)
grep -qx "version: $version" "$SOURCE/CITATION.cff" || fail "CITATION.cff has another version than $version"
grep -m 1 '^## ' "$SOURCE/CHANGELOG.md" | grep -qxE "## ($version|Unreleased)" || fail "CHANGELOG.md has another version than $version"
for command in "" run hart disasm finalize mesh sida docs sweep results; do
  expect 0 "$LACUNA" $command --help
  says "Usage:"
  [[ ! -s err.txt ]] || fail "help writes to stderr"
  # At most one blank more, after which Boost breaks a line.
  ! grep -E '.{102}|^Usage:.{95}' out.txt || fail "the help of $command has lines of more than 100 columns"
done
expect 0 "$LACUNA" --list-params
says "l2.size = 256KiB  (size, unit B, KiB, MiB, GiB"
mkdir pages
expect 0 "$LACUNA" docs pages
[[ $(ls pages) == $'duplo.md\nisa-coverage.md\nkernels-csv.md\nlazygpu.md\nmatrix-unit.md\nmemory-map.md\nparameters.md\nsida.md' ]] || fail "pages are missing"
expect 0 "$LACUNA" docs --help
for page in $(ls pages); do says "$page"; done
[[ $(grep -o '[a-z-]*\.md' out.txt | wc -l) == $(ls pages | wc -l) ]] || fail "the help names pages that are not written"
expect 2 "$LACUNA" docs nowhere
complains "nowhere: no such folder"

# A heading directly after a table would be rendered as one of its rows.
awk 'FNR > 1 && /^#/ && last ~ /^\|/ { print FILENAME ":" FNR; bad = 1 } { last = $0 } END { exit bad }' "$SOURCE"/README.md "$SOURCE"/docs/*.md "$SOURCE"/docs/*/*.md >out.txt ||
  fail "a heading stands within a table"

# Output folders are numbered or named by --out, and can be used again.
expect 0 "$LACUNA" run "$FIRMWARE/hello.elf" --config tiny
complains "output folder   lacuna-out/run-0001"
expect 0 "$LACUNA" run "$FIRMWARE/hello.elf" --config tiny
complains "output folder   lacuna-out/run-0002"
for _ in 1 2; do expect 0 "$LACUNA" run "$FIRMWARE/hello.elf" --config tiny --out chosen; done
[[ $(tr -d '\r' <chosen/console.txt) == "hello from RV64GC: 2.50" ]] || fail "console.txt"
grep -q '^exit\|exit code 0' chosen/log.txt || fail "log.txt does not tell of the exit"
expect 0 "$LACUNA" run --quiet "$FIRMWARE/hello.elf" --config tiny
[[ $(tr -d '\r' <out.txt) == "hello from RV64GC: 2.50" && ! -s err.txt ]] || fail "--quiet is not quiet"

# Later settings override earlier ones, in the given order.
printf '[host]\nram_size = 512MiB\n' >ram.cfg
expect 0 "$LACUNA" run "$FIRMWARE/hello.elf" --config tiny --set host.ram_size=1GiB --config ram.cfg --out chosen
grep -q '^ram_size = 512MiB' chosen/effective.cfg || fail "the file did not win over the earlier --set"
expect 0 "$LACUNA" run "$FIRMWARE/hello.elf" --config tiny --config ram.cfg --set host.ram_size=1GiB --out chosen
grep -q '^ram_size = 1GiB' chosen/effective.cfg || fail "--set did not win over the earlier file"
