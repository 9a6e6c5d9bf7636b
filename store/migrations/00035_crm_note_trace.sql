-- The trace of the call that a note is of: its request belongs to it as those in the call
-- do.

-- +goose Up
alter table crm_notes add column trace text not null default ''; -- a traceparent header (W3C Trace Context); empty: none
