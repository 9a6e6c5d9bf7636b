package ledger_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"
	"parley/store"
	"parley/store/campaign"
	"parley/store/history"
	"parley/store/ledger"
)

// TestDemonstration: a call that was recorded elsewhere is in the history once, charged as
// a call of its length, and so is the row that it is the call of; one that is refused is
// not there at all.
func TestDemonstration(t *testing.T) {
	f := setup(t)
	acc, poor := f.NewAccount(10*usd), f.NewAccount(0)
	agent := f.NewAgent(acc)
	id, err := f.CreateCampaign(f.Context(), campaign.Campaign{Account: acc, Name: "Spring", State: campaign.CampaignPaused,
		Rows: []campaign.CampaignRow{{To: "+34612345678", From: mine, Agent: agent.ID, DueAt: t0}, {To: "+34612345679", From: mine, Agent: agent.ID, DueAt: t0}}}, card, nil)
	f.OK(err)
	batch, err := f.Campaign(f.Context(), acc, id)
	f.OK(err)
	rang := t0.Add(-59 * time.Second)
	d := ledger.Demonstration{Name: "one", Start: f.Request(acc, outboundES), RowID: batch.Rows[0].ID, Summary: "They agreed.", OpenedAt: t0.Add(-time.Minute), RangAt: &rang, EndedAt: t0.Add(-10 * time.Second),
		Closing: ledger.Closing{Reason: "user_hangup", StartedAt: t0.Add(-50 * time.Second), Usage: billing.Usage{billing.AgentTime: 40_000, billing.LineTime: 40_000}},
	}
	d.Fill = func(ctx context.Context, tx pgx.Tx, id string) error {
		return history.Fill(ctx, tx, d.Account, id, history.Conversation{Transcript: []history.TranscriptLine{{Role: "agent", Text: "Hello.", AtMS: 900}}, AnsweredBy: "human"},
			history.Wire{SIP: []history.SIPMessage{{At: t0, Sent: true, Text: "INVITE"}}})
	}
	d.Agent, d.AgentVersion = agent.ID, 1
	call, err := f.AddDemonstration(f.Context(), d)
	f.OK(err)
	again, err := f.AddDemonstration(f.At(t0.Add(time.Hour)), d)
	f.OK(err)
	if again != call {
		t.Errorf("adding it again makes %s of %s", again, call)
	}
	d.Name = "two" // of the same row
	if _, err := f.AddDemonstration(f.Context(), d); !errors.Is(err, store.ErrClaimLost) {
		t.Errorf("a second call of a row: %v", err)
	}
	d.Account, d.RowID, d.Agent = poor, "", ""
	if _, err := f.AddDemonstration(f.Context(), d); !errors.Is(err, store.ErrTopupRequired) {
		t.Errorf("an account that may not call: %v", err)
	}
	f.Verified()

	calls, err := history.New(f.DB).Calls(f.Context(), acc, history.CallPage{})
	f.OK(err)
	if len(calls) != 1 || !calls[0].Demonstration || calls[0].ID != call || !calls[0].EndedAt.Equal(d.EndedAt) || calls[0].RangAt == nil ||
		calls[0].Cost != price(t, outboundES, d.Usage) || calls[0].Cost == 0 {
		t.Errorf("the history is %+v", calls)
	}
	if whole, err := history.New(f.DB).Call(f.Context(), acc, call); err != nil || len(whole.Transcript) != 1 {
		t.Errorf("the call is %+v, %v", whole, err)
	}
	if none, err := history.New(f.DB).Calls(f.Context(), poor, history.CallPage{}); err != nil || len(none) != 0 {
		t.Errorf("a call that was refused: %v %v", none, err)
	}
	w, err := history.New(f.DB).Wire(f.Context(), acc, call)
	f.OK(err)
	names, err := f.Demonstrations(f.Context(), acc)
	f.OK(err)
	if len(w.SIP) != 1 || len(names) != 1 || names["one"] != call {
		t.Errorf("%+v %v", w, names)
	}
	batch, err = f.Campaign(f.Context(), acc, id)
	f.OK(err)
	if r := batch.Rows[0]; batch.State != campaign.CampaignPaused || batch.Sent != 1 || batch.Pending != 1 || r.Call == nil || r.Call.ID != call || *r.Summary != "They agreed." {
		t.Errorf("the batch is %+v", batch)
	}
}
