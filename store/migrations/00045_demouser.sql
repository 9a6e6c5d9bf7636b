-- The demonstration's account is known by a mark, and its user owns it and is no operator.

-- +goose Up
alter table accounts add column demonstration boolean not null default false;
create unique index accounts_demonstration on accounts (demonstration) where demonstration;
update accounts set demonstration = true where id in (select account_id from ledger_transfers where idem = 'demo:topup');
update users set role = 'member' where email = 'demo@localhost' and password is null;

-- +goose Down
alter table accounts drop column demonstration;
