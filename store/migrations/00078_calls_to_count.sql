-- +goose NO TRANSACTION

-- The end of a call, and what it costs more after that, has it counted, whichever version of the
-- server closes it. Calls of before are counted by servers, a few at a time.

-- +goose Up
-- +goose StatementBegin
create or replace function count_call() returns trigger language plpgsql as $$
begin
    insert into calls_to_count (session_id, account_id) select session_id, account_id from calls where session_id = new.session_id;
    return null;
end $$;
-- +goose StatementEnd
create or replace trigger count_call after update on session_usage for each row
    when (not new.open and (old.open or new.amount_nano <> old.amount_nano))
    execute function count_call();
insert into calls_to_count (session_id, account_id)
    select c.session_id, c.account_id from calls c join session_usage u on u.session_id = c.session_id where not u.open;
