package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/nyaruka/phonenumbers"
)

// NumberState is where a number is in its life.
type NumberState string

// States of a number.
const (
	NumberOwned    NumberState = "owned"
	NumberReleased NumberState = "released"
)

// Number is a telephone number of an account.
type Number struct {
	ID        string
	E164      string // with its "+"
	Country   string // ISO code
	AgentID   *string
	State     NumberState
	CreatedAt time.Time
}

// ImportNumber gives the account a number that reaches this server by a trunk of
// its operator's. agent may be empty. ErrNumberTaken: somebody has it.
func (db *DB) ImportNumber(ctx context.Context, account, e164, agent string, now time.Time) (*Number, error) {
	n := &Number{ID: newID(numberID, now), State: NumberOwned, CreatedAt: now}
	var err error
	if n.E164, n.Country, err = parseNumber(e164); err != nil {
		return nil, err
	}
	if agent != "" {
		n.AgentID = &agent
	}
	// An unknown account and a foreign agent look alike: no row.
	err = db.must(ctx, "import number", `insert into numbers (id, account_id, e164, country, agent_id, state, created_at)
		select $1, id, $3, $4, $5, $6, $7 from accounts where id = $2
			and ($5::text is null or exists (select from agents where account_id = $2 and id = $5))`,
		n.ID, account, n.E164, n.Country, n.AgentID, n.State, now)
	if violates(err, "numbers_in_use") {
		return nil, fail("import number", ErrNumberTaken)
	}
	if err != nil {
		return nil, err
	}
	return n, nil
}

// parseNumber wants a valid number in international format, "+" first.
func parseNumber(s string) (e164, country string, err error) {
	n, err := phonenumbers.Parse(s, "ZZ")
	if err != nil || !phonenumbers.IsValidNumber(n) {
		return "", "", invalid("not a telephone number in international format, such as +34911234567")
	}
	country = phonenumbers.GetRegionCodeForNumber(n)
	if len(country) != 2 || country == "ZZ" {
		return "", "", invalid("the number belongs to no country")
	}
	return phonenumbers.Format(n, phonenumbers.E164), country, nil
}

const numberColumns = "id, e164, country, agent_id, state, created_at"

// Number returns a number of the account that is in use.
func (db *DB) Number(ctx context.Context, account, id string) (*Number, error) {
	return db.number(ctx, "id = $2", account, id)
}

// NumberByE164 does the same by the number itself, as a caller's "from" names it.
func (db *DB) NumberByE164(ctx context.Context, account, e164 string) (*Number, error) {
	return db.number(ctx, "e164 = $2", account, e164)
}

func (db *DB) number(ctx context.Context, condition, account, value string) (*Number, error) {
	return first(ctx, db, "read number", pgx.RowToStructByPos[Number],
		"select "+numberColumns+" from numbers where account_id = $1 and state <> 'released' and "+condition, account, value)
}

// Numbers lists the account's numbers that are in use, newest first.
func (db *DB) Numbers(ctx context.Context, account string, p Page) ([]Number, error) {
	where, args := p.clause("id", []any{account})
	return list(ctx, db, "list numbers", pgx.RowToStructByPos[Number],
		"select "+numberColumns+" from numbers where account_id = $1 and state <> 'released'"+where, args...)
}

// AssignNumber binds a number of the account to one of its agents, or with an
// empty agent to none.
func (db *DB) AssignNumber(ctx context.Context, account, id, agent string) error {
	return db.must(ctx, "assign number", `update numbers set agent_id = nullif($3, '')
		where id = $1 and account_id = $2 and state <> 'released'
			and ($3 = '' or exists (select from agents where account_id = $2 and id = $3))`, id, account, agent)
}

// ReleaseNumber ends the account's use of a number; it can be imported again.
func (db *DB) ReleaseNumber(ctx context.Context, account, id string, now time.Time) error {
	return db.must(ctx, "release number", `update numbers set state = 'released', released_at = $3, agent_id = null
		where id = $1 and account_id = $2 and state <> 'released'`, id, account, now)
}

// Route is where a call to a number goes.
type Route struct {
	Account string
	Number  string // its identifier
	Agent   *string
	Country string // prices the call
	State   NumberState
}

// RouteNumber finds who answers e164; ErrNotFound when nobody owns it.
func (db *DB) RouteNumber(ctx context.Context, e164 string) (*Route, error) {
	return first(ctx, db, "route number", pgx.RowToStructByPos[Route],
		"select account_id, id, agent_id, country, state from numbers where e164 = $1 and state <> 'released'", e164)
}
