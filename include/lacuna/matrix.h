// The matrix unit's extensions for programs in HIP (C++17) and OpenCL C 2.0: docs/guide/matrix-unit.md.
#pragma once

#include "lacuna/m3xu.h"
#include "lacuna/simd2.h"
