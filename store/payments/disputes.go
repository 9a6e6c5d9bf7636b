package payments

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"parley/billing"
	"parley/billing/payment"
	"parley/store"
	"parley/store/ledger"
)

// disputed is a dispute's row.
type disputed struct {
	id        int64
	state     payment.Kind // the last that counts
	amount    billing.Money
	withdrawn bool // at any time
	held      billing.Money
	open      bool // until it is won or an operator resolves it, no session starts
}

// disputeStates are how the states are kept.
var disputeStates = map[payment.Kind]string{
	payment.DisputeOpened: "opened", payment.DisputeFundsWithdrawn: "funds_withdrawn", payment.DisputeWon: "won", payment.DisputeLost: "lost",
}

// dispute applies an event about a dispute of the payment. Events come in any order:
// one that was decided stays so, and money that had come back before it was seen to
// go is left alone.
func (s *reconciling) dispute(ctx context.Context, e payment.Event) error {
	if disputeStates[e.Kind] == "" {
		return nil
	}
	d, err := s.findDispute(ctx, e)
	if err != nil {
		return err
	}
	if d.state == payment.DisputeWon {
		return nil
	}
	switch e.Kind {
	case payment.DisputeFundsWithdrawn:
		if !d.withdrawn {
			d.withdrawn, d.held = true, d.amount
			if d.state == payment.DisputeOpened {
				d.state = e.Kind
			}
			s.move("dp:"+e.Dispute.Ref+":out", ledger.PotPaid, disputeHold, d.held)
		}
	case payment.DisputeWon:
		if d.state == payment.DisputeLost {
			return nil
		}
		s.move("dp:"+e.Dispute.Ref+":back", disputeHold, ledger.PotPaid, d.held)
		d.state, d.held = e.Kind, 0
	case payment.DisputeLost:
		d.state = e.Kind
	}
	return s.saveDispute(ctx, d)
}

// disputeHold is where money is that a bank has taken back.
const disputeHold = "dispute_hold"

// move posts a transfer of a dispute; of nothing there is none.
func (s *reconciling) move(key, from, to string, amount billing.Money) {
	if amount > 0 {
		s.Post(s.b, ledger.Posting{Key: key, Debit: from, Credit: to, Amount: amount, Kind: DisputeKind})
	}
}

// findDispute reads the dispute or makes it, open; never for more than was paid. One
// that an operator opened under the same name becomes the provider's, unless the provider's
// is there already: then the operator has opened it once more, and is to end it.
func (s *reconciling) findDispute(ctx context.Context, e payment.Event) (*disputed, error) {
	amount := max(0, min(e.Dispute.Amount, s.t.Paid))
	_, err := s.Exec(ctx, `update disputes set provider = $3, topup_id = $4, state = 'opened', amount_nano = $5
		where account_id = $1 and ref = $2 and provider is null and resolved_at is null
			and not exists (select from disputes where provider = $3 and ref = $2)`,
		s.t.Account, e.Dispute.Ref, s.t.Provider, s.t.ID, amount)
	if err != nil {
		return nil, err
	}
	d := &disputed{}
	var state string
	err = s.QueryRow(ctx, `select id, state, amount_nano, withdrawn, held_nano, resolved_at is null from disputes
		where account_id = $1 and topup_id = $2 and provider = $3 and ref = $4 for update`,
		s.t.Account, s.t.ID, s.t.Provider, e.Dispute.Ref).Scan(&d.id, &state, &d.amount, &d.withdrawn, &d.held, &d.open)
	if errors.Is(err, pgx.ErrNoRows) {
		d = &disputed{state: payment.DisputeOpened, amount: amount, open: true}
		d.id, err = s.OpenDispute(ctx, ledger.Dispute{Ref: e.Dispute.Ref, Provider: s.t.Provider, TopUp: s.t.ID, Amount: amount})
		if err == nil && d.id == 0 {
			err = fmt.Errorf("dispute %s is open, and not of top-up %s", e.Dispute.Ref, s.t.ID)
		}
		return d, err
	}
	for kind, name := range disputeStates {
		if name == state {
			d.state = kind
		}
	}
	return d, err
}

// saveDispute writes it; one that was won ends here, if no operator has ended it.
func (s *reconciling) saveDispute(ctx context.Context, d *disputed) error {
	if d.open && d.state == payment.DisputeWon {
		if err := s.ResolveDispute(ctx, d.id); err != nil {
			return err
		}
	}
	return store.Do(ctx, s, "update disputes set state = $3, withdrawn = $4, held_nano = $5 where account_id = $1 and id = $2",
		s.t.Account, d.id, disputeStates[d.state], d.withdrawn, d.held)
}
