package wallet

import (
	"context"
	"time"

	"parley/api"
	"parley/api/wire"
	"parley/store"
)

// Receipt is what a session cost.
type Receipt struct {
	SessionID    string       `json:"session_id" doc:"The session that was asked for." example:"ses_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Kind         string       `json:"kind" doc:"Conversations: web, inbound, outbound; speech without one: tts, stt, denoise." enum:"web,inbound,outbound,tts,stt,denoise" example:"inbound"`
	PriceVersion string       `json:"price_version" doc:"The rate card that was in force when it began; no other counts." example:"2026-01-15.1"`
	OpenedAt     time.Time    `json:"opened_at" doc:"When it began."`
	StartedAt    *time.Time   `json:"started_at" doc:"When it began to cost; null: never."`
	EndedAt      *time.Time   `json:"ended_at" doc:"Null while it lasts."`
	Lines        []Line       `json:"lines" doc:"What it used, one component each." nullable:"false"`
	Engines      *CallEngines `json:"engines,omitempty" doc:"Of a call that has ended: the engines that served it, by stage, in the order in which they began to. Absent otherwise, and when it is not known. They do not change the price."`
	Total        wire.USD     `json:"total" doc:"The sum of the lines, and of the session's entries in the ledger."`
	Accrued      wire.USD     `json:"accrued" doc:"While it lasts: what it has used and no line holds yet. Else 0."`
}

// CallEngines are the engines that served a call, by stage.
type CallEngines struct {
	ASR []string `json:"asr" doc:"Recognition; empty: nothing was heard." nullable:"false" example:"[\"pocketsphinx\"]"`
	LLM []string `json:"llm" doc:"The language model." nullable:"false" example:"[\"openai\",\"scripted\"]"`
	TTS []string `json:"tts" doc:"The voice." nullable:"false" example:"[\"espeak\"]"`
}

// ViewEngines shows which engines served a call; nil: it is not known.
func ViewEngines(by *store.ServedBy) *CallEngines {
	if by == nil {
		return nil
	}
	return &CallEngines{by.ASR, by.LLM, by.TTS}
}

// Line is one component of a receipt.
type Line struct {
	Component    string   `json:"component" doc:"What was used." example:"agent"`
	Quantity     int64    `json:"quantity" doc:"In units, begun ones counted." example:"193"`
	Unit         string   `json:"unit" doc:"What the quantity counts." enum:"second,minute,token,character,event" example:"second"`
	UnitPrice    wire.USD `json:"unit_price" doc:"What the rate card says."`
	UnitPricePer int64    `json:"unit_price_per" doc:"How many units that buys." example:"60"`
	Amount       wire.USD `json:"amount" doc:"quantity x unit_price / unit_price_per, half a billionth of a dollar rounded up."`
	PriceVersion string   `json:"price_version" doc:"The version of the rate card that the price is of." example:"2026-01-15.1"`
}

type receiptOutput struct{ Body Receipt }

func (m *wallet) receipt(ctx context.Context, in *struct {
	ID string `path:"id" doc:"The call's or session's identifier." maxLength:"100" example:"ses_06er5bt0v9k1o7m2q3s4t5u6v0"`
}) (*receiptOutput, error) {
	r, err := m.db.Receipt(ctx, api.AccountOf(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	return &receiptOutput{viewReceipt(r)}, nil
}

func viewReceipt(r *store.Receipt) Receipt {
	out := Receipt{SessionID: r.Session, Kind: string(r.Kind), PriceVersion: r.PriceVersion, OpenedAt: r.OpenedAt, StartedAt: r.StartedAt,
		EndedAt: r.EndedAt, Lines: make([]Line, len(r.Lines)), Total: wire.USD(r.Total()), Accrued: wire.USD(r.Accrued), Engines: ViewEngines(r.Engines)}
	for i, l := range r.Lines {
		u := units[l.Component]
		out.Lines[i] = Line{l.Component, l.Quantity, u.name, wire.USD(l.UnitPrice), u.per, wire.USD(l.Amount), r.PriceVersion}
	}
	inOrder(out.Lines, func(l Line) string { return l.Component })
	return out
}
