-- What was said in a call can be deleted: on request, or when its account has kept it long
-- enough. That there was the call stays, with whom, when and what it cost.

-- +goose Up
alter table accounts add column conversation_days int check (conversation_days between 1 and 3650); -- null: until somebody asks

alter table calls add column deleted_at timestamptz;
alter table calls add column deleted_by text check (deleted_by in ('request', 'expiry'));
alter table calls add check ((deleted_at is null) = (deleted_by is null));
create index calls_kept on calls (account_id, session_id) where deleted_at is null;

-- Whoever writes, and however late: a deleted call holds no words.
-- +goose StatementBegin
create function keep_deleted() returns trigger language plpgsql as $$
begin
    new.transcript := '[]';
    return new;
end $$;

create function refuse_deleted() returns trigger language plpgsql as $$
begin
    if exists (select 1 from calls where session_id = new.session_id and deleted_at is not null) then
        return null;
    end if;
    return new;
end $$;
-- +goose StatementEnd

create trigger keep_deleted before update on calls
    for each row when (new.deleted_at is not null) execute function keep_deleted();
create trigger refuse_deleted before insert or update on call_logs
    for each row execute function refuse_deleted();
create trigger refuse_deleted before insert or update on call_replays
    for each row execute function refuse_deleted();
