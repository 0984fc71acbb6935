#!/usr/bin/env bash
# clang_tidy.sh BUILD_FOLDER FILE: runs clang-tidy on a file of the folder's compile_commands.json, unless the file passed before and
# the file, its includes, its compile command, the checks and the version of clang-tidy are unchanged.
set -euo pipefail
build=$(realpath "$1") file=$2
stamp=$build/passed/${file//\//+}
mkdir -p "$build/passed"

# Lists every file that clang-tidy read, from the make dependency files that it wrote.
included() { sed -e 's/^[^ ]*://' -e 's/\\$//' "$stamp".*.d | tr -s ' ' '\n' | sed '/^$/d' | sort -u; }

fingerprint() {
  {
    clang-tidy-14 --version
    sha256sum .clang-tidy
    grep -F -B 1 "\"file\": \"$file\"" "$build/compile_commands.json"
    included | xargs sha256sum
  } | sha256sum
}

# check NUMBER FILE OPTION...: runs clang-tidy on FILE. -w disables clang's warnings, since the build's compiler reports its own.
check() { clang-tidy-14 -p "$build" --quiet --extra-arg=-w "--extra-arg=-Wp,-MD,$stamp.$1.d" "${@:3}" "$2" 2>/dev/null; }

if [[ -s $stamp ]] && fingerprint 2>/dev/null | cmp -s - "$stamp"; then exit 0; fi
rm -f "$stamp" "$stamp".*.d
touch "$stamp.begun"
if [[ $file == */Unity/* ]]; then
  # A unity file of CMake includes source files, which the disabled check would report.
  if ! findings=$(check 0 "$file" --checks=-bugprone-suspicious-include); then
    if [[ $findings != *clang-diagnostic-error* ]]; then
      echo "$findings"
      exit 1
    fi
    echo "$file: its files cannot be compiled together, perhaps for a private name that two of them have; each is checked by itself"
    number=0
    sed -n 's/^#include "\(.*\)"$/\1/p' "$file" | while read -r one; do check $((number += 1)) "$one"; done
  fi
else
  check 0 "$file"
fi
# Do not mark the file as passed if an input was modified during the check.
[[ -n $(included | xargs -I{} find {} -newer "$stamp.begun" | head -n 1) ]] || fingerprint >"$stamp"
