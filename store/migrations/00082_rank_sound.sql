-- How a call sounded is known after its end.

-- +goose Up
create trigger rank_sound after insert or update of mos on call_wire
    for each row when (new.mos is not null) execute function rank_sound();
