-- What an account's programs keep with calls and batches, and the variables of each call of a batch.

-- +goose Up
alter table calls add column metadata jsonb; -- an object of texts; null: none
alter table campaigns add column metadata jsonb;
alter table campaign_rows add column metadata jsonb; -- of its call, that of the batch included
alter table campaign_rows add column variables jsonb; -- values of the agent's
