// The timing model's input for a pass of a program.
#pragma once

#include "models/sida/function/job.h"
#include "models/sida/pipeline/pass_shape.h"
#include "models/sida/program/program.h"

namespace lacuna::sida {

/// The two orders of a matrix. The arrays that they refer to must outlive all users.
struct MatrixOrders {
  LineOrder by_columns, by_rows;
};

/// Shape of a pass, without the second product if `outcome` does not have it. `orders`: orders of the pass's matrix, ignored
/// for an element-wise pass.
PassShape shape_of(const Program& program, const Pass& pass, const PassOutcome& outcome, const MatrixOrders& orders);

/// Bytes of one entry in one order: coordinate and value; in a blocked matrix two coordinates of one byte each, and the value.
unsigned entry_bytes(const lacuna_sida_matrix& matrix);

}  // namespace lacuna::sida
