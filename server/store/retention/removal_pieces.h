#pragma once

#include <string>
#include <vector>

namespace stepscope {

// Statements that remove up to $2 rows of the job $1, of a table each, and return their number and
// bytes. Tables with payloads come first.
const std::vector<std::string>& JobPieces();

// Statements that remove up to $2 samples and events of the job $1 from before $3. Keys begin with
// the node or the rank, so each of these is searched by itself: rows that remain are not walked.
// The ranks are found by going from one to the next.
inline constexpr const char* kOldPieces[] = {
    R"(
with gone as (
    delete from blocks
    where job_id = $1 and (node_id, window_us, metric) in (
        select old.node_id, old.window_us, old.metric
        from (select node_id from nodes where job_id = $1) as n
        cross join lateral (
            select node_id, window_us, metric
            from blocks
            where job_id = $1 and node_id = n.node_id and window_us < $3 and metric > ''
                and to_us < $3
            order by window_us, metric
            limit $2) as old
        order by n.node_id
        limit $2)
    returning octet_length(payload) as size
)
select count(*), coalesce(sum(size), 0)::bigint from gone)",
    R"(
with recursive ranked as (
    (select rank from step_blocks where job_id = $1 order by rank limit 1)
    union all
    select (select rank from step_blocks where job_id = $1 and rank > r.rank order by rank limit 1)
    from ranked r
    where r.rank is not null
), gone as (
    delete from step_blocks
    where job_id = $1 and step_block_id in (
        select old.step_block_id
        from ranked r
        cross join lateral (
            select step_block_id
            from step_blocks
            where job_id = $1 and rank = r.rank and to_us < $3
            order by to_us
            limit $2) as old
        limit $2)
    returning octet_length(payload) as size
)
select count(*), coalesce(sum(size), 0)::bigint from gone)",
    R"(
with recursive ranked as (
    (select rank from annotation_blocks where job_id = $1 order by rank limit 1)
    union all
    select (select rank from annotation_blocks where job_id = $1 and rank > r.rank
        order by rank limit 1)
    from ranked r
    where r.rank is not null
), gone as (
    delete from annotation_blocks
    where job_id = $1 and (rank, window_us) in (
        select old.rank, old.window_us
        from ranked r
        cross join lateral (
            select rank, window_us
            from annotation_blocks
            where job_id = $1 and rank = r.rank and window_us < $3 and to_us < $3
            order by window_us
            limit $2) as old
        limit $2)
    returning octet_length(payload) as size
)
select count(*), coalesce(sum(size), 0)::bigint from gone)",
    R"(
with gone as (
    delete from span_blocks
    where job_id = $1 and (window_id, rank, session, sequence) in (
        select window_id, rank, session, sequence from span_blocks
        where job_id = $1 and to_us < $3 order by window_id, rank, session, sequence limit $2)
    returning octet_length(payload) as size
)
select count(*), coalesce(sum(size), 0)::bigint from gone)",
    R"(
with gone as (
    delete from trace_parts
    where job_id = $1 and (window_id, rank, part, track, number) in (
        select window_id, rank, part, track, number from trace_parts
        where job_id = $1 and kept_us < $3
        order by window_id, rank, part, track, number limit $2)
    returning octet_length(payload) as size
)
select count(*), coalesce(sum(size), 0)::bigint from gone)",
    R"(
with gone as (
    delete from events
    where job_id = $1 and event_id in (select event_id from events
        where job_id = $1 and at_us < $3 order by at_us limit $2)
    returning 1
)
select count(*), 0::bigint from gone)",
};

// Removes up to $1 messages that ended after the removal of their job had, or were asked for again.
// The messages of each removal are found by the index of messages by job: as a range and in its
// order, or else the planner walks all messages where nearly all are of one job.
inline constexpr char kMessagesOfGoneJobs[] = R"(
with gone as (
    delete from deliveries
    where state in ('delivered', 'dead') and delivery_id in (
        select d.delivery_id
        from removals r
        cross join lateral (
            select delivery_id
            from deliveries
            where job_id >= r.job_id and job_id <= r.job_id and state in ('delivered', 'dead')
            order by job_id, delivery_id
            limit $1) as d
        where r.ended_us is not null
        order by r.job_id
        limit $1)
    returning octet_length(body) as size
)
select count(*), coalesce(sum(size), 0)::bigint from gone)";

// Statements by OldRecords: remove up to $2 records from before $1. Numbers rise with time, so only
// the oldest thousand are read: messages that wait among them end, and make room.
inline constexpr const char* kOldRecords[] = {
    R"(
with gone as (
    delete from deliveries
    where state in ('delivered', 'dead') and delivery_id in (
        select delivery_id
        from (select job_id, delivery_id, created_us, state from deliveries
            where job_id <= 0 order by job_id, delivery_id limit 1000) as oldest
        where created_us < $1 and state in ('delivered', 'dead')
        order by delivery_id
        limit $2)
    returning octet_length(body) as size
)
select count(*), coalesce(sum(size), 0)::bigint from gone)",
    R"(
with gone as (
    delete from audit
    where audit_id in (
        select audit_id
        from (select audit_id, at_us from audit order by audit_id limit 1000) as oldest
        where at_us < $1
        order by audit_id
        limit $2)
    returning 1
)
select count(*), 0::bigint from gone)",
    // Removals are not in the order of their numbers, and few. A removal stays while a message of
    // its job does, which is found by it.
    R"(
with gone as (
    delete from removals
    where job_id in (
        select job_id
        from removals r
        where ended_us < $1 and not exists (
            select 1
            from deliveries d
            where d.job_id >= r.job_id and d.job_id <= r.job_id)
        order by job_id
        limit $2)
    returning 1
)
select count(*), 0::bigint from gone)",
};

}  // namespace stepscope
