-- How fast an account places calls, over all nodes: when its bucket is full again (GCRA's
-- theoretical arrival time); null: it is full.

-- +goose Up
alter table wallets add column dials_full_at timestamptz;
