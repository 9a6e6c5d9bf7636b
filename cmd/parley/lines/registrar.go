package lines

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"parley/sip/trunk"
	"parley/store"
	"parley/store/trunks"
)

const (
	// claimEvery is how often a node looks which trunks it registers: with store.NodeLease it makes 14 s until the trunks of a
	// node that has died are another's.
	claimEvery = 2 * time.Second
	// claimQuiet is for how long it does not look while neither the nodes, as heartbeats see them, nor the trunks
	// have changed, and each trunk has a node that registers it.
	claimQuiet = 10 * time.Second
	// claimPatience is for one look.
	claimPatience = 3 * time.Second
)

// Registering is the telephone of a node that registers the trunks whose turn it is.
type Registering interface {
	Trunks() []trunk.Status
	Registers(map[string]trunk.Turn)
}

// Registrar decides with those of the other nodes which of them registers a trunk: one of all, so that a carrier has one place
// for each call, and another one soon after that one has gone. Of the others' it shows how they stand. Run is its only goroutine.
type Registrar struct {
	RegistrarConfig
	until time.Time       // others take nothing of ours before
	ours  map[string]bool // as of the last look
	last  look
}

// look is what a look has found. The zero look has found nothing that would stay.
type look struct {
	begun    time.Time
	others   string   // nodes
	names    []string // of the trunks
	free     bool     // a trunk is nobody's, or may be another's soon
	reported map[string]trunks.Standing
}

// RegistrarConfig is what a Registrar needs. All fields are set.
type RegistrarConfig struct {
	Store *trunks.Store
	Phone Registering
	Life  store.Node
	Now   func() time.Time // by the database's clock
	Log   *slog.Logger
}

// NewRegistrar returns one, which looks while Run runs.
func NewRegistrar(c RegistrarConfig) *Registrar { return &Registrar{RegistrarConfig: c} }

// Run looks until ctx ends. Without the database the node goes on with what it has, until others may take it.
func (r *Registrar) Run(ctx context.Context) error {
	r.look(ctx)
	return r.Store.EveryOr(ctx, claimEvery, func() {
		if !r.quiet() {
			r.look(ctx)
		}
	})
}

// quiet says that a look would find what the last one has.
func (r *Registrar) quiet() bool {
	others, known := r.Store.Others()
	names, standing := r.registering()
	if !known || others != r.last.others || time.Since(r.last.begun) >= claimQuiet || r.last.free || !slices.Equal(names, r.last.names) {
		return false
	}
	for name := range r.ours {
		was, st := r.last.reported[name], standing[name]
		if st == nil {
			return false
		}
		if now := r.standing(st, was.Contact); differ(&now, &was) {
			return false
		}
	}
	return true
}

// registering are the trunks that register, and how those stand that this node registers.
func (r *Registrar) registering() (names []string, standing map[string]*trunk.Registration) {
	standing = map[string]*trunk.Registration{}
	for _, t := range r.Phone.Trunks() {
		if t.Registration == nil {
			continue
		}
		if names = append(names, t.Name); r.ours[t.Name] {
			standing[t.Name] = t.Registration
		}
	}
	return names, standing
}

func (r *Registrar) look(ctx context.Context) {
	err := r.claim(ctx)
	if err == nil || ctx.Err() != nil {
		return
	}
	if len(r.ours) > 0 && (errors.Is(err, store.ErrFenced) || time.Now().After(r.until)) {
		r.Log.Warn("this node registers no trunk any more, for others may", "err", err)
		r.Phone.Registers(nil)
		r.ours = nil
	}
}

// claim reports how the registrations of this node stand, takes those that nobody has, and hands the telephone its turns.
func (r *Registrar) claim(ctx context.Context) error {
	asked := time.Now()
	ctx, cancel := context.WithTimeout(ctx, claimPatience)
	defer cancel()
	names, standing := r.registering()
	found := look{begun: asked, names: names, reported: map[string]trunks.Standing{}}
	found.others, _ = r.Store.Others()
	r.last = look{}
	if len(names) == 0 && len(r.ours) == 0 {
		return nil
	}
	all, lease, err := r.Store.Registrars(ctx, r.Life, names)
	if err != nil {
		return err
	}
	found.free = len(all) < len(names)
	turns, ours, news := map[string]trunk.Turn{}, map[string]bool{}, map[string]trunks.Standing{}
	for _, x := range all {
		found.free = found.free || x.Free
		if x.Node != r.Life {
			turns[x.Trunk] = trunk.Turn{Theirs: r.theirs(&x)}
			continue
		}
		found.reported[x.Trunk] = x.Standing
		ours[x.Trunk], turns[x.Trunk] = true, trunk.Turn{Ours: true, Former: x.Former}
		if st := standing[x.Trunk]; st != nil {
			if now := r.standing(st, x.Contact); differ(&now, &x.Standing) {
				news[x.Trunk], found.reported[x.Trunk] = now, now
			}
		}
	}
	for name := range r.ours {
		if !ours[name] && slices.Contains(names, name) {
			r.Log.Info("another node registers a trunk from now on", "trunk", name)
		}
	}
	r.Phone.Registers(turns)
	r.until, r.ours = asked.Add(lease), ours
	err = r.Store.Report(ctx, r.Life, news)
	if err == nil {
		r.last = found
	}
	return err
}

// theirs is how a registration stands that another node has.
func (r *Registrar) theirs(x *trunks.Registrar) trunk.Registration {
	v := trunk.Registration{Error: x.Error, Contact: x.Contact, Former: x.Former}
	if x.Until != nil {
		left := x.Until.Sub(r.Now())
		v.Registered, v.Until = left > 0, time.Now().Add(left)
	}
	return v
}

// standing is how a registration of this node stands, for others to read. was is its contact of before, when the database may have been
// away: it may stand still.
func (r *Registrar) standing(v *trunk.Registration, was string) trunks.Standing {
	s := trunks.Standing{Error: v.Error, Contact: cmp.Or(v.Contact, was), Former: v.Former}
	if v.Registered {
		until := r.Now().Add(time.Until(v.Until))
		s.Until = &until
	}
	return s
}

// differ says whether two reports tell something else. Ends that are a moment apart are one: they are counted by two clocks.
func differ(a, b *trunks.Standing) bool {
	if a.Error != b.Error || a.Contact != b.Contact || a.Former != b.Former || (a.Until == nil) != (b.Until == nil) {
		return true
	}
	return a.Until != nil && a.Until.Sub(*b.Until).Abs() > claimEvery
}
