-- +goose NO TRANSACTION

-- A call is followed by one other at most.

-- +goose Up
alter table campaign_rows validate constraint campaign_rows_retry;
alter table accounts validate constraint accounts_hours;
create unique index concurrently if not exists campaign_rows_retry_of on campaign_rows (retry_of) where retry_of is not null;
