-- Filters of the history of calls that people keep for themselves, in an account.

-- +goose Up
create table call_views (
    id         text collate "C" primary key,
    user_id    text collate "C" not null,
    account_id text collate "C" not null,
    name       text not null,
    query      text not null, -- of the page's address
    foreign key (user_id, account_id) references memberships on delete cascade,
    unique (user_id, account_id, name)
);
