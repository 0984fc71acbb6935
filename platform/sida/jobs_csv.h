// jobs.csv and passes.csv: a line for each job of a device's sparse dataflow accelerator, and for each of its passes.
#pragma once

#include <iosfwd>
#include <string>

#include "models/sida/device/job_record.h"

namespace lacuna {

void write_jobs_csv_header(std::ostream& out);
void write_jobs_csv(const std::string& device, const SidaJobRecord& job, std::ostream& out);
/// Writes the columns and their meaning as a Markdown table.
void write_jobs_csv_reference(std::ostream& out);

void write_passes_csv_header(std::ostream& out);
void write_passes_csv(const std::string& device, const SidaPassRecord& pass, std::ostream& out);
/// Writes the columns that jobs.csv does not have.
void write_passes_csv_reference(std::ostream& out);

}  // namespace lacuna
