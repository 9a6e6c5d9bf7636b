-- By which key a session was asked for and with which agent it talks, and what was charged
-- on the last day (UTC) on which anything was. Limits of spending count from these. A session
-- of before says neither key nor agent: only its account's limit knows of it.

-- +goose Up
alter table session_usage
    add column key_id text collate "C",
    add column agent_id text collate "C",
    add column spent_day date,
    add column spent_nano bigint not null default 0;
