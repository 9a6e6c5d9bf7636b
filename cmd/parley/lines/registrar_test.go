package lines

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/sip/trunk"
	"parley/store"
	"parley/store/storetest"
	"parley/store/trunks"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// line is a telephone that has one trunk, which registers at once when it is its turn.
type line struct {
	contact string
	turn    trunk.Turn
	told    int // how often it was told
}

func (p *line) Registers(turns map[string]trunk.Turn) { p.turn = turns["carrier"]; p.told++ }

func (p *line) Trunks() []trunk.Status {
	v := p.turn.Theirs
	if p.turn.Ours {
		v = trunk.Registration{Registered: true, Until: time.Now().Add(10 * time.Minute), Contact: p.contact, Former: p.turn.Former}
	}
	return []trunk.Status{{Name: "carrier", Registration: &v}, {Name: "another"}}
}

// party is a node of several.
type party struct {
	*Registrar
	line
	db *store.DB
}

func newParty(t *testing.T, url, name string) *party {
	t.Helper()
	p := &party{db: storetest.Open(t, url), line: line{contact: "sip:u@" + name}}
	life, err := p.db.BeginEpoch(t.Context(), name, "127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	p.Registrar = NewRegistrar(RegistrarConfig{Store: trunks.New(p.db, nil), Phone: &p.line, Life: life, Now: p.db.Now, Log: slog.New(slog.DiscardHandler)})
	return p
}

// seen is what a party's telephone says of the trunk.
func (p *party) seen() string {
	v := p.Trunks()[0].Registration
	whose := "theirs"
	if p.turn.Ours {
		whose = "ours"
	}
	left := time.Until(v.Until).Round(time.Minute)
	return strings.TrimSpace(fmt.Sprint(whose, " ", v.Registered, " ", left, " ", v.Contact, " ", v.Former))
}

func wantSeen(t *testing.T, p *party, want string) {
	t.Helper()
	p.look(t.Context())
	if got := p.seen(); got != want {
		t.Errorf("%s shows %q; want %q", p.contact, got, want)
	}
}

// TestOneRegistrar: one of two nodes registers a trunk, and both show how it stands; when the one drains the other takes over, and
// learns what is to be taken back.
func TestOneRegistrar(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	a, b := newParty(t, url, "a"), newParty(t, url, "b")
	wantSeen(t, a, "ours true 10m0s sip:u@a")
	a.look(t.Context()) // it reports
	wantSeen(t, b, "theirs true 10m0s sip:u@a")
	if _, err := a.db.DrainNode(t.Context(), a.Life); err != nil {
		t.Fatal(err)
	}
	wantSeen(t, a, "ours true 10m0s sip:u@a")
	wantSeen(t, b, "ours true 10m0s sip:u@b sip:u@a")
	b.look(t.Context())
	wantSeen(t, a, "theirs true 10m0s sip:u@b sip:u@a")
	if got := slices.Collect(maps.Keys(b.ours)); len(got) != 1 {
		t.Errorf("it registers %q", got)
	}
}

// TestRegistrarWithoutDatabase: it keeps what it has until others may take it.
func TestRegistrarWithoutDatabase(t *testing.T) {
	t.Parallel()
	a := newParty(t, storetest.URL(t), "a")
	wantSeen(t, a, "ours true 10m0s sip:u@a")
	if left := time.Until(a.until); left <= 0 || left > store.NodeLease {
		t.Errorf("it keeps that for %s", left)
	}
	a.db.Close()
	wantSeen(t, a, "ours true 10m0s sip:u@a")
	if a.told != 1 {
		t.Errorf("the telephone was told %d times", a.told)
	}
	a.until = time.Now()
	a.look(t.Context())
	if a.turn.Ours {
		t.Error("it keeps what may be another's")
	}
}

// TestAQuietRegistrar looks again when another node comes, drains or goes, when the trunk stands otherwise, and while nobody has it.
func TestAQuietRegistrar(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	a, b := newParty(t, url, "a"), newParty(t, url, "b")
	hinted := 0
	b.db.Hints().On(store.HintNodes, func() { hinted++ })
	beat := func() {
		t.Helper()
		for _, p := range []*party{a, b} {
			if err := p.db.Heartbeat(t.Context(), p.Life); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := func(what string, p *party, quiet bool) {
		t.Helper()
		if p.quiet() != quiet {
			t.Errorf("%s: quiet %t", what, !quiet)
		}
	}
	want("before the first look", a, false)
	beat()
	a.look(t.Context())
	want("its telephone has registered", a, false)
	a.look(t.Context())
	want("it has reported that", a, true)
	b.look(t.Context())
	want("another node that has nothing to do", b, true)
	a.contact = "sip:u@a2"
	want("it is registered elsewhere", a, false)
	a.look(t.Context())
	want("it has reported that", a, true)
	a.last.begun = time.Now().Add(-claimQuiet)
	want("a while later", a, false)
	if _, err := a.db.DrainNode(t.Context(), a.Life); err != nil {
		t.Fatal(err)
	}
	before := hinted
	beat()
	if hinted != before+1 {
		t.Errorf("%d hints that the other drains", hinted-before)
	}
	want("the other drains", b, false)
	b.look(t.Context())
	beat()
	b.look(t.Context())
	want("it has taken over and reported", b, true)
	if !b.turn.Ours {
		t.Error("it has not taken over")
	}
	if err := b.db.LeaveNode(t.Context(), b.Life); err != nil {
		t.Fatal(err)
	}
	if err := a.db.Heartbeat(t.Context(), a.Life); err != nil {
		t.Fatal(err)
	}
	want("the other has gone", a, false)
	a.look(t.Context())
	want("nobody has the trunk", a, false)
}
