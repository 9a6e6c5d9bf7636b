package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"parley/api/calls"
	"parley/api/messages"
	"parley/api/wallet"
	"parley/api/wire"
	"parley/store"
	"parley/store/aftercall"
	"parley/store/history"
	messagestore "parley/store/messages"
	"parley/store/webhook"
)

// Event is what is sent: T depends on the type.
type Event[T any] struct {
	ID        string    `json:"id" doc:"Names the event; the header webhook-id holds the same, at every attempt." example:"evt_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Type      string    `json:"type" doc:"What happened." example:"call.ended"`
	Timestamp time.Time `json:"timestamp" doc:"When it happened."`
	Data      T         `json:"data" doc:"What it happened to."`
}

// Types of events, for the document.
type (
	callIncoming   = Event[wire.IncomingCall]
	callBegun      = Event[wire.CallBegun]
	callEnded      = Event[wire.CallOver]
	callTranscript = Event[wire.CallDetail]
	callSummary    = Event[wire.CallSaid]
	callAnalyzed   = Event[wire.CallAnalyzed]
	textMessage    = Event[wire.Message]
	accountWarning = Event[wire.AccountEvent]
	testEvent      = Event[TestData]
)

// TestData is what a test event holds.
type TestData struct {
	WebhookID string `json:"webhook_id" doc:"The webhook that is tested." example:"wh_06er5bt0v9k1o7m2q3s4t5u6v0"`
}

// Body is what a delivery sends. It is made anew for each attempt, so that nothing said
// in a call is kept twice; what it tells does not change any more. ErrNotFound: what it
// is about is no longer there.
func Body(ctx context.Context, db *store.DB, d *webhook.DueDelivery) ([]byte, error) {
	data, err := about(ctx, db, d)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(Event[any]{d.Event, d.Kind, d.CreatedAt, data})
	if err != nil {
		return nil, fmt.Errorf("event %s: %w", d.Event, err)
	}
	return body, nil
}

func about(ctx context.Context, db *store.DB, d *webhook.DueDelivery) (any, error) {
	switch d.Kind {
	case webhook.Test:
		return TestData{d.Webhook}, nil
	case store.MessageReceived, store.MessageDelivered, store.MessageFailed:
		m, err := messagestore.New(db).Message(ctx, d.Account, d.About)
		if err != nil {
			return nil, err
		}
		return messages.View(m), nil
	case store.CallStarted, store.CallAnswered, store.CallEnded, store.CallTranscript, store.CallSummarized, store.CallAnalyzed:
	default:
		w, err := db.WarningOf(ctx, d.Account, d.About)
		if err != nil {
			return nil, err
		}
		return wallet.ViewEvent(w), nil
	}
	c, err := history.New(db).Call(ctx, d.Account, d.About)
	if err != nil {
		return nil, err
	}
	switch d.Kind {
	case store.CallEnded:
		return calls.Over(c)
	case store.CallTranscript:
		return calls.Detail(c, db.Now())
	case store.CallSummarized:
		text, err := aftercall.New(db).SummaryOf(ctx, d.Account, d.About)
		return calls.Summarized(c, text), err
	case store.CallAnalyzed:
		a, err := aftercall.New(db).AnalysisOf(ctx, d.Account, d.About)
		if err != nil {
			return nil, err
		}
		return calls.Analyzed(c, a)
	}
	return calls.Begun(c, d.Kind == store.CallAnswered), nil
}
