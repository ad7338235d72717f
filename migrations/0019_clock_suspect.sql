-- A node whose clock is more than a minute off is stored and marked, never refused. When its frames were first and last marked so, by the
-- service's clock, and how far it was off then (service minus node, as in clock_offset_us); null when it never was. A service of before
-- writes none of them.

alter table nodes
    add column clock_suspect_since_us bigint,
    add column clock_suspect_until_us bigint,
    add column clock_suspect_offset_us bigint;
