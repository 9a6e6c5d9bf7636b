-- +goose Up
alter table call_engine_usage validate constraint call_engine_usage_session_id_fkey;
