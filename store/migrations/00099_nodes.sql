-- Which node of several registers a trunk, and what nodes say of themselves.

-- +goose Up
-- A trunk is its node's while the life of that goes on.
create table trunk_registrars (
    trunk      text collate "C" primary key, -- its name in the settings, or the identifier of an account's
    node_id    text collate "C" not null,
    node_epoch bigint not null,
    until      timestamptz,              -- the end of the registration; null: there is none
    error      text not null default '', -- of the last attempt; empty: it succeeded
    contact    text not null default '', -- the URI that is registered
    former     text not null default ''  -- that of an earlier node, which is to be taken back
);

alter table nodes add column draining boolean not null default false; -- it has calls in progress and takes nothing new
alter table nodes add column left_at timestamptz; -- it ended in good order; null: it did not
alter table nodes add column advertised text not null default ''; -- where others reach its HTTP side; addr is where it listens
alter table nodes add column version text not null default ''; -- of its program
