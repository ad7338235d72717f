#include "server/store/ticks/join_ticks.h"

// Tables of ticks that become one.

#include <algorithm>

#include "server/store/ticks/tick_table.h"

namespace stepscope {
namespace {

using Times = std::vector<std::int64_t>;

// Adds the times of one more table, which seldom begins before the end of what is there.
void Unite(Times& times, const Times& more, const TickBounds& bounds) {
  const auto from = std::ranges::upper_bound(more, bounds.after_us);
  const auto to = std::upper_bound(from, more.end(), bounds.until_us);
  if (from == to) return;
  const auto tail = std::ranges::lower_bound(times, *from);
  if (to - from <= times.end() - tail && std::equal(from, to, tail)) return;
  const Times old(tail, times.end());
  times.erase(tail, times.end());
  std::set_union(old.begin(), old.end(), from, to, std::back_inserter(times));
}

Times UniteAll(const std::vector<TickTable>& tables, const TickBounds& bounds,
               std::size_t most_rows) {
  Times times;
  for (const TickTable& table : tables) {
    Unite(times, table.at_us, bounds);
    if (times.size() > most_rows) times.resize(most_rows);
  }
  return times;
}

// The position of each row of a table among the times; SIZE_MAX for rows outside.
std::vector<std::size_t> PositionsOf(const Times& rows, const Times& times) {
  std::vector<std::size_t> positions(rows.size(), SIZE_MAX);
  std::size_t next = 0;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (next >= times.size() || times[next] != rows[row]) {
      next = static_cast<std::size_t>(std::ranges::lower_bound(times, rows[row]) - times.begin());
    }
    if (next < times.size() && times[next] == rows[row]) positions[row] = next++;
  }
  return positions;
}

// Whether all rows are among the times, and adjacent there.
bool AreInARow(const std::vector<std::size_t>& positions) {
  return std::ranges::count(positions, SIZE_MAX) == 0 && !positions.empty() &&
         positions.back() - positions.front() + 1 == positions.size();
}

// Whether all rows could be copied as they are: nearly always, tables seldom overlap.
bool Copy(Column& out, const Column& column, std::size_t position) {
  const std::size_t rows = column.values.size();
  const auto present = out.present.begin() + static_cast<std::ptrdiff_t>(position);
  if (out.scale != column.scale || !column.present.empty()) return false;
  if (std::find(present, present + rows, 1) != present + rows) return false;
  std::ranges::copy(column.values, out.values.begin() + static_cast<std::ptrdiff_t>(position));
  std::fill_n(present, rows, 1);
  return true;
}

void Fill(Column& out, const Column& column, const std::vector<std::size_t>& positions) {
  if (AreInARow(positions) && Copy(out, column, positions.front())) return;
  for (std::size_t row = 0; row < positions.size(); ++row) {
    const std::size_t position = positions[row];
    if (position == SIZE_MAX || !column.Has(row) || out.present[position] != 0) continue;
    out.values[position] = out.scale == column.scale
                               ? column.values[row]
                               : Rescaled(column.values[row], column.scale, out.scale);
    out.present[position] = 1;
  }
}

// The series of all tables, sorted.
std::vector<SeriesName> SeriesOf(const std::vector<TickTable>& tables) {
  std::vector<SeriesName> series;
  const TickTable* before = nullptr;
  for (const TickTable& table : tables) {
    if (before && table.series == before->series) continue;
    series.insert(series.end(), table.series.begin(), table.series.end());
    before = &table;
  }
  std::ranges::sort(series);
  const auto twice = std::ranges::unique(series);
  series.erase(twice.begin(), twice.end());
  return series;
}

// The positions of a table's series among all series.
std::vector<std::size_t> ColumnsOf(const std::vector<SeriesName>& some,
                                   const std::vector<SeriesName>& all) {
  std::vector<std::size_t> columns;
  for (const SeriesName& name : some) {
    columns.push_back(static_cast<std::size_t>(std::ranges::lower_bound(all, name) - all.begin()));
  }
  return columns;
}

// Calls take(table, positions of its columns) for one table after the other; adjacent tables mostly
// have the same series.
template <typename Take>
void ForEachTable(const std::vector<TickTable>& tables, const std::vector<SeriesName>& series,
                  Take take) {
  std::vector<std::size_t> columns;
  const TickTable* before = nullptr;
  for (const TickTable& table : tables) {
    if (!before || table.series != before->series) columns = ColumnsOf(table.series, series);
    before = &table;
    take(table, columns);
  }
}

// Chooses the scale of each joined column.
void ChooseScales(const std::vector<TickTable>& tables, TickTable& joined) {
  const auto for_each = [&](auto take) {
    ForEachTable(tables, joined.series, [&](const TickTable& table, const auto& columns) {
      for (std::size_t i = 0; i < columns.size(); ++i) {
        take(table.columns[i], joined.columns[columns[i]].scale);
      }
    });
  };
  for_each(
      [](const Column& column, std::uint8_t& scale) { scale = std::max(scale, column.scale); });
  for_each([](const Column& column, std::uint8_t& scale) {
    if (column.scale < scale) scale = ScaleThatFits(column.values, column.scale, scale);
  });
}

// Whether both have equal series at equal scales, without a missing value.
bool AreAlike(const TickTable& one, const TickTable& other) {
  const auto alike = [](const Column& a, const Column& b) {
    return a.scale == b.scale && a.present.empty() && b.present.empty();
  };
  return one.series == other.series && std::ranges::equal(one.columns, other.columns, alike);
}

// Whether the tables, ordered by their first time, have equal series and do not overlap: nearly
// always so.
bool FollowEachOther(const std::vector<TickTable>& tables) {
  const std::vector<SeriesName>& series = tables[0].series;
  if (std::ranges::adjacent_find(series, std::ranges::greater_equal()) != series.end())
    return false;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    if (!AreAlike(tables[0], tables[i])) return false;
    if (i > 0 && tables[i].at_us.front() <= tables[i - 1].at_us.back()) return false;
  }
  return true;
}

// Rows of a table.
struct RowRange {
  const TickTable* table;
  std::ptrdiff_t from, to;
};

// The rows within the bounds, of tables that follow each other.
std::vector<RowRange> PartsOf(const std::vector<TickTable>& tables, const TickBounds& bounds) {
  std::vector<RowRange> parts;
  std::size_t left = bounds.most_rows;
  for (const TickTable& table : tables) {
    const Times& times = table.at_us;
    const auto from = std::ranges::upper_bound(times, bounds.after_us) - times.begin();
    const auto until = std::ranges::upper_bound(times, bounds.until_us) - times.begin();
    const auto to =
        std::min(until, from + static_cast<std::ptrdiff_t>(std::min(left, times.size())));
    if (from >= to) continue;
    parts.push_back({&table, from, to});
    left -= static_cast<std::size_t>(to - from);
  }
  return parts;
}

// Joins a part of each vector, in memory that is allocated once: readers keep the result.
template <typename ValuesOf>
std::vector<std::int64_t> Together(const std::vector<RowRange>& parts, ValuesOf values_of) {
  std::ptrdiff_t rows = 0;
  for (const RowRange& part : parts) rows += part.to - part.from;
  std::vector<std::int64_t> all;
  all.reserve(static_cast<std::size_t>(rows));
  for (const RowRange& part : parts) {
    const std::vector<std::int64_t>& values = values_of(*part.table);
    all.insert(all.end(), values.begin() + part.from, values.begin() + part.to);
  }
  return all;
}

// Concatenates tables that follow each other.
TickTable Concatenated(const std::vector<TickTable>& tables, const TickBounds& bounds) {
  const std::vector<RowRange> parts = PartsOf(tables, bounds);
  TickTable joined{.at_us = {}, .series = tables[0].series, .columns = {}};
  joined.at_us = Together(
      parts, [](const TickTable& table) -> auto& { return table.at_us; });
  for (std::size_t i = 0; i < joined.series.size(); ++i) {
    const auto values = [i](const TickTable& table) -> auto& {
      return table.columns[i].values;
    };
    joined.columns.push_back({tables[0].columns[i].scale, Together(parts, values), {}});
  }
  return joined;
}

}  // namespace

TickTable JoinTicks(std::vector<TickTable> tables, const TickBounds& bounds) {
  std::erase_if(tables, [](const TickTable& table) { return table.at_us.empty(); });
  std::ranges::stable_sort(tables, {}, [](const TickTable& table) { return table.at_us.front(); });
  if (!tables.empty() && FollowEachOther(tables)) return Concatenated(tables, bounds);
  TickTable joined;
  joined.series = SeriesOf(tables);
  joined.at_us = UniteAll(tables, bounds, bounds.MostRows(joined.series.size()));
  joined.columns.resize(joined.series.size());
  ChooseScales(tables, joined);
  for (Column& column : joined.columns) {
    column.values.assign(joined.at_us.size(), 0);
    column.present.assign(joined.at_us.size(), 0);
  }
  ForEachTable(tables, joined.series, [&](const TickTable& table, const auto& columns) {
    if (columns.empty()) return;
    const std::vector<std::size_t> positions = PositionsOf(table.at_us, joined.at_us);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      Fill(joined.columns[columns[i]], table.columns[i], positions);
    }
  });
  for (Column& column : joined.columns) {
    if (std::ranges::count(column.present, 0) == 0) column.present.clear();
  }
  return joined;
}

}  // namespace stepscope
