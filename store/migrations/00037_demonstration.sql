-- Calls that came with the demonstration: they were recorded on another server, and are
-- in the history once under each name.

-- +goose Up
alter table calls add column demonstration text;
create unique index calls_demonstration on calls (account_id, demonstration) where demonstration is not null;
