-- What programs of accounts have asked: requests with a key or a ticket, kept for a week and as many as an account may have.

-- +goose Up
create table requests (
    id          text collate "C" primary key, -- begins with its time
    account_id  text collate "C" not null, -- no reference: none is worth a lock
    at          timestamptz not null,
    key_id      text collate "C" not null, -- of a ticket the key that it was made from
    ticket      text, -- null: the key itself
    method      text not null,
    route       text not null, -- the pattern that its address fits
    target      text not null, -- path and query, without secrets and what is said
    status      int not null,
    code        text, -- of the error; null: none
    took_ms     bigint not null,
    bytes_in    bigint not null, -- of the body, as far as it was read
    bytes_out   bigint not null,
    client      text, -- its name of the request; null: it gave none
    body        text, -- JSON without secrets and what is said, the first 4 kB; null: it had none, or another
    body_cut    boolean not null -- there was more
);
create index requests_account on requests (account_id, id);
