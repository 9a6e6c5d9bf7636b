// Package operator provides the operator's account administration: list, create, suspend and
// limit accounts, resolve disputes, manage users. No route of this package shows what was
// said in an account's calls.
package operator

import (
	"context"
	"time"

	"parley/api"
	"parley/api/manage"
	"parley/api/wallet"
	"parley/api/wire"
	"parley/billing"
	"parley/store"
	"parley/store/ledger"
	"parley/store/people"
)

// accounts serves the server's accounts.
type accounts struct {
	db     *store.DB
	people *people.Store
	card   func() *billing.RateCard
	halt   func(account string)
}

// Mount adds the routes. card is the rate card in force. halt has the sessions of an
// account that was suspended look at the books now, on all nodes; they do so by
// themselves within seconds.
func Mount(a *api.API, db *store.DB, card func() *billing.RateCard, halt func(account string)) {
	const all, one = "/v1/operator/accounts", "/v1/operator/accounts/{id}"
	m := accounts{db, people.New(db), card, halt}
	api.Register(a, routes.Get(all, "list-accounts", "List the server's accounts", "Newest first."), m.list)
	api.Register(a, routes.Post(all, "create-account", "Make an account",
		"With its welcome credit. The operator owns it at first; with `create_key` the answer holds an API key of the account with the role owner "+
			"and the mark money, shown this once, with which the owner can be invited.").Created(), m.create)
	api.Register(a, routes.Get(one, "get-account", "Read an account", "With its people."), m.get)
	api.Register(a, routes.Patch(one, "change-account", "Suspend an account, change its limits",
		"What is not sent stays. Suspended, an account starts nothing new, and its conversations say goodbye and end within seconds."), m.change)
	mountUsers(a, m.people)
	api.Register(a, routes.Post(one+"/resolve-disputes", "resolve-disputes", "Resolve all disputes of an account",
		"Calls and jobs may start again. Do this when the payment provider has decided. Without a dispute it changes nothing."), m.resolve)
}

// routes describes the routes of operators. Pages of other sites are refused.
var routes = api.Group{Tag: "Operator", Access: api.Operators, OwnPagesOnly: true}

// Account is an account as an operator sees it.
type Account struct {
	ID            string     `json:"id" doc:"Names the account in requests." example:"acc_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Name          string     `json:"name" doc:"For people." example:"Casa Lola"`
	Email         string     `json:"email" doc:"Where warnings are mailed; empty: nowhere."`
	CreatedAt     time.Time  `json:"created_at" doc:"When it was made."`
	Balance       wire.USD   `json:"balance" doc:"In US dollars, sessions in progress counted."`
	FirstTopupAt  *time.Time `json:"first_topup_at" doc:"Null before the first top-up."`
	Live          int        `json:"live" doc:"Sessions in progress."`
	Concurrency   *int       `json:"concurrency" doc:"Sessions at once, where an operator has set that; null: as the rate card says."`
	Standard      int        `json:"standard_concurrency" doc:"What the rate card says."`
	OpenDisputes  int        `json:"open_disputes" doc:"Payments that are disputed: while there is one, nothing starts."`
	Suspended     bool       `json:"suspended" doc:"By an operator: nothing starts."`
	RecordingDays int        `json:"recording_days" doc:"How long recordings of calls are kept."`
	TalkDays      *int       `json:"conversation_days" doc:"How long what was said in calls is kept: transcripts, summaries, and recordings at the longest; null: until somebody deletes it."`
}

func (m accounts) view(a *ledger.Account) Account {
	rules := m.card().Wallet()
	v := Account{ID: a.ID, Name: a.Name, Email: a.Email, CreatedAt: a.CreatedAt, Balance: wire.USD(a.Balance()), FirstTopupAt: a.FirstTopupAt,
		Live: a.Live, Concurrency: a.Concurrency, Standard: rules.ConcurrencyDefault, OpenDisputes: a.OpenDisputes, Suspended: a.Suspended,
		RecordingDays: a.RecordingDays, TalkDays: a.ConversationDays}
	if a.FirstTopupAt == nil {
		v.Standard = rules.ConcurrencyBeforeTopup
	}
	return v
}

func (m accounts) list(ctx context.Context, in *api.Paging) (*api.Listed[Account], error) {
	found, err := ledger.New(m.db).Accounts(ctx, in.Page())
	if err != nil {
		return nil, err
	}
	return api.Pages(in.Limit, found, func(a ledger.Account) string { return a.ID }, m.view), nil
}

// AccountDetail is an account with its people.
type AccountDetail struct {
	Account
	Members []manage.Member `json:"members" doc:"Who belongs to it, owners first; empty: it is used by its keys alone." nullable:"false"`
}

type accountOutput struct{ Body AccountDetail }

type accountInput struct {
	ID string `path:"id" doc:"The account's identifier." example:"acc_06er5bt0v9k1o7m2q3s4t5u6v0"`
}

func (m accounts) read(ctx context.Context, id string) (*AccountDetail, error) {
	a, err := ledger.New(m.db).Account(ctx, id)
	if err != nil {
		return nil, err
	}
	people, err := m.people.Members(ctx, a.ID, store.Page{})
	if err != nil {
		return nil, err
	}
	return &AccountDetail{m.view(a), manage.Members(people)}, nil
}

func (m accounts) answer(ctx context.Context, id string) (*accountOutput, error) {
	d, err := m.read(ctx, id)
	if err != nil {
		return nil, err
	}
	return &accountOutput{*d}, nil
}

func (m accounts) get(ctx context.Context, in *accountInput) (*accountOutput, error) {
	return m.answer(ctx, in.ID)
}

type createdAccount struct {
	AccountDetail
	Secret string `json:"api_key,omitempty" doc:"With create_key: a key of the account with the role owner, shown this once." example:"sk_4fZ…"`
}

type createdAccountOutput struct {
	CacheControl string `header:"Cache-Control"`
	Body         createdAccount
}

type newAccount struct {
	Name      string `json:"name" doc:"For people, 200 bytes at most." minLength:"1" maxLength:"200" example:"Casa Lola"`
	CreateKey bool   `json:"create_key,omitempty" doc:"Whether the answer holds a key of the account."`
}

// MaxConcurrency is the most that an account may be given, in sessions at once.
const MaxConcurrency = 100_000

// maxAccountName bounds an account's name, in bytes.
const maxAccountName = 200

func (m accounts) create(ctx context.Context, in *struct{ Body newAccount }) (*createdAccountOutput, error) {
	if len(in.Body.Name) > maxAccountName {
		return nil, api.Bad("name: take at most %d bytes", maxAccountName)
	}
	at := m.db.Now()
	a, err := ledger.New(m.db).OwnAccount(ctx, api.PrincipalOf(ctx).User, in.Body.Name, m.card(), at)
	if err != nil {
		return nil, err
	}
	out := &createdAccountOutput{CacheControl: "no-store"}
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
		Suspended     *bool        `json:"suspended,omitempty" doc:"Whether nothing may start, and what is in progress ends."`
		Concurrency   *int         `json:"concurrency,omitempty" doc:"Sessions at once; 0: as the rate card says." minimum:"0" maximum:"100000"`
		Email         *string      `json:"email,omitempty" doc:"Where warnings are mailed; empty: nowhere." maxLength:"254"`
		RecordingDays *int         `json:"recording_days,omitempty" doc:"How long recordings of calls are kept; it counts for those that are there, too." minimum:"1" maximum:"3650"`
		DailyLimit    wallet.Limit `json:"daily_limit,omitempty"`
		TalkDays      *int         `json:"conversation_days,omitempty" doc:"How long what was said in calls is kept, recordings included; it counts for what is there, too. 0: until somebody deletes it." minimum:"0" maximum:"3650"`
	}
}

func (m accounts) change(ctx context.Context, in *accountChange) (*accountOutput, error) {
	c := ledger.AccountChange{Suspended: in.Body.Suspended, Concurrency: in.Body.Concurrency, Email: in.Body.Email, RecordingDays: in.Body.RecordingDays,
		ConversationDays: in.Body.TalkDays}
	if err := c.Check(); err != nil {
		return nil, err
	}
	if err := ledger.New(m.db).ChangeAccount(ctx, in.ID, c, m.db.Now()); err != nil {
		return nil, err
	}
	if in.Body.DailyLimit.Given {
		if _, err := ledger.New(m.db).SetSpendingLimit(ctx, in.ID, in.ID, in.Body.DailyLimit.Amount, m.db.Now()); err != nil {
			return nil, err
		}
	}
	if c.Suspended != nil && *c.Suspended {
		m.halt(in.ID)
	}
	return m.answer(ctx, in.ID)
}

func (m accounts) resolve(ctx context.Context, in *accountInput) (*accountOutput, error) {
	if err := ledger.New(m.db).ResolveDispute(ctx, in.ID, "", m.db.Now()); err != nil {
		return nil, err
	}
	return m.answer(ctx, in.ID)
}
