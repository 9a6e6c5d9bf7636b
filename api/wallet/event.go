package wallet

import (
	"context"
	"fmt"
	"time"

	"parley/api"
	"parley/api/wire"
	"parley/billing"
	"parley/store"
)

func viewFigures(d store.WarningData) wire.EventFigures {
	usd := func(m *billing.Money) *wire.USD { return (*wire.USD)(m) }
	return wire.EventFigures{Balance: usd(d.Balance), Threshold: usd(d.Threshold), Amount: usd(d.Amount), NumberID: d.NumberID, Number: d.Number,
		DueAt: d.DueAt, ReleaseAt: d.ReleaseAt, Attempt: d.Attempt, Reason: d.Reason, Disabled: d.Disabled, Dispute: d.Dispute, Webhook: d.Webhook,
		Subject: d.Subject, Limit: usd(d.Limit), Spent: usd(d.Spent), Engine: d.Engine}
}

// ViewEvent is a warning as its account sees it, listed or published.
func ViewEvent(w *store.Warning) wire.AccountEvent {
	return wire.AccountEvent{ID: w.ID, Kind: string(w.Kind), Message: Sentence(w), Data: viewFigures(w.Data), CreatedAt: w.CreatedAt, ClearedAt: w.ClearedAt}
}

// Sentence says a warning to people, on one line.
func Sentence(w *store.Warning) string {
	d := w.Data
	switch w.Kind {
	case store.WarnBalanceLow:
		return fmt.Sprintf("The balance has fallen to %s USD, below %s USD: top up soon.", shown(d.Balance), shown(d.Threshold))
	case store.WarnNumberPastDue:
		return fmt.Sprintf("The month of %s from %s could not be paid: it costs %s USD of paid credit. Unless that is there before, the number is lost on %s.",
			d.Number, day(d.DueAt), shown(d.Amount), day(d.ReleaseAt))
	case store.WarnNumberReleased:
		return fmt.Sprintf("The number %s is lost: its month was not paid in time.", d.Number)
	case store.WarnRechargeFailed:
		next := "It will be tried again."
		if d.Disabled {
			next = "Automatic recharge is off now: top up, and turn it on again."
		}
		return fmt.Sprintf("An automatic recharge of %s USD has failed (%s). %s", shown(d.Amount), d.Reason, next)
	case store.WarnDisputeOpened:
		what := "A payment"
		if d.Amount != nil && *d.Amount > 0 {
			what = fmt.Sprintf("A payment of %s USD", shown(d.Amount))
		}
		return what + " is disputed: nothing starts until that is resolved."
	case store.WarnWebhookDisabled:
		why := "nothing has arrived there for five days"
		if d.Reason == "gone" {
			why = "it answered 410, that it is gone"
		}
		return fmt.Sprintf("The webhook %s is disabled: %s. Enable it when it works again.", d.Webhook, why)
	case store.WarnEngineKey:
		return fmt.Sprintf("Your key for the engine %s was refused (%s) and is used no more. Set another, or have it tested again.", d.Engine, d.Reason)
	}
	if w.Kind == store.WarnSpending {
		what := "is nearly reached"
		if d.Limit != nil && d.Spent != nil && *d.Spent >= *d.Limit {
			what = "is reached: what it binds has ended, and nothing of it begins before midnight UTC"
		}
		return fmt.Sprintf("The limit of %s, %s USD a day, %s.", d.Subject, shown(d.Limit), what)
	}
	return string(w.Kind) // a kind of a younger server's
}

// shown rounds an amount down to the cent, for people.
func shown(m *billing.Money) string {
	if m == nil {
		return "0"
	}
	return m.Floor(billing.Cent).String()
}

// day is a time's date in UTC.
func day(t *time.Time) string {
	if t == nil {
		return "an unknown day"
	}
	return t.UTC().Format(time.DateOnly)
}

func (m *wallet) events(ctx context.Context, in *api.Paging) (*api.Listed[wire.AccountEvent], error) {
	return api.Pages(in.Limit, func(w store.Warning) string { return w.ID }, ViewEvent)(m.db.Warnings(ctx, api.AccountOf(ctx), in.Page()))
}
