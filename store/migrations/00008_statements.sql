-- Statements of a part of an account's history read that part and no more.

-- +goose Up

create index ledger_transfers_account_time on ledger_transfers (account_id, created_at);
create index sessions_account_ended on sessions (account_id, ended_at) where ended_at is not null;
