package wallet

import (
	"context"
	"fmt"
	"time"

	"parley/api"
	"parley/api/wire"
	"parley/billing"
	"parley/store"
	"parley/store/ledger"
	"parley/store/ledger/statement"
)

func (m *wallet) balance(ctx context.Context, _ *struct{}) (*api.Reply[wire.Balance], error) {
	view := func(b *ledger.Balance) wire.Balance { return viewBalance(b, m.card().Wallet(), m.db.Now()) }
	return api.Show(view)(m.books.Balance(ctx, api.AccountOf(ctx)))
}

func viewBalance(b *ledger.Balance, rules billing.Wallet, at time.Time) wire.Balance {
	lots := make([]wire.BonusLot, len(b.Lots))
	for i, l := range b.Lots {
		lots[i] = wire.BonusLot{Left: wire.USD(l.Left), Granted: wire.USD(l.Granted), ExpiresAt: l.ExpiresAt}
	}
	p := b.Pots
	return wire.Balance{
		Currency: "USD", Balance: wire.USD(p.Balance()), Paid: wire.USD(p.PaidLeft()), Bonus: wire.USD(p.BonusLeft()), BonusLots: lots,
		Posted: wire.USD(p.Paid + p.Bonus), Accrued: wire.USD(p.AccruedAny + p.AccruedPaid), Held: wire.USD(p.Held),
		Overdraft: wire.USD(rules.Overdraft), MinSessionStart: wire.USD(rules.MinSessionStart),
		Concurrency: wire.Concurrency{Live: b.Live, Limit: b.Limit(rules)}, Disputed: b.OpenDisputes > 0, Suspended: b.Suspended,
		FirstTopupAt: b.FirstTopupAt, Warnings: warnings(b, rules, at),
	}
}

// expiring is how long before its end credit is worth a warning.
const expiring = 7 * 24 * time.Hour

// warnings are what the owner should know, the most urgent first: what is seen of the
// wallet now, and what was noticed and still is so.
func warnings(b *ledger.Balance, rules billing.Wallet, at time.Time) []wire.Warning {
	list := []wire.Warning{}
	warn := func(kind, message string, since *time.Time, d store.WarningData) {
		list = append(list, wire.Warning{Kind: kind, Message: message, Since: since, Data: viewFigures(d)})
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

// ViewEngines shows which engines served a call; nil: it is not known.
func ViewEngines(by *store.ServedBy) *wire.CallEngines {
	if by == nil {
		return nil
	}
	return &wire.CallEngines{ASR: by.ASR, LLM: by.LLM, TTS: by.TTS}
}

func (m *wallet) receipt(ctx context.Context, in *struct {
	ID string `path:"id" doc:"The call's or session's identifier." maxLength:"100" example:"ses_06er5bt0v9k1o7m2q3s4t5u6v0"`
}) (*api.Reply[wire.Receipt], error) {
	return api.Show(viewReceipt)(statement.ReadReceipt(ctx, m.db, api.AccountOf(ctx), in.ID))
}

func viewReceipt(r *statement.Receipt) wire.Receipt {
	out := wire.Receipt{SessionID: r.Session, Kind: string(r.Kind), PriceVersion: r.PriceVersion, OpenedAt: r.OpenedAt, StartedAt: r.StartedAt,
		EndedAt: r.EndedAt, Lines: make([]wire.Line, len(r.Lines)), Total: wire.USD(r.Total()), Accrued: wire.USD(r.Accrued), Engines: ViewEngines(r.Engines)}
	for i, l := range r.Lines {
		u := units[l.Component]
		out.Lines[i] = wire.Line{Component: l.Component, Quantity: l.Quantity, Unit: u.name, UnitPrice: wire.USD(l.UnitPrice), UnitPricePer: u.per,
			Amount: wire.USD(l.Amount), PriceVersion: r.PriceVersion}
	}
	inOrder(out.Lines, func(l wire.Line) string { return l.Component })
	return out
}
