-- +goose NO TRANSACTION

-- Each node looks for recordings that are still to come.

-- +goose Up
create index concurrently if not exists call_recordings_open on call_recordings (node) where state in ('recording', 'encoding');
