package simulated_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/billing"
	"parley/billing/destination"
	"parley/sip/carrier"
	"parley/sip/carrier/carriertest"
	"parley/sip/carrier/simulated"
)

func TestConformance(t *testing.T) {
	carriertest.Run(t, func(t *testing.T) (carrier.Carrier, carriertest.Controls) {
		b := newBench(t, "")
		return b.Carrier, b
	})
}

// bench is a carrier and a clock.
type bench struct {
	*simulated.Carrier
	file string
	next int // of the numbers that Number gives

	mu  sync.Mutex
	now time.Time
}

func newBench(t testing.TB, file string) *bench {
	b := &bench{file: file, now: time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)}
	b.open(t)
	return b
}

func (b *bench) open(t testing.TB) {
	t.Helper()
	c, err := simulated.New(simulated.Config{File: b.file, Instance: "test", Now: b.clock})
	if err != nil {
		t.Fatal(err)
	}
	b.Carrier = c
}

func (b *bench) clock() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.now
}

func (b *bench) advance(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = b.now.Add(d)
}

func (b *bench) Country() string { return "GB" }

func (b *bench) Number(t testing.TB, w carriertest.Behaviour) string {
	if w == carriertest.Refused {
		return ""
	}
	for _, o := range all(t, b.Carrier, "GB")[b.next:] {
		b.next++
		if last := o.Number[len(o.Number)-1]; last != '9' && (last == '4') == (w == carriertest.Late) {
			if w == carriertest.Failing {
				b.Fail(o.Number)
			}
			return o.Number
		}
	}
	t.Fatal("sold out")
	return ""
}

func (b *bench) Settle(testing.TB) { b.advance(simulated.Late) }

func (b *bench) Held(_ testing.TB, id string) (number string, routed bool) {
	for _, h := range b.Carrier.Held() {
		if h.ID == id {
			return h.Number, h.Routed
		}
	}
	return "", false
}

func (b *bench) Count(testing.TB) int { return len(b.Carrier.Held()) }

func (b *bench) Network(testing.TB, carriertest.Network) bool { return false }

func (b *bench) Owned(t testing.TB, c carrier.Carrier) string {
	return buy(t, c, "owned", b.Number(t, carriertest.Prompt))
}

func buy(t testing.TB, c carrier.Carrier, reference, number string) (id string) {
	t.Helper()
	o, err := c.Order(t.Context(), carrier.Order{Reference: reference, Number: number})
	if err != nil || o.State != carrier.Active {
		t.Fatalf("%s: %+v, %v", number, o, err)
	}
	return o.NumberID
}

// all is everything for sale in a country.
func all(t testing.TB, c carrier.Carrier, country string) (out []carrier.Offer) {
	t.Helper()
	for page := 1; ; page++ {
		p, err := c.Search(t.Context(), carrier.Query{Country: country, Page: page})
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, p.Offers...)
		if !p.More {
			return out
		}
	}
}

// Every number is one that the service would sell and could call, and the costs say
// which are too dear.
func TestInventory(t *testing.T) {
	c, other := newBench(t, ""), newBench(t, "")
	card := billing.DefaultRateCard()
	for _, country := range strings.Fields("DE ES FR GB IT PT US") {
		list := all(t, c, country)
		if len(list) != 60 {
			t.Errorf("%s has %d numbers", country, len(list))
		}
		if !reflect.DeepEqual(list, all(t, other, country)) {
			t.Errorf("%s is not the same each time", country)
		}
		numbers, towns, regions, dear, late := map[string]bool{}, map[string]bool{}, map[string]bool{}, 0, 0
		for i, o := range list {
			if _, err := destination.ClassifyLocal(o.Number, country); err != nil {
				t.Errorf("%s in %s: %v", o.Number, country, err)
			}
			numbers[o.Number], towns[o.Locality], regions[o.Region] = true, true, true
			switch o.Number[len(o.Number)-1] {
			case '4':
				late++
			case '9':
				dear++
			}
			if o.Number[len(o.Number)-1] == '9' != (o.Monthly > card.NumberPerMonth()) || o.Upfront > 5*billing.USD {
				t.Errorf("%s costs %s and %s", o.Number, o.Monthly, o.Upfront)
			}
			if i == 0 && (o.Number[len(o.Number)-1] == '9' || o.Number[len(o.Number)-1] == '4') {
				t.Errorf("the first number of %s is no ordinary one: %s", country, o.Number)
			}
		}
		if len(numbers) != 60 || len(towns) < 5 || len(regions) < 4 || dear < 4 || late < 4 || dear+late > 20 {
			t.Errorf("%s: %d numbers, %d towns, %d regions, %d dear, %d late", country, len(numbers), len(towns), len(regions), dear, late)
		}
	}
	if got := all(t, c, "AT"); len(got) != 0 {
		t.Errorf("Austria has %d numbers", len(got))
	}
}

// Whoever gets an answer may change it.
func TestOffersAreTheCallers(t *testing.T) {
	c := newBench(t, "")
	list := all(t, c, "ES")
	want := list[0]
	list[0].Features[0] = "changed"
	if got, err := c.Offer(t.Context(), want.Number); err != nil || slices.Contains(got.Features, "changed") {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestStateSurvivesARestart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "carrier.json")
	b := newBench(t, file)
	kept, given := b.Number(t, carriertest.Prompt), b.Number(t, carriertest.Prompt)
	id, gone := buy(t, b, "kept", kept), buy(t, b, "given", given)
	late, err := b.Order(t.Context(), carrier.Order{Reference: "late", Number: b.Number(t, carriertest.Late)})
	if err != nil || late.State != carrier.Pending {
		t.Fatalf("%+v, %v", late, err)
	}
	if err := errors.Join(b.Route(t.Context(), id), b.Release(t.Context(), gone)); err != nil {
		t.Fatal(err)
	}
	b.open(t)
	want := []simulated.Held{{ID: id, Number: kept, Routed: true}}
	if got := b.Carrier.Held(); !slices.Equal(got, want) {
		t.Errorf("held %+v, want %+v", got, want)
	}
	if _, err := b.Offer(t.Context(), kept); !errors.Is(err, carrier.ErrNotAvailable) {
		t.Errorf("ours is for sale: %v", err)
	}
	b.advance(simulated.Late)
	if o, err := b.Lookup(t.Context(), "late"); err != nil || o.State != carrier.Active {
		t.Errorf("%+v, %v", o, err)
	}
	if again, err := b.Order(t.Context(), carrier.Order{Reference: "kept", Number: kept}); err != nil || again.NumberID != id {
		t.Errorf("%+v, %v", again, err)
	}
	if other := buy(t, b, "next", b.Number(t, carriertest.Prompt)); other == id || other == gone {
		t.Errorf("the id %s is used twice", other)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestReleasedNumbersRest(t *testing.T) {
	b := newBench(t, "")
	number := b.Number(t, carriertest.Prompt)
	id := buy(t, b, "first", number)
	if err := b.Release(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	b.advance(simulated.Quarantine - time.Second)
	if _, err := b.Offer(t.Context(), number); !errors.Is(err, carrier.ErrNotAvailable) {
		t.Errorf("for sale while it rests: %v", err)
	}
	b.advance(time.Second)
	if again := buy(t, b, "second", number); again == id {
		t.Error("the second owner has the first one's id")
	}
	if err := b.Route(t.Context(), id); !errors.Is(err, carrier.ErrNotFound) {
		t.Errorf("the first owner routes it: %v", err)
	}
}

func TestFailedOrdersGiveTheNumberBack(t *testing.T) {
	b := newBench(t, "")
	number := b.Number(t, carriertest.Failing)
	if o, err := b.Order(t.Context(), carrier.Order{Reference: "first", Number: number}); err != nil || o.State != carrier.Pending {
		t.Fatalf("%+v, %v", o, err)
	}
	if _, err := b.Offer(t.Context(), number); !errors.Is(err, carrier.ErrNotAvailable) {
		t.Errorf("for sale while it is pending: %v", err)
	}
	b.Settle(t)
	if _, err := b.Offer(t.Context(), number); err != nil {
		t.Errorf("not for sale after it failed: %v", err)
	}
	buy(t, b, "second", number)
	if o, err := b.Lookup(t.Context(), "first"); err != nil || o.State != carrier.Failed {
		t.Errorf("the first order: %+v, %v", o, err)
	}
}

func TestUnwritableStateIsUnavailable(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gone")
	b := newBench(t, filepath.Join(dir, "carrier.json"))
	order := carrier.Order{Reference: "a", Number: b.Number(t, carriertest.Prompt)}
	if _, err := b.Order(t.Context(), order); !errors.Is(err, carrier.ErrUnavailable) {
		t.Errorf("%v", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if o, err := b.Order(t.Context(), order); err != nil || o.State != carrier.Active {
		t.Errorf("%+v, %v", o, err)
	}
	b.open(t)
	if o, err := b.Lookup(t.Context(), "a"); err != nil || o.State != carrier.Active {
		t.Errorf("after a restart: %+v, %v", o, err)
	}
}

func TestUnreadableStateIsReported(t *testing.T) {
	file := filepath.Join(t.TempDir(), "carrier.json")
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := simulated.New(simulated.Config{File: file}); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("%v", err)
	}
}

func (b *bench) Sender(t testing.TB, m carrier.Messenger) string {
	for _, h := range b.Carrier.Held() {
		return h.Number
	}
	buy(t, m, "sender", b.Number(t, carriertest.Prompt))
	return b.Sender(t, m)
}

func (*bench) Callee(want carrier.MessageState) string {
	return map[carrier.MessageState]string{carrier.Delivered: "+14155550177", carrier.Undelivered: "+14155550109"}[want]
}

func (*bench) Refusing() string { return "+14155550103" }

func (b *bench) Arrive(testing.TB) { b.advance(simulated.Late) }

func (b *bench) Texts(testing.TB) int { return b.Carrier.Texts() }

func TestMessages(t *testing.T) {
	carriertest.RunMessages(t, func(t *testing.T) (carrier.Messenger, carriertest.TextControls) {
		b := newBench(t, "")
		return b.Carrier, b
	})
}

// TestMessagesComeIn: what is sent to a number that was bought here comes in there, after its time and more than once; a
// message of the same reference is the same message.
func TestMessagesComeIn(t *testing.T) {
	b := newBench(t, "")
	from, to := b.Number(t, carriertest.Prompt), b.Number(t, carriertest.Prompt)
	buy(t, b, "from", from)
	buy(t, b, "to", to)
	m := carrier.Message{Reference: "msg_1", From: from, To: to, Text: "Hello"}
	d, err := b.Send(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := b.Send(t.Context(), m); err != nil || again != d || b.Texts(t) != 1 {
		t.Errorf("%+v and %+v, %v", d, again, err)
	}
	if in, err := b.Received(t.Context()); err != nil || len(in) != 0 {
		t.Errorf("before its time: %+v, %v", in, err)
	}
	b.advance(simulated.Late)
	for range 2 {
		in, err := b.Received(t.Context())
		if err != nil || len(in) != 1 || in[0].From != from || in[0].To != to || in[0].Text != "Hello" || in[0].ID == d.ID || !in[0].At.Equal(b.clock()) {
			t.Errorf("%+v, %v", in, err)
		}
	}
	m.Reference, m.From = "msg_2", "+14155550177"
	if _, err := b.Send(t.Context(), m); !errors.Is(err, carrier.ErrRefused) {
		t.Errorf("from a stranger's number: %v", err)
	}
}
