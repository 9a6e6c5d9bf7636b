package knowledge_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"parley/billing"
	"parley/store"
	"parley/store/knowledge"
	"parley/store/ledger"
	"parley/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

var t0 = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

// fixture is a database with knowledge, and helpers that end the test when they fail.
type fixture struct {
	*knowledge.Store
	db *store.DB
	t  testing.TB
}

func setup(t testing.TB) *fixture {
	t.Helper()
	db := storetest.New(t)
	f := &fixture{knowledge.New(db), db, t}
	f.ok(db.PutRateCard(f.ctx(), billing.DefaultRateCard()))
	return f
}

func (f *fixture) ctx() context.Context { return storetest.At(f.t.Context(), t0) }

func (f *fixture) later(at time.Time) context.Context { return storetest.At(f.t.Context(), at) }

func (f *fixture) ok(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) is(what string, err, want error) {
	f.t.Helper()
	if !errors.Is(err, want) {
		f.t.Errorf("%s: %v, want %v", what, err, want)
	}
}

func (f *fixture) account() string {
	f.t.Helper()
	a, err := ledger.New(f.db).CreateAccount(f.ctx(), "Test", billing.DefaultRateCard())
	f.ok(err)
	return a.ID
}

func (f *fixture) base(account, language string) string {
	f.t.Helper()
	b, err := f.Create(f.ctx(), account, "Handbook", language)
	f.ok(err)
	return b.ID
}

// file adds a file and reads it.
func (f *fixture) file(account, base, name string, passages ...knowledge.Passage) *knowledge.Document {
	f.t.Helper()
	d, err := f.Add(f.ctx(), account, base, knowledge.NewDocument{Source: name, MediaType: "text/plain", Body: []byte(name)})
	f.ok(err)
	r, err := f.Take(f.ctx(), account, d.ID)
	f.ok(err)
	f.ok(f.Finish(f.ctx(), r, knowledge.Text{MediaType: "text/plain", Passages: passages}))
	d, err = f.Document(f.ctx(), account, base, d.ID)
	f.ok(err)
	return d
}

func says(texts ...string) []knowledge.Passage {
	var out []knowledge.Passage
	for i, t := range texts {
		out = append(out, knowledge.Passage{Page: i + 1, Text: t})
	}
	return out
}

// find lists what is found, as source:number.
func (f *fixture) find(account, query string, bases ...string) string {
	f.t.Helper()
	found, err := f.Search(f.ctx(), account, bases, query, knowledge.MaxFound)
	f.ok(err)
	var out []string
	for _, p := range found {
		out = append(out, fmt.Sprintf("%s:%d", p.Source, p.No))
	}
	return strings.Join(out, " ")
}

// TestCollections: an account's own, by name, as many as there may be.
func TestCollections(t *testing.T) {
	f := setup(t)
	mine, other := f.account(), f.account()
	b, err := f.Create(f.ctx(), mine, " Handbook ", "en")
	f.ok(err)
	if b.Name != "Handbook" || !strings.HasPrefix(b.ID, "kb_") || b.Documents != 0 || b.Language != "en" {
		t.Errorf("%+v", b)
	}
	_, err = f.Get(f.ctx(), other, b.ID)
	f.is("another account's", err, store.ErrNotFound)
	_, err = f.Rename(f.ctx(), other, b.ID, "x")
	f.is("rename another account's", err, store.ErrNotFound)
	f.is("delete another account's", f.Delete(f.ctx(), other, b.ID), store.ErrNotFound)
	for _, name := range []string{"", " ", "a\nb", strings.Repeat("a", 101)} {
		_, err := f.Rename(f.ctx(), mine, b.ID, name)
		f.is(fmt.Sprintf("the name %q", name), err, store.ErrInvalid)
	}
	if b, err = f.Rename(f.ctx(), mine, b.ID, "Prices"); err != nil || b.Name != "Prices" {
		t.Errorf("%+v, %v", b, err)
	}
	for range knowledge.MaxBases - 1 {
		f.base(mine, "en")
	}
	_, err = f.Create(f.ctx(), mine, "one too many", "en")
	f.is("one too many", err, store.ErrInvalid)
	if list, err := f.List(f.ctx(), mine, store.Page{}); err != nil || len(list) != knowledge.MaxBases {
		t.Errorf("%d collections, %v", len(list), err)
	}
	missing, err := f.Missing(f.ctx(), other, []string{b.ID, "kb_none"})
	if err != nil || len(missing) != 2 || missing[0] != b.ID {
		t.Errorf("missing of another account: %v, %v", missing, err)
	}
	if missing, err = f.Missing(f.ctx(), mine, []string{"kb_none", b.ID}); err != nil || len(missing) != 1 || missing[0] != "kb_none" {
		t.Errorf("missing: %v, %v", missing, err)
	}
	f.ok(f.Delete(f.ctx(), mine, b.ID))
	_, err = f.Get(f.ctx(), mine, b.ID)
	f.is("what was deleted", err, store.ErrNotFound)
}

// TestDocuments: a file is queued, read and found, keeps its passages when it cannot be read again, and goes with all
// of them.
func TestDocuments(t *testing.T) {
	f := setup(t)
	mine, other := f.account(), f.account()
	base := f.base(mine, "en")
	_, err := f.Add(f.ctx(), other, base, knowledge.NewDocument{Source: "a.txt", Body: []byte("a")})
	f.is("add to another account's", err, store.ErrNotFound)
	for what, n := range map[string]knowledge.NewDocument{
		"an empty file": {Source: "a.txt"}, "no name": {Body: []byte("a")}, "a large file": {Source: "a.txt", Body: make([]byte, knowledge.MaxBytes+1)},
		"a title of two lines": {Source: "a.txt", Title: "a\nb", Body: []byte("a")},
	} {
		_, err := f.Add(f.ctx(), mine, base, n)
		f.is(what, err, store.ErrInvalid)
	}
	d, err := f.Add(f.ctx(), mine, base, knowledge.NewDocument{Source: "hours.txt", MediaType: "text/plain", Body: []byte("We open at nine.")})
	f.ok(err)
	if d.State != knowledge.Queued || d.Title != "hours.txt" || d.Bytes != 16 || len(d.Hash) != 64 || d.ReadAt != nil {
		t.Errorf("added: %+v", d)
	}
	if r, err := f.Take(f.ctx(), other, d.ID); r != nil || err != nil {
		t.Errorf("another account takes it: %v, %v", r, err)
	}
	r, err := f.Take(f.ctx(), mine, d.ID)
	f.ok(err)
	if string(r.Body) != "We open at nine." || r.State != knowledge.Reading {
		t.Errorf("taken: %+v", r)
	}
	again, err := f.Take(f.ctx(), mine, d.ID)
	f.ok(err)
	if again == nil || string(again.Body) != "We open at nine." {
		t.Error("what a reader did not finish is not handed out again")
	}
	f.ok(f.Finish(f.ctx(), r, knowledge.Text{MediaType: "text/plain", Title: "Ignored", Pages: 2, Passages: says("We open at nine.", "We close at five.")}))
	d, err = f.Document(f.ctx(), mine, base, d.ID)
	f.ok(err)
	if d.State != knowledge.Ready || d.Passages != 2 || d.Pages != 2 || d.ReadAt == nil || d.Title != "hours.txt" {
		t.Errorf("read: %+v", d)
	}
	if r, err := f.Take(f.ctx(), mine, d.ID); r != nil || err != nil {
		t.Errorf("what is read is taken: %v, %v", r, err)
	}
	_, err = f.Refresh(f.ctx(), mine, base, d.ID)
	f.is("a file is fetched again", err, store.ErrInvalid)
	if b, err := f.Get(f.ctx(), mine, base); err != nil || b.Documents != 1 || b.Ready != 1 || b.Passages != 2 || b.Bytes != 16 {
		t.Errorf("%+v, %v", b, err)
	}
	if got := f.find(mine, "closing", base); got != "hours.txt:1" {
		t.Errorf("found %s", got)
	}
	_, err = f.Documents(f.ctx(), other, base, store.Page{})
	f.is("another account's documents", err, store.ErrNotFound)
	f.is("delete another account's", f.DeleteDocument(f.ctx(), other, base, d.ID), store.ErrNotFound)
	f.ok(f.DeleteDocument(f.ctx(), mine, base, d.ID))
	if got := f.find(mine, "closing", base); got != "" {
		t.Errorf("what was deleted is found: %s", got)
	}
}

// TestAddresses: an address is fetched again on request, by the latest request, and what it said before is found until then.
func TestAddresses(t *testing.T) {
	f := setup(t)
	mine := f.account()
	base := f.base(mine, "en")
	const address = "https://example.com/hours"
	d, err := f.Add(f.ctx(), mine, base, knowledge.NewDocument{Source: address, Web: true})
	f.ok(err)
	first, err := f.Take(f.ctx(), mine, d.ID)
	f.ok(err)
	if first.Body != nil || !first.Web {
		t.Errorf("taken: %+v", first)
	}
	f.ok(f.Finish(f.ctx(), first, knowledge.Text{MediaType: "text/html", Title: "Opening hours", Body: []byte("<p>nine"), Passages: says("We open at nine.")}))
	d, err = f.Refresh(f.ctx(), mine, base, d.ID)
	f.ok(err)
	if d.State != knowledge.Queued || d.Title != "Opening hours" || d.Bytes != 7 {
		t.Errorf("refreshed: %+v", d)
	}
	second, err := f.Take(f.ctx(), mine, d.ID)
	f.ok(err)
	_, err = f.Refresh(f.ctx(), mine, base, d.ID)
	f.ok(err)
	f.ok(f.Finish(f.ctx(), second, knowledge.Text{Body: []byte("late"), Passages: says("Late.")}))
	f.ok(f.Fail(f.ctx(), second, "late"))
	if d, err = f.Document(f.ctx(), mine, base, d.ID); err != nil || d.State != knowledge.Queued {
		t.Errorf("a reader that is out of date counts: %+v, %v", d, err)
	}
	third, err := f.Take(f.ctx(), mine, d.ID)
	f.ok(err)
	f.ok(f.Fail(f.ctx(), third, "it answers with status 500"))
	if d, err = f.Document(f.ctx(), mine, base, d.ID); err != nil || d.State != knowledge.Failed || d.Reason != "it answers with status 500" || d.ReadAt == nil {
		t.Errorf("failed: %+v, %v", d, err)
	}
	if got := f.find(mine, "open", base); got != address+":0" {
		t.Errorf("what it said before: %q", got)
	}
}

// TestBounds: a collection and an account hold no more than they may.
func TestBounds(t *testing.T) {
	f := setup(t)
	mine := f.account()
	base, second := f.base(mine, "en"), f.base(mine, "en")
	_, err := f.db.Exec(f.ctx(), "fill", `insert into knowledge_documents (id, base_id, account_id, title, source, web, media_type, bytes, state, hash, created_at, updated_at)
		select 'doc_' || n, $1, $2, 'x', 'x', false, '', 1000, 'ready', '', now(), now() from generate_series(1, $3::int) n`, base, mine, knowledge.MaxDocuments)
	f.ok(err)
	_, err = f.Add(f.ctx(), mine, base, knowledge.NewDocument{Source: "a.txt", Body: []byte("a")})
	f.is("a document too many", err, store.ErrInvalid)
	d, err := f.Add(f.ctx(), mine, second, knowledge.NewDocument{Source: "https://example.com", Web: true})
	f.ok(err)
	f.ok(f.db.Do(f.ctx(), "fill", "update knowledge_documents set bytes = $1 where id = 'doc_1'", knowledge.MaxTotal-1000*(knowledge.MaxDocuments-1)-1))
	_, err = f.Add(f.ctx(), mine, second, knowledge.NewDocument{Source: "a.txt", Body: []byte("ab")})
	f.is("bytes too many", err, store.ErrInvalid)
	r, err := f.Take(f.ctx(), mine, d.ID)
	f.ok(err)
	f.is("bytes too many of an address", f.Finish(f.ctx(), r, knowledge.Text{Body: []byte("ab"), Passages: says("ab")}), store.ErrInvalid)
	f.ok(f.Finish(f.ctx(), r, knowledge.Text{Body: []byte("a"), Passages: says("a")}))
}

// TestAgentsNameTheirOwn: an agent names collections of its account only; one that was deleted since does not keep it
// from being changed.
func TestAgentsNameTheirOwn(t *testing.T) {
	f := setup(t)
	mine, other := f.account(), f.account()
	own, theirs := f.base(mine, "en"), f.base(other, "en")
	named := func(ids ...string) store.Agent {
		return store.Agent{Name: "Ana", Voice: "F1", Language: "en", Settings: []byte(`{"knowledge_bases":["` + strings.Join(ids, `","`) + `"]}`)}
	}
	_, err := f.db.CreateAgent(f.ctx(), mine, named(own, theirs))
	if !errors.Is(err, store.ErrInvalid) || !strings.Contains(err.Error(), "settings.knowledge_bases[1]: the account has no collection "+theirs) {
		t.Errorf("another account's: %v", err)
	}
	a, err := f.db.CreateAgent(f.ctx(), mine, named(own))
	f.ok(err)
	change := func(ids ...string) error {
		t.Helper()
		_, err := f.db.ChangeAgent(f.ctx(), mine, a.ID, func(a *store.Agent) error { a.Settings = named(ids...).Settings; return nil })
		return err
	}
	f.is("change to another account's", change(theirs), store.ErrInvalid)
	second := f.base(mine, "en")
	f.ok(change(own, second))
	f.ok(f.Delete(f.ctx(), mine, second))
	_, err = f.db.ChangeAgent(f.ctx(), mine, a.ID, func(a *store.Agent) error { a.Prompt = "Be kind."; return nil })
	f.ok(err)
	f.ok(change(second))
	f.is("add one that was deleted", change("kb_none", second), store.ErrInvalid)
}
