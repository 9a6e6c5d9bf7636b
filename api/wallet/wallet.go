// Package wallet serves the prepaid balance of an account: the balance, ledger entries,
// usage in groups, the receipt of each session, and limits of daily spending. Only the
// limits can be changed.
//
// Amounts are JSON numbers of US dollars with all their decimals, nine at most, so
// that they add up exactly; nothing is rounded on the way. Round a balance down
// to the cent when you show it to people.
package wallet

import (
	"net/http"

	"parley/api"
	"parley/api/export"
	"parley/billing"
	"parley/store"
	"parley/store/ledger"
	"parley/store/ledger/statement"
)

// Mount adds the routes. card is the rate card in force.
func Mount(a *api.API, db *store.DB, files *export.Sender, card func() *billing.RateCard) {
	m := &wallet{db: db, books: ledger.New(db), card: card, files: files}
	const exact = " Amounts have up to nine decimals and are exact; show balances rounded down to the cent."
	api.Register(a, routes.Get("/v1/balance", "get-balance", "Read the balance",
		"What the account has, sessions in progress counted. `balance` is `paid` + `bonus`, and `posted` - `accrued`. "+
			"`warnings` is for a banner: what is about to stop working, and why."+exact), m.balance)
	api.Register(a, routes.Get("/v1/events", "list-events", "List account events",
		"Newest first. An event is entered by what caused it: a balance that fell below the threshold of automatic recharge, or the rate card's without one; "+
			"a number's month that could not be paid, and the number's loss 30 days later; a recharge that failed; a payment that is disputed; a limit of spending that is nearly reached, or reached. Each comes once: "+
			"a low balance again only after it was not. What still is so is in `warnings` of `GET /v1/balance` too, and accounts with an address get it by mail."), m.events)
	mountSpending(a, m)
	api.Register(a, routes.Get("/v1/ledger", "list-ledger", "List ledger entries",
		"Newest first; entries never change. `balance_after` of an entry is that of the one before it plus `amount`. "+
			"Sessions are entered when they end."+exact), m.ledger)
	a.Handle(export.Route(routes.Get("/v1/ledger.csv", "export-ledger", "Export ledger entries",
		"The entries of `GET /v1/ledger`, newest first, with the columns "+export.Columns(ledgerHeader)+"."), ledgerParams()), api.HandlerFunc(m.ledgerCSV))
	api.Register(a, routes.Get("/v1/usage", "get-usage", "Sum up usage",
		"What was used and what it cost, by day (UTC), agent, call or component, newest first. Usage belongs to the moment at which it was "+
			"entered in the ledger, which for most sessions is their end. What sessions in progress have used since is in `accrued` and nowhere else."+exact), m.usage)
	a.Handle(export.Route(routes.Get("/v1/usage.csv", "export-usage", "Export usage",
		"The groups of `GET /v1/usage`, a line for each component of each, with the columns "+export.Columns(usageHeader(statement.ByDay))+"; the first is named "+
			"after the grouping, and there is none by component."), usageParams()), api.HandlerFunc(m.usageCSV))
	api.Register(a, routes.Get("/v1/usage/engines", "get-engine-usage", "Sum up what engines used",
		"In calls, after them, and in synthesis and recognition without a call, as the vendors of the engines count: of sessions that began in the range and have ended. "+
			"Engines that come along with the server count nothing, but for language models. `price` is what you pay beside the price of the sessions, which `GET /v1/usage` has."), m.engines)
	api.Register(a, routes.Get("/v1/calls/{id}/receipt", "get-receipt", "Read the receipt of a session",
		"What a call or any other session cost, a line for each component; `total` is their sum and what the ledger charged. The identifier is "+
			"`session_id` of the ledger's entries: recordings, texts and files have one too."+exact, http.StatusNotFound), m.receipt)
}

// wallet serves the routes.
type wallet struct {
	db    *store.DB
	books *ledger.Ledger
	card  func() *billing.RateCard
	files *export.Sender
}

var routes = api.Managed("Account")
