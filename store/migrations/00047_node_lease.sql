-- +goose Up

-- Since when the node's heartbeats have come without a gap: only a node that was there for a
-- whole lease may say of another that it was not.
alter table nodes add column steady_since timestamptz not null default now();
