# Shared by the scripts of this folder; besides what tests/system/common.sh brings, PROGRAMS is the folder of the built programs.
source "$SOURCE/tests/system/common.sh"

# What a user's environment might have set shall not count.
unset "${!HSA_@}" "${!HIP_@}" "${!ROC_@}" "${!AMD_@}" "${!LACUNA_@}" LD_LIBRARY_PATH LD_PRELOAD

# Where `lacuna exec` takes the library from, in the build tree and as installed.
library_folder=$(dirname "$(dirname "$LACUNA")")/lib
[[ -e $library_folder/libhsakmt.so.1 ]] || library_folder+=/lacuna

# on_gpu OPTION... -- PROGRAM ARGUMENT...: the command line that runs it, in `command`.
on_gpu() {
  local options=()
  while [[ $1 != -- ]]; do options+=("$1"); shift; done
  shift
  local program=$1
  shift
  command=("$LACUNA" exec "${options[@]}" -- "$PROGRAMS/$program" "$@")
}

# The run in folder $1 ended so that all results were written.
has_results() {
  local file
  for file in statistics.json kernels.csv log.txt effective.cfg; do
    [[ -s $1/$file ]] || fail "no $1/$file, or it is empty"
  done
}

# examples_of PAGE: makes a folder in which the commands of docs/PAGE work as they stand there, and sets $page.
examples_of() {
  page=$SOURCE/docs/$1
  ln -s "$SOURCE/include" include
  mkdir -p build
  ln -s "$(dirname "$FIRMWARE")" build/release
}

# block LANGUAGE [HEADING]: the code of that language on $page, or below that heading of the third level.
block() {
  if [[ -n ${2-} ]]; then sed -n "/^### $2\$/,/^### /p" "$page"; else cat "$page"; fi |
    sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" | sed '/^```/d'
}

# run_examples NUMBER: runs the commands that it reads, NUMBER of them, each of which must succeed. A script may define
# `after_exec`, which is called behind each `lacuna exec`, whose output is in out.txt and err.txt.
run_examples() {
  local line words commands=0
  while read -r line; do
    eval "words=($line)"  # as a shell reads it, with its quotes
    case ${words[0]} in
      hipcc) words[0]=$HIPCC ;;
      clang-16) words[0]=$CLANG ;;
      ld.lld-16) words[0]=$LINKER ;;
    esac
    expect 0 "${words[@]}"
    commands=$((commands + 1))
    if [[ ${words[1]} == exec && $(type -t after_exec) == function ]]; then after_exec; fi
  done
  [[ $commands == "$1" ]] || fail "$commands commands in $page"
}
