-- Where a secret may be sent.

-- +goose Up
alter table secrets add column hosts text[] check (cardinality(hosts) between 1 and 20); -- null: wherever a function sends it
