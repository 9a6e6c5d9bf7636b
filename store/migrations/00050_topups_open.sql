-- +goose NO TRANSACTION

-- Few top-ups are open at a time: their pages expire.

-- +goose Up
create index concurrently if not exists topups_open on topups (coalesce(look_at, created_at))
    where state in ('created', 'pending') and checkout_id <> '';
