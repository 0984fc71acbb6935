#!/usr/bin/env bash
# The README's own commands work. (./dev itself is what runs this.)
source "$(dirname "$0")/common.sh"

mkdir -p build
ln -s "$(dirname "$FIRMWARE")" build/release
# The HIP program is there where hipcc is.
[[ ! -x build/release/tests/rocm/vector_add ]] || ln -s build/release/tests/rocm/vector_add .
commands=0
while read -r line; do
  [[ $line != *" exec "* || -e vector_add ]] || continue
  # As a shell reads it, with its quotes.
  eval "words=($line)"
  expect 0 "${words[@]}"
  commands=$((commands + 1))
done < <(sed -n '/^```sh$/,/^```$/p' "$SOURCE/README.md" | grep '^build/release/bin/lacuna')
[[ $commands -ge 5 ]] || fail "only $commands commands were found in README.md"

# Files and pages that it names exist.
while read -r page; do
  [[ -e $SOURCE/$page ]] || fail "README.md names $page, which does not exist"
done < <(grep -o '](docs/[^)]*)' "$SOURCE/README.md" | tr -d ']()')
for path in firmware/include/lacuna.h firmware/apps/demo.c firmware/kernels/CMakeLists.txt firmware/apps/CMakeLists.txt; do
  grep -q "$path" "$SOURCE/README.md" || fail "README.md does not name $path"
  [[ -e $SOURCE/$path ]] || fail "$path does not exist"
done
