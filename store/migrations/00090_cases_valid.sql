-- +goose Up
alter table sessions validate constraint sessions_kind_check;
