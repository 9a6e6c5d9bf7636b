-- What the carrier of a call that came in says of the caller's number: how far it has
-- checked that it is the caller's. Null: it said nothing.

-- +goose Up
alter table calls add column verstat text;
