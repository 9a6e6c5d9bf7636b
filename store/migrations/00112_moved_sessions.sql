-- A session may go on with another node than the one that let it start, by whose rate card it is charged.

-- +goose Up
alter table sessions add column began_epoch bigint; -- the epoch that let it start; null: node_epoch
