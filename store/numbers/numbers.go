// Package numbers keeps the telephone numbers of accounts: orders of carriers, the months that
// bought ones cost, and where calls to a number go.
//
// What an account pays for a number goes through ledger.Tx: the first month is held when the number
// is ordered and charged when the carrier has it, and each month after that is charged from what was
// paid in, or the number is lost after its grace. What changes the money of a number locks the wallet
// first and then the number's row; a claim, to turn to the carrier, locks rows of numbers alone.
package numbers

import (
	"context"
	"encoding/json"
	"time"

	"parley/store"
	"parley/store/ledger"
)

// State is where a number is in its life.
type State string

// States of a number.
const (
	// Ordering: its first month is held, and whether the carrier took the order
	// is not known.
	Ordering State = "ordering"
	// Ordered: bought and paid, and not active yet.
	Ordered State = "ordered"
	Owned   State = "owned"
	// Grace: a month is unpaid. It is kept for GraceTime, and works meanwhile.
	Grace State = "grace"
	// Releasing: the account has lost it, and the carrier has not taken it back yet.
	Releasing State = "releasing"
	Released  State = "released"
)

// Conditions on numbers: those that an account sees, and those that make and take calls.
const (
	listed  = "state in ('ordering', 'ordered', 'owned', 'grace')"
	working = "state in ('owned', 'grace')"
)

// Number is a telephone number of an account.
type Number struct {
	ID        string // ours, not the carrier's
	Account   string
	E164      string // with its "+"
	Country   string // ISO code
	AgentID   *string
	AgentName *string // nil without agent
	Webhook   *string // that is asked about each call; nil: none is
	Trunk     *string // of the account, that carries its calls; nil: the operator's lines do
	State     State
	CreatedAt time.Time
	// Carrier is who sold it. It is empty for one that was given by hand: such a
	// number costs nothing, and what follows is zero.
	Carrier      string
	OrderRef     string // our name of the order
	CarrierID    string // the carrier's name of the number; empty before it is active
	Routed       bool   // the carrier sends its calls here
	NextChargeAt *time.Time
	GraceUntil   *time.Time // in grace: when it is lost
	// Rules say where its calls go, a document; nil: to its agent.
	Rules json.RawMessage
	// CallsPerHour is how many calls the account places from it in an hour; nil: as many as it likes.
	CallsPerHour *int
}

// Store keeps numbers. Several goroutines may use it.
type Store struct {
	db     *store.DB
	ledger *ledger.Ledger
}

// New returns a Store in a database.
func New(db *store.DB) *Store { return &Store{db, ledger.New(db)} }

// Bought says whether it was bought of a carrier and is paid by the month.
func (n *Number) Bought() bool { return n.Carrier != "" }

// Working says whether it makes and takes calls.
func (n *Number) Working() bool { return n.State == Owned || n.State == Grace }

// Import gives the account a number that reaches this server by a trunk of
// its operator's. agent may be empty. ErrNumberTaken: an account has it.
func (s *Store) Import(ctx context.Context, account, e164, agent string) (*Number, error) {
	now := s.db.Time(ctx)
	n := &Number{ID: store.NewID(store.NumberID, now), Account: account, State: Owned, CreatedAt: now}
	var err error
	if n.E164, n.Country, err = store.ParseNumber(e164); err != nil {
		return nil, err
	}
	if agent != "" {
		n.AgentID = &agent
	}
	// An unknown account and a foreign agent look alike: no row.
	err = s.db.Must(ctx, "import number", `insert into numbers (id, account_id, e164, country, agent_id, state, created_at)
		select $1, id, $3, $4, $5, $6, $7 from accounts where id = $2
			and ($5::text is null or exists (select from agents where account_id = $2 and id = $5))`,
		n.ID, account, n.E164, n.Country, n.AgentID, n.State, now)
	if taken(err) {
		return nil, store.Fail("import number", store.ErrNumberTaken)
	}
	if err != nil {
		return nil, err
	}
	return n, nil
}

// taken says whether a number was not written because an account has it: another one, on the operator's lines, or the same.
func taken(err error) bool {
	return store.Violates(err, "numbers_in_use") || store.Violates(err, "numbers_of_account")
}

// ImportOwn gives the account a number that reaches it by a trunk of its own. agent may be empty. Accounts may have the
// same one: their trunks keep them apart. ErrNumberTaken: the account has it already. ErrNotFound: it has no such trunk or agent.
func (s *Store) ImportOwn(ctx context.Context, account, trunk, e164, agent string) (*Number, error) {
	now := s.db.Time(ctx)
	number, country, err := store.ParseNumber(e164)
	if err != nil {
		return nil, err
	}
	id := store.NewID(store.NumberID, now)
	err = s.db.Must(ctx, "import number", `insert into numbers (id, account_id, e164, country, agent_id, trunk_id, state, created_at)
		select $1, account_id, $3, $4, nullif($5, ''), id, $7, $8 from trunks where account_id = $2 and id = $6
			and ($5 = '' or exists (select from agents where account_id = $2 and id = $5))`,
		id, account, number, country, agent, trunk, Owned, now)
	if taken(err) {
		return nil, store.Fail("import number", store.ErrNumberTaken)
	}
	if err != nil {
		return nil, err
	}
	return s.Number(ctx, account, id)
}

// selectNumber takes a condition on numbers. The agent's name comes by a subquery, so
// that rows can be locked and conditions need no prefix.
const selectNumber = "select " + columns + " from numbers where "

const columns = `id, account_id, e164, country, agent_id,
	(select name from agents a where a.account_id = numbers.account_id and a.id = numbers.agent_id),
	(select id from webhooks w where w.account_id = numbers.account_id and w.id = numbers.webhook_id and w.deleted_at is null) as webhook,
	trunk_id, state, created_at, carrier, coalesce(order_ref, ''), coalesce(carrier_id, ''), routed, next_charge_at, grace_until, rules, calls_per_hour`

// Number returns a number of the account that it has not lost.
func (s *Store) Number(ctx context.Context, account, id string) (*Number, error) {
	return store.First[Number](ctx, s.db, "read number", selectNumber+"account_id = $1 and id = $2 and "+listed, account, id)
}

// ByE164 returns a number of the account that makes and takes calls, as a
// caller's "from" names it.
func (s *Store) ByE164(ctx context.Context, account, e164 string) (*Number, error) {
	return store.First[Number](ctx, s.db, "read number", selectNumber+"account_id = $1 and e164 = $2 and "+working, account, e164)
}

// Numbers lists the account's numbers, those that are on their way too, newest first.
func (s *Store) Numbers(ctx context.Context, account string, p store.Page) ([]Number, error) {
	return store.ListPage[Number](ctx, s.db, "list numbers", p, "id", selectNumber+"account_id = $1 and "+listed, account)
}

// Paced returns the numbers of an account that have reached their limit of calls within the last hour.
func (s *Store) Paced(ctx context.Context, account string) (map[string]bool, error) {
	return s.ledger.Paced(ctx, account)
}

// Assignment is who answers the calls to a number, and how many go out from it; nil leaves it as it is.
type Assignment struct {
	Agent   *string // who answers; empty: nobody
	Webhook *string // that is asked about each call; empty: none is
	// CallsPerHour is how many calls are placed from it in an hour, 1 to MaxCallsPerHour; 0: as many as the account likes.
	CallsPerHour *int
}

// MaxCallsPerHour is the most that a number's calls may be limited to.
const MaxCallsPerHour = 3600

// Assign says who answers the calls to a number of the account, and how many go out from it. ErrNotFound: there is no
// such number, agent or webhook of the account.
func (s *Store) Assign(ctx context.Context, account, id string, a Assignment) error {
	return s.db.Must(ctx, "assign number", `update numbers set agent_id = nullif(coalesce($3, agent_id), ''), webhook_id = nullif(coalesce($4, webhook_id), ''),
			calls_per_hour = nullif(coalesce($5, calls_per_hour), 0)
		where id = $1 and account_id = $2 and `+listed+`
			and (coalesce($3, '') = '' or exists (select from agents where account_id = $2 and id = $3))
			and (coalesce($4, '') = '' or exists (select from webhooks where account_id = $2 and id = $4 and deleted_at is null))`,
		id, account, a.Agent, a.Webhook, a.CallsPerHour)
}

// Route is where a call to a number goes.
type Route struct {
	Account string
	Number  string // its identifier
	Agent   *string
	Webhook *string // that is asked about the call; nil: none is, or it is disabled
	Trunk   *string // of the account, that the number is on; nil: it is on the operator's lines
	Country string  // prices the call, unless it is on a trunk of the account
	State   State
	Rules   json.RawMessage // of the number; nil: its agent answers
}

const selectRoute = `select account_id, id, agent_id,
	(select id from webhooks w where w.account_id = numbers.account_id and w.id = numbers.webhook_id and w.enabled and w.deleted_at is null),
	trunk_id, country, state, rules from numbers where `

// Route finds who answers a call to e164 on the operator's lines; ErrNotFound when no account has the number there.
func (s *Store) Route(ctx context.Context, e164 string) (*Route, error) {
	return store.First[Route](ctx, s.db, "route number", selectRoute+"trunk_id is null and e164 = $1 and "+working, e164)
}

// RouteOwn finds who answers a call to e164 on a trunk of an account: that brings calls to all of the account's
// numbers, and to no others. ErrNotFound when the account does not have it.
func (s *Store) RouteOwn(ctx context.Context, account, e164 string) (*Route, error) {
	return store.First[Route](ctx, s.db, "route number", selectRoute+"account_id = $1 and e164 = $2 and "+working, account, e164)
}

// RouteExtension finds the account of the agent that answers an extension of one of the operator's trunks. ErrNotFound: there
// is no such agent.
func (s *Store) RouteExtension(ctx context.Context, agent string) (*Route, error) {
	type row struct{ Account, ID string }
	a, err := store.First[row](ctx, s.db, "route extension", "select account_id, id from agents where id = $1", agent)
	if err != nil {
		return nil, err
	}
	return &Route{Account: a.Account, Agent: &a.ID}, nil
}

// SetRules says where calls to a number of the account go, by a document that names agents; nil: there are no rules.
// ErrNotFound: there is no such number, or no such agent of the account.
func (s *Store) SetRules(ctx context.Context, account, id string, rules json.RawMessage, agents []string) error {
	return s.db.Must(ctx, "set rules of number", `update numbers set rules = $3 where account_id = $1 and id = $2 and `+listed+`
		and not exists (select from unnest($4::text[]) as named where not exists (select from agents where account_id = $1 and id = named))`,
		account, id, rules, agents)
}
