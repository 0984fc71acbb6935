// The matrix unit's extensions for programs in HIP (C++17) and OpenCL C 2.0: docs/matrix-unit.md.
#pragma once

#include "lacuna/simd2.h"
#if __has_include("lacuna/m3xu.h")
#include "lacuna/m3xu.h"
#endif
