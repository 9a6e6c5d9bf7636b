-- Where calls to a number go: opening hours, holidays, menus, overflow.

-- +goose Up
alter table numbers add column rules json; -- a document, its members as people write them; null: the number's agent answers all calls
