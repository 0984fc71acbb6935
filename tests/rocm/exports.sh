#!/usr/bin/env bash
# Checks that the library exports all functions of the thunk, with their version, and otherwise only the symbols of a runtime
# tool.
source "$(dirname "$0")/common.sh"

library=$library_folder/libhsakmt.so.1
expect 0 nm -D --defined-only --with-symbol-versions "$library"
grep ' [TWVBDRuGi] ' out.txt | sed 's/.* //' | sort >all.txt
grep -Ev '^On(Load|Unload)@@' all.txt >exported.txt && [[ $(wc -l <exported.txt) == $(($(wc -l <all.txt) - 2)) ]] || fail "OnLoad and OnUnload are not exported"
grep -v '^hsaKmt[A-Za-z]*@@HSAKMT_1$' exported.txt >others.txt && fail "exported besides the thunk: $(cat others.txt)"
sed 's/@.*//' exported.txt >names.txt
[[ $(wc -l <names.txt) == 67 ]] || fail "$(wc -l <names.txt) functions are exported, not 67"
nm -D --undefined-only --with-symbol-versions "/usr/lib/x86_64-linux-gnu/libhsa-runtime64.so.1" | grep -o 'hsaKmt[A-Za-z]*@HSAKMT_1' |
  sed 's/@.*//' | sort -u >needed.txt
[[ -s needed.txt ]] || fail "found nothing that the HSA runtime needs"
comm -23 needed.txt names.txt >missing.txt
[[ ! -s missing.txt ]] || fail "the HSA runtime needs: $(cat missing.txt)"
# The exported names are those of the original library.
nm -D --defined-only /usr/lib/x86_64-linux-gnu/libhsakmt.so.1 | grep -o 'hsaKmt[A-Za-z]*' | sort -u >real.txt
diff real.txt names.txt || fail "not the same functions as the real library"
readelf -d "$library" | grep -q 'SONAME.*\[libhsakmt.so.1\]' || fail "the library has another SONAME"
