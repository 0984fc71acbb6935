#!/usr/bin/env bash
# A test program of firmware/apps ($1) on a configuration ($2, with what settings follow) judges the device itself; a message per provoked error is logged.
source "$(dirname "$0")/common.sh"

expect 0 "$LACUNA" run "$FIRMWARE/$1.elf" --config "$2" "${@:3}" --out out
[[ $(run_value out ended_by) == guest ]] || fail "the program did not end itself"
