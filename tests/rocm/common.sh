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
