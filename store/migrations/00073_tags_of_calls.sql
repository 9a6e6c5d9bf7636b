-- +goose NO TRANSACTION

-- Calls are looked for by their tags.

-- +goose Up
create index concurrently if not exists calls_tags on calls using gin (tags) where tags is not null;
