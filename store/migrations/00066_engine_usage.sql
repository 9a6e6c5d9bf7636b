-- What the engines of a call have used, and on whose keys. It goes with the call.

-- +goose Up
create table call_engine_usage (
    session_id text collate "C" not null references calls on delete cascade,
    ordinal    int not null,
    stage      text not null, -- asr, llm, tts or realtime
    engine     text not null,
    model      text not null, -- empty: the vendor's usual one
    own        boolean not null, -- on a key of the account's; else on the operator's, or on none
    unit       text not null,
    quantity   bigint not null check (quantity >= 0), -- of units; of seconds thousandths
    source     text not null, -- who counted: provider or counted
    cost_nano  bigint, -- what the vendor charges for it, where the operator wrote that down
    price_nano bigint, -- what the account is charged for it; null: it is part of the price of the call
    primary key (session_id, ordinal)
);
