-- The waveform of a recording, small enough to show an hour at once: made while the
-- recording is encoded, gone with it.

-- +goose Up
alter table call_recordings add column peaks bytea;
