-- Somebody has asked for a call to be hung up. Its owner is told at once over the
-- bus, and if that is lost, by its next checkpoint, which reads this row anyway.

-- +goose Up

alter table session_usage add column hangup_requested_at timestamptz;
