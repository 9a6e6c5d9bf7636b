package client

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"parley/api/wire"
	"parley/billing"
)

// Account reads the account of the key, and which key it is.
func (c *Client) Account(ctx context.Context) (*wire.OwnAccount, error) {
	return ask[wire.OwnAccount](ctx, c, http.MethodGet, c.address("v1", "account"), nil)
}

// Balance reads the account's balance.
func (c *Client) Balance(ctx context.Context) (*wire.Balance, error) {
	return ask[wire.Balance](ctx, c, http.MethodGet, c.address("v1", "balance"), nil)
}

// UsageQuery picks usage. By is day, agent, call or component; From and To are dates
// or RFC 3339 times, the second not included, and empty for no bound.
type UsageQuery struct{ By, From, To string }

func (q UsageQuery) values() url.Values {
	return picked(map[string]string{"group_by": q.By, "from": q.From, "to": q.To})
}

// Usage is what an account used and what that cost.
type Usage struct {
	GroupBy string       `json:"group_by"`
	Groups  []wire.Usage `json:"data"`
	Total   wire.USD     `json:"total"`   // of all groups
	Accrued wire.USD     `json:"accrued"` // used by sessions in progress, in no group yet
}

// usagePage is how many groups are asked for at once: as many as there may be.
const usagePage = 100

// Usage reads the newest groups, at most limit; more says whether there are others.
func (c *Client) Usage(ctx context.Context, q UsageQuery, limit int) (u *Usage, more bool, err error) {
	u = &Usage{Groups: []wire.Usage{}}
	v := q.values()
	for {
		v.Set("limit", strconv.Itoa(min(usagePage, limit-len(u.Groups))))
		page, err := ask[struct {
			Usage
			Total      *wire.USD `json:"total"` // on the first page
			HasMore    bool      `json:"has_more"`
			NextCursor string    `json:"next_cursor"`
		}](ctx, c, http.MethodGet, c.query(v, "v1", "usage"), nil)
		if err != nil {
			return nil, false, err
		}
		if page.Total != nil {
			u.GroupBy, u.Total, u.Accrued = page.GroupBy, *page.Total, page.Accrued
		}
		u.Groups = append(u.Groups, page.Groups...)
		if more = page.HasMore && page.NextCursor != ""; !more || len(u.Groups) >= limit {
			return u, more, nil
		}
		v.Set("cursor", page.NextCursor)
	}
}

// maxTable bounds an export, in bytes.
const maxTable = 2 << 30

// UsageCSV reads all groups as CSV, with a header line, from one moment. The caller
// closes it; a Read that fails has not got all of it.
func (c *Client) UsageCSV(ctx context.Context, q UsageQuery) (io.ReadCloser, error) {
	return c.table(ctx, q.values(), "usage")
}

// Rates is the part of the rate card that people ask for, in US dollars before tax.
type Rates struct {
	Version  string `json:"version"`
	Currency string `json:"currency"`
	Notes    string `json:"notes"`
	Agent    struct {
		PerMinute billing.Money `json:"platform_per_minute"`
	} `json:"agent"`
	LLM struct {
		InputPerMillion  billing.Money `json:"input_per_million_tokens"`
		OutputPerMillion billing.Money `json:"output_per_million_tokens"`
		OwnKeyInput      billing.Money `json:"own_key_input_per_million_tokens"` // as the next, of tokens on the account's own key
		OwnKeyOutput     billing.Money `json:"own_key_output_per_million_tokens"`
	} `json:"llm"`
	Phone struct {
		Inbound        map[string]billing.Money `json:"inbound"` // by country, a started minute
		OutboundFixed  map[string]billing.Money `json:"outbound_fixed"`
		OutboundMobile map[string]billing.Money `json:"outbound_mobile"`
		NumberPerMonth billing.Money            `json:"number_per_month"`
		OwnTrunk       billing.Money            `json:"own_trunk_per_minute"` // a started minute on a trunk of the account's own
		// A segment of a text message, by country; both empty: messages are free.
		MessageInbound  map[string]billing.Money `json:"message_inbound"`
		MessageOutbound map[string]billing.Money `json:"message_outbound"`
	} `json:"phone"`
	// Realtime is prices of tokens of audio; nil where the server has no engines that hear and speak by themselves.
	Realtime *struct {
		Input  billing.Money `json:"audio_input_per_million_tokens"`
		Cached billing.Money `json:"cached_audio_input_per_million_tokens"`
		Output billing.Money `json:"audio_output_per_million_tokens"`
	} `json:"realtime"`
	CRMLoggedCall      billing.Money `json:"crm_logged_call"`
	WebSearch          billing.Money `json:"web_search"`
	TTSPerMillionChars billing.Money `json:"tts_per_million_chars"`
	STTPerMinute       billing.Money `json:"stt_per_minute"`
	DenoisePerMinute   billing.Money `json:"denoise_per_minute"`
	// JSON is the whole card as the server sent it.
	JSON json.RawMessage `json:"-"`
}

// Rates reads the rate card in force, which needs no key.
func (c *Client) Rates(ctx context.Context) (*Rates, error) {
	text, err := ask[json.RawMessage](ctx, c, http.MethodGet, c.address("v1", "pricing"), nil)
	if err != nil {
		return nil, err
	}
	r := &Rates{JSON: *text}
	return r, json.Unmarshal(*text, r)
}
