-- Operators, who may belong to no account, send requests under keys of theirs, too: account_id is then the operator.
-- And a repeated answer has the headers that belong to it.

-- +goose Up
alter table idempotent_requests
    add column headers jsonb, -- ETag and Location; null: it had none
    drop constraint if exists idempotent_requests_account_id_fkey;
