# Runs in every build (cmake -P): writes the commit of SOURCE and its `git describe` into OUTPUT, unless OUTPUT is up to date.
#
# The commit is placed in a section that is not loaded, because it does not affect the program's behaviour: a commit without
# changes of the code leaves the loaded sections unchanged (platform/sweep/digest.h).
execute_process(COMMAND git -C "${SOURCE}" rev-parse --short=12 HEAD OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE
                ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
  set(commit unknown)
else()
  execute_process(COMMAND git -C "${SOURCE}" status --porcelain --untracked-files=no OUTPUT_VARIABLE changes ERROR_QUIET)
  if(changes)
    string(APPEND commit -dirty)
  endif()
  # The nearest tagged version, if there is one: "v0.2.0-12-g3ce795e0ef72".
  execute_process(COMMAND git -C "${SOURCE}" describe --tags --long --abbrev=12 "--match=v[0-9]*" HEAD OUTPUT_VARIABLE description
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE without_tag)
  if(NOT without_tag)
    string(APPEND commit " ${description}")
  endif()
endif()
set(text "asm(\".pushsection .lacuna.commit, \\\"\\\", @progbits\\n.ascii \\\"${commit}\\\"\\n.popsection\");\n")
if(EXISTS "${OUTPUT}")
  file(READ "${OUTPUT}" before)
endif()
if(NOT "${before}" STREQUAL "${text}")
  file(WRITE "${OUTPUT}" "${text}")
endif()
