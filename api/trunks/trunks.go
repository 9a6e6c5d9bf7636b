// Package trunks manages the trunks of an account, its lines to carriers and exchanges, under /v1/trunks. What
// settings mean, and how a trunk does, is decided where calls are.
package trunks

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"parley/api"
	"parley/api/trunks/preset"
	"parley/api/wire"
	"parley/store"
	"parley/store/trunks"
)

// Lines are the trunks at work on this node.
type Lines interface {
	// Draft is what is stored of a trunk as its owner writes it. ErrInvalid says what is wrong with it.
	Draft(account string, n *wire.NewTrunk) (trunks.Draft, error)
	// Look puts into force what has changed.
	Look(ctx context.Context) error
	// Status is how a trunk does; nil: the node does not know it yet.
	Status(id string) *wire.TrunkStatus
	// Check asks the trunk's servers how they do now, until ctx ends.
	Check(ctx context.Context, id string) (*wire.TrunkStatus, error)
}

// Agents says whether an account has an agent.
type Agents interface {
	Agent(ctx context.Context, account, id string) (*store.Agent, error)
}

// checkTime bounds a check: a lost answer takes five seconds, and so does a name that is not found.
const checkTime = 12 * time.Second

// How often an account may have its trunks checked: each check sends a message to every target.
const (
	checkEvery = 6 * time.Second
	checkBurst = 10
)

// Mount adds the routes. here is where the other sides reach this server.
func Mount(a *api.API, store *trunks.Store, lines Lines, agents Agents, here preset.Server) {
	m := &routes{store, lines, agents, api.NewBuckets(checkEvery, checkBurst), here}
	const all, one = "/v1/trunks", "/v1/trunks/{id}"
	g := api.Managed("Trunks")
	api.Register(a, g.Get("/v1/trunk-presets", "list-trunk-presets", "List the presets of trunks",
		"Settings for exchanges and carriers that many have, and what to enter on their side. A trunk takes one by its name as `preset`."), m.presets)
	api.Register(a, g.Get(all, "list-trunks", "List the account's trunks", "The newest first, each with how it does on the node that answers."), m.list)
	api.Register(a, g.Post(all, "create-trunk", "Create a trunk",
		"A line to a carrier or an exchange (PBX). It works within seconds, on every node. An account has 20 at most. Calls that come on it reach the account's numbers "+
			"and the trunk's extensions, and nobody else's; calls from numbers that are put on it go out on it, at the rate card's `phone.own_trunk_per_minute`.", http.StatusNotFound, http.StatusConflict).Created().Repeatable(), m.create)
	api.Register(a, g.Get(one, "get-trunk", "Read a trunk", "By its identifier or its name, without its passwords.", http.StatusNotFound), m.get)
	api.Register(a, g.Put(one, "replace-trunk", "Replace the settings of a trunk",
		"All of them: what is not sent is as in a new trunk, of the same preset if one is sent. A password that is not sent stays as long as its user does, a key as long as its certificate. Calls go on as they began; a registration is renewed.",
		http.StatusNotFound, http.StatusConflict), m.replace)
	api.Register(a, g.Delete(one, "delete-trunk", "Delete a trunk", "Calls in progress go on. The numbers on it must be released before.", http.StatusNotFound), m.remove)
	api.Register(a, g.Post(one+"/check", "check-trunk", "Check a trunk",
		"Asks each of its servers now, by OPTIONS, and says how they do and how the registration stands. An account may have ten checks at once and ten a minute.", http.StatusNotFound), m.check)
}

// routes serves the routes.
type routes struct {
	store  *trunks.Store
	lines  Lines
	agents Agents
	checks *api.Buckets
	here   preset.Server
}

// OneTrunk names a trunk in an address.
type OneTrunk struct {
	ID string `path:"id" doc:"The trunk's identifier, or its name." maxLength:"100" example:"trk_06er5bt0v9k1o7m2q3s4t5u6v0"`
}

func (m *routes) view(t *trunks.Trunk) wire.Trunk {
	v := wire.Trunk{ID: t.ID, Name: t.Name, CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt, Status: m.lines.Status(t.ID)}
	_ = json.Unmarshal(t.Settings, &v.TrunkSettings) // they were written by Draft
	v.FarEnd = preset.FarEnd(t.ID, &v.TrunkSettings, m.here)
	return v
}

// presets answers with those after the cursor, which is a name.
func (m *routes) presets(_ context.Context, in *api.ShortPaging) (*api.Listed[wire.TrunkPreset], error) {
	all := preset.Shown(m.here)
	name := func(p wire.TrunkPreset) string { return p.Name }
	if in.Cursor != "" {
		at := slices.IndexFunc(all, func(p wire.TrunkPreset) bool { return p.Name == in.Cursor })
		if at < 0 {
			return nil, api.Bad("cursor: send next_cursor of the page before")
		}
		all = all[at+1:]
	}
	return api.Pages(in.Limit, name, func(p *wire.TrunkPreset) wire.TrunkPreset { return *p })(all, nil)
}

func (m *routes) list(ctx context.Context, in *api.Paging) (*api.Listed[wire.Trunk], error) {
	return api.Pages(in.Limit, func(t trunks.Trunk) string { return t.ID }, m.view)(m.store.List(ctx, api.AccountOf(ctx), in.Page()))
}

func (m *routes) get(ctx context.Context, in *OneTrunk) (*api.Reply[wire.Trunk], error) {
	return api.Show(m.view)(m.store.Get(ctx, api.AccountOf(ctx), in.ID))
}

func (m *routes) create(ctx context.Context, in *struct{ Body wire.NewTrunk }) (*api.Reply[wire.Trunk], error) {
	in.Body.TrunkSettings = preset.Under(in.Body.TrunkSettings)
	d, err := m.draft(ctx, &in.Body)
	if err != nil {
		return nil, err
	}
	return m.written(ctx)(m.store.Create(ctx, api.AccountOf(ctx), d))
}

func (m *routes) replace(ctx context.Context, in *struct {
	OneTrunk
	Body wire.NewTrunk
}) (*api.Reply[wire.Trunk], error) {
	old, err := m.store.Get(ctx, api.AccountOf(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	in.Body.TrunkSettings = preset.Under(in.Body.TrunkSettings)
	if err := m.keep(old, &in.Body); err != nil {
		return nil, err
	}
	d, err := m.draft(ctx, &in.Body)
	if err != nil {
		return nil, err
	}
	return m.written(ctx)(m.store.Replace(ctx, old.Account, old.ID, d))
}

// keep fills in the passwords that are not sent, of users that stay, and the key of the same certificate.
func (m *routes) keep(old *trunks.Trunk, n *wire.NewTrunk) error {
	var was wire.TrunkSettings
	err := json.Unmarshal(old.Settings, &was)
	secrets, failed := m.store.Secrets(old)
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	if n.Password == "" && n.Username == was.Username {
		n.Password = secrets.Password
	}
	if n.InboundPassword == "" && n.InboundUsername == was.InboundUsername {
		n.InboundPassword = secrets.Inbound
	}
	if n.Key == "" && slices.Equal(strings.Fields(n.Cert), strings.Fields(was.Cert)) { // forms end lines in their own way
		n.Key = secrets.Key
	}
	return nil
}

// draft is what is stored of a trunk, whose extensions agents of the account answer.
func (m *routes) draft(ctx context.Context, n *wire.NewTrunk) (trunks.Draft, error) {
	account := api.AccountOf(ctx)
	for _, e := range n.Extensions {
		_, err := m.agents.Agent(ctx, account, e.AgentID)
		if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrInvalid) {
			return trunks.Draft{}, api.ErrNoAgent
		}
		if err != nil {
			return trunks.Draft{}, err
		}
	}
	return m.lines.Draft(account, n)
}

// written puts a trunk into force here, and shows it. Other nodes notice by themselves.
func (m *routes) written(ctx context.Context) func(*trunks.Trunk, error) (*api.Reply[wire.Trunk], error) {
	return func(t *trunks.Trunk, err error) (*api.Reply[wire.Trunk], error) {
		if err == nil {
			err = m.lines.Look(ctx)
		}
		return api.Show(m.view)(t, err)
	}
}

func (m *routes) remove(ctx context.Context, in *OneTrunk) (*struct{}, error) {
	t, err := m.store.Get(ctx, api.AccountOf(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	if err := m.store.Delete(ctx, t.Account, t.ID); err != nil {
		return nil, err
	}
	return nil, m.lines.Look(ctx)
}

func (m *routes) check(ctx context.Context, in *OneTrunk) (*api.Reply[wire.Trunk], error) {
	t, err := m.store.Get(ctx, api.AccountOf(ctx), in.ID)
	if err == nil && !m.checks.Take(t.Account) {
		err = api.ErrRateLimited
	}
	if err != nil {
		return nil, err
	}
	checking, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	status, err := m.lines.Check(checking, t.ID)
	if err != nil {
		return nil, err
	}
	v := m.view(t)
	v.Status = status
	return api.Body(v), nil
}
