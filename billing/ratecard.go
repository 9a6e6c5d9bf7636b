package billing

import (
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"slices"
	"sync"
)

// RateCard holds every public price and the rules of the balance. It does not
// change once made and may be shared by any number of goroutines. A session pays
// by the card it started with.
type RateCard struct {
	f    cardFields
	json []byte
	sum  [sha256.Size]byte
}

// cardFields is the card as it is served, in the order it is served.
type cardFields struct {
	Version  string `json:"version"`
	Currency string `json:"currency"`
	Notes    string `json:"notes"`
	Agent    struct {
		PlatformPerMinute Money  `json:"platform_per_minute"`
		Billing           string `json:"billing"`
	} `json:"agent"`
	LLM struct {
		InputPerMillion    Money `json:"input_per_million_tokens"`
		OutputPerMillion   Money `json:"output_per_million_tokens"`
		SpeculativeDefault bool  `json:"speculative_replies_default"`
		// Of tokens on keys of the account's own; nil: they are free.
		OwnKeyInputPerMillion  *Money `json:"own_key_input_per_million_tokens,omitempty"`
		OwnKeyOutputPerMillion *Money `json:"own_key_output_per_million_tokens,omitempty"`
	} `json:"llm"`
	Phone struct {
		Billing        string           `json:"billing"`
		Inbound        map[string]Money `json:"inbound"`
		OutboundFixed  map[string]Money `json:"outbound_fixed"`
		OutboundMobile map[string]Money `json:"outbound_mobile"`
		NumberPerMonth Money            `json:"number_per_month"`
		// Of calls on trunks of the account's own, in both directions; nil: they are free.
		OwnTrunkPerMinute *Money `json:"own_trunk_per_minute,omitempty"`
		// Of a segment of a text message, by the country of the number that it comes in to and of the
		// destination; both or none, which makes messages free.
		MessageInbound  *map[string]Money `json:"message_inbound,omitempty"`
		MessageOutbound *map[string]Money `json:"message_outbound,omitempty"`
	} `json:"phone"`
	// Realtime is there, all of it, where realtime engines are sold.
	Realtime struct {
		AudioInputPerMillion       *Money `json:"audio_input_per_million_tokens,omitempty"`
		CachedAudioInputPerMillion *Money `json:"cached_audio_input_per_million_tokens,omitempty"`
		AudioOutputPerMillion      *Money `json:"audio_output_per_million_tokens,omitempty"`
	} `json:"realtime,omitzero"`
	CRMLoggedCall      Money  `json:"crm_logged_call"`
	WebSearch          Money  `json:"web_search"`
	TTSPerMillionChars Money  `json:"tts_per_million_chars"`
	STTPerMinute       Money  `json:"stt_per_minute"`
	DenoisePerMinute   Money  `json:"denoise_per_minute"`
	Wallet             Wallet `json:"wallet"`
}

// Wallet holds the rules of the prepaid balance.
type Wallet struct {
	MinTopup               Money        `json:"min_topup"`
	MaxTopup               Money        `json:"max_topup"`
	SignupBonus            Money        `json:"signup_bonus"`
	SignupBonusDays        int          `json:"signup_bonus_days"`
	Overdraft              Money        `json:"overdraft"`         // how far below zero sessions in progress may go
	MinSessionStart        Money        `json:"min_session_start"` // what a start or a request needs
	ConcurrencyDefault     int          `json:"concurrency_default"`
	ConcurrencyBeforeTopup int          `json:"concurrency_before_topup"`
	AutoRecharge           AutoRecharge `json:"auto_recharge"`
}

// AutoRecharge holds the defaults of automatic top-ups.
type AutoRecharge struct {
	Threshold  Money `json:"threshold"`
	Amount     Money `json:"amount"`
	MonthlyCap Money `json:"monthly_cap"`
}

// newRateCard serialises fields that were checked.
func newRateCard(f cardFields) (*RateCard, error) {
	b, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	return &RateCard{f: f, json: b, sum: sha256.Sum256(b)}, nil
}

// Version is the card's date and revision, such as "2026-01-31.2".
func (c *RateCard) Version() string { return c.f.Version }

// Wallet returns the rules of the balance.
func (c *RateCard) Wallet() Wallet { return c.f.Wallet }

// NumberPerMonth is the price of a telephone number, at purchase and each month.
func (c *RateCard) NumberPerMonth() Money { return c.f.Phone.NumberPerMonth }

// SpeculativeReplies says whether an agent that does not say starts replies in pauses.
func (c *RateCard) SpeculativeReplies() bool { return c.f.LLM.SpeculativeDefault }

// SellsRealtime says whether the card has the prices without which no realtime engine may serve.
func (c *RateCard) SellsRealtime() bool { return c.f.Realtime.AudioOutputPerMillion != nil }

// PricesMessages says whether the card has prices of text messages, without which they are free.
func (c *RateCard) PricesMessages() bool { return c.f.Phone.MessageOutbound != nil }

// JSON is the card as it is served and stored; the caller owns the slice. Equal
// cards give equal bytes, and ParseRateCard reads them back.
func (c *RateCard) JSON() []byte { return slices.Clone(c.json) }

// SHA256 is the checksum of JSON.
func (c *RateCard) SHA256() [sha256.Size]byte { return c.sum }

//go:embed ratecard.yaml
var builtin []byte

// DefaultRateCard is the card built into the program.
var DefaultRateCard = sync.OnceValue(func() *RateCard {
	c, err := ParseRateCard(builtin)
	if err != nil {
		panic("billing: built-in rate card: " + err.Error()) // a test reads it, so this never ships
	}
	return c
})
