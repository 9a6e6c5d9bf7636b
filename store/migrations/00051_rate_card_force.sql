-- Which rate cards were put in force for the whole cluster, and when. Only a newer version
-- follows another, so the highest is in force.

-- +goose Up
create table rate_cards_in_force (
    version text collate "C" primary key references rate_cards,
    since   timestamptz not null
);
insert into rate_cards_in_force select version, added_at from rate_cards where version = coalesce(
    (select price_version from node_cards order by no desc limit 1),
    (select version from rate_cards order by added_at desc, version desc limit 1));
create trigger rate_cards_in_force_fixed before update or delete or truncate on rate_cards_in_force
    for each statement execute function refuse_change();
