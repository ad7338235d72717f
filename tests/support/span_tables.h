#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/span_table.h"
#include "core/model/table.h"

namespace stepscope::test {

struct SpanTable {
  Schema schema;
  Table table;
};

// One span for each step, of 1.5 us: "decode" in even steps, "augment" in odd ones. They begin 100
// ns for each step after a Friday in 2026.
inline SpanTable SpansOf(int rank, std::int64_t window, const std::vector<std::int64_t>& steps) {
  SpanTable made{{rank, {}, {"decode", "augment"}},
                 {steps.size(), std::vector<Column>(std::size(kSpanColumns))}};
  for (const std::string_view column : kSpanColumns) {
    made.schema.columns.push_back({std::string(column), ""});
  }
  for (const std::int64_t step : steps) {
    const std::int64_t row[] = {
        window, step % 2, 4711, 0, step, 1'795'205'614'000'000'000 + step * 100, 1'500};
    for (std::size_t i = 0; i < std::size(row); ++i) {
      made.table.columns[i].values.push_back(row[i]);
    }
  }
  return made;
}

}  // namespace stepscope::test
