-- Work whose price is known before it starts holds that price, as a telephone
-- minute does; and a task is a session that does not end with the process that
-- took it on, nor count among those at once.

-- +goose Up

alter table session_usage rename column line_held_nano to held_nano;
alter table sessions add column counted boolean not null default true;

