-- A session that ends ranks its call.

-- +goose Up
create trigger rank_ended after insert or update of state on sessions
    for each row when (new.state = 'closed') execute function rank_ended();
