package ledger

import (
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"

	"parley/store"
)

// wallet is an account's wallet row while a Tx holds its lock. No other transaction, a
// checkpoint included, can change it or add transfers to the account, so it is read once,
// changed here and saved as a whole.
type wallet struct {
	account      string
	pots         billing.Pots
	live         int
	admissions   int64
	override     *int
	disputes     int
	suspended    bool
	firstTopup   *time.Time
	bonusExpires *time.Time
	lastSeq      int64
	lowSince     *time.Time
	// rechargeBelow is the threshold of automatic recharge; nil while that is off.
	rechargeBelow *billing.Money
	limited       bool // a key or an agent has a limit of spending
	spending      spending
	dialsFull     *time.Time // when it may place as many calls at once as ever; see dials
}

const walletColumns = `paid_nano, bonus_nano, accrued_any_nano, accrued_paid_nano, held_nano, live_sessions,
	admissions, concurrency_override, open_disputes, suspended, first_topup_at, bonus_expires_at, last_seq, low_since, recharge_below_nano,
	limited, daily_limit_nano, spent_day, spent_nano, dials_full_at`

func (w *wallet) into() []any {
	p := &w.pots
	return []any{&p.Paid, &p.Bonus, &p.AccruedAny, &p.AccruedPaid, &p.Held, &w.live,
		&w.admissions, &w.override, &w.disputes, &w.suspended, &w.firstTopup, &w.bonusExpires, &w.lastSeq, &w.lowSince, &w.rechargeBelow,
		&w.limited, &w.spending.Limit, &w.spending.Day, &w.spending.Spent, &w.dialsFull}
}

// save queues the wallet's row; it must be sent before the transaction ends. Where
// the pots have changed, applyThresholds comes first.
func (w *Tx) save(b *pgx.Batch) {
	b.Queue(`update wallets set paid_nano = $2, bonus_nano = $3, accrued_any_nano = $4, accrued_paid_nano = $5, held_nano = $6,
		live_sessions = $7, admissions = $8, concurrency_override = $9, open_disputes = $10, suspended = $11,
		first_topup_at = $12, bonus_expires_at = $13, last_seq = $14, low_since = $15,
		limited = $16, daily_limit_nano = $17, spent_day = $18, spent_nano = $19, dials_full_at = $20 where account_id = $1`,
		w.account, w.pots.Paid, w.pots.Bonus, w.pots.AccruedAny, w.pots.AccruedPaid, w.pots.Held,
		w.live, w.admissions, w.override, w.disputes, w.suspended, w.firstTopup, w.bonusExpires, w.lastSeq, w.lowSince,
		w.limited, w.spending.Limit, w.spending.Day, w.spending.Spent, w.dialsFull)
	if w.retry { // unpaid months of numbers
		b.Queue("update numbers set charge_at = next_charge_at where account_id = $1 and state = 'grace'", w.account)
	}
}

// The customer's ledger accounts; all others are the system's.
const (
	PotPaid  = "paid"
	potBonus = "bonus"
)

// transfer is one row of the ledger.
type transfer struct {
	idem          string // with leg unique in the whole ledger
	leg           int
	debit, credit string
	amount        billing.Money // above 0
	kind          TransferKind
	session       *string // usage only, with the version it was priced by
	version       *string
}

// Posting is money that moves between the customer's PotPaid and an account of the system's.
type Posting struct {
	Key           string // unique in the whole ledger
	Debit, Credit string
	Amount        billing.Money // above 0
	Kind          TransferKind
	PriceVersion  *string // of the card that usage is priced by; nil: it is none
}

// Post moves the money in the wallet and queues the line of the ledger.
func (w *Tx) Post(b *pgx.Batch, p Posting) {
	b.Queue(insertTransfer, w.apply(transfer{idem: p.Key, debit: p.Debit, credit: p.Credit, amount: p.Amount, kind: p.Kind, version: p.PriceVersion})...)
}

const insertTransfer = `insert into ledger_transfers (account_id, seq, idem, leg, debit, credit, amount_nano, kind,
	session_id, price_version, balance_after_nano, created_at) values ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12)`

// apply moves a transfer's money in w and returns the values to insert.
func (w *Tx) apply(t transfer) []any {
	w.add(t.debit, -t.amount)
	w.add(t.credit, t.amount)
	w.lastSeq++
	return []any{w.account, w.lastSeq, t.idem, t.leg, t.debit, t.credit, t.amount, t.kind,
		t.session, t.version, w.pots.Paid + w.pots.Bonus, w.now}
}

func (w *Tx) add(pot string, amount billing.Money) {
	switch pot {
	case PotPaid:
		w.pots.Paid += amount
		w.retry = w.retry || amount > 0
	case potBonus:
		w.pots.Bonus += amount
	}
}

// limit is how many sessions the account may have at once.
func (w *wallet) limit(rules billing.Wallet) int {
	switch {
	case w.override != nil:
		return *w.override
	case w.firstTopup == nil:
		return rules.ConcurrencyBeforeTopup
	}
	return rules.ConcurrencyDefault
}

// Calls that an account places, whichever nodes take them: five a second, as many at once.
const (
	dialEvery = time.Second / 5
	dialBurst = 5
)

// dial takes one call out of the account's bucket, or refuses it.
func (w *Tx) dial() error {
	full := w.now
	if w.dialsFull != nil && w.dialsFull.After(w.now) {
		full = *w.dialsFull
	}
	full = full.Add(dialEvery)
	if full.Sub(w.now) > dialBurst*dialEvery {
		return store.ErrDialRate
	}
	w.dialsFull = &full
	return nil
}
