-- +goose NO TRANSACTION

-- Sessions of the kinds "message_out" and "message_in" are what messages are charged as, and a message that says STOP
-- puts its sender on the do-not-call list. Each command stands for itself, and may be run again.

-- +goose Up
alter table sessions drop constraint if exists sessions_kind_check, add constraint sessions_kind_check
    check (kind in ('web', 'inbound', 'outbound', 'tts', 'stt', 'denoise', 'test', 'message_out', 'message_in')) not valid;
alter table do_not_call drop constraint if exists do_not_call_source_check, add constraint do_not_call_source_check
    check (source in ('api', 'agent', 'operator', 'message')) not valid;
alter table sessions validate constraint sessions_kind_check;
alter table do_not_call validate constraint do_not_call_source_check;
