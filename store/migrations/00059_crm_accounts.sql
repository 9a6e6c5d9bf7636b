-- When the customer database of an account may be asked again: one note of each account is
-- made at a time, and one that does not answer is left alone for a while.

-- +goose Up
create table crm_accounts (
    account_id text collate "C" primary key references accounts,
    busy_until timestamptz not null, -- a lease, or a rest; what is past says who was served last
    failures   int not null default 0 -- in a row
);
