-- Where a call's audio was sent while it went on.

-- +goose Up
alter table call_listeners
    add column host text,    -- that a stream went to; null: who listened heard it themselves
    add column failure text; -- why a stream could not begin, or ended before its call
