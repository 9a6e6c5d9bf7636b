package wallet

import (
	"testing"

	"parley/billing"
)

// TestUnits: what a receipt says about prices is what they are.
func TestUnits(t *testing.T) {
	card, err := billing.ParseRateCard(append([]byte(`{"realtime":{"audio_input_per_million_tokens":32,"cached_audio_input_per_million_tokens":0.4,`+
		`"audio_output_per_million_tokens":64},`), billing.DefaultRateCard().JSON()[1:]...))
	if err != nil {
		t.Fatal(err)
	}
	for c := range billing.NumComponents {
		u := units[c.String()]
		terms := billing.Terms{Kind: billing.Inbound, Country: "ES"}
		switch c {
		case billing.TTSChars:
			terms = billing.Terms{Kind: billing.TTS}
		case billing.STTTime:
			terms = billing.Terms{Kind: billing.STT}
		case billing.DenoiseTime:
			terms = billing.Terms{Kind: billing.Denoise}
		case billing.Segments:
			terms = billing.Terms{Kind: billing.MessageOut, Country: "ES"}
		}
		tariff, err := card.Tariff(terms)
		if err != nil {
			t.Fatal(err)
		}
		// A counter of seconds is in ms, one of minutes too.
		n := u.per * map[string]int64{"second": 1000, "minute": 60_000}[u.name]
		if n == 0 {
			n = u.per
		}
		var used billing.Usage
		used[c] = n
		bill, err := tariff.Price(used)
		if err != nil || !bill[c].Rated || bill[c].Quantity != u.per || bill[c].Amount != bill[c].UnitPrice {
			t.Errorf("%s: %+v of %+v: %v", c, bill[c], u, err)
		}
		if rank[c.String()] != int(c) {
			t.Errorf("%s is number %d", c, rank[c.String()])
		}
	}
}
