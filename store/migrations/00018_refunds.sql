-- Refunds that an operator has asked for. The money leaves the balance with the
-- wish, so that it is not spent while it is on its way.

-- +goose Up

create table refunds (
    id          text collate "C" primary key, -- also what the provider knows the wish by
    account_id  text collate "C" not null references wallets,
    topup_id    text collate "C" not null references topups,
    amount_nano bigint not null check (amount_nano > 0),
    total_nano  bigint not null check (total_nano >= amount_nano), -- refunded of the top-up with it
    state       text not null check (state in ('asked', 'done', 'failed')),
    code        text not null default '', -- why it failed
    created_at  timestamptz not null,
    settled_at  timestamptz,
    check ((state = 'asked') = (settled_at is null))
);
create unique index refunds_asked on refunds (topup_id) where state = 'asked';
create index refunds_account on refunds (account_id, id);
