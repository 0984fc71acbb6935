# Common functions of the scripts of this folder, in addition to tests/system/common.sh. PROGRAMS is the folder of the built
# programs.
source "$SOURCE/tests/system/common.sh"

# The user's environment must not have any influence.
unset "${!HSA_@}" "${!HIP_@}" "${!ROC_@}" "${!AMD_@}" "${!LACUNA_@}" LD_LIBRARY_PATH LD_PRELOAD

# Folder of the library that `lacuna exec` uses, in the build tree and when installed.
library_folder=$(dirname "$(dirname "$LACUNA")")/lib
[[ -e $library_folder/libhsakmt.so.1 ]] || library_folder+=/lacuna

# on_gpu OPTION... -- PROGRAM ARGUMENT...: sets `command` to the command line that runs the program.
on_gpu() {
  local options=()
  while [[ $1 != -- ]]; do options+=("$1"); shift; done
  shift
  local program=$1
  shift
  command=("$LACUNA" exec "${options[@]}" -- "$PROGRAMS/$program" "$@")
}

# Checks that the run in folder $1 has ended and has written all results.
has_results() {
  local file
  for file in statistics.json kernels.csv log.txt effective.cfg; do
    [[ -s $1/$file ]] || fail "no $1/$file, or it is empty"
  done
}

# examples_of PAGE: prepares the current folder so that the commands of docs/PAGE work as written, and sets $page.
examples_of() {
  page=$SOURCE/docs/$1
  ln -s "$SOURCE/include" include
  mkdir -p build
  ln -s "$(dirname "$FIRMWARE")" build/release
}

# block LANGUAGE [HEADING]: prints the code blocks in LANGUAGE of $page, or those below its third-level HEADING.
block() {
  if [[ -n ${2-} ]]; then sed -n "/^### $2\$/,/^### /p" "$page"; else cat "$page"; fi |
    sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" | sed '/^```/d'
}

# run_examples NUMBER: runs NUMBER commands, read from standard input, each of which must succeed. A script may define
# `after_exec`, which is called after each `lacuna exec`; the output is in out.txt and err.txt.
run_examples() {
  local line words commands=0
  while read -r line; do
    eval "words=($line)"  # splits the line like a shell, with its quotes
    case ${words[0]} in
      lacuna) words[0]=$LACUNA ;;
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
