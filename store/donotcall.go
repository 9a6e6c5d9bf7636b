package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/nyaruka/phonenumbers"

	"parley/billing/destination"
)

// ListedBy is who put a number on the do-not-call list.
type ListedBy string

// Who they are.
const (
	ListedByAPI      ListedBy = "api"
	ListedByAgent    ListedBy = "agent" // because the callee or caller asked it to
	ListedByOperator ListedBy = "operator"
	ListedByMessage  ListedBy = "message" // the number sent a word such as STOP
)

// DoNotCall is a number that the account does not call. Calls from it are taken.
type DoNotCall struct {
	ID     string
	Number string // E.164
	Reason string // up to MaxReason characters, without control characters
	Source ListedBy
	Call   *string // in which it was asked for; nil: in none that is known
	Since  time.Time
}

// MaxReason bounds the reason of an entry, in characters; MaxListing is how many
// numbers may be added at once.
const (
	MaxReason  = 200
	MaxListing = 20_000
)

const selectDoNotCalls = "select id, number, reason, source, call_id, since from do_not_call where account_id = $1"

// check brings an entry into the form that is kept.
func (e *DoNotCall) check() error {
	number, err := destination.International(e.Number)
	if err != nil {
		return Invalid("number: not a telephone number in international format, such as +34911234567")
	}
	e.Number = number
	e.Reason = strings.TrimSpace(e.Reason)
	if utf8.RuneCountInString(e.Reason) > MaxReason || strings.ContainsFunc(e.Reason, func(r rune) bool { return r < ' ' || r == 0x7f || r == utf8.RuneError }) {
		return Invalid("reason: up to %d characters in one line", MaxReason)
	}
	return nil
}

// ListingError says which of several entries was wrong.
type ListingError struct {
	At  int // from 0
	Err error
}

func (e *ListingError) Error() string { return fmt.Sprintf("entry %d: %v", e.At, e.Err) }

func (e *ListingError) Unwrap() error { return e.Err }

// AddDoNotCall puts a number on the account's list. What is there already stays as it
// is: the entry that holds is returned, and whether it is new.
func (db *DB) AddDoNotCall(ctx context.Context, account string, e DoNotCall) (*DoNotCall, bool, error) {
	added, err := db.ListDoNotCall(ctx, account, []DoNotCall{e})
	if one, ok := errors.AsType[*ListingError](err); ok {
		err = one.Err
	}
	if err != nil {
		return nil, false, err
	}
	holds, err := db.DoNotCall(ctx, account, e.Number)
	return holds, added == 1, err
}

// ListDoNotCall puts up to MaxListing numbers on the account's list, all or, when one
// is wrong, none: then the error is a *ListingError. It returns how many were not
// there before.
func (db *DB) ListDoNotCall(ctx context.Context, account string, entries []DoNotCall) (added int, err error) {
	now := db.Time(ctx)
	if len(entries) > MaxListing {
		return 0, Invalid("more than %d numbers at once", MaxListing)
	}
	n := len(entries)
	ids, numbers, reasons, sources, calls := make([]string, n), make([]string, n), make([]string, n), make([]string, n), make([]*string, n)
	for i, e := range entries {
		if err := e.check(); err != nil {
			return 0, &ListingError{i, err}
		}
		ids[i], numbers[i], reasons[i], sources[i], calls[i] = NewID(ListedID, now), e.Number, e.Reason, string(e.Source), e.Call
	}
	// In one order, so that two lists that share numbers wait for each other and no more.
	tag, err := db.pool.Exec(ctx, `insert into do_not_call (id, account_id, number, reason, source, call_id, since)
		select id, $1, number, reason, source, call_id, $7
		from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[]) as e (id, number, reason, source, call_id)
		order by number on conflict (account_id, number) do nothing`, account, ids, numbers, reasons, sources, calls, now)
	if Violates(err, "do_not_call_account_id_fkey") {
		err = ErrNotFound
	}
	return int(tag.RowsAffected()), Fail("list numbers not to call", err)
}

// OptOut puts a number on the account's list because it was asked for in a call of the
// account. An empty number is the far end of that call: who called in, or was called.
// Asking again changes nothing. ErrNotFound: the account has no such call; ErrInvalid:
// it is no number, as of a caller that withholds theirs.
func (db *DB) OptOut(ctx context.Context, account, number, call string) error {
	far, err := First[string](ctx, db, "read call", `select case s.kind when 'outbound' then c.to_number else c.from_number end
		from calls c join sessions s on s.id = c.session_id where c.account_id = $1 and c.session_id = $2`, account, call)
	if err != nil {
		return err
	}
	if number == "" {
		if number, err = FarEnd(*far); err != nil {
			return err
		}
	}
	_, _, err = db.AddDoNotCall(ctx, account, DoNotCall{Number: number, Reason: "asked for in a call", Source: ListedByAgent, Call: &call})
	return err
}

// FarEnd is a number as a carrier wrote it, which may lack its "+". Then it must be a
// valid one with it: a national number is not taken for another country's.
func FarEnd(number string) (string, error) {
	if strings.HasPrefix(number, "+") {
		return number, nil
	}
	e164, _, err := ParseNumber("+" + strings.TrimPrefix(number, "00"))
	return e164, err
}

// DoNotCall returns the entry of a number of the account's list.
func (db *DB) DoNotCall(ctx context.Context, account, number string) (*DoNotCall, error) {
	number, err := listed(number)
	if err != nil {
		return nil, err
	}
	return First[DoNotCall](ctx, db, "read number not to call", selectDoNotCalls+" and number = $2", account, number)
}

// NotToCall picks out of numbers, all E.164, those that the account is not to call.
func (db *DB) NotToCall(ctx context.Context, account string, numbers []string) ([]string, error) {
	if len(numbers) == 0 {
		return nil, nil
	}
	return List[string](ctx, db, "read numbers not to call", "select number from do_not_call where account_id = $1 and number = any($2)", account, numbers)
}

// DoNotCalls lists the account's numbers not to call, newest first.
func (db *DB) DoNotCalls(ctx context.Context, account string, p Page) ([]DoNotCall, error) {
	return ListPage[DoNotCall](ctx, db, "list numbers not to call", p, "id", selectDoNotCalls, account)
}

// DoNotCalls lists the account's numbers not to call, newest first.
func (s *Statement) DoNotCalls(ctx context.Context, p Page) ([]DoNotCall, error) {
	return PageRows[DoNotCall](ctx, s.Tx, p, "id", selectDoNotCalls, s.account)
}

// RemoveDoNotCall takes a number off the account's list.
func (db *DB) RemoveDoNotCall(ctx context.Context, account, number string) error {
	number, err := listed(number)
	if err != nil {
		return err
	}
	return db.Must(ctx, "remove number not to call", "delete from do_not_call where account_id = $1 and number = $2", account, number)
}

// listed is a number as the list has it. What is no number is not in it.
func listed(number string) (string, error) {
	e164, err := destination.International(number)
	if err != nil {
		return "", ErrNotFound
	}
	return e164, nil
}

// MayCall refuses a callee that is on the account's list.
func MayCall(ctx context.Context, tx pgx.Tx, account, to string) error {
	found, err := Scalar[bool](ctx, tx, "select exists (select from do_not_call where account_id = $1 and number = $2)", account, to)
	if err == nil && found {
		err = ErrDoNotCall
	}
	return err
}

// ParseNumber wants a valid number in international format, "+" first.
func ParseNumber(s string) (e164, country string, err error) {
	n, err := phonenumbers.Parse(s, "ZZ")
	if err != nil || !phonenumbers.IsValidNumber(n) {
		return "", "", Invalid("not a telephone number in international format, such as +34911234567")
	}
	country = phonenumbers.GetRegionCodeForNumber(n)
	if len(country) != 2 || country == "ZZ" {
		return "", "", Invalid("the number belongs to no country")
	}
	return phonenumbers.Format(n, phonenumbers.E164), country, nil
}
