-- +goose Up
alter table warnings validate constraint warnings_kind_check;
