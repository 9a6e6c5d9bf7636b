-- Who answered a call that an agent placed.

-- +goose Up
alter table calls add column answered_by text check (answered_by in ('human', 'machine', 'screening', 'unknown'));
