package ledger

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"parley/billing"
	"parley/store/mail"

	"parley/store"
)

// Account is a customer with its wallet.
type Account struct {
	ID        string
	Name      string
	CreatedAt time.Time
	Email     string // where warnings are mailed; empty: nowhere

	billing.Pots            // Balance is what the account has, sessions in progress counted, before holds
	Live         int        // sessions in progress
	Concurrency  *int       // the operator's own limit; nil: the rate card's
	OpenDisputes int        // disputed payments
	Suspended    bool       // by the operator: no new sessions
	FirstTopupAt *time.Time // nil before the first top-up

	RecordingDays    int  // how long recordings of calls are kept
	ConversationDays *int // and what was said in them; nil: until deletion is requested
}

// recordingDays is how long recordings are kept by default.
const recordingDays = 30

// CreateAccount makes an account with the welcome credit of the card in force,
// which must be stored (PutRateCard).
func (l *Ledger) CreateAccount(ctx context.Context, name string, card *billing.RateCard) (*Account, error) {
	return l.createAccount(ctx, newAccount{name: name}, card)
}

// OwnAccount makes an account as CreateAccount does, with the user as its owner.
// ErrNotFound: no such user.
func (l *Ledger) OwnAccount(ctx context.Context, user, name string, card *billing.RateCard) (*Account, error) {
	return l.createAccount(ctx, newAccount{name: strings.TrimSpace(name), owner: user}, card)
}

// newAccount is what an account is made of.
type newAccount struct {
	name          string
	owner         string // a user; empty: none
	demonstration bool
}

// DemonstrationAccount returns the server's demonstration account, which it makes when
// there is none. It is known by a mark: others may have its name.
func (l *Ledger) DemonstrationAccount(ctx context.Context, name string, card *billing.RateCard) (id string, err error) {
	const find = "select id from accounts where demonstration"
	if err = l.db.One(ctx, "find demonstration", find, nil, &id); !errors.Is(err, store.ErrNotFound) {
		return id, err
	}
	a, err := l.createAccount(ctx, newAccount{name: name, demonstration: true}, card)
	if store.Violates(err, "accounts_demonstration") { // another process was faster
		err = l.db.One(ctx, "find demonstration", find, nil, &id)
		return id, err
	}
	if err != nil {
		return "", err
	}
	return a.ID, nil
}

func (l *Ledger) createAccount(ctx context.Context, n newAccount, card *billing.RateCard) (*Account, error) {
	now := l.db.Time(ctx)
	if strings.TrimSpace(n.name) == "" {
		return nil, store.Invalid("an account needs a name")
	}
	a := &Account{ID: store.NewID(store.AccountID, now), Name: n.name, CreatedAt: now, RecordingDays: recordingDays}
	rules := card.Wallet()
	err := l.db.Tx(ctx, "create account", func(tx pgx.Tx) error {
		b := &pgx.Batch{}
		b.Queue("insert into accounts (id, name, created_at, demonstration) values ($1, $2, $3, $4)", a.ID, n.name, now, n.demonstration)
		b.Queue("insert into wallets (account_id) values ($1)", a.ID)
		if n.owner != "" {
			b.Queue("insert into memberships (user_id, account_id, role, created_at) select id, $2, 'owner', $3 from users where id = $1", n.owner, a.ID, now).
				Exec(func(tag pgconn.CommandTag) error { return store.ErrNotFound.IfUnchanged(tag, nil) })
		}
		w := &Tx{Tx: tx, wallet: wallet{account: a.ID}, ledger: l, now: now}
		if rules.SignupBonus > 0 {
			t := transfer{idem: "welcome:" + a.ID, debit: "promo", credit: potBonus, amount: rules.SignupBonus, kind: Welcome}
			b.Queue(insertTransfer, w.apply(t)...)
			w.grantLot(b, t, now.AddDate(0, 0, rules.SignupBonusDays))
		}
		if w.pots.Balance() < rules.AutoRecharge.Threshold {
			w.lowSince = &now // it begins there, without a warning
		}
		w.save(b)
		a.Pots = w.pots
		return store.Send(ctx, tx, b)
	})
	if err != nil {
		return nil, err
	}
	return a, nil
}

const selectAccount = `select a.id, a.name, a.created_at, coalesce(a.email, ''), w.paid_nano, w.bonus_nano, w.accrued_any_nano, w.accrued_paid_nano,
	w.held_nano, w.live_sessions, w.concurrency_override, w.open_disputes, w.suspended, w.first_topup_at,
	a.recording_days, a.conversation_days
	from accounts a join wallets w on w.account_id = a.id where `

// Account returns an account. Credit that has expired counts until ExpireLots or
// the account's next transaction expires it.
func (l *Ledger) Account(ctx context.Context, id string) (*Account, error) {
	return store.First[Account](ctx, l.db, "read account", selectAccount+"a.id = $1", id)
}

// Accounts lists accounts, newest first.
func (l *Ledger) Accounts(ctx context.Context, p store.Page) ([]Account, error) {
	return store.ListPage[Account](ctx, l.db, "list accounts", p, "a.id", selectAccount+"true")
}

// AccountChange is what an operator changes; nil leaves a value alone.
type AccountChange struct {
	Concurrency *int // 1 to 100000; 0 goes back to the rate card's
	Suspended   *bool
	Email       *string // empty takes it away
	// RecordingDays counts for recordings that are there, too.
	RecordingDays *int // 1 to 3650
	// ConversationDays is the same for what was said in calls: transcripts, summaries and
	// recordings, too. 0: until deletion is requested.
	ConversationDays *int
}

// Check says with ErrInvalid what about a change is not allowed.
func (c AccountChange) Check() error {
	if c.Concurrency != nil && (*c.Concurrency < 0 || *c.Concurrency > 100_000) {
		return store.Invalid("concurrency must be from 1 to 100000, or 0 for the rate card's")
	}
	if c.RecordingDays != nil && (*c.RecordingDays < 1 || *c.RecordingDays > 3650) {
		return store.Invalid("recordings are kept for 1 to 3650 days")
	}
	if c.ConversationDays != nil && (*c.ConversationDays < 0 || *c.ConversationDays > 3650) {
		return store.Invalid("conversations are kept for 1 to 3650 days, or 0 for no limit")
	}
	if c.Email != nil && *c.Email != "" && mail.CheckAddress(*c.Email) != nil {
		return store.Invalid("%s: write one such as ana@example.com, without a name", mail.ErrAddress)
	}
	return nil
}

// ChangeAccount applies an operator's change.
func (l *Ledger) ChangeAccount(ctx context.Context, id string, c AccountChange) error {
	if err := c.Check(); err != nil {
		return err
	}
	return l.Locked(ctx, "change account", id, func(w *Tx) error {
		if c.Concurrency != nil {
			w.override = c.Concurrency
			if *c.Concurrency == 0 {
				w.override = nil
			}
		}
		b := &pgx.Batch{}
		if c.Email != nil {
			b.Queue("update accounts set email = nullif($2, '') where id = $1", id, *c.Email)
		}
		if c.RecordingDays != nil {
			b.Queue("update accounts set recording_days = $2 where id = $1", id, *c.RecordingDays)
		}
		if c.ConversationDays != nil {
			b.Queue("update accounts set conversation_days = nullif($2, 0) where id = $1", id, *c.ConversationDays)
		}
		if c.Suspended != nil {
			w.suspended, w.retry = *c.Suspended, w.retry || !*c.Suspended
		}
		return w.Save(ctx, b)
	})
}
