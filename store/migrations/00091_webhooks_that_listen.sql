-- +goose NO TRANSACTION

-- A webhook that listens has no server behind its address: a program asks for its events one by one, such as parley listen
-- on the machine of a developer. It goes when no program has asked for an hour.

-- +goose Up
alter table webhooks add column if not exists listens_until timestamptz; -- null: events are sent to its address
create index concurrently if not exists webhooks_listen on webhooks (listens_until) where listens_until is not null;
