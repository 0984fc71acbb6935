// job_arrays.csv: the addresses of the arrays of each job of a device's sparse dataflow accelerator. `lacuna sida run
// --addresses` places its arrays at the same addresses.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "models/sida/device/job_record.h"

namespace lacuna {

void write_job_arrays_csv_header(std::ostream& out);
/// Writes a line for each array of the job, and for each further part of it whose bus addresses do not continue the one before.
void write_job_arrays_csv(const std::string& device, const SidaJobRecord& job, std::ostream& out);
/// Writes the columns and their meaning as a Markdown table.
void write_job_arrays_csv_reference(std::ostream& out);

/// Reads the arrays of the first job in a job_arrays.csv. Throws ConfigurationError with the file and the line.
std::vector<SidaJobArray> read_job_arrays_csv(const std::string& file);

}  // namespace lacuna
