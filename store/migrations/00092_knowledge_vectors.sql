-- Vectors of passages, by which those are found that mean what was asked for, whatever their words; and how far the
-- vectors of each document are.

-- +goose Up
create table knowledge_vectors (
    document_id text collate "C" not null,
    no          int not null,
    model       text not null,  -- that made it: vectors of different ones have nothing in common
    vector      bytea not null, -- numbers of 32 bits (IEEE 754), the lowest byte first, together of length 1
    primary key (document_id, no),
    foreign key (document_id, no) references knowledge_passages on delete cascade
);
alter table knowledge_vectors alter column vector set storage external; -- they do not get smaller

create table knowledge_embeddings (
    document_id text collate "C" primary key references knowledge_documents on delete cascade,
    account_id  text collate "C" not null, -- the document's, as base_id
    base_id     text collate "C" not null,
    model       text not null,
    read_at     timestamptz not null, -- the document's, when the passages were made that get vectors
    passages    int not null,         -- of them
    bytes       bigint not null default 0, -- of all vectors
    made        bigint not null default 0, -- how often vectors were made: what is known of an older one is out of date
    ready       boolean not null default false, -- each passage has a vector
    tries       int not null, -- since the last that came further
    due_at      timestamptz not null -- when it is tried again, unless it is ready
);
create index knowledge_embeddings_base on knowledge_embeddings (base_id, document_id);
