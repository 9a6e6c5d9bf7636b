-- +goose NO TRANSACTION

-- Numbers are looked for by the webhook that goes.

-- +goose Up
alter table numbers validate constraint numbers_webhook_id_fkey;
create index concurrently if not exists numbers_webhook on numbers (webhook_id) where webhook_id is not null;
