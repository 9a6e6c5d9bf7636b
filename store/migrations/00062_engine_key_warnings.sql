-- +goose Up
alter table warnings drop constraint warnings_kind_check;
alter table warnings add constraint warnings_kind_check
    check (kind in ('balance.low', 'number.past_due', 'number.released', 'recharge.failed', 'dispute.opened', 'webhook.disabled', 'spending.limit',
        'engine_key.refused')) not valid;
