#!/usr/bin/env bash
# A test program of firmware/apps ($1) on a configuration ($2, with the settings that follow) checks the device itself; each
# provoked error logs a message.
source "$(dirname "$0")/common.sh"

expect 0 "$LACUNA" run "$FIRMWARE/$1.elf" --config "$2" "${@:3}" --out out
[[ $(run_value out ended_by) == guest ]] || fail "the program did not end itself"
