package billing

import (
	"errors"
	"math"
	"math/big"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

func tariff(t testing.TB, terms Terms) Tariff {
	t.Helper()
	tr, err := DefaultRateCard().Tariff(terms)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func TestPriceOfEverySessionKind(t *testing.T) {
	all := Usage{AgentTime: 60_001, LineTime: 60_000, ReplyIn: 1000, ReplyOut: 100, SpeculativeIn: 10, SpeculativeOut: 1,
		SummaryIn: 20, SummaryOut: 2, TTSChars: 1000, STTTime: 1, DenoiseTime: 59_999, CRMCalls: 1, WebSearches: 2, OwnIn: 1000, OwnOut: 100}
	talk := map[Component]Money{
		AgentTime: 81_333_333, // 61 s of 0.08 a minute, rounded once
		ReplyIn:   600_000, ReplyOut: 240_000, SpeculativeIn: 6000, SpeculativeOut: 2400, SummaryIn: 12_000, SummaryOut: 4800,
		CRMCalls: 20_000_000, WebSearches: 20_000_000, OwnIn: 0, OwnOut: 0,
	}
	with := func(line Money) map[Component]Money {
		m := map[Component]Money{LineTime: line}
		for c, a := range talk {
			m[c] = a
		}
		return m
	}
	for _, c := range []struct {
		name  string
		terms Terms
		want  map[Component]Money
	}{
		{"web", Terms{Kind: Web}, talk},
		{"inbound to Spain", Terms{Kind: Inbound, Country: "ES"}, with(10_000_000)},
		{"outbound to a British landline", Terms{Kind: Outbound, Country: "GB"}, with(16_000_000)},
		{"outbound to a British mobile", Terms{Kind: Outbound, Country: "GB", Mobile: true}, with(45_000_000)},
		{"outbound to an American mobile", Terms{Kind: Outbound, Country: "US", Mobile: true}, with(14_000_000)},
		{"synthesis", Terms{Kind: TTS}, map[Component]Money{TTSChars: 15_000_000}},
		{"recognition", Terms{Kind: STT}, map[Component]Money{STTTime: 100_000}},
		{"noise removal", Terms{Kind: Denoise}, map[Component]Money{DenoiseTime: 2_000_000}},
	} {
		tr := tariff(t, c.terms)
		b, err := tr.Price(all)
		if err != nil {
			t.Fatal(c.name, err)
		}
		var sum Money
		for i := range Component(NumComponents) {
			want, rated := c.want[i]
			if b[i].Amount != want || b[i].Rated != rated {
				t.Errorf("%s: %s costs %s (rated %v); want %s", c.name, i, b[i].Amount, b[i].Rated, want)
			}
			sum += want
		}
		if b.Total() != sum {
			t.Errorf("%s: total %s; want %s", c.name, b.Total(), sum)
		}
	}
}

func TestNoPriceNoTariff(t *testing.T) {
	for _, terms := range []Terms{
		{Kind: Outbound, Country: "PT", Mobile: true}, {Kind: Outbound, Country: "JM"}, {Kind: Inbound, Country: "UK"},
		{Kind: Inbound}, {Kind: "fax"}, {},
	} {
		if _, err := DefaultRateCard().Tariff(terms); !errors.Is(err, ErrNoPrice) {
			t.Errorf("%+v: %v; want ErrNoPrice", terms, err)
		}
	}
}

func TestLineIsBilledByStartedMinute(t *testing.T) {
	tr := tariff(t, Terms{Kind: Inbound, Country: "ES"})
	for ms, minutes := range map[int64]int64{0: 0, 1: 1, 59_999: 1, 60_000: 1, 60_001: 2, 3_600_000: 60} {
		b, err := tr.Price(Usage{LineTime: ms})
		if err != nil || b[LineTime].Quantity != minutes || b.Total() != Money(minutes)*tr.LineMinute() {
			t.Errorf("%d ms: %d minutes, %s, %v; want %d minutes", ms, b[LineTime].Quantity, b.Total(), err, minutes)
		}
	}
}

// The amount must equal exact rational arithmetic rounded half up, for any price.
func TestRoundingAgainstRationals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := rapid.Int64Range(0, math.MaxInt64).Draw(t, "q")
		r := rate{
			price: Money(rapid.Int64Range(0, int64(maxPrice)).Draw(t, "price")),
			per:   rapid.SampledFrom([]int64{perEach, perMinute, perMillion}).Draw(t, "per"),
		}
		exact := new(big.Rat).SetFrac(new(big.Int).Mul(big.NewInt(q), big.NewInt(int64(r.price))), big.NewInt(r.per))
		exact.Add(exact, big.NewRat(1, 2))
		want := new(big.Int).Quo(exact.Num(), exact.Denom())
		got, ok := mulDiv(q, r)
		if ok != want.IsInt64() || (ok && int64(got) != want.Int64()) {
			t.Fatalf("%d x %d / %d = %d, %v; want %s", q, r.price, r.per, got, ok, want)
		}
	})
}

func TestPriceGrowsWithEveryCounter(t *testing.T) {
	tr := tariff(t, Terms{Kind: Outbound, Country: "ES"})
	counters := rapid.SliceOfN(rapid.Int64Range(0, 1e9), int(NumComponents), int(NumComponents))
	rapid.Check(t, func(t *rapid.T) {
		u, v := Usage(counters.Draw(t, "u")), Usage(counters.Draw(t, "v"))
		a, err1 := tr.Price(u)
		b, err2 := tr.Price(u.Max(v))
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		for c := range a {
			if a[c].Amount > b[c].Amount {
				t.Fatalf("%s fell from %s to %s", Component(c), a[c].Amount, b[c].Amount)
			}
		}
	})
}

func TestPriceRefusesWhatItCannotHold(t *testing.T) {
	tr := tariff(t, Terms{Kind: Inbound, Country: "ES"})
	for _, u := range []Usage{{AgentTime: -1}, {WebSearches: math.MaxInt64},
		{CRMCalls: 400_000_000_000, WebSearches: 800_000_000_000}} {
		if b, err := tr.Price(u); !errors.Is(err, ErrQuantity) {
			t.Errorf("%v: %s, %v; want ErrQuantity", u, b.Total(), err)
		}
	}
}

func TestMeterCountsConcurrentlyAndOnlyUp(t *testing.T) {
	var m Meter
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 1000 {
				m.Add(WebSearches, 1)
				m.Add(WebSearches, -5)
				m.AddTokens(Speculative, 3, 2)
				m.Raise(AgentTime, int64(i))
			}
		})
	}
	wg.Wait()
	m.Raise(AgentTime, 5)
	m.AddTokens(Summary, 1, 2)
	want := Usage{WebSearches: 8000, SpeculativeIn: 24_000, SpeculativeOut: 16_000, AgentTime: 999, SummaryIn: 1, SummaryOut: 2}
	if got := m.Usage(); got != want {
		t.Errorf("%v; want %v", got, want)
	}
}

func TestMeterDoesNotAllocate(t *testing.T) {
	var m Meter
	tr := tariff(t, Terms{Kind: Web})
	if n := testing.AllocsPerRun(100, func() {
		m.Add(ReplyIn, 1)
		m.Raise(AgentTime, 20)
		u := m.Usage()
		if _, err := tr.Price(u); err != nil {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestPots(t *testing.T) {
	for _, c := range []struct {
		name                 string
		p                    Pots
		paid, bonus, balance Money
	}{
		{"untouched", Pots{Paid: 10, Bonus: 5}, 10, 5, 15},
		{"bonus is used first", Pots{Paid: 10, Bonus: 5, AccruedAny: 3}, 10, 2, 12},
		{"then the paid pot", Pots{Paid: 10, Bonus: 5, AccruedAny: 8}, 7, 0, 7},
		{"outbound leaves the bonus", Pots{Paid: 10, Bonus: 5, AccruedPaid: 12}, -2, 5, 3},
		{"both", Pots{Paid: 10, Bonus: 5, AccruedAny: 6, AccruedPaid: 12}, -3, 0, -3},
	} {
		if c.p.PaidLeft() != c.paid || c.p.BonusLeft() != c.bonus || c.p.Balance() != c.balance {
			t.Errorf("%s: %d paid, %d bonus, %d", c.name, c.p.PaidLeft(), c.p.BonusLeft(), c.p.Balance())
		}
	}
	p := Pots{Paid: 10, Bonus: 100, Held: 3}
	if !p.Covers(9, true, 2) || p.Covers(10, true, 2) || !p.Covers(99, false, 0) {
		t.Error("what a wallet covers is its spendable pots less holds, down to the floor")
	}
}

func BenchmarkPrice(b *testing.B) {
	tr := tariff(b, Terms{Kind: Outbound, Country: "ES"})
	u := Usage{AgentTime: 61_000, LineTime: 61_000, ReplyIn: 4000, ReplyOut: 800, SpeculativeIn: 500, SpeculativeOut: 40}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := tr.Price(u); err != nil {
			b.Fatal(err)
		}
	}
}
