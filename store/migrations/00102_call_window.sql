-- The time of day in which an account calls people.

-- +goose Up
alter table accounts add column hours_from int; -- minutes after midnight; null: at any time
alter table accounts add column hours_to int;
alter table accounts add column hours_zone text; -- IANA's name, or destination
alter table accounts add constraint accounts_hours check ((hours_from is null) = (hours_to is null) and (hours_from is null) = (hours_zone is null)) not valid;
