-- A webhook that somebody deletes is marked, and removed afterwards: what makes an event
-- true holds a share of the webhook's row beside the wallet, and must not wait for the
-- removal of a million deliveries.

-- +goose Up
alter table webhooks add column deleted_at timestamptz;
create index webhooks_deleted on webhooks (deleted_at) where deleted_at is not null;
