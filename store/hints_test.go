package store_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"
	"parley/store"
	"parley/store/storetest"
)

// wrapped is a transaction as other packages pass it on.
type wrapped struct{ pgx.Tx }

// TestHintsFollowTheCommit: they are given when a transaction has committed, and only then, once.
func TestHintsFollowTheCommit(t *testing.T) {
	db := storetest.New(t)
	given := 0
	db.Hints().On("bread", func() { given++ })
	bake := func(what string, fate error, want int) {
		t.Helper()
		err := db.Tx(t.Context(), "bake", func(tx pgx.Tx) error {
			db.HintAfter(wrapped{tx}, "bread")
			if given != want && given != want-1 {
				t.Errorf("%s: %d given before the commit", what, given)
			}
			return fate
		})
		if !errors.Is(err, fate) {
			t.Fatal(err)
		}
		if given != want {
			t.Errorf("%s: %d given; want %d", what, given, want)
		}
	}
	bake("committed", nil, 1)
	bake("rolled back", errors.New("burnt"), 1)
	if err := db.Tx(t.Context(), "sell", func(pgx.Tx) error { return nil }); err != nil || given != 1 {
		t.Errorf("the next transaction gives it again: %d, %v", given, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err := db.Tx(ctx, "bake", func(tx pgx.Tx) error {
		db.HintAfter(tx, "bread")
		cancel()
		return nil
	})
	if err == nil || given != 1 {
		t.Errorf("who gave up before the commit: %d given, %v", given, err)
	}
	bake("committed again", nil, 2)
	err = pgx.BeginFunc(t.Context(), db.Pool(), func(tx pgx.Tx) error {
		db.HintAfter(tx, "bread")
		return nil
	})
	if err != nil || given != 2 {
		t.Errorf("a transaction of which nobody knows the end: %d given, %v", given, err)
	}
}

// TestHintsAreToldOnce to the others, however often they were given, and not those that come from them.
func TestHintsAreToldOnce(t *testing.T) {
	h := store.NewHints()
	for range 3 {
		h.Give("bread")
		h.Give("cake")
		h.Hear("soup")
	}
	<-h.Due()
	if got := h.Take(); !slices.Equal(got, []store.Hint{"bread", "cake"}) {
		t.Errorf("told are %q", got)
	}
	h.Give("bread")
	<-h.Due()
	if got := h.Take(); !slices.Equal(got, []store.Hint{"bread"}) {
		t.Errorf("told are %q", got)
	}
}

// TestLooks: all questions are asked in one statement, and each answer goes to who asked; NULL is none.
func TestLooks(t *testing.T) {
	address, counter := storetest.Counted(t, storetest.URL(t))
	db := storetest.Open(t, address)
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	heard := map[string]string{}
	look := func(name, expression string) store.Look {
		return store.Look{Expression: expression, Heard: func(answer string) { heard[name] += answer }}
	}
	h := db.Hints()
	counter.Take()
	h.Look(look("a", "select 'x' where $1::timestamptz > '2026-01-01'"))
	h.Look(look("b", "select null::text"))
	h.Look(look("c", "'z'"))
	yes, no := 0, 0
	h.Look(store.When("$1 > '2026-01-01'::timestamptz", func() { yes++ }))
	h.Look(store.When("exists (select from accounts)", func() { no++ }))
	for range 2 {
		if err := h.Ask(t.Context(), db.Pool(), now, look("d", "select string_agg(k, ' ') from unnest('{p,q}'::text[]) k")); err != nil {
			t.Fatal(err)
		}
	}
	if want := map[string]string{"a": "xx", "c": "zz", "d": "p qp q"}; !maps.Equal(heard, want) || yes != 2 || no != 0 {
		t.Errorf("heard %v, %d and %d; want %v", heard, yes, no, want)
	}
	seen := counter.Take()
	maps.DeleteFunc(seen, func(sql string, _ int) bool { return strings.Contains(sql, "set_config") }) // of a new connection
	if len(seen) != 1 {
		t.Errorf("asked\n%s", storetest.Report(seen))
	}
	if err := h.Ask(t.Context(), db.Pool(), now, look("e", "select nonsense")); err == nil || heard["a"] != "xx" {
		t.Errorf("a question that cannot be asked: %v, %v", err, heard)
	}
}

// TestANewRateCardIsFound where no hint of it arrives, until it is known.
func TestANewRateCardIsFound(t *testing.T) {
	url := storetest.URL(t)
	db, other := storetest.Open(t, url), storetest.Open(t, url)
	hinted := 0
	db.Hints().On(store.HintRateCard, func() { hinted++ })
	db.LookForRateCard()
	ask := func(want int) {
		t.Helper()
		if err := db.Hints().Ask(t.Context(), db.Pool(), time.Now()); err != nil || hinted != want {
			t.Errorf("%d hints, %v; want %d", hinted, err, want)
		}
	}
	ask(0) // there is none
	want := 0
	for _, card := range []*billing.RateCard{billing.DefaultRateCard(), newerCard(t)} {
		if err := other.PutRateCard(t.Context(), card); err != nil {
			t.Fatal(err)
		}
		want += 2
		ask(want - 1)
		ask(want)
		if err := db.FollowRateCard(t.Context()); err != nil {
			t.Fatal(err)
		}
		ask(want)
	}
}

// newerCard is the built-in card under a later version.
func newerCard(t *testing.T) *billing.RateCard {
	t.Helper()
	old := billing.DefaultRateCard()
	newer, err := billing.ParseRateCard([]byte(strings.Replace(string(old.JSON()), old.Version(), "2061-01-01.1", 1)))
	if err != nil {
		t.Fatal(err)
	}
	return newer
}

// TestANewRateCardIsHinted, and one that is in force already is not.
func TestANewRateCardIsHinted(t *testing.T) {
	db := storetest.New(t)
	ctx, stop := context.WithCancel(t.Context())
	followed, done := make(chan struct{}, 10), make(chan error, 1)
	go func() {
		done <- db.Hints().Every(ctx, store.HintRateCard, time.Hour, func() { followed <- struct{}{} })
	}()
	for {
		db.Hints().Give(store.HintRateCard) // until it listens
		select {
		case <-followed:
		case <-time.After(time.Millisecond):
			continue
		}
		break
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	newer, given := newerCard(t), 0
	db.Hints().On(store.HintRateCard, func() { given++ })
	for range 2 {
		if err := db.PutRateCard(t.Context(), newer); err != nil {
			t.Fatal(err)
		}
	}
	if given != 1 {
		t.Errorf("%d hints of one card", given)
	}
}

// TestHeartbeatsSeeOtherNodes: how many live, and whether one is gone that had sessions.
func TestHeartbeatsSeeOtherNodes(t *testing.T) {
	url := storetest.URL(t)
	db, other := storetest.Open(t, url), storetest.Open(t, url)
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	me, err := db.BeginEpoch(t.Context(), "me", "")
	ok(err)
	if !db.MayHaveSilent() {
		t.Error("before any heartbeat nothing is known")
	}
	it, err := other.BeginEpoch(t.Context(), "it", "")
	ok(err)
	count := func(want int) {
		t.Helper()
		if n, err := db.CountedNodes(t.Context()); n != want || err != nil {
			t.Errorf("%d nodes, %v; want %d", n, err, want)
		}
	}
	count(2) // asked
	ok(other.LeaveNode(t.Context(), it))
	count(1) // asked again
	ok(db.Heartbeat(t.Context(), me))
	it, err = other.BeginEpoch(t.Context(), "it", "")
	ok(err)
	ok(db.Heartbeat(t.Context(), me))
	count(2)
	if db.MayHaveSilent() {
		t.Error("all nodes live")
	}
	ok(other.LeaveNode(t.Context(), it))
	ok(db.Heartbeat(t.Context(), me))
	if db.MayHaveSilent() {
		t.Error("the node that has left had no sessions")
	}
	count(1)
}
