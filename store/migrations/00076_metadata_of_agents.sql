-- What an account's programs keep with its agents.

-- +goose Up
alter table agents add column metadata jsonb; -- an object of texts; null: none
