-- What agents look things up in: collections of an account, the documents in them, the files that wait to be
-- read, and the passages that documents are cut into.

-- +goose Up
create table knowledge_bases (
    id         text collate "C" primary key,
    account_id text collate "C" not null references accounts,
    name       text not null,
    language   text not null, -- whose words are recognised in all their forms; simple: of any
    created_at timestamptz not null,
    updated_at timestamptz not null
);
create index knowledge_bases_account on knowledge_bases (account_id, id);

create table knowledge_documents (
    id         text collate "C" primary key,
    base_id    text collate "C" not null references knowledge_bases on delete cascade,
    account_id text collate "C" not null, -- the collection's
    title      text not null,
    source     text not null, -- the file's name, or the address
    web        boolean not null, -- it is fetched from an address
    media_type text not null, -- empty: not known yet
    bytes      bigint not null, -- of an address as it was last fetched
    state      text not null check (state in ('queued', 'reading', 'ready', 'failed')),
    reason     text not null default '', -- why it failed
    asked      int not null default 1, -- how often reading it was asked for: what reads for an older one is out of date
    pages      int not null default 0,
    passages   int not null default 0,
    hash       text not null, -- SHA-256 of the bytes in hexadecimal; empty: none are known
    created_at timestamptz not null,
    updated_at timestamptz not null,
    read_at    timestamptz -- when its passages were made; null: it has none
);
create index knowledge_documents_base on knowledge_documents (base_id, id);
create index knowledge_documents_account on knowledge_documents (account_id) include (bytes);

create table knowledge_files (
    document_id text collate "C" primary key references knowledge_documents on delete cascade,
    body        bytea not null
);
alter table knowledge_files alter column body set storage external; -- most formats are compressed

-- A passage's words have the identifier of its collection among them, so that the index finds what one collection
-- says and reads nothing of others. Its rows stay whole: ranking reads the words of all that match.
create table knowledge_passages (
    document_id text collate "C" not null references knowledge_documents on delete cascade,
    no          int not null check (no >= 0), -- in its document, from 0
    base_id     text collate "C" not null,
    account_id  text collate "C" not null,
    page        int not null, -- the first that it is on, from 1; 0: the document has none
    heading     text not null, -- the one that it stands under, or empty
    language    text not null, -- the collection's
    text        text not null,
    words       tsvector not null generated always as (array_to_tsvector(array[base_id]) || case language
        when 'english' then setweight(to_tsvector('english', heading), 'A') || to_tsvector('english', text)
        when 'spanish' then setweight(to_tsvector('spanish', heading), 'A') || to_tsvector('spanish', text)
        when 'french' then setweight(to_tsvector('french', heading), 'A') || to_tsvector('french', text)
        when 'italian' then setweight(to_tsvector('italian', heading), 'A') || to_tsvector('italian', text)
        when 'german' then setweight(to_tsvector('german', heading), 'A') || to_tsvector('german', text)
        when 'portuguese' then setweight(to_tsvector('portuguese', heading), 'A') || to_tsvector('portuguese', text)
        else setweight(to_tsvector('simple', heading), 'A') || to_tsvector('simple', text) end) stored,
    primary key (document_id, no)
) with (toast_tuple_target = 8160);
create index knowledge_passages_words on knowledge_passages using gin (words) with (fastupdate = off);
