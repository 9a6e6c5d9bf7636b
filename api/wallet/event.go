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

// AccountEvent is something that an account should know.
type AccountEvent struct {
	ID        string       `json:"id" doc:"Names the event; younger ones sort later." example:"evt_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Kind      string       `json:"kind" doc:"balance.low, number.past_due, number.released, recharge.failed, dispute.opened, webhook.disabled or spending.limit; there may be more kinds." example:"balance.low"`
	Message   string       `json:"message" doc:"The same for people." example:"The balance has fallen to 4.99 USD, below 5 USD: top up soon."`
	Data      EventFigures `json:"data" doc:"The figures; which are there depends on the kind."`
	CreatedAt time.Time    `json:"created_at" doc:"When it was noticed."`
	ClearedAt *time.Time   `json:"cleared_at" doc:"When it stopped being so, which of a number that is lost is known beforehand; null while it is."`
}

// EventFigures are those of an event.
type EventFigures struct {
	Balance   *wire.USD  `json:"balance,omitempty" doc:"What there was when it was noticed."`
	Threshold *wire.USD  `json:"threshold,omitempty" doc:"The balance below which it is low."`
	Amount    *wire.USD  `json:"amount,omitempty" doc:"Of a number's month, a recharge or a dispute."`
	NumberID  string     `json:"number_id,omitempty" doc:"The number's identifier." example:"num_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Number    string     `json:"number,omitempty" doc:"The number." example:"+34911234567"`
	DueAt     *time.Time `json:"due_at,omitempty" doc:"When the number's month was to be paid."`
	ReleaseAt *time.Time `json:"release_at,omitempty" doc:"When the number goes, or went."`
	Attempt   string     `json:"attempt,omitempty" doc:"The attempt to recharge." example:"rch_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Reason    string     `json:"reason,omitempty" doc:"Why the recharge failed, in the payment provider's word; of a webhook failing or gone." example:"card_declined"`
	Disabled  bool       `json:"disabled,omitempty" doc:"Automatic recharge is off now."`
	Dispute   string     `json:"dispute,omitempty" doc:"What the payment provider or the operator calls the dispute." example:"dp_1"`
	Webhook   string     `json:"webhook,omitempty" doc:"The webhook that is disabled." example:"wh_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Subject   string     `json:"subject,omitempty" doc:"Whose limit of spending it is: the account, a key or an agent." example:"key_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Limit     *wire.USD  `json:"limit,omitempty" doc:"What may be spent in a day (UTC)."`
	Spent     *wire.USD  `json:"spent,omitempty" doc:"What was spent of it, with what was held, when it was noticed."`
}

func viewFigures(d store.WarningData) EventFigures {
	usd := func(m *billing.Money) *wire.USD { return (*wire.USD)(m) }
	return EventFigures{Balance: usd(d.Balance), Threshold: usd(d.Threshold), Amount: usd(d.Amount), NumberID: d.NumberID, Number: d.Number,
		DueAt: d.DueAt, ReleaseAt: d.ReleaseAt, Attempt: d.Attempt, Reason: d.Reason, Disabled: d.Disabled, Dispute: d.Dispute, Webhook: d.Webhook,
		Subject: d.Subject, Limit: usd(d.Limit), Spent: usd(d.Spent)}
}

// ViewEvent is a warning as its account sees it, listed or published.
func ViewEvent(w *store.Warning) AccountEvent {
	return AccountEvent{ID: w.ID, Kind: string(w.Kind), Message: Sentence(w), Data: viewFigures(w.Data), CreatedAt: w.CreatedAt, ClearedAt: w.ClearedAt}
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

func (m *wallet) events(ctx context.Context, in *api.Paging) (*api.Listed[AccountEvent], error) {
	found, err := m.db.Warnings(ctx, api.AccountOf(ctx), in.Page())
	if err != nil {
		return nil, err
	}
	return api.Pages(in.Limit, found, func(w store.Warning) string { return w.ID }, ViewEvent), nil
}
