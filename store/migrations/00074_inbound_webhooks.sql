-- The webhook that is asked who answers the calls to a number, and how it was asked about a call.

-- +goose Up
alter table numbers add column webhook_id text collate "C";
alter table numbers add constraint numbers_webhook_id_fkey foreign key (webhook_id) references webhooks on delete set null not valid;
alter table calls add column asked jsonb;
