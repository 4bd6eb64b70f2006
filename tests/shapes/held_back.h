// Reads the tables of tests/shapes/data/: what hw/shapes_grid.py measured and no fit sees.
#pragma once

#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace fullwarp::shapes::test {

using Row = std::map<std::string, std::string>;

inline std::vector<Row> read_rows(const std::string& name) {
  std::ifstream file(std::string(FULLWARP_SOURCE_DIR "/tests/shapes/data/") + name);
  std::vector<std::string> columns;
  std::vector<Row> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::vector<std::string> fields;
    std::istringstream stream(line);
    for (std::string field; std::getline(stream, field, ',');) fields.push_back(field);
    if (columns.empty()) {
      columns = fields;
      continue;
    }
    Row& row = rows.emplace_back();
    for (size_t i = 0; i < columns.size() && i < fields.size(); ++i) row[columns[i]] = fields[i];
  }
  return rows;
}

inline int64_t whole(const Row& row, const std::string& column) { return std::stoll(row.at(column)); }
inline double number(const Row& row, const std::string& column) { return std::stod(row.at(column)); }

}  // namespace fullwarp::shapes::test
