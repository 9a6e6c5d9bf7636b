-- What is charged after a call ranks it anew.

-- +goose Up
create trigger rank_cost after update of amount_nano on session_usage
    for each row when (not new.open and new.amount_nano <> old.amount_nano) execute function rank_cost();
