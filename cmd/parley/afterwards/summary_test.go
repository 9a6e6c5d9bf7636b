package afterwards

import (
	"errors"
	"testing"

	"parley/billing"
	"parley/inference"
	"parley/inference/enginetest"
	"parley/store"
	"parley/store/campaign"
	"parley/store/history"
	"parley/store/ledger"
	"parley/store/people"
)

// TestSummaryFailsAlone: a model that fails leaves the row as it is; later the summary
// is made, once, and nobody who cannot pay gets one.
func TestSummaryFailsAlone(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	llm := enginetest.NewFakeLLM()
	llm.Answer = func(n int, r inference.Request) []enginetest.Step {
		switch n {
		case 0:
			return []enginetest.Step{{Err: errors.New("away")}}
		case 1:
			return []enginetest.Step{{Text: " \n"}}
		}
		return []enginetest.Step{{Text: "They agreed."}}
	}
	d.model = llm
	key, _, err := people.New(d.db).MakeKey(t.Context(), people.NewKey{Account: d.account, Name: "first", Role: people.RoleMember})
	d.ok(err)
	speaker, err := d.db.CreateAgent(t.Context(), d.account, store.Agent{Name: "Ana", Voice: "F1", Language: "en"})
	d.ok(err)
	now := d.db.Now()
	c := campaign.Campaign{Account: d.account, Manner: campaign.Manner{Key: key.ID}, Rows: []campaign.CampaignRow{
		{To: "+12025550100", From: "+34911234567", Agent: speaker.ID, DueAt: now}}}
	id, err := campaign.New(d.db).CreateCampaign(t.Context(), c, d.db.RateCard(), nil)
	d.ok(err)
	claimed, err := campaign.New(d.db).ClaimRows(t.Context(), d.life, d.db.RateCard().Wallet(), 1)
	d.ok(err)
	s, err := ledger.New(d.db).StartSession(t.Context(), ledger.Start{Node: d.life, Account: d.account, Card: d.db.RateCard(), Agent: speaker.ID,
		Terms: billing.Terms{Kind: billing.Outbound, Country: "US"}, To: "+12025550100", Row: &claimed[0].RowClaim})
	d.ok(err)
	d.ok(history.New(d.db).SaveConversation(t.Context(), d.account, s.ID, history.Conversation{Transcript: []history.TranscriptLine{{Role: "user", Text: "Yes."}}}))
	_, err = ledger.New(d.db).CloseSession(t.Context(), s, ledger.Closing{Reason: "user_hangup", StartedAt: now, Usage: billing.Usage{billing.LineTime: 1000}})
	d.ok(err)
	args := summaryArgs{d.account, s.ID}
	for range 2 {
		if err := d.work.summarize(t.Context(), args); err == nil {
			t.Error("a model that fails is not asked again")
		}
	}
	row := func() campaign.CampaignRow {
		got, err := campaign.New(d.db).Campaign(t.Context(), d.account, id)
		d.ok(err)
		return got.Rows[0]
	}
	if r := row(); r.Status != campaign.RowSent || r.Summary != nil {
		t.Errorf("without a summary the row is %+v", r)
	}
	before := row().Call.Cost
	for range 3 { // as jobs are after a crash
		d.ok(d.work.summarize(t.Context(), args))
	}
	r := row()
	once := r.Call.Cost - before
	tariff, err := d.db.RateCard().Tariff(billing.Terms{Kind: billing.Outbound, Country: "US"})
	d.ok(err)
	used := llm.Calls()[2]
	price, err := tariff.Price(billing.Usage{billing.SummaryIn: int64(inference.CountTokens(used.Request.Characters())), billing.SummaryOut: int64(inference.CountTokens(len("They agreed.")))})
	d.ok(err)
	if r.Summary == nil || *r.Summary != "They agreed." || once != price.Total() || once == 0 {
		t.Errorf("the summary of %+v costs %s, want %s", r, once, price.Total())
	}
	asked := len(llm.Calls())
	d.ok(ledger.New(d.db).OpenDispute(t.Context(), d.account, "pi_1"))
	d.ok(d.work.summarize(t.Context(), args))
	if len(llm.Calls()) != asked {
		t.Error("a model was asked that nobody pays for")
	}
	d.verified()
}
