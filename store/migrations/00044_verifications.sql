-- How far the ledger has been verified, and which rate card a node had in force.

-- +goose Up

-- What was found in order: transfers up to seq, with what was in the pots and the lots
-- then, and sessions up to admission, all of them closed.
create table verified (
    account_id   text collate "C" primary key references wallets,
    seq          bigint not null,
    paid_nano    bigint not null,
    bonus_nano   bigint not null,
    admission    bigint not null,
    lots         jsonb not null, -- what was left, by identifier
    consent_no   bigint not null, -- the last row of the evidence of consent, and its seal
    consent_seal bytea
);

create table verifications (
    id         bigint generated always as identity primary key,
    began_at   timestamptz not null,
    ended_at   timestamptz not null,
    whole      boolean not null, -- all history, not what was new alone
    accounts   bigint not null,
    sessions   bigint not null,
    transfers  bigint not null,
    violations bigint not null
);

-- What a life of a node began with, and what it put in force later.
create table node_cards (
    node_epoch    bigint not null,
    no            bigint generated always as identity,
    since         timestamptz not null,
    price_version text collate "C" not null references rate_cards,
    primary key (node_epoch, no)
);
