// Package lines has the trunks of accounts at work beside those of the operator: it makes settings of
// what accounts write (settings.go), and follows their changes while calls go on (keeper.go). Of the operator's and of theirs
// one node of several registers each that registers (registrar.go).
package lines

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"net/netip"
	"strings"
	"sync"

	"parley/api"
	"parley/api/wire"
	"parley/sip/dialog"
	"parley/sip/trunk"
	"parley/store/trunks"
)

// Phone is the telephone of the node.
type Phone interface {
	SetTrunks([]trunk.Config)
	Trunks() []trunk.Status
	CheckTrunk(ctx context.Context, name string) (trunk.Status, bool)
}

// Keeper has the trunks of accounts at work on a node. Several goroutines may use it.
type Keeper struct {
	store    *trunks.Store
	phone    Phone
	operator []trunk.Config // those of the operator, which stay
	guard    func(host string, at netip.AddrPort) error
	log      *slog.Logger

	mu     sync.Mutex
	mark   trunks.Mark
	failed map[string]string // why a trunk is not at work, by its identifier
}

// Config is what a Keeper needs. All fields are set.
type Config struct {
	Store    *trunks.Store
	Phone    Phone
	Operator []trunk.Config
	// Guard says why an address must not be called that an account has named; nil: it may be.
	Guard func(host string, at netip.AddrPort) error
	Log   *slog.Logger
}

// New returns a keeper; Run has it look.
func New(c Config) *Keeper {
	return &Keeper{store: c.Store, phone: c.Phone, operator: c.Operator, guard: c.Guard, log: c.Log}
}

// Run follows changes until ctx ends.
func (k *Keeper) Run(ctx context.Context) error {
	look := func() error {
		err := k.Look(ctx)
		if err != nil && ctx.Err() == nil {
			k.log.Warn("the trunks of accounts could not be read", "err", err)
		}
		return err
	}
	_ = look() // it is tried again
	return k.store.Follow(ctx, look)
}

// Look puts into force what has changed since the last time.
func (k *Keeper) Look(ctx context.Context) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	mark, err := k.store.Mark(ctx)
	if err != nil || mark == k.mark {
		return err
	}
	list, err := k.store.All(ctx)
	if err != nil {
		return err
	}
	all, failed := k.operator[:len(k.operator):len(k.operator)], map[string]string{}
	for i := range list {
		c, err := k.atWork(&list[i])
		if err != nil {
			failed[list[i].ID] = err.Error()
			k.log.Warn("a trunk of an account is not at work", "trunk", list[i].ID, "account", list[i].Account, "err", err)
			continue
		}
		all = append(all, c)
	}
	k.phone.SetTrunks(all)
	k.mark, k.failed = mark, failed
	return nil
}

// atWork is a stored trunk as the telephone has it.
func (k *Keeper) atWork(t *trunks.Trunk) (trunk.Config, error) {
	secrets, err := k.store.Secrets(t)
	if err != nil {
		return trunk.Config{}, err
	}
	var s wire.TrunkSettings
	if err := json.Unmarshal(t.Settings, &s); err != nil {
		return trunk.Config{}, err
	}
	c, err := configOf(t.ID, t.Account, &s, secrets)
	c.Revision, c.Guard = t.Revision, k.guard
	return c, err
}

// Draft implements trunks.Lines: it is what is stored of a trunk as its owner writes it.
func (k *Keeper) Draft(account string, n *wire.NewTrunk) (trunks.Draft, error) {
	d := trunks.Draft{Name: n.Name, Secrets: trunks.Secrets{Password: n.Password, Inbound: n.InboundPassword, Key: n.Key}, Digest: n.InboundUsername}
	c, err := configOf(n.Name, account, &n.TrunkSettings, d.Secrets)
	if err != nil {
		return d, err
	}
	d.Sources = c.Allow
	if err := k.guarded(n); err != nil {
		return d, err
	}
	d.Settings, err = json.Marshal(n.TrunkSettings)
	return d, err
}

// guarded refuses addresses in the settings that the trunk must not lead to. Where a name leads only its look-up says.
// A source is one of them: what a far end names as its own address is believed where the trunk has it.
func (k *Keeper) guarded(n *wire.NewTrunk) error {
	for i, t := range n.Targets {
		if err := k.leads(t); err != nil {
			return api.Bad("targets[%d].host: %v", i, err)
		}
	}
	if n.OutboundProxy != nil {
		if err := k.leads(*n.OutboundProxy); err != nil {
			return api.Bad("outbound_proxy.host: %v", err)
		}
	}
	for i, s := range n.Allow {
		p, ok := network(s)
		if !ok || !dialog.Inside(p.Addr()) { // it names a carrier, or is on the Internet
			continue
		}
		if err := k.guard(p.Addr().String(), netip.AddrPortFrom(p.Addr(), sipPort)); err != nil {
			return api.Bad("allow[%d]: %v", i, err)
		}
	}
	return nil
}

// leads says why a server must not be called whose address is written; nil: it may be, or has a name.
func (k *Keeper) leads(t wire.TrunkTarget) error {
	ip, err := netip.ParseAddr(strings.Trim(t.Host, "[]"))
	if err != nil {
		return nil
	}
	return k.guard(t.Host, netip.AddrPortFrom(ip, cmp.Or(uint16(t.Port), sipPort)))
}

const sipPort = 5060

// Status implements trunks.Lines.
func (k *Keeper) Status(id string) *wire.TrunkStatus {
	k.mu.Lock()
	why, ok := k.failed[id]
	k.mu.Unlock()
	if ok {
		return &wire.TrunkStatus{Targets: []wire.TargetStatus{}, Error: why}
	}
	for _, st := range k.phone.Trunks() {
		if st.Name == id {
			return statusOf(st)
		}
	}
	return nil
}

// Check implements trunks.Lines.
func (k *Keeper) Check(ctx context.Context, id string) (*wire.TrunkStatus, error) {
	if err := k.Look(ctx); err != nil {
		return nil, err
	}
	if st, ok := k.phone.CheckTrunk(ctx, id); ok {
		return statusOf(st), nil
	}
	return k.Status(id), nil
}

func statusOf(st trunk.Status) *wire.TrunkStatus {
	v := &wire.TrunkStatus{Calls: st.Calls, Targets: []wire.TargetStatus{}, Error: st.Lookup}
	for _, t := range st.Targets {
		v.Targets = append(v.Targets, wire.TargetStatus{Target: t.Target, Up: t.Up, Detail: t.Detail})
	}
	if r := st.Registration; r != nil {
		v.Registration = &wire.TrunkRegistration{Registered: r.Registered, Error: r.Error}
		if r.Registered {
			v.Registration.Until = &r.Until
		}
	}
	return v
}
