#pragma once

#include <string>

#include "core/model/table.h"

namespace stepscope {

// Ticks of a node as the bodies of requests to other stores. All hold the same values; times are in
// milliseconds.

// Lines of JSON for VictoriaMetrics, /api/v1/import: one for each series.
std::string ImportLines(const Schema& schema, const Table& ticks, const std::string& job,
                        const std::string& node);

// Prometheus's remote write, /api/v1/write. A metric's name has "_" for ".", which Prometheus does
// not take. The snappy frame is made of literals only: less work for the reader.
std::string RemoteWrite(const Schema& schema, const Table& ticks, const std::string& job,
                        const std::string& node);

// InfluxDB's line protocol, /write: one line for each device and tick with its metrics as fields of
// the measurement "samples", as Telegraf writes.
std::string InfluxLines(const Schema& schema, const Table& ticks, const std::string& job,
                        const std::string& node);

}  // namespace stepscope
