-- +goose NO TRANSACTION

-- A number on the operator's lines belongs to one account. On trunks of their own accounts may have the same one, each once.

-- +goose Up
alter table numbers validate constraint numbers_trunk_id_fkey;
create index concurrently if not exists numbers_trunk on numbers (trunk_id) where trunk_id is not null;
create unique index concurrently if not exists numbers_of_account on numbers (account_id, e164) where state <> 'released';
create unique index concurrently if not exists numbers_on_lines on numbers (e164) where state <> 'released' and trunk_id is null;
drop index concurrently if exists numbers_in_use;
alter index numbers_on_lines rename to numbers_in_use;
