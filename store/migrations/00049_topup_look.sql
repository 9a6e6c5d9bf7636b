-- When the provider is asked next how a top-up stands that is open, because no event has
-- told; null: five minutes after it began.

-- +goose Up
alter table topups add column look_at timestamptz;
