// One counter a row, so that a spreadsheet or a database can pivot as it likes:
//
//   kernel,launch,file,line,metric,value
//   transpose,1,,,memory_l1_wavefronts_shared,1081344
//   transpose,1,tile.cu,21,memory_l1_wavefronts_shared,1048576
#include "report/format.h"
#include "report/render.h"

namespace fullwarp::report {

namespace {

std::string field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

void add_rows(std::string& out, const std::string& head, const std::vector<Metric>& metrics) {
  for (const Metric& metric : metrics) out += head + "," + metric.name + "," + to_text(metric.value) + "\n";
}

}  // namespace

std::string render_csv(const Report& report) {
  std::string out = "kernel,launch,file,line,metric,value\n";
  for (size_t i = 0; i < report.kernels.size(); ++i) {
    const KernelReport& kernel = report.kernels[i];
    const std::string head = field(kernel.name) + "," + std::to_string(i + 1) + ",";
    add_rows(out, head + ",", named_metrics(kernel));
    for (const LineMetrics& line : kernel.lines)
      add_rows(out, head + field(line.file) + "," + std::to_string(line.line),
               named_metrics(line.metrics, false));
  }
  return out;
}

}  // namespace fullwarp::report
