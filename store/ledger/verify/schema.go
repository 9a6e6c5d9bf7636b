package verify

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"

	"parley/store"
)

// checkCards checks that the rate cards are as they were stored.
func (v *verification) checkCards(ctx context.Context) error {
	changed, err := store.Rows[string](ctx, v.db.Pool(),
		"select version from rate_cards where sha256 <> sha256(convert_to(body::text, 'UTF8')) order by version")
	for _, version := range changed {
		v.add(9, nameCards, version, "body does not match its checksum")
	}
	return err
}

// forbidden are changes that the database must refuse.
var forbidden = []struct{ table, statement string }{
	{"ledger_transfers", "update ledger_transfers set amount_nano = amount_nano where false"},
	{"ledger_transfers", "delete from ledger_transfers where false"},
	{"usage_records", "update usage_records set qty = qty where false"},
	{"usage_records", "delete from usage_records where false"},
	{"consent_audit", "update consent_audit set ip = ip where false"},
	{"consent_audit", "delete from consent_audit where false"},
	{"rate_cards", "update rate_cards set version = version where false"},
	{"rate_cards", "delete from rate_cards where false"},
}

// restrictViolation is the SQLSTATE that our triggers refuse with.
const restrictViolation = "23001"

// provoke tries what the database must refuse. The statements match no row, for
// the refusal is of the statement, and are rolled back.
func (v *verification) provoke(ctx context.Context) error {
	for _, f := range forbidden {
		refused, err := v.refuses(ctx, f.statement)
		if err != nil {
			return err
		}
		if !refused {
			v.add(19, nameAppendOnly, f.table, "accepts: %s", f.statement)
		}
	}
	// A row trigger refuses only when there is a row; its presence must do.
	on, err := store.Scalar[bool](ctx, v.db.Pool(), `select exists (select from pg_trigger where tgrelid = 'session_usage'::regclass
		and tgname = 'session_usage_counters_grow' and tgenabled in ('O', 'A'))`)
	if err == nil && !on {
		v.add(15, nameGrow, "session_usage", "its trigger is off")
	}
	return err
}

func (v *verification) refuses(ctx context.Context, statement string) (bool, error) {
	tx, err := v.db.Pool().Begin(ctx)
	if err != nil {
		return false, err
	}
	defer tx.Rollback(ctx)
	_, err = tx.Exec(ctx, statement)
	if pe, ok := errors.AsType[*pgconn.PgError](err); ok && pe.Code == restrictViolation {
		return true, nil
	}
	return false, err
}
