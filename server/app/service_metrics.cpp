#include "server/app/service_metrics.h"

#include <array>

#include "core/base/text.h"
#include "server/api/service/prometheus.h"

namespace stepscope {
namespace {

void AddFront(const HttpFigures& http, PrometheusText& out) {
  out.Describe("stepscope_http_requests_total", "counter", "Requests answered.");
  for (std::size_t first = 1; first < http.answers.size(); ++first) {
    out.Sample("stepscope_http_requests_total", Format("status=\"{}xx\"", first),
               double(http.answers[first]));
  }
  out.Add("stepscope_http_busy_seconds_total", "counter", "Time in handlers of requests.",
          double(http.answered_us) / 1e6);
  out.Add("stepscope_http_body_bytes_total", "counter", "Bytes of bodies received.",
          double(http.body_bytes));
}

using ByState = std::array<std::uint64_t, kConnectionStates>;

void AddStates(std::string_view name, const ByState& counts, PrometheusText& out) {
  constexpr std::array<std::string_view, kConnectionStates> kStates = {
      "handshake", "idle", "head", "asking", "body", "answering", "writing", "draining"};
  for (std::size_t at = 0; at < kConnectionStates; ++at) {
    out.Sample(name, Format("state=\"{}\"", kStates[at]), double(counts[at]));
  }
}

void AddConnections(const EdgeFigures& edge, PrometheusText& out) {
  out.Describe("stepscope_http_connections", "gauge", "Connections, by what they are at.");
  AddStates("stepscope_http_connections", edge.connections, out);
  out.Describe("stepscope_http_timeouts_total", "counter",
               "Connections ended at a deadline, by what took too long.");
  AddStates("stepscope_http_timeouts_total", edge.timeouts, out);
  out.Add("stepscope_http_accepted_total", "counter", "Connections accepted.",
          double(edge.accepted));
  out.Add("stepscope_http_accept_failures_total", "counter", "Connections lost on accepting.",
          double(edge.accept_failures));
  out.Add("stepscope_http_shed_total", "counter", "Connections closed to make room.",
          double(edge.shed));
  out.Add("stepscope_tls_handshakes_total", "counter", "Handshakes that succeeded.",
          double(edge.handshakes));
  out.Add("stepscope_tls_handshake_failures_total", "counter", "Handshakes that failed.",
          double(edge.handshake_failures));
}

void AddEdge(const EdgeFigures& edge, PrometheusText& out) {
  AddConnections(edge, out);
  out.Add("stepscope_http_heads_total", "counter", "Heads of requests that were complete.",
          double(edge.requests));
  out.Add("stepscope_http_refused_total", "counter", "Requests refused on their heads.",
          double(edge.refused));
  out.Add("stepscope_http_turned_away_total", "counter",
          "Requests answered 503 because the queue or the memory for bodies was full.",
          double(edge.busy));
  out.Add("stepscope_http_queue_length", "gauge", "Requests that wait for a worker.",
          double(edge.queued));
  out.Add("stepscope_http_body_bytes", "gauge", "Bytes of bodies held for requests.",
          double(edge.body_bytes));
  out.Add("stepscope_http_answer_bytes", "gauge", "Bytes of answers not sent yet.",
          double(edge.answer_bytes));
}

void AddPressure(const PressureGauge& gauge, PrometheusText& out) {
  const Load load = gauge.load();
  const Judgement now = gauge.judgement();
  out.Add("stepscope_pressure", "gauge",
          "0: none; 1: bulk readers are refused; 2: frames too; 3: changes too.",
          double(static_cast<int>(now.pressure)));
  out.Describe("stepscope_pressure_load", "gauge", "How much of what there is, is used (0 to 1).");
  out.Sample("stepscope_pressure_load", "of=\"queue\"", load.queue);
  out.Sample("stepscope_pressure_load", "of=\"bodies\"", load.bodies);
  out.Sample("stepscope_pressure_load", "of=\"connections\"", load.connections);
  out.Add("stepscope_pressure_commit_p95_seconds", "gauge",
          "95 of 100 transactions of ingest in the last minute took at most this.",
          ToSeconds(load.commit_p95));
  out.Add("stepscope_pressure_storage_low", "gauge", "Whether little of the disk is free.",
          load.storage_low ? 1 : 0);
  out.Describe("stepscope_pressure_refused_total", "counter", "Requests refused for pressure.");
  out.Sample("stepscope_pressure_refused_total", "traffic=\"bulk\"",
             double(gauge.refused(Traffic::kBulk)));
  out.Sample("stepscope_pressure_refused_total", "traffic=\"frames\"",
             double(gauge.refused(Traffic::kFrames)));
  out.Sample("stepscope_pressure_refused_total", "traffic=\"changes\"",
             double(gauge.refused(Traffic::kChanges)));
}

void AddBallast(std::uint64_t bytes, PrometheusText& out) {
  out.Add("stepscope_ballast_bytes", "gauge",
          "Bytes of disk kept back for PostgreSQL; 0 once they were given up because it was full.",
          double(bytes));
}

void AddCompactor(const CompactorFigures& compactor, PrometheusText& out) {
  out.Add("stepscope_compact_frames_total", "counter", "Frames turned into blocks.",
          double(compactor.frames));
  out.Add("stepscope_compact_blocks_total", "counter", "Blocks written, also again.",
          double(compactor.blocks));
  out.Add("stepscope_compact_failures_total", "counter",
          "Nodes, ranks and jobs that could not be compacted in a turn, and looks for them that "
          "failed.",
          double(compactor.failures));
  out.Add("stepscope_compact_rows_left_out_total", "counter",
          "Rows that found no room in full blocks.", double(compactor.rows_left_out));
  out.Add("stepscope_compact_joined_rows_total", "counter",
          "Ticks of an instant that the node had already: samples that were sent twice.",
          double(compactor.rows_joined));
  out.Add("stepscope_compact_waiting_frames", "gauge",
          "Frames of all jobs that wait for a compactor, looked at every 30 s.",
          double(compactor.backlog.frames));
  out.Add(
      "stepscope_compact_overdue_seconds", "gauge",
      "For how long the job has been due that no compactor has taken for longest, at that look.",
      ToSeconds(compactor.backlog.overdue));
  out.Add("stepscope_compact_busy_seconds_total", "counter", "Time in transactions that compact.",
          double(compactor.busy_ns) / 1e9);
}

void AddRetention(const RetentionFigures& retention, PrometheusText& out) {
  out.Add("stepscope_retention_jobs_total", "counter",
          "Jobs removed for their age or for the size of all.", double(retention.jobs));
  out.Add("stepscope_retention_rows_total", "counter",
          "Rows removed, of deleted jobs, for their age (records too) or for the size of all.",
          double(retention.rows));
  out.Add("stepscope_retention_bytes_total", "counter",
          "Bytes of samples and messages in those rows.", double(retention.bytes));
  if (retention.stored_bytes == 0) return;  // never measured: there is no limit
  out.Add("stepscope_retention_stored_bytes", "gauge",
          "What the rows of all jobs take, when last measured: what --keep-size limits.",
          double(retention.stored_bytes));
  out.Add("stepscope_retention_file_bytes", "gauge",
          "What their tables take on disk, with the space that removed rows left.",
          double(retention.file_bytes));
}

void AddEvaluator(const EvaluatorFigures& evaluator, PrometheusText& out) {
  out.Add("stepscope_evaluations_total", "counter", "Evaluations of rules.",
          double(evaluator.evaluations));
  out.Add("stepscope_evaluation_failures_total", "counter", "Evaluations that failed.",
          double(evaluator.failures));
  out.Add("stepscope_evaluation_conflicts_total", "counter",
          "Evaluations thrown away because the task was no longer ours.",
          double(evaluator.conflicts));
  out.Add("stepscope_evaluation_rows_total", "counter", "Ticks and steps shown to rules.",
          double(evaluator.rows));
  out.Add("stepscope_evaluation_seconds_total", "counter", "Time in evaluations, of all threads.",
          double(evaluator.busy_ns) / 1e9);
  out.Add("stepscope_evaluation_lag_seconds", "gauge",
          "How far the newest evaluation of a running job was behind.", ToSeconds(evaluator.lag));
}

void AddBlocks(const BlockCacheFigures& blocks, PrometheusText& out) {
  out.Add("stepscope_block_cache_hits_total", "counter", "Blocks that a chart found in memory.",
          double(blocks.hits));
  out.Add("stepscope_block_cache_misses_total", "counter", "Blocks that a chart had to fetch.",
          double(blocks.misses));
  out.Add("stepscope_block_cache_bytes", "gauge", "Memory of blocks that charts have read.",
          double(blocks.bytes));
}

void AddOutbox(const OutboxFigures& outbox, PrometheusText& out) {
  out.Add("stepscope_webhook_attempts_total", "counter", "Attempts to send a message.",
          double(outbox.attempts));
  out.Add("stepscope_webhook_delivered_total", "counter", "Messages that arrived.",
          double(outbox.delivered));
  out.Add("stepscope_webhook_retries_total", "counter", "Attempts that are made again.",
          double(outbox.again));
  out.Add("stepscope_webhook_dead_total", "counter", "Messages given up.", double(outbox.dead));
}

}  // namespace

std::string ServiceMetrics(const MeasuredParts& parts) {
  PrometheusText out;
  AddFront(parts.front.figures(), out);
  AddEdge(parts.edge.figures(), out);
  AddPressure(parts.pressure, out);
  AddBallast(parts.ballast_bytes, out);
  AddEvaluator(parts.evaluator.figures(), out);
  AddCompactor(parts.compactor.figures(), out);
  AddRetention(parts.retention.figures(), out);
  AddOutbox(parts.outbox.figures(), out);
  AddBlocks(parts.blocks.figures(), out);
  return out.text();
}

}  // namespace stepscope
