-- Who may speak in calls, and who did.

-- +goose Up
alter table api_keys add column speaks boolean not null default false;
alter table memberships add column speaks boolean not null default false;
alter table call_listeners add column spoke_at timestamptz; -- when they first spoke in the agent's place; null: they have not
