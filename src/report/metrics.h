// From a profile, which counts by instruction, to a report, which counts by kernel, source line and buffer.
#pragma once

#include "profile/profile.h"
#include "report/report.h"

namespace fullwarp::report {

Metrics kernel_metrics(const profile::KernelProfile& profile);

// One entry per source line that executed, ordered by file and line. An instruction counts for the line of
// its own `.loc` (for inlined code the line inside the inlined function, as in Nsight Compute's source
// view); without line information for its line of the PTX file.
std::vector<LineMetrics> line_metrics(const profile::KernelProfile& profile);

std::vector<Buffer> buffers_of(const profile::KernelProfile& profile);

// Where an instruction stands in the source (column 0 where it is not known).
diag::Place place_of(const ptx::Module& module, profile::InstructionId id);

}  // namespace fullwarp::report
