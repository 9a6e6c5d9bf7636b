package trunk

import (
	"context"
	"slices"

	gosip "github.com/emiago/sipgo/sip"
)

// Turn is whose business the registration of a trunk is, where several user agents have the trunk
// (Options.Shared). The zero Turn is nobody's.
type Turn struct {
	Ours bool
	// Former is the Contact that another user agent had registered before us. It is taken back once ours stands and the
	// registrar still has it: calls to it would wait for nobody. Empty: there is none.
	Former string
	// Theirs is how the registration stands while it is not ours.
	Theirs Registration
}

// Registers says of each trunk that registers, by its name, whose turn it is; of one that is not named it is nobody's.
// Where it becomes ours the trunk registers at once. Where it was ours the trunk says no more to the registrar: who comes
// next takes back what stands there, once its own stands, so that no call is lost between the two.
// The map is the set's from then on.
func (set *Set) Registers(turns map[string]Turn) {
	set.mu.Lock()
	defer set.mu.Unlock()
	set.turns = turns
	for _, t := range set.all() {
		t.take(turns[t.Name])
	}
}

// tenure is a time for which the registration of a trunk is ours.
type tenure struct {
	ctx    context.Context // ends with it
	end    context.CancelFunc
	former string
}

// take notes whose turn it is.
func (t *Trunk) take(turn Turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case turn.Ours == (t.tenure != nil):
		if !turn.Ours {
			t.register = turn.Theirs
		}
		return
	case turn.Ours:
		ctx, end := context.WithCancel(context.Background())
		t.tenure, t.register = &tenure{ctx, end, turn.Former}, Registration{Former: turn.Former}
	default:
		t.tenure.end()
		t.tenure, t.register = nil, turn.Theirs
	}
	select {
	case t.turned <- struct{}{}:
	default: // it will look
	}
}

// ours is the tenure now; nil: the registration is not ours.
func (t *Trunk) ours() *tenure {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.tenure
}

// keepRegistered registers while that is ours to do, until ctx ends, and then takes it back.
func (t *Trunk) keepRegistered(ctx context.Context) {
	for ctx.Err() == nil {
		if mine := t.ours(); mine != nil {
			t.registerDuring(ctx, mine)
			continue
		}
		select {
		case <-ctx.Done():
		case <-t.turned:
		}
	}
}

// has says whether a registrar lists a Contact in its answer: it names all that stand (RFC 3261 section 10.3, step 8). One
// that keeps a single Contact lists no other, and would take back ours if it were asked to take back another.
func has(res *gosip.Response, contact *gosip.Uri) bool {
	return contact != nil && slices.ContainsFunc(res.GetHeaders("contact"), func(h gosip.Header) bool {
		c, ok := h.(*gosip.ContactHeader)
		return ok && same(&c.Address, contact)
	})
}

// same says whether two Contacts name the same user at the same place.
func same(a, b *gosip.Uri) bool { return a.User == b.User && a.Host == b.Host && a.Port == b.Port }

// formerOf reads Turn.Former; nil: there is none.
func formerOf(text string) *gosip.Uri {
	var u gosip.Uri
	if text == "" || gosip.ParseUri(text, &u) != nil {
		return nil
	}
	return &u
}

// takeBack ends what another user agent had registered, where the registrar has that still beside ours.
func (r *registration) takeBack(ctx context.Context, mine *tenure) {
	if r.former == nil {
		return
	}
	if r.stale {
		ctx, cancel := context.WithTimeout(ctx, registerPatience)
		defer cancel()
		if _, err := r.with(ctx, r.last, r.former, 0); err != nil {
			r.trunk.Log.Info("sip: what another node had registered was not taken back", "trunk", r.trunk.Name, "err", err)
			return // the next refresh tries again
		}
	}
	r.former = nil
	t := r.trunk
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.tenure == mine {
		t.register.Former = ""
	}
}
