-- What shows that a node is dead before it has been silent for its lease, and when another node has ended its life.

-- +goose Up
alter table nodes add column connections text not null default ''; -- the application_name of its process; empty: others may have the same
alter table nodes add column fenced_at timestamptz; -- another node ended the life then, and closes what it left; null: none did
