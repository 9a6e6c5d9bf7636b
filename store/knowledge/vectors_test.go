package knowledge_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"parley/media/isolate/isolatetest"
	"parley/store"
	"parley/store/knowledge"
)

// meaning is a fake of an engine: a text has a number for each topic that it has a word of.
type meaning struct {
	model  string
	asked  atomic.Int64 // texts
	failed atomic.Bool
	wait   func(ctx context.Context) // before it answers; nil: it does not
}

// topics are words that mean the same.
var topics = [][]string{{"bicycle", "bicycles", "bike", "cycle"}, {"refund", "refunds", "money", "reimbursed"}, {"open", "hours", "closing"}, {"repair", "repairs", "mend"}}

func (m *meaning) Model() string { return m.model }

func (m *meaning) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	m.asked.Add(int64(len(texts)))
	if m.wait != nil {
		m.wait(ctx)
	}
	if m.failed.Load() {
		return nil, errors.New("out of order")
	}
	var out [][]float32
	for _, t := range texts {
		v := make([]float32, len(topics)+1)
		v[len(topics)] = 0.01 // no text means nothing
		for _, w := range strings.FieldsFunc(strings.ToLower(t), func(r rune) bool { return r < 'a' || r > 'z' }) {
			for i, topic := range topics {
				if slices.Contains(topic, w) {
					v[i] += 2
				}
			}
		}
		out = append(out, v)
	}
	return out, nil
}

// meaningful is a database whose passages get vectors.
func meaningful(t testing.TB) (*fixture, *meaning) {
	t.Helper()
	f, m := setup(t), &meaning{model: "one"}
	f.UseEmbeddings(m, slog.New(slog.DiscardHandler))
	f.Patience(time.Minute) // whatever else the machine does
	return f, m
}

// embed gives all documents vectors, and returns how many there were.
func (f *fixture) embed(e knowledge.Embedder) (n int) {
	f.t.Helper()
	for {
		d, err := f.NextUnembedded(f.ctx(), e.Model())
		if errors.Is(err, store.ErrNotFound) {
			return n
		}
		f.ok(err)
		n++
		for {
			left, err := f.Unvectored(f.ctx(), d, 100)
			f.ok(err)
			if len(left) == 0 {
				break
			}
			var texts []string
			for _, p := range left {
				texts = append(texts, p.Heading+"\n"+p.Text)
			}
			vectors, err := e.Embed(f.ctx(), texts)
			f.ok(err)
			var put []knowledge.Vector
			for i, v := range vectors {
				put = append(put, knowledge.Vector{No: left[i].No, Values: v})
			}
			f.ok(f.PutVectors(f.ctx(), d, put))
		}
		f.ok(f.Embedded(f.ctx(), d))
	}
}

// TestNearest: passages that mean what was asked for are found whatever their words, and those that have the words, too, come first.
func TestNearest(t *testing.T) {
	f, m := meaningful(t)
	mine, other := f.account(), f.account()
	base, second, theirs := f.base(mine, "en"), f.base(mine, "en"), f.base(other, "en")
	shop := f.file(mine, base, "shop.txt", says("We mend every cycle within two days.", "Refunds are paid to the card.", "A card is charged at once.", "We are open until five.")...)
	f.file(mine, second, "more.txt", says("Ask for a refund of your bicycle here.")...)
	f.file(other, theirs, "theirs.txt", says("We repair bikes.")...)
	if got := f.find(mine, "is my bike repaired", base); got != "" || m.asked.Load() != 0 {
		t.Errorf("without vectors: %q, and %d texts were asked for", got, m.asked.Load())
	}
	if n := f.embed(m); n != 3 {
		t.Errorf("%d documents got vectors", n)
	}
	for _, tt := range []struct{ query, want string }{
		{"is my bike repaired", "shop.txt:0"},
		{"money back to my card", "shop.txt:1 shop.txt:2"}, // both, then the word alone
		{"money -card", ""},
	} {
		got := f.find(mine, tt.query, base)
		if got != tt.want && !strings.HasPrefix(got, tt.want+" ") {
			t.Errorf("%q finds %s, want %s", tt.query, got, tt.want)
		}
	}
	if got := f.find(mine, "reimbursed for my bike", base, second, theirs); !strings.HasPrefix(got, "more.txt:0 ") || strings.Contains(got, "theirs") {
		t.Errorf("in several collections: %s", got)
	}
	if got := f.find(mine, "bike", theirs); got != "" {
		t.Errorf("in another account's: %s", got)
	}
	found, err := f.Search(f.ctx(), mine, []string{base}, "refunds of money", 1)
	f.ok(err)
	if len(found) != 1 || found[0].No != 1 || found[0].Title != "shop.txt" || found[0].Page != 2 || found[0].Rank <= 0.9 || found[0].Rank >= 1 {
		t.Errorf("%+v", found)
	}
	f.ok(f.DeleteDocument(f.ctx(), mine, base, shop.ID))
	if got := f.find(mine, "is my bike mended", base); got != "" {
		t.Errorf("what was deleted is found: %s", got)
	}
}

// TestNearestOfWhatIsNew: a document that is read again is found by its words until its new passages have vectors, and then by those.
func TestNearestOfWhatIsNew(t *testing.T) {
	f, m := meaningful(t)
	mine := f.account()
	base := f.base(mine, "en")
	d, err := f.Add(f.ctx(), mine, base, knowledge.NewDocument{Source: "https://example.com/", Web: true})
	f.ok(err)
	at := t0
	read := func(texts ...string) {
		t.Helper()
		at = at.Add(time.Hour)
		r, err := f.Take(f.ctx(), mine, d.ID)
		f.ok(err)
		f.ok(f.Finish(f.later(at), r, knowledge.Text{MediaType: "text/html", Passages: says(texts...)}))
	}
	read("We mend every cycle.")
	f.embed(m)
	if got := f.find(mine, "bike", base); got != "https://example.com/:0" {
		t.Errorf("found %s", got)
	}
	claimed := func() *knowledge.Unembedded {
		t.Helper()
		u, err := f.NextUnembedded(f.later(at), m.model)
		f.ok(err)
		return u
	}
	_, err = f.Refresh(f.ctx(), mine, base, d.ID)
	f.ok(err)
	read("Prices", "Refunds take a week.")
	if got := f.find(mine, "bike", base); got != "" {
		t.Errorf("what it said before is found: %s", got)
	}
	late := claimed()
	_, err = f.NextUnembedded(f.later(at), m.model)
	f.is("a document that is at work", err, store.ErrNotFound)
	_, err = f.Refresh(f.ctx(), mine, base, d.ID)
	f.ok(err)
	read("Nothing", "Money is paid back.")
	f.is("vectors of what it said before", f.PutVectors(f.ctx(), late, []knowledge.Vector{{No: 0, Values: []float32{1}}}), store.ErrNotFound)
	f.is("the end of them", f.Embedded(f.ctx(), late), store.ErrNotFound)
	if n := f.embed(m); n != 1 {
		t.Errorf("%d documents got vectors", n)
	}
	if got := f.find(mine, "reimbursed", base); !strings.HasPrefix(got, "https://example.com/:1") {
		t.Errorf("found %s", got)
	}
}

// TestAnotherModel: vectors are made again, and those of the model before are not compared.
func TestAnotherModel(t *testing.T) {
	f, m := meaningful(t)
	mine := f.account()
	base := f.base(mine, "en")
	f.file(mine, base, "shop.txt", says("We mend every cycle.")...)
	f.embed(m)
	if got := f.find(mine, "bike", base); got != "shop.txt:0" {
		t.Errorf("found %s", got)
	}
	m.model = "two"
	if got := f.find(mine, "bike", base); got != "" {
		t.Errorf("by vectors of another model: %s", got)
	}
	if n := f.embed(m); n != 1 || f.find(mine, "bike", base) != "shop.txt:0" {
		t.Errorf("%d documents got vectors, found %q", n, f.find(mine, "bike", base))
	}
}

// TestVectorsAreTriedAgain: what came no further is handed out again after 5 minutes, then after 10, and not sooner.
func TestVectorsAreTriedAgain(t *testing.T) {
	f, m := meaningful(t)
	mine := f.account()
	f.file(mine, f.base(mine, "en"), "shop.txt", says("We mend every cycle.")...)
	at := t0
	for i, wait := range []time.Duration{0, 5 * time.Minute, 10 * time.Minute, 20 * time.Minute, 40 * time.Minute, 40 * time.Minute} {
		if wait > 0 {
			_, err := f.NextUnembedded(f.later(at.Add(wait-time.Second)), m.model)
			f.is(fmt.Sprint("too early the time ", i), err, store.ErrNotFound)
		}
		at = at.Add(wait)
		_, err := f.NextUnembedded(f.later(at), m.model)
		f.ok(err)
	}
}

// TestVectorsAreBounded: a document for which its collection has no room is found by its words.
func TestVectorsAreBounded(t *testing.T) {
	f, m := meaningful(t)
	mine := f.account()
	base := f.base(mine, "en")
	f.file(mine, base, "large.txt", says(slices.Repeat([]string{"We mend every cycle."}, knowledge.MaxVectors-1)...)...)
	f.file(mine, base, "two.txt", says("A card.", "Two cards.")...)
	f.file(mine, f.base(mine, "en"), "other.txt", says("A card.", "Two cards.")...)
	small := f.file(mine, base, "one.txt", says("Money")...)
	if n := f.embed(m); n != 3 {
		t.Errorf("%d documents got vectors", n)
	}
	f.ok(f.DeleteDocument(f.ctx(), mine, base, small.ID))
	if n := f.embed(m); n != 0 {
		t.Errorf("%d documents got vectors though there is room for one passage", n)
	}
}

// TestNearestInTime: a search answers by words alone where vectors are late, or their engine fails or panics.
func TestNearestInTime(t *testing.T) {
	f, m := meaningful(t)
	mine := f.account()
	base := f.base(mine, "en")
	f.file(mine, base, "shop.txt", says("We mend every cycle.", "A bike has a bell.")...)
	f.embed(m)
	if got := f.find(mine, "bike bell", base); got != "shop.txt:1 shop.txt:0" {
		t.Errorf("in time: %s", got)
	}
	gone := make(chan struct{})
	m.wait = func(context.Context) { <-gone }
	f.Patience(time.Millisecond)
	if found, err := f.Search(f.ctx(), mine, []string{base}, "bike bell", 5); err != nil || len(found) != 1 || found[0].No != 1 || found[0].Rank < 1 {
		t.Errorf("late: %+v, %v", found, err)
	}
	f.Patience(time.Minute)
	ctx, cancel := context.WithTimeout(f.ctx(), time.Second)
	defer cancel()
	if found, err := f.Search(ctx, mine, []string{base}, "bike bell", 5); err != nil || len(found) != 1 {
		t.Errorf("a caller with a second: %+v, %v", found, err)
	}
	close(gone)
	m.failed.Store(true)
	if got := f.find(mine, "bike bell", base); got != "shop.txt:1" {
		t.Errorf("failed: %s", got)
	}
}

func TestPanics(t *testing.T) {
	f, m := meaningful(t)
	mine := f.account()
	base := f.base(mine, "en")
	f.file(mine, base, "shop.txt", says("We mend every cycle.", "A bike has a bell.")...)
	f.embed(m)
	isolatetest.Each(t, func(t *testing.T, s isolatetest.Site) {
		fired := isolatetest.Inject(t, s.Name)
		if got := f.find(mine, "bike bell", base); got != "shop.txt:1" {
			t.Errorf("found %s", got)
		}
		<-fired
		if got := f.find(mine, "bike bell", base); got != "shop.txt:1 shop.txt:0" {
			t.Errorf("afterwards: %s", got)
		}
	})
}

// TestVectorsAreKept: those that were not used for the longest time leave memory first, and older ones are not used.
func TestVectorsAreKept(t *testing.T) {
	s := knowledge.NewShelf(3 * knowledge.ShelfBytes(100))
	for _, d := range []string{"a", "b", "c"} {
		s.Put(d, 1, 100)
	}
	if !s.Has("a", 1) || s.Has("a", 2) {
		t.Error("a is not there as it was put")
	}
	s.Put("d", 1, 100)
	if s.Has("b", 1) || !s.Has("a", 1) || !s.Has("c", 1) || !s.Has("d", 1) {
		t.Error("not b has left")
	}
	s.Put("d", 2, 100)
	s.Put("large", 1, 1000)
	if !s.Has("a", 1) || !s.Has("d", 2) || s.Has("large", 1) || s.Kept() != 3*knowledge.ShelfBytes(100) {
		t.Errorf("%d bytes are kept", s.Kept())
	}
}

// dense is a fake of an engine with as many numbers as OpenAI's, which follow from the text.
type dense struct{}

func (dense) Model() string { return "dense" }

func (dense) Embed(_ context.Context, texts []string) ([][]float32, error) {
	var out [][]float32
	for _, t := range texts {
		v := make([]float32, 1536)
		state := uint64(14695981039346656037)
		for _, c := range []byte(t) {
			state = (state ^ uint64(c)) * 1099511628211
		}
		for i := range v {
			state = state*6364136223846793005 + 1442695040888963407
			v[i] = float32(math.Sin(float64(state >> 40)))
		}
		out = append(out, v)
	}
	return out, nil
}

// TestMeasureNearest prints how long searches of 1,000 pages take by words and vectors, where PARLEY_MEASURE is set.
func TestMeasureNearest(t *testing.T) {
	if os.Getenv("PARLEY_MEASURE") == "" {
		t.Skip("PARLEY_MEASURE is not set")
	}
	f := setup(t)
	f.UseEmbeddings(dense{}, slog.New(slog.DiscardHandler))
	account, base := shelf(f)
	f.embed(dense{})
	f.ok(f.db.Do(f.ctx(), "analyze", "analyze"))
	for _, query := range []string{"warranty battery display", "hello I wanted to ask whether the warranty covers the battery of my zeppelin too", "zeppelin"} {
		var took []time.Duration
		for range 300 {
			began := time.Now()
			found, err := f.Search(f.ctx(), account, []string{base}, query, knowledge.MaxFound)
			f.ok(err)
			if took = append(took, time.Since(began)); len(found) != knowledge.MaxFound {
				t.Errorf("found %d", len(found))
			}
		}
		t.Logf("%.30s: the first %v", query, took[0])
		slices.Sort(took)
		t.Logf("%.30s: p50 %v, p99 %v", query, took[150], took[297])
	}
}
