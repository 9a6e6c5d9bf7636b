-- How many calls an account places from a number in an hour.

-- +goose Up
alter table numbers add column calls_per_hour int check (calls_per_hour > 0); -- null: as many as it likes
