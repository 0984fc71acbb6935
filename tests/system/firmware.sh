#!/usr/bin/env bash
# Runs a test program of firmware/apps ($1), which checks the device itself, on a configuration ($2, with the settings that
# follow). The program must end itself with exit code 0.
source "$(dirname "$0")/common.sh"

expect 0 "$LACUNA" run "$FIRMWARE/$1.elf" --config "$2" "${@:3}" --out out
[[ $(run_value out ended_by) == guest ]] || fail "the program did not end itself"
