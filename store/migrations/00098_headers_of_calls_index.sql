-- +goose NO TRANSACTION

-- Calls are looked for by their headers.

-- +goose Up
create index concurrently if not exists calls_headers on calls using gin (headers jsonb_path_ops) where headers is not null;
