-- Certificates that an authority issues over ACME (RFC 8555), which all nodes share: the account there, each certificate with the
-- order for it, and what the authority is answered when it asks whether a name is ours. The server's master key seals all keys.

-- +goose Up
create table acme_accounts (
    directory  text collate "C" primary key, -- the URL of the authority
    sealed_key bytea not null,
    uri        text not null,  -- empty: the key is not registered yet
    contact    text not null,  -- empty: the authority has none
    created_at timestamptz not null
);
create table acme_certificates (
    directory        text collate "C" not null,
    domains          text collate "C" not null, -- in order, separated by commas
    chain            text,                      -- PEM; null: none was issued yet
    sealed_key       bytea,
    not_before       timestamptz,
    not_after        timestamptz,
    issued_at        timestamptz,
    held_by          text collate "C" not null, -- the node that orders, until held_until
    held_epoch       bigint not null,
    held_until       timestamptz not null,
    failures         int not null default 0,    -- since the last certificate
    next_try         timestamptz,               -- null: at once
    order_uri        text not null default '',  -- of the order in progress; empty: there is none
    sealed_order_key bytea,
    primary key (directory, domains)
);
create table acme_challenges (
    kind    text collate "C" not null, -- tls-alpn-01 or http-01
    subject text collate "C" not null, -- the name, or the token
    sealed  bytea not null,
    until   timestamptz not null,
    primary key (kind, subject)
);
