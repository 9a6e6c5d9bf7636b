// Package operator provides the operator's account administration: list, create, suspend and
// limit accounts, resolve disputes, manage users; and lists the nodes. No route of this package shows what was
// said in an account's calls.
package operator

import (
	"context"

	"parley/api"
	"parley/api/manage"
	"parley/api/wallet"
	"parley/api/wire"
	"parley/billing"
	"parley/store"
	"parley/store/history"
	"parley/store/ledger"
	"parley/store/people"
)

// accounts serves the server's accounts.
type accounts struct {
	ledger *ledger.Ledger
	people *people.Store
	card   func() *billing.RateCard
	halt   func(account string)
}

// Mount adds the routes. card is the rate card in force. halt has the sessions of an
// account that was suspended look at the books now, on all nodes; they do so by
// themselves within seconds.
func Mount(a *api.API, db *store.DB, card func() *billing.RateCard, halt func(account string)) {
	const all, one = "/v1/operator/accounts", "/v1/operator/accounts/{id}"
	m := accounts{ledger.New(db), people.New(db), card, halt}
	api.Register(a, routes.Get(all, "list-accounts", "List the server's accounts", "Newest first."), m.list)
	api.Register(a, routes.Post(all, "create-account", "Make an account",
		"With its welcome credit. The operator owns it at first; with `create_key` the answer holds an API key of the account with the role owner "+
			"and the mark money, shown this once, with which the owner can be invited.").Created().ShownOnce(), m.create)
	api.Register(a, routes.Get(one, "get-account", "Read an account", "With its people."), m.get)
	api.Register(a, routes.Patch(one, "update-account", "Suspend an account, change its limits",
		"What is not sent stays. Suspended, an account starts nothing new, and its conversations say goodbye and end within seconds."), m.change)
	mountUsers(a, m.people)
	mountNodes(a, db)
	api.Register(a, routes.Get("/v1/operator/usage/engines", "get-engine-usage-of-all", "Sum up what engines used for all accounts",
		"As `GET /v1/usage/engines`, with what vendors charge where the server's settings say that: `cost`, beside the `price` that accounts pay."),
		func(ctx context.Context, in *api.Period) (*api.Reply[wallet.EngineTotals], error) {
			return wallet.SumEngines(ctx, history.New(db), "", in)
		})
	api.Register(a, routes.Post(one+"/resolve-disputes", "resolve-disputes", "Resolve all disputes of an account",
		"Calls and jobs may start again. Do this when the payment provider has decided. Without a dispute it changes nothing."), m.resolve)
}

// routes describes the routes of operators. Pages of other sites are refused.
var routes = api.Group{Tag: "Operator", Access: api.Operators, OwnPagesOnly: true}

func (m accounts) view(a *ledger.Account) wire.Account {
	rules := m.card().Wallet()
	v := wire.Account{ID: a.ID, Name: a.Name, Email: a.Email, CreatedAt: a.CreatedAt, Balance: wire.USD(a.Balance()), FirstTopupAt: a.FirstTopupAt,
		Live: a.Live, Concurrency: a.Concurrency, Standard: rules.ConcurrencyDefault, OpenDisputes: a.OpenDisputes, Suspended: a.Suspended,
		RecordingDays: a.RecordingDays, TalkDays: a.ConversationDays}
	if a.FirstTopupAt == nil {
		v.Standard = rules.ConcurrencyBeforeTopup
	}
	return v
}

func (m accounts) list(ctx context.Context, in *api.Paging) (*api.Listed[wire.Account], error) {
	return api.Pages(in.Limit, func(a ledger.Account) string { return a.ID }, m.view)(m.ledger.Accounts(ctx, in.Page()))
}

type accountInput struct {
	ID string `path:"id" doc:"The account's identifier." example:"acc_06er5bt0v9k1o7m2q3s4t5u6v0"`
}

func (m accounts) read(ctx context.Context, id string) (*wire.AccountDetail, error) {
	a, err := m.ledger.Account(ctx, id)
	if err != nil {
		return nil, err
	}
	people, err := m.people.Members(ctx, a.ID, store.Page{})
	if err != nil {
		return nil, err
	}
	return &wire.AccountDetail{Account: m.view(a), Members: manage.Members(people)}, nil
}

func (m accounts) get(ctx context.Context, in *accountInput) (*api.Reply[wire.AccountDetail], error) {
	return api.Found(m.read(ctx, in.ID))
}

// MaxConcurrency is the most that an account may be given, in sessions at once.
const MaxConcurrency = 100_000

// maxAccountName bounds an account's name, in bytes.
const maxAccountName = 200

func (m accounts) create(ctx context.Context, in *struct{ Body wire.NewAccount }) (*api.Secret[wire.CreatedAccount], error) {
	if len(in.Body.Name) > maxAccountName {
		return nil, api.Bad("name: take at most %d bytes", maxAccountName)
	}
	a, err := m.ledger.OwnAccount(ctx, api.PrincipalOf(ctx).User, in.Body.Name, m.card())
	if err != nil {
		return nil, err
	}
	out := api.NotStored(wire.CreatedAccount{})
	if in.Body.CreateKey {
		if _, out.Body.Secret, err = m.people.FirstKey(ctx, a.ID, "first key", api.PrincipalOf(ctx).User); err != nil {
			return nil, err
		}
	}
	d, err := m.read(ctx, a.ID)
	if err != nil {
		return nil, err
	}
	out.Body.AccountDetail = *d
	return out, nil
}

type accountChange struct {
	ID   string `path:"id" doc:"The account's identifier." example:"acc_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Body struct {
		Suspended     *bool      `json:"suspended,omitempty" doc:"Whether nothing may start, and what is in progress ends."`
		Concurrency   *int       `json:"concurrency,omitempty" doc:"Sessions at once; 0: as the rate card says." minimum:"0" maximum:"100000"`
		Email         *string    `json:"email,omitempty" doc:"Where warnings are mailed; empty: nowhere." maxLength:"254"`
		RecordingDays *int       `json:"recording_days,omitempty" doc:"How long recordings of calls are kept; it counts for those that are there, too." minimum:"1" maximum:"3650"`
		DailyLimit    wire.Limit `json:"daily_limit,omitempty"`
		TalkDays      *int       `json:"conversation_days,omitempty" doc:"How long transcripts of calls are kept, recordings included; it counts for what is there, too. 0: until somebody deletes it." minimum:"0" maximum:"3650"`
	}
}

func (m accounts) change(ctx context.Context, in *accountChange) (*api.Reply[wire.AccountDetail], error) {
	c := ledger.AccountChange{Suspended: in.Body.Suspended, Concurrency: in.Body.Concurrency, Email: in.Body.Email, RecordingDays: in.Body.RecordingDays,
		ConversationDays: in.Body.TalkDays}
	if err := c.Check(); err != nil {
		return nil, err
	}
	if err := m.ledger.ChangeAccount(ctx, in.ID, c); err != nil {
		return nil, err
	}
	if in.Body.DailyLimit.Given {
		if _, err := m.ledger.SetSpendingLimit(ctx, in.ID, in.ID, in.Body.DailyLimit.Amount); err != nil {
			return nil, err
		}
	}
	if c.Suspended != nil && *c.Suspended {
		m.halt(in.ID)
	}
	return api.Found(m.read(ctx, in.ID))
}

func (m accounts) resolve(ctx context.Context, in *accountInput) (*api.Reply[wire.AccountDetail], error) {
	if err := m.ledger.ResolveDispute(ctx, in.ID, ""); err != nil {
		return nil, err
	}
	return m.get(ctx, in)
}

type checkList struct {
	Data []wire.Check `json:"data" doc:"All checks." nullable:"false"`
}

// MountChecks adds the route that checks what the server needs, as look does, which may
// take a minute.
func MountChecks(a *api.API, look func(context.Context) ([]wire.Check, error)) {
	api.Register(a, routes.Get("/v1/operator/checks", "check-setup", "Check what the server needs",
		"Ports, engines, the database and what else `parley doctor` looks at, on the server that is asked. It takes seconds; within five of the last time its findings are repeated."),
		func(ctx context.Context, _ *struct{}) (*api.Reply[checkList], error) {
			found, err := look(ctx)
			return api.Body(checkList{append([]wire.Check{}, found...)}), err
		})
}
