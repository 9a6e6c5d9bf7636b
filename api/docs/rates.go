package docs

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"parley/billing"
)

// pricesPage is the page that prints the rate card.
const pricesPage = "billing"

// rateTables are the prices of a rate card as the page shows them.
type rateTables struct {
	Version, Currency string
	Prices            []price
	Countries         []countryPrices
	Texts             bool // the card has prices of text messages
}

// price is one price, of so much of something.
type price struct {
	What   string
	Amount billing.Money
	Per    string
}

// countryPrices are those of a telephone minute, and of text messages; nil is not sold.
type countryPrices struct {
	Name, Code             string
	Inbound, Fixed, Mobile *billing.Money
	TextIn, TextOut        *billing.Money // of a segment
}

// card is the rate card as GET /v1/pricing serves it.
type card struct {
	Version  string `json:"version"`
	Currency string `json:"currency"`
	Agent    struct {
		Minute *billing.Money `json:"platform_per_minute"`
	} `json:"agent"`
	LLM struct {
		In     *billing.Money `json:"input_per_million_tokens"`
		Out    *billing.Money `json:"output_per_million_tokens"`
		OwnIn  *billing.Money `json:"own_key_input_per_million_tokens"`
		OwnOut *billing.Money `json:"own_key_output_per_million_tokens"`
	} `json:"llm"`
	Phone struct {
		Inbound map[string]billing.Money `json:"inbound"`
		Fixed   map[string]billing.Money `json:"outbound_fixed"`
		Mobile  map[string]billing.Money `json:"outbound_mobile"`
		Number  *billing.Money           `json:"number_per_month"`
		Own     *billing.Money           `json:"own_trunk_per_minute"`
		// Of a segment of a text message; both empty: messages are free.
		TextIn  map[string]billing.Money `json:"message_inbound"`
		TextOut map[string]billing.Money `json:"message_outbound"`
	} `json:"phone"`
	Realtime struct {
		In     *billing.Money `json:"audio_input_per_million_tokens"`
		Cached *billing.Money `json:"cached_audio_input_per_million_tokens"`
		Out    *billing.Money `json:"audio_output_per_million_tokens"`
	} `json:"realtime"`
	CRM     *billing.Money `json:"crm_logged_call"`
	Search  *billing.Money `json:"web_search"`
	TTS     *billing.Money `json:"tts_per_million_chars"`
	STT     *billing.Money `json:"stt_per_minute"`
	Denoise *billing.Money `json:"denoise_per_minute"`
}

// ratesOf reads a rate card as its readers do, so that the page says what they are answered.
func ratesOf(from *billing.RateCard) (*rateTables, error) {
	var c card
	if err := json.Unmarshal(from.JSON(), &c); err != nil {
		return nil, err
	}
	const minute, tokens = "minute, by the second", "million tokens"
	t := &rateTables{Version: c.Version, Currency: c.Currency, Texts: len(c.Phone.TextOut) > 0}
	for _, p := range []struct {
		what   string
		amount *billing.Money
		per    string
	}{
		{"A conversation with an agent", c.Agent.Minute, minute},
		{"LLM input", c.LLM.In, tokens}, {"LLM output", c.LLM.Out, tokens},
		{"LLM input on your own key", c.LLM.OwnIn, tokens}, {"LLM output on your own key", c.LLM.OwnOut, tokens},
		{"Realtime engine, audio heard", c.Realtime.In, tokens}, {"Realtime engine, audio heard before", c.Realtime.Cached, tokens},
		{"Realtime engine, audio spoken", c.Realtime.Out, tokens},
		{"Telephone number", c.Phone.Number, "month"}, {"Telephone line on your own trunk", c.Phone.Own, "started minute"},
		{"Speech synthesis", c.TTS, "million characters"}, {"Speech recognition", c.STT, minute}, {"Noise removal", c.Denoise, minute},
		{"Call noted in a CRM", c.CRM, "call"}, {"Web search", c.Search, "search with an answer"},
	} {
		if p.amount != nil {
			t.Prices = append(t.Prices, price{p.what, *p.amount, p.per})
		}
	}
	codes := map[string]bool{}
	for _, prices := range []map[string]billing.Money{c.Phone.Inbound, c.Phone.Fixed, c.Phone.Mobile, c.Phone.TextIn, c.Phone.TextOut} {
		for code := range prices {
			codes[code] = true
		}
	}
	for _, code := range slices.Sorted(maps.Keys(codes)) {
		row := countryPrices{Name: code, Code: code, Inbound: in(c.Phone.Inbound, code), Fixed: in(c.Phone.Fixed, code), Mobile: in(c.Phone.Mobile, code),
			TextIn: in(c.Phone.TextIn, code), TextOut: in(c.Phone.TextOut, code)}
		if code == "US" || code == "CA" { // whose mobiles look like landlines
			row.Mobile = row.Fixed
		}
		if region, err := language.ParseRegion(code); err == nil {
			row.Name = display.English.Regions().Name(region)
		}
		t.Countries = append(t.Countries, row)
	}
	slices.SortStableFunc(t.Countries, func(a, b countryPrices) int { return strings.Compare(a.Name, b.Name) })
	return t, nil
}

func in(prices map[string]billing.Money, code string) *billing.Money {
	if p, ok := prices[code]; ok {
		return &p
	}
	return nil
}
