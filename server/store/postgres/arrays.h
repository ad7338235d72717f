#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/store/postgres/database.h"

namespace stepscope {

// Takes one field of each row as an array: a batch goes to PostgreSQL as one array a column.
template <typename Row, typename Field>
Parameter Numbers(std::span<const Row> rows, Field&& field) {
  std::vector<std::int64_t> values;
  for (const Row& row : rows) values.push_back(static_cast<std::int64_t>(field(row)));
  return Parameter::Array(values);
}
template <typename Row, typename Field>
Parameter Texts(std::span<const Row> rows, Field&& field) {
  std::vector<std::string> values;
  for (const Row& row : rows) values.emplace_back(field(row));
  return Parameter::Array(values);
}
template <typename Row, typename Field>
Parameter Blobs(std::span<const Row> rows, Field&& field) {
  std::vector<std::string_view> values;
  for (const Row& row : rows) values.push_back(field(row));
  return Parameter::BytesArray(values);
}

// The job of all rows; nullopt where they are of several. As a constant it tells Citus on which
// machine all that is asked for lies.
template <typename Row>
std::optional<std::int64_t> OneJobOf(std::span<const Row> rows) {
  const std::int64_t job_id = rows.empty() ? 0 : rows[0].job_id;
  const auto same = [&](const Row& row) { return row.job_id == job_id; };
  return std::ranges::all_of(rows, same) ? std::optional(job_id) : std::nullopt;
}

}  // namespace stepscope
