package ledger

import (
	"context"
	"regexp"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"

	"parley/store"
)

// TransferKind says why money moved.
type TransferKind string

// Why money moves. The first three are what Credit takes.
const (
	Topup      TransferKind = "topup"      // a payment; the first one opens numbers and outbound calls
	Bonus      TransferKind = "bonus"      // credit that expires
	Adjustment TransferKind = "adjustment" // an operator's correction, either way
	Welcome    TransferKind = "welcome"
	UsageKind  TransferKind = "usage"
	Expiry     TransferKind = "expiry"
)

// Credit is money that enters a wallet, or leaves it by a negative adjustment.
type Credit struct {
	Account string
	Kind    TransferKind // Topup, Bonus or Adjustment
	Amount  billing.Money
	// Key makes it happen once, however often it is repeated: a payment's
	// identifier with a prefix for its origin, or random.
	Key string
	// Source is the ledger account a top-up comes from, such as "stripe";
	// lower-case letters.
	Source string
	// ExpiresAt is when a bonus ends.
	ExpiresAt time.Time
}

var systemAccount = regexp.MustCompile(`^[a-z_]{1,32}$`)

// transfer checks c and turns it into a row of the ledger.
func (c Credit) transfer(now time.Time) (transfer, error) {
	t := transfer{idem: c.Key, kind: c.Kind, amount: c.Amount, credit: PotPaid}
	switch {
	case c.Key == "":
		return t, store.Invalid("a credit needs a key")
	case c.Kind != Adjustment && c.Amount <= 0, c.Amount == 0:
		return t, store.Invalid("the amount of a %s must be above 0", c.Kind)
	case c.Amount > MaxCredit || c.Amount < -MaxCredit:
		return t, store.Invalid("the amount must be within %s either way", MaxCredit)
	}
	switch c.Kind {
	case Topup:
		t.debit = c.Source
		if !systemAccount.MatchString(c.Source) || c.Source == PotPaid || c.Source == potBonus {
			return t, store.Invalid("a top-up needs the name of its source")
		}
	case Bonus:
		t.debit, t.credit = "promo", potBonus
		if !c.ExpiresAt.After(now) {
			return t, store.Invalid("a bonus must expire in the future")
		}
	case Adjustment:
		t.debit = "adjust"
		if c.Amount < 0 {
			t.debit, t.credit, t.amount = PotPaid, "adjust", -c.Amount
		}
	default:
		return t, store.Invalid("a credit is a topup, a bonus or an adjustment, not %q", c.Kind)
	}
	return t, nil
}

// MaxCredit keeps a slipped decimal point, and sums of many credits, far from the
// end of Money.
const MaxCredit = 1_000_000 * billing.USD

// Credit posts c once and returns the wallet after it; applied is false when the
// key had been posted before. The same key for something else is ErrIdempotency.
func (l *Ledger) Credit(ctx context.Context, c Credit) (pots billing.Pots, applied bool, err error) {
	t, err := c.transfer(l.db.Time(ctx))
	if err != nil {
		return pots, false, err
	}
	err = l.Locked(ctx, "credit", c.Account, func(w *Tx) error {
		b := &pgx.Batch{}
		var err error
		applied, err = w.credit(ctx, b, t, c.ExpiresAt)
		pots = w.pots
		if err != nil || !applied {
			return err
		}
		return w.Conclude(ctx, b)
	})
	return pots, applied && err == nil, err
}

// Credit posts c to the wallet of the transaction, whatever account it names, as Ledger.Credit does. What is left to
// write is queued.
func (w *Tx) Credit(ctx context.Context, b *pgx.Batch, c Credit) error {
	t, err := c.transfer(w.now)
	if err == nil {
		_, err = w.credit(ctx, b, t, c.ExpiresAt)
	}
	return err
}

// credit moves the money of t, and leaves the wallet as it was where its key has been posted before.
func (w *Tx) credit(ctx context.Context, b *pgx.Batch, t transfer, expires time.Time) (applied bool, err error) {
	before, retry := w.wallet, w.retry
	tag, err := w.Exec(ctx, insertTransfer+" on conflict (idem, leg) do nothing", w.apply(t)...)
	if err != nil {
		return false, err
	}
	if tag.RowsAffected() == 0 {
		w.wallet, w.retry = before, retry
		return false, w.sameCredit(ctx, t)
	}
	switch t.kind {
	case Topup:
		if w.firstTopup == nil {
			w.firstTopup = &w.now
		}
	case Bonus:
		w.grantLot(b, t, expires)
	}
	return true, nil
}

// sameCredit compares a repeated credit with what its key was first used for.
func (w *Tx) sameCredit(ctx context.Context, t transfer) error {
	same, err := store.Scalar[bool](ctx, w, `select account_id = $2 and debit = $3 and credit = $4 and amount_nano = $5 and kind = $6
		from ledger_transfers where idem = $1 and leg = 0`, t.idem, w.account, t.debit, t.credit, t.amount, t.kind)
	if err == nil && !same {
		return store.ErrIdempotency
	}
	return err
}

// Transfer is one line of an account's ledger.
type Transfer struct {
	Seq          int64 // 1, 2, 3... without gaps
	Kind         TransferKind
	Debit        string // ledger account the amount left
	Credit       string // and the one it entered
	Amount       billing.Money
	BalanceAfter billing.Money // posted: sessions in progress not counted
	Session      *string       // usage only
	PriceVersion *string       // usage only
	CreatedAt    time.Time
}
