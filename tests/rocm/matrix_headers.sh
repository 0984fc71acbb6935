#!/usr/bin/env bash
# matrix_headers.sh: checks that each wrong use of lacuna/simd2.h in matrix/wrong_use.hip is a compile-time error with an
# explanation.
source "$SOURCE/tests/rocm/common.sh"

wrong=$SOURCE/tests/rocm/matrix/wrong_use.hip
expect 1 "$HIPCC" -std=c++17 -fsyntax-only -ferror-limit=0 --offload-arch=gfx90a -I "$SOURCE/include" "$wrong"
grep -F -- 'error:' err.txt >errors.txt
uses=0
while read -r message; do
  grep -qF -- ": $message" errors.txt || fail "no error says: $message"
  uses=$((uses + 1))
done < <(sed -n '/^using namespace/,$s,^// ,,p' "$wrong")
[[ $uses -ge 18 ]] || fail "only $uses uses were found"
# A use without an explanation would appear as another error within the headers.
if grep -F '/include/lacuna/' errors.txt | grep -vE 'static_assert|static assertion' >&2; then fail "errors other than assertions"; fi

# Half is HIP's own type in both orders of the includes.
for headers in '<hip/hip_fp16.h> <lacuna/simd2.h>' '<lacuna/simd2.h> <hip/hip_fp16.h>'; do
  for header in $headers; do echo "#include $header"; done >half.hip
  cat >>half.hip <<'END'
using namespace simd2;
void shortest(const half* a, const half* b, float* c) { simd2_minplus(a, b, c, c, 1, 1, 1); }
END
  expect 0 "$HIPCC" -std=c++17 -fsyntax-only --offload-arch=gfx90a -I "$SOURCE/include" half.hip
done
