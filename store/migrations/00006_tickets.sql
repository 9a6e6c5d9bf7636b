-- A session ticket starts a bounded number of conversations; it is kept nowhere
-- but in those that it has started.

-- +goose Up

alter table sessions add column ticket text collate "C" check (ticket <> '');
create index sessions_ticket on sessions (account_id, ticket) where ticket is not null;
