-- Calls are found by what was said in them, and people keep tags and a note with them.

-- +goose Up
alter table calls add column tags text[]; -- null: none
alter table calls add column note text; -- null: none; it goes with what was said

create table call_words (
    session_id text collate "C" primary key references calls on delete cascade,
    words      tsvector not null -- those of the transcript, and the account's identifier
);
create index call_words_words on call_words using gin (words);
insert into call_words (session_id, words)
    select c.session_id, array_to_tsvector(array[c.account_id]) || to_tsvector('simple', left(said.text, 100000))
    from calls c cross join lateral (select string_agg(line ->> 'text', ' ') as text from jsonb_array_elements(c.transcript) line) said
    where said.text is not null;
create trigger refuse_deleted before insert or update on call_words
    for each row execute function refuse_deleted();
