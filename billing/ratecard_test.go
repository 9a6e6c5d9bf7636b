package billing

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// The numbers that clients and the rules of the service rely on, and the shape of
// the served document with every key.
func TestServedCard(t *testing.T) {
	var got map[string]any
	dec := json.NewDecoder(bytes.NewReader(DefaultRateCard().JSON()))
	dec.UseNumber()
	if err := dec.Decode(&got); err != nil {
		t.Fatal(err)
	}
	at := func(path string) any {
		v := any(got)
		for key := range strings.SplitSeq(path, ".") {
			m, _ := v.(map[string]any)
			v = m[key]
		}
		return v
	}
	for path, want := range map[string]any{
		"currency": "USD", "agent.billing": "per_second", "phone.billing": "per_started_minute",
		"phone.number_per_month": json.Number("5"), "wallet.min_topup": json.Number("10"), "wallet.max_topup": json.Number("2000"),
		"wallet.signup_bonus": json.Number("5"), "wallet.signup_bonus_days": json.Number("90"), "wallet.overdraft": json.Number("2"),
		"wallet.min_session_start": json.Number("0.25"), "wallet.concurrency_default": json.Number("10"),
		"wallet.concurrency_before_topup": json.Number("3"), "wallet.auto_recharge.threshold": json.Number("5"),
		"wallet.auto_recharge.amount": json.Number("20"), "wallet.auto_recharge.monthly_cap": json.Number("500"),
		"llm.speculative_replies_default": true,
	} {
		if at(path) != want {
			t.Errorf("%s is %v; want %v", path, at(path), want)
		}
	}
	for _, path := range []string{"agent.platform_per_minute", "llm.input_per_million_tokens", "llm.output_per_million_tokens",
		"crm_logged_call", "web_search", "tts_per_million_chars", "stt_per_minute", "denoise_per_minute"} {
		if _, ok := at(path).(json.Number); !ok {
			t.Errorf("%s is %v; want a number", path, at(path))
		}
	}
	for path, countries := range map[string]string{
		"phone.inbound":         "US ES GB DE FR IT PT AT IE CA NL BE LU CH",
		"phone.outbound_fixed":  "US ES GB DE FR IT PT AT IE CA NL BE LU CH",
		"phone.outbound_mobile": "ES FR DE AT GB IE",
	} {
		m, _ := at(path).(map[string]any)
		if want := strings.Fields(countries); len(m) != len(want) {
			t.Errorf("%s has %d countries; want %d", path, len(m), len(want))
		}
		for country := range strings.FieldsSeq(countries) {
			if _, ok := m[country].(json.Number); !ok {
				t.Errorf("%s.%s is %v", path, country, m[country])
			}
		}
	}
	if len(got) != 12 {
		t.Errorf("%d top-level keys; want 12", len(got))
	}
}

func TestServedCardReadsBackTheSame(t *testing.T) {
	c := DefaultRateCard()
	back, err := ParseRateCard(c.JSON())
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(back.JSON(), c.JSON()) || back.SHA256() != c.SHA256() {
		t.Errorf("the card changed on its way through JSON:\n%s\n%s", c.JSON(), back.JSON())
	}
	b := c.JSON()
	b[0] = 'x'
	if c.JSON()[0] == 'x' {
		t.Error("a change of the JSON changes the card")
	}
}

func TestPricesKeepNineDigits(t *testing.T) {
	text := strings.Replace(string(builtin), "platform_per_minute: 0.08", "platform_per_minute: 0.100000001", 1)
	c, err := ParseRateCard([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(c.JSON(), []byte(`"platform_per_minute":0.100000001`)) {
		t.Errorf("%s", c.JSON())
	}
}

func TestBadCards(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"unknown key", "crm_logged_call:", "crm_loged_call:", "line 28: crm_loged_call: unknown key"},
		{"missing key", "web_search: 0.01\n", "", "web_search: missing"},
		{"ten digits", "crm_logged_call: 0.02", "crm_logged_call: 0.0200000001", "line 28: crm_logged_call: not an amount of money"},
		{"exponent", "crm_logged_call: 0.02", "crm_logged_call: 2e-2", "line 28: crm_logged_call: not an amount"},
		{"negative", "crm_logged_call: 0.02", "crm_logged_call: -0.02", "line 28: crm_logged_call: must be from 0"},
		{"quoted", "crm_logged_call: 0.02", `crm_logged_call: "0.02"`, "line 28: crm_logged_call: write the number without quotes"},
		{"huge", "crm_logged_call: 0.02", "crm_logged_call: 1000001", "line 28: crm_logged_call: must be from 0 to 1000000"},
		{"UK", "inbound: {US: 0.0085, ES: 0.01, GB:", "inbound: {US: 0.0085, ES: 0.01, UK:", "line 20: phone.inbound.UK: the ISO code is GB"},
		{"lower case", "{ES: 0.045", "{es: 0.045", "phone.outbound_mobile.es: not an ISO country code"},
		{"American mobiles", "{ES: 0.045", "{US: 1, ES: 0.045", "phone.outbound_mobile.US: mobiles there pay the landline rate"},
		{"twice", "web_search: 0.01", "web_search: 0.01\nweb_search: 0.02", "web_search: is there twice"},
		{"currency", "currency: USD", "currency: EUR", "currency: must be USD"},
		{"billing word", "billing: per_second", "billing: per_minute", "agent.billing: must be per_second"},
		{"version form", "version: 2026-01-15.1", "version: 3", "version: must be a date and a revision"},
		{"version date", "version: 2026-01-15.1", "version: 2026-02-30.1", "version: 2026-02-30 is not a date"},
		{"top-ups", "min_topup: 10", "min_topup: 3000", "wallet.min_topup: is above wallet.max_topup"},
		{"recharge", "amount: 20", "amount: 5", "wallet.auto_recharge.amount: must be from"},
		{"cap", "monthly_cap: 500", "monthly_cap: 19", "wallet.auto_recharge.monthly_cap: is below"},
		{"concurrency", "concurrency_default: 10", "concurrency_default: 0", "wallet.concurrency_default: must be a whole number"},
		{"flag", "default: true", "default: yes", "llm.speculative_replies_default: must be true or false"},
		{"list", "web_search: 0.01", "web_search: [0.01]", "web_search: lists and references"},
		{"not a mapping", string(builtin), "- 1", "a rate card is a mapping"},
		{"not YAML", string(builtin), "{", "yaml: "},
	} {
		text := strings.Replace(string(builtin), c.old, c.new, 1)
		_, err := ParseRateCard([]byte(text))
		var ce CardError
		if !errors.As(err, &ce) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", c.name, err, c.want)
		}
		for _, line := range ce {
			if strings.Contains(line, "\n") {
				t.Errorf("%s: %q is more than one line", c.name, line)
			}
		}
	}
}

// Every fault is reported at once, each on its line.
func TestBadCardSaysEverything(t *testing.T) {
	text := strings.NewReplacer("currency: USD", "currency: EUR", "web_search: 0.01", "web_search: free").Replace(string(builtin))
	_, err := ParseRateCard([]byte(text))
	if err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("%v; want two lines", err)
	}
}

func FuzzParseRateCard(f *testing.F) {
	f.Add(builtin)
	f.Add(DefaultRateCard().JSON())
	f.Add([]byte("a: &x [1]\nb: *x"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := ParseRateCard(text)
		if err != nil {
			return
		}
		if back, err := ParseRateCard(c.JSON()); err != nil || back.SHA256() != c.SHA256() {
			t.Fatalf("does not read back: %v\n%s", err, c.JSON())
		}
	})
}

// audioPrices are those that a card may have and the built-in one has not.
const audioPrices = `
realtime:
  audio_input_per_million_tokens: 32
  cached_audio_input_per_million_tokens: 0.4
  audio_output_per_million_tokens: 64
`

// TestRealtimePrices: tokens of audio are charged where the card has prices for them, all three.
func TestRealtimePrices(t *testing.T) {
	if DefaultRateCard().SellsRealtime() {
		t.Error("the built-in card sells what it has no price for")
	}
	c, err := ParseRateCard([]byte(string(builtin) + audioPrices))
	if err != nil || !c.SellsRealtime() {
		t.Fatalf("%v", err)
	}
	if back, err := ParseRateCard(c.JSON()); err != nil || back.SHA256() != c.SHA256() {
		t.Errorf("it does not read back: %v\n%s", err, c.JSON())
	}
	var m Meter
	m.AddAudio(1500, 500, 100)
	for kind, want := range map[Kind]Money{Web: 1000*32_000 + 500*400 + 100*64_000, STT: 0} {
		tariff, err := c.Tariff(Terms{Kind: kind})
		if err != nil {
			t.Fatal(err)
		}
		if bill, err := tariff.Price(m.Usage()); err != nil || bill.Total() != want {
			t.Errorf("%s: %s, %v; want %s", kind, bill.Total(), err, want)
		}
	}
	_, err = ParseRateCard([]byte(string(builtin) + strings.Replace(audioPrices, "  audio_output_per_million_tokens: 64\n", "", 1)))
	if err == nil || !strings.Contains(err.Error(), "realtime: needs all of its prices, or none") {
		t.Errorf("one price is missing: %v", err)
	}
}

// TestOwnTrunkPrice: minutes on an account's own trunk are free unless the card has a price for them, whatever the
// country, and in both directions.
func TestOwnTrunkPrice(t *testing.T) {
	for price, want := range map[string]Money{"": 0, "  own_trunk_per_minute: 0.002\n": 2_000_000} {
		c, err := ParseRateCard([]byte(strings.Replace(string(builtin), "phone:\n", "phone:\n"+price, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if back, err := ParseRateCard(c.JSON()); err != nil || back.SHA256() != c.SHA256() {
			t.Errorf("it does not read back: %v\n%s", err, c.JSON())
		}
		for _, terms := range []Terms{{Kind: Inbound, OwnTrunk: true}, {Kind: Outbound, Country: "ES", Mobile: true, OwnTrunk: true}} {
			tariff, err := c.Tariff(terms)
			if err != nil || tariff.LineMinute() != want {
				t.Errorf("%+v: %s a minute, %v; want %s", terms, tariff.LineMinute(), err, want)
			}
			bill, err := tariff.Price(Usage{LineTime: 61_000})
			if err != nil || bill[LineTime].Amount != 2*want || bill[LineTime].Quantity != 2 {
				t.Errorf("%+v: %+v, %v", terms, bill[LineTime], err)
			}
		}
	}
}

// TestOwnKeyPrices: tokens on an account's own key are free unless the card has prices for them.
func TestOwnKeyPrices(t *testing.T) {
	var m Meter
	m.AddOwn(1000, 100)
	for prices, want := range map[string]Money{
		"": 0,
		"  own_key_input_per_million_tokens: 0.1\n":                                           100_000,
		"  own_key_input_per_million_tokens: 0.1\n  own_key_output_per_million_tokens: 0.2\n": 120_000,
	} {
		c, err := ParseRateCard([]byte(strings.Replace(string(builtin), "llm:\n", "llm:\n"+prices, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if back, err := ParseRateCard(c.JSON()); err != nil || back.SHA256() != c.SHA256() {
			t.Errorf("it does not read back: %v\n%s", err, c.JSON())
		}
		tariff, err := c.Tariff(Terms{Kind: Web})
		if err != nil {
			t.Fatal(err)
		}
		bill, err := tariff.Price(m.Usage())
		if err != nil || bill.Total() != want || !bill[OwnIn].Rated || bill[OwnOut].Quantity != 100 {
			t.Errorf("%q: %s, %v; want %s", prices, bill.Total(), err, want)
		}
	}
}

// TestMessagePrices: a segment costs what its country says, in both directions; without prices it is free, and without
// one of the country it is not sold.
func TestMessagePrices(t *testing.T) {
	const prices = "  message_inbound: {US: 0.006}\n  message_outbound: {US: 0.012, ES: 0.09}\n"
	c, err := ParseRateCard([]byte(strings.Replace(string(builtin), "phone:\n", "phone:\n"+prices, 1)))
	if err != nil || !c.PricesMessages() || DefaultRateCard().PricesMessages() {
		t.Fatalf("%v", err)
	}
	if back, err := ParseRateCard(c.JSON()); err != nil || back.SHA256() != c.SHA256() {
		t.Errorf("it does not read back: %v\n%s", err, c.JSON())
	}
	for _, tt := range []struct {
		card  *RateCard
		terms Terms
		want  Money
	}{
		{c, Terms{Kind: MessageOut, Country: "ES", Mobile: true}, 270_000_000}, {c, Terms{Kind: MessageIn, Country: "US"}, 18_000_000},
		{DefaultRateCard(), Terms{Kind: MessageOut, Country: "ES"}, 0}, {DefaultRateCard(), Terms{Kind: MessageIn, Country: "ES"}, 0},
	} {
		tariff, err := tt.card.Tariff(tt.terms)
		if err != nil {
			t.Fatal(err)
		}
		bill, err := tariff.Price(Usage{Segments: 3, AgentTime: 1000})
		if err != nil || bill.Total() != tt.want || !bill[Segments].Rated || bill[Segments].Quantity != 3 {
			t.Errorf("%+v: %s, %v; want %s", tt.terms, bill.Total(), err, tt.want)
		}
	}
	for _, k := range []Kind{MessageIn, MessageOut} {
		if _, err := c.Tariff(Terms{Kind: k, Country: "GB"}); !errors.Is(err, ErrNoPrice) {
			t.Errorf("%s: %v", k, err)
		}
	}
	if !MessageOut.PaidOnly() || MessageIn.PaidOnly() {
		t.Error("welcome credit pays messages that come in, and none that go out")
	}
	_, err = ParseRateCard([]byte(strings.Replace(string(builtin), "phone:\n", "phone:\n  message_inbound: {US: 0.006}\n", 1)))
	if err == nil || !strings.Contains(err.Error(), "phone: needs both message_inbound and message_outbound") {
		t.Errorf("one direction has no prices: %v", err)
	}
}
