-- What is expected of work that is charged to a call after its end, while somebody does it.
-- A row counts until its time, so nobody's death keeps money from being spent.

-- +goose Up
create table afterwards_holds (
    session_id  text collate "C" primary key references sessions,
    account_id  text collate "C" not null references accounts,
    amount_nano bigint not null check (amount_nano >= 0),
    until       timestamptz not null
);
create index afterwards_holds_account on afterwards_holds (account_id);
