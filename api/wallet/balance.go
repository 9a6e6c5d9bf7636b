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

// Balance is an account's wallet.
type Balance struct {
	Currency        string      `json:"currency" doc:"The currency of every amount." enum:"USD"`
	Balance         wire.USD    `json:"balance" doc:"What the account has, sessions in progress counted. Show it rounded down to the cent."`
	Paid            wire.USD    `json:"paid" doc:"Of it, what was paid in; below zero in overdraft."`
	Bonus           wire.USD    `json:"bonus" doc:"Of it, credit that expires. It is used first, and pays neither numbers nor outgoing calls."`
	BonusLots       []BonusLot  `json:"bonus_lots" nullable:"false" doc:"The parts of bonus, soonest expiry first."`
	Posted          wire.USD    `json:"posted" doc:"What the ledger's last entry says: balance and accrued together."`
	Accrued         wire.USD    `json:"accrued" doc:"What sessions in progress have used and the ledger does not hold yet."`
	Held            wire.USD    `json:"held" doc:"Set aside for minutes and work about to begin; still part of balance."`
	Overdraft       wire.USD    `json:"overdraft" doc:"How far below zero sessions in progress may go before they end."`
	MinSessionStart wire.USD    `json:"min_session_start" doc:"What a session or a request needs to start."`
	Concurrency     Concurrency `json:"concurrency" doc:"Sessions at once."`
	Disputed        bool        `json:"disputed" doc:"A payment is disputed: nothing starts."`
	Suspended       bool        `json:"suspended" doc:"The operator has suspended the account: nothing starts."`
	FirstTopupAt    *time.Time  `json:"first_topup_at" doc:"Null before the first top-up: numbers and outgoing calls need one."`
	Warnings        []Warning   `json:"warnings" nullable:"false" doc:"The most urgent first; empty when all is well."`
}

// BonusLot is credit with an end.
type BonusLot struct {
	Left      wire.USD  `json:"left" doc:"What is left of it."`
	Granted   wire.USD  `json:"granted" doc:"How much it was."`
	ExpiresAt time.Time `json:"expires_at" doc:"When the rest goes."`
}

// Concurrency is how many sessions there are.
type Concurrency struct {
	Live  int `json:"live" doc:"Sessions in progress." example:"2"`
	Limit int `json:"limit" doc:"How many there may be at once." example:"10"`
}

// Warning is one line of a banner.
type Warning struct {
	Kind    string       `json:"kind" doc:"account.suspended, dispute.opened, balance.exhausted (nothing starts), balance.low, spending.limit (until midnight UTC), recharge.failed, number.past_due, number.released (for a week) or bonus.expiring (within a week); there may be more kinds." example:"balance.low"`
	Message string       `json:"message" doc:"The same for people." example:"The balance is 3.41 USD: top up soon."`
	Since   *time.Time   `json:"since" doc:"When it was noticed; null where that is not known."`
	Data    EventFigures `json:"data" doc:"The figures; which are there depends on the kind."`
}

type balanceOutput struct{ Body Balance }

func (m *wallet) balance(ctx context.Context, _ *struct{}) (*balanceOutput, error) {
	at := m.db.Now()
	b, err := m.db.Balance(ctx, api.AccountOf(ctx), at)
	if err != nil {
		return nil, err
	}
	return &balanceOutput{viewBalance(b, m.card().Wallet(), at)}, nil
}

func viewBalance(b *store.Balance, rules billing.Wallet, at time.Time) Balance {
	lots := make([]BonusLot, len(b.Lots))
	for i, l := range b.Lots {
		lots[i] = BonusLot{wire.USD(l.Left), wire.USD(l.Granted), l.ExpiresAt}
	}
	p := b.Pots
	return Balance{
		Currency: "USD", Balance: wire.USD(p.Balance()), Paid: wire.USD(p.PaidLeft()), Bonus: wire.USD(p.BonusLeft()), BonusLots: lots,
		Posted: wire.USD(p.Paid + p.Bonus), Accrued: wire.USD(p.AccruedAny + p.AccruedPaid), Held: wire.USD(p.Held),
		Overdraft: wire.USD(rules.Overdraft), MinSessionStart: wire.USD(rules.MinSessionStart),
		Concurrency: Concurrency{b.Live, b.Limit(rules)}, Disputed: b.OpenDisputes > 0, Suspended: b.Suspended,
		FirstTopupAt: b.FirstTopupAt, Warnings: warnings(b, rules, at),
	}
}

// expiring is how long before its end credit is worth a warning.
const expiring = 7 * 24 * time.Hour

// warnings are what the owner should know, the most urgent first: what is seen of the
// wallet now, and what was noticed and still is so.
func warnings(b *store.Balance, rules billing.Wallet, at time.Time) []Warning {
	list := []Warning{}
	warn := func(kind, message string, since *time.Time, d store.WarningData) {
		list = append(list, Warning{kind, message, since, viewFigures(d)})
	}
	noticed := func(kind store.WarningKind) (some bool) {
		for i := range b.Warnings {
			if w := &b.Warnings[i]; w.Kind == kind {
				warn(string(kind), Sentence(w), &w.CreatedAt, w.Data)
				some = true
			}
		}
		return some
	}
	if b.Suspended {
		warn("account.suspended", "The account is suspended: nothing starts.", nil, store.WarningData{})
	}
	if !noticed(store.WarnDisputeOpened) && b.OpenDisputes > 0 {
		warn(string(store.WarnDisputeOpened), "A payment is disputed: nothing starts until that is resolved.", nil, store.WarningData{})
	}
	balance := b.Pots.Balance()
	switch d := (store.WarningData{Balance: &balance, Threshold: &b.LowMark}); {
	case balance < rules.MinSessionStart:
		warn("balance.exhausted", fmt.Sprintf("The balance is %s USD, and nothing starts below %s USD: top up now.", shown(&balance), rules.MinSessionStart), b.LowSince, d)
	case balance < b.LowMark:
		warn(string(store.WarnBalanceLow), fmt.Sprintf("The balance is %s USD: top up soon.", shown(&balance)), b.LowSince, d)
	}
	noticed(store.WarnSpending)
	noticed(store.WarnRechargeFailed)
	noticed(store.WarnNumberPastDue)
	noticed(store.WarnNumberReleased)
	var ending billing.Money
	var last time.Time
	for _, l := range b.Lots {
		if l.ExpiresAt.Sub(at) <= expiring {
			ending, last = ending+l.Left, l.ExpiresAt
		}
	}
	if ending > 0 {
		warn("bonus.expiring", fmt.Sprintf("Of the bonus credit %s USD expire by %s.", shown(&ending), day(&last)), nil, store.WarningData{Amount: &ending})
	}
	return list
}
