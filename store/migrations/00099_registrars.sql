-- Of several nodes that have a trunk one registers it: the one that is named here, while its life goes on.

-- +goose Up
create table trunk_registrars (
    trunk      text collate "C" primary key, -- its name in the settings, or the identifier of an account's
    node_id    text collate "C" not null,
    node_epoch bigint not null,
    until      timestamptz,              -- the end of the registration; null: there is none
    error      text not null default '', -- of the last attempt; empty: it succeeded
    contact    text not null default '', -- the URI that is registered
    former     text not null default ''  -- that of an earlier node, which is to be taken back
);

-- A node that drains has calls in progress and takes nothing new.
alter table nodes add column draining boolean not null default false;
