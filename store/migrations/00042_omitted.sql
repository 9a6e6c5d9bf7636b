-- The transcript of a call is bounded; how many lines followed is kept.

-- +goose Up
alter table calls add column transcript_omitted int not null default 0 check (transcript_omitted >= 0);
