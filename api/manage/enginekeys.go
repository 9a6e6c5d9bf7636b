package manage

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"parley/api"
	"parley/api/wire"
	"parley/inference"
	"parley/store"
	"parley/store/people"
)

// Vendors are the engines for which accounts may set keys.
type Vendors interface {
	TakeKeys() []string
	// Try asks one for as little as shows that it works with a key.
	Try(ctx context.Context, engine, key string) error
}

// How often an account may have its keys tested, and how long a test may take.
const (
	testEvery = 6 * time.Second
	testBurst = 10
	testTime  = 15 * time.Second
)

// engineKeys serves an account's own keys for engines.
type engineKeys struct {
	keys    *people.EngineKeys
	vendors Vendors
	rate    *api.Buckets // of tests, by account
}

// MountEngineKeys adds the routes of keys for engines.
func MountEngineKeys(a *api.API, keys *people.EngineKeys, vendors Vendors) {
	const one = "/v1/engine-keys/{engine}"
	m, routes := engineKeys{keys, vendors, api.NewBuckets(testEvery, testBurst)}, api.Managed("Engine keys")
	api.Register(a, routes.Get("/v1/engine-keys", "list-engine-keys", "List the account's keys for engines",
		"By engine. The keys themselves are never shown, only their last four characters."), m.list)
	api.Register(a, routes.Put(one, "put-engine-key", "Set a key for an engine",
		"Conversations that begin from now on have the engine work with this key in place of the operator's, and so has what a language model makes of calls "+
			"afterwards; synthesis, recognition and noise removal without a conversation are the operator's. What the engine uses on the key is paid to its vendor, and recorded at price 0 unless "+
			"the rate card says otherwise (`llm.own_key_input_per_million_tokens`). Which model, address and options it has stays the operator's and the agent's. "+
			"The key is stored encrypted and never shown again; one that was there is replaced. When the vendor refuses it, the next engine of the agent's list takes over, the account gets the "+
			"event `engine_key.refused`, once, and the key is not used again until it is set anew or passes a test: till then the engine works with the operator's key, where it has one.", http.StatusNotFound), m.put)
	api.Register(a, routes.Delete(one, "delete-engine-key", "Delete a key for an engine",
		"Conversations in progress go on with it.", http.StatusNotFound), m.remove)
	api.Register(a, routes.Post(one+"/test", "test-engine-key", "Test a key for an engine",
		"Makes one small request to the vendor, who charges the key's owner for it, and says how long that took: half a second of silence is recognised, yes is answered or spoken. "+
			"A key that was refused is used again when it passes. An account may have ten tests at once and ten a minute.", http.StatusNotFound), m.test)
}

func viewEngineKey(k *people.EngineKey) wire.EngineKey {
	return wire.EngineKey{Engine: k.Engine, Last4: k.Last4, SetBy: k.SetBy, CreatedAt: k.CreatedAt, UpdatedAt: k.UpdatedAt, RefusedAt: k.RefusedAt, Refusal: api.Some(k.Refusal)}
}

// OneEngine names an engine in a path.
type OneEngine struct {
	Engine string `path:"engine" doc:"The engine, as settings of agents name it." example:"flux"`
}

// known is the refusal of an engine that takes no keys; nil: it does.
func (m engineKeys) known(engine string) error {
	names := m.vendors.TakeKeys()
	if slices.Contains(names, engine) {
		return nil
	}
	if len(names) == 0 {
		return api.Detail(store.ErrNotFound, "no engine of this server takes keys")
	}
	return api.Detail(store.ErrNotFound, "engines that take keys: "+strings.Join(names, ", "))
}

func (m engineKeys) list(ctx context.Context, in *api.ShortPaging) (*api.Listed[wire.EngineKey], error) {
	return api.Pages(in.Limit, func(k people.EngineKey) string { return k.Engine }, viewEngineKey)(m.keys.List(ctx, api.AccountOf(ctx), api.Paging(*in).Page()))
}

func (m engineKeys) put(ctx context.Context, in *struct {
	OneEngine
	Body struct {
		Key string `json:"key" doc:"The key, as its vendor shows it." minLength:"8" maxLength:"4096" writeOnly:"true" example:"dg_8f0c2a71"`
	}
}) (*api.Reply[wire.EngineKey], error) {
	if err := m.known(in.Engine); err != nil {
		return nil, err
	}
	p := api.PrincipalOf(ctx)
	return api.Show(viewEngineKey)(m.keys.Put(ctx, p.Account, in.Engine, in.Body.Key, p.Maker()))
}

func (m engineKeys) remove(ctx context.Context, in *OneEngine) (*struct{}, error) {
	return nil, m.keys.Delete(ctx, api.AccountOf(ctx), in.Engine)
}

func (m engineKeys) test(ctx context.Context, in *OneEngine) (*api.Reply[wire.EngineTest], error) {
	account := api.AccountOf(ctx)
	key, err := m.keys.Key(ctx, account, in.Engine)
	if err == nil {
		err = m.known(in.Engine)
	}
	if err == nil && !m.rate.Take(account) {
		err = api.ErrRateLimited
	}
	if err != nil {
		return nil, err
	}
	trying, cancel := context.WithTimeout(ctx, testTime)
	defer cancel()
	begun := time.Now()
	failed := m.vendors.Try(trying, in.Engine, key)
	found := wire.EngineTest{OK: failed == nil, TookMS: time.Since(begun).Milliseconds()}
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case failed == nil:
		err = m.keys.Accepted(ctx, account, in.Engine, key)
	case inference.KeyRefused(failed):
		err = m.keys.Refused(ctx, account, in.Engine, key, inference.Reason(failed))
		failed = api.Detail(fmt.Errorf("%w: %w", api.ErrEngineKey, failed), inference.Reason(failed))
	}
	if err != nil {
		return nil, err
	}
	if failed != nil {
		p := api.ProblemOf(failed)
		found.Error = &wire.EngineFault{Code: p.Code, Message: p.Message, Detail: p.Detail, Retryable: p.Retryable}
	}
	return api.Body(found), nil
}
