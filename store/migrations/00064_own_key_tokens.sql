-- Tokens of language models on keys of the account's own.

-- +goose Up
alter table session_usage
    add column own_in bigint not null default 0,
    add column own_out bigint not null default 0;
drop trigger session_usage_counters_grow on session_usage;
create trigger session_usage_counters_grow before update on session_usage for each row
    when (new.agent_ms < old.agent_ms or new.line_ms < old.line_ms
        or new.reply_in < old.reply_in or new.reply_out < old.reply_out
        or new.speculative_in < old.speculative_in or new.speculative_out < old.speculative_out
        or new.summary_in < old.summary_in or new.summary_out < old.summary_out
        or new.tts_chars < old.tts_chars or new.stt_ms < old.stt_ms or new.denoise_ms < old.denoise_ms
        or new.crm < old.crm or new.web < old.web or new.ckpt_seq < old.ckpt_seq or new.amount_nano < old.amount_nano
        or new.audio_in < old.audio_in or new.audio_cached < old.audio_cached or new.audio_out < old.audio_out
        or new.own_in < old.own_in or new.own_out < old.own_out)
    execute function refuse_shrinking();
