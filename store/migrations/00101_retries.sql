-- Callees of a batch who are called again, as the batch says.

-- +goose Up
alter table campaigns add column retries json; -- an array of rules, each with an outcome; null: nobody is called again
alter table campaign_rows add column attempt int not null default 1; -- which call of its callee it is
alter table campaign_rows add column retry_of text collate "C"; -- the row of the call before; null: it is the first
alter table campaign_rows add constraint campaign_rows_retry check (attempt >= 1 and (retry_of is null) = (attempt = 1)) not valid;
