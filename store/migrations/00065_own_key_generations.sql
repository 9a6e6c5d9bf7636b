-- +goose Up
alter table call_generations add column own boolean not null default false; -- on a key of the account's
