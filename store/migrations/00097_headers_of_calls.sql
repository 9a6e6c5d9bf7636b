-- What the INVITE of a telephone call carries for programs of either side, where a call that came in was before, and how well
-- its carrier knows the caller.

-- +goose Up
alter table calls add column headers jsonb; -- an object of texts; null: none; they go with what was said
alter table calls add column origin jsonb; -- of calls that came in; null: nothing is known; it goes with what was said
alter table calls add column attestation text; -- A, B or C; null: nobody says
alter table campaign_rows add column headers jsonb; -- of its call
