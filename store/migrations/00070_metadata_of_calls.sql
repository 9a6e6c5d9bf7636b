-- +goose NO TRANSACTION

-- Calls are looked for by their metadata.

-- +goose Up
create index concurrently if not exists calls_metadata on calls using gin (metadata jsonb_path_ops) where metadata is not null;
