package payments

import (
	"cmp"
	"context"
	"time"

	"parley/billing/payment"
	"parley/store"
)

// RechargeFailure says why an automatic recharge failed.
type RechargeFailure string

// Why automatic recharges fail, or end. All but card_declined and refused disable them
// at once.
const (
	RechargeDeclined       RechargeFailure = "card_declined" // the third in a row disables
	RechargeAuthentication RechargeFailure = "authentication_required"
	RechargeNoCard         RechargeFailure = "no_card"
	RechargeRefused        RechargeFailure = "refused"  // by the provider, for a reason that is not the card's
	RechargeRefunded       RechargeFailure = "refunded" // what went back to a card is not taken from it again
)

// rechargeFailureOf is why a payment failed, by the provider's word for it.
func rechargeFailureOf(code string) RechargeFailure {
	if code == payment.CodeAuthentication {
		return RechargeAuthentication
	}
	return RechargeDeclined
}

// MaxDeclines in a row disable automatic recharge.
const MaxDeclines = 3

// rechargeWait is how long after a failed attempt the next may be made: an hour after
// the first, a day after others. A top-up that the customer pays by hand ends it.
func rechargeWait(declines int) time.Duration {
	if declines <= 1 {
		return time.Hour
	}
	return 24 * time.Hour
}

// cardPaid ends the wait after a failure: the card that is charged next has just paid.
func (s *reconciling) cardPaid(ctx context.Context) error {
	return store.Do(ctx, s, `update recharges set declines = 0, not_before = null
		where account_id = $1 and (declines > 0 or not_before is not null)`, s.t.Account)
}

// rechargePaid forgets the last failure too.
func (s *reconciling) rechargePaid(ctx context.Context) error {
	tag, err := s.Exec(ctx, "update recharges set failure = '', code = '', failed_at = null where account_id = $1 and failure <> ''", s.t.Account)
	if err != nil || tag.RowsAffected() == 0 {
		return err
	}
	return s.ClearWarnings(ctx, store.WarnRechargeFailed, "")
}

// rechargeFailed notes a failure, makes the next attempt wait or disables all, and
// tells the owner.
func (s *reconciling) rechargeFailed(ctx context.Context, id string, why RechargeFailure, code string) error {
	declines, err := store.Scalar[int](ctx, s, `update recharges set declines = declines + case when $2 = 'card_declined' then 1 else 0 end,
		failure = $2, code = $3, failed_at = $4 where account_id = $1 returning declines`, s.t.Account, why, code, s.Now())
	if err != nil {
		return err
	}
	off := declines >= MaxDeclines || why == RechargeAuthentication || why == RechargeNoCard
	wait := rechargeWait(declines)
	if off {
		wait = rechargeWait(MaxDeclines)
	}
	_, err = s.Exec(ctx, "update recharges set not_before = $2, enabled = enabled and not $3 where account_id = $1", s.t.Account, s.Now().Add(wait), off)
	if err == nil && off {
		err = s.RechargeBelow(ctx, nil)
	}
	if err != nil {
		return err
	}
	code = cmp.Or(code, string(why))
	return s.Warn(ctx, store.Warning{Kind: store.WarnRechargeFailed, About: id,
		Data: store.WarningData{Amount: &s.t.Amount, Attempt: id, Reason: code, Disabled: off}})
}

// rechargeRefunded disables automatic recharge when money that went back to a card has
// left the balance below the threshold: it would be taken again at once.
func (s *reconciling) rechargeRefunded(ctx context.Context) error {
	if !s.NeedsRecharge() {
		return nil
	}
	if err := s.RechargeBelow(ctx, nil); err != nil {
		return err
	}
	return store.Do(ctx, s, "update recharges set enabled = false, failure = $2, code = '', failed_at = $3 where account_id = $1",
		s.t.Account, RechargeRefunded, s.Now())
}
