package ledger_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"
	"parley/store"
	"parley/store/aftercall"
	"parley/store/history"
	"parley/store/ledger"
	"parley/store/ledger/ledgertest"
	"parley/store/ledger/statement"
)

const wantsBoth = `{"analysis": {"summary": true, "extract": {"type": "object", "properties": {"day": {"type": "string"}}}}}`

// analyst is an agent with settings.
func (f *fixture) analyst(account, settings string) *store.Agent {
	f.T.Helper()
	a, err := f.CreateAgent(f.Context(), account, store.Agent{Name: "Ana", Voice: "F1", Language: "es", Settings: json.RawMessage(settings)})
	f.OK(err)
	return a
}

// talked is an answered call of an agent that has ended.
func (f *fixture) talked(account string, a *store.Agent) *ledger.Session {
	f.T.Helper()
	s := f.withAgent(account, a)
	f.OK(history.New(f.DB).SaveConversation(f.Context(), account, s.ID, history.Conversation{Transcript: []history.TranscriptLine{{Role: "user", Text: "Friday, please."}}}))
	f.CloseWith(s, billing.Usage{billing.AgentTime: 60_000})
	return s
}

// withAgent is a session that runs with a version of an agent.
func (f *fixture) withAgent(account string, a *store.Agent) *ledger.Session {
	f.T.Helper()
	r := f.Request(account, inboundES)
	r.Agent, r.AgentVersion = a.ID, a.Version
	s, err := f.StartSession(f.Context(), r)
	f.OK(err)
	return s
}

func (f *fixture) claimed(at time.Time) *aftercall.DueAnalysis {
	f.T.Helper()
	d, err := f.ClaimAnalysis(f.At(at))
	f.OK(err)
	return d
}

func (f *fixture) noneDue(at time.Time) {
	f.T.Helper()
	_, err := f.ClaimAnalysis(f.At(at))
	f.Is(err, store.ErrNotFound)
}

// used is one completion of a thousand tokens in and a hundred out.
var used = aftercall.Completion{Generation: store.Generation{Outcome: "committed", InTokens: 1000, OutTokens: 100, Source: "provider", Engine: "mind"},
	Cached: 400, Model: "mind-1", Costs: billing.Costs{billing.TokensIn: billing.USD}}

// TestAnalysis: the end of an answered call asks for it where the agent, as it was in the
// call, wanted it; one claimant at a time has it; it is kept, charged and told once.
func TestAnalysis(t *testing.T) {
	f := setup(t)
	rounds := 0
	ledgertest.Enqueue(f.DB, store.AnalyzeCalls, func(context.Context, pgx.Tx, string, string) error { rounds++; return nil })
	acc := f.NewAccount(100 * usd)
	h := f.webhooks()
	hook, _ := f.hooked(h, acc, store.CallAnalyzed, store.CallSummarized)
	agent := f.analyst(acc, wantsBoth)
	s := f.withAgent(acc, agent)
	// The agent is changed while the call lasts, and deleted soon.
	changed := *agent
	changed.Settings, changed.Language = json.RawMessage(`{}`), "en"
	_, err := f.UpdateAgent(f.Context(), acc, changed)
	f.OK(err)
	f.OK(history.New(f.DB).SaveConversation(f.Context(), acc, s.ID, history.Conversation{Transcript: []history.TranscriptLine{{Role: "user", Text: "Friday, please."}}}))
	f.noneDue(t0) // it lasts
	_, err = f.AnalysisOf(f.Context(), acc, s.ID)
	f.Is(err, store.ErrNotFound)
	spent := billing.Usage{billing.AgentTime: 60_000, billing.LineTime: 60_000}
	for range 2 {
		_, err = f.CloseSession(f.Context(), s, ledger.Closing{Reason: "user_hangup", StartedAt: t0, Usage: spent,
			Uses: []store.EngineUse{{Stage: "asr", Engine: "ears", Unit: billing.OpenSeconds, Quantity: 60_000, Source: "counted"}}})
		f.OK(err)
	}
	f.OK(f.DeleteAgent(f.Context(), acc, agent.ID, 0))
	if a, err := f.AnalysisOf(f.Context(), acc, s.ID); err != nil || a.State != aftercall.AnalysisWaiting || rounds != 1 {
		t.Errorf("after the end %+v, %v, %d rounds", a, err, rounds)
	}

	d := f.claimed(t0)
	if c, err := history.New(f.DB).Call(f.Context(), d.Account, d.Session); err != nil || len(c.Transcript) != 1 {
		t.Errorf("%+v, %v", c, err)
	}
	if d.Session != s.ID || d.Account != acc || d.Try != 1 || d.Language != "es" || d.Summary != nil {
		t.Errorf("%+v", d)
	}
	f.noneDue(t0)
	// Whoever had it died: another gets it, and then both say what came of it.
	later := t0.Add(aftercall.AnalysisLease)
	again := f.claimed(later)
	if again.Try != 2 {
		t.Errorf("%+v", again)
	}
	before := f.Show(acc).Balance()
	text := "They\x00 come on Friday."
	result := aftercall.Analysis{State: aftercall.AnalysisDone, Summary: &text, Data: json.RawMessage(`{"day":"Fri\u0000day"}`)}
	var saved atomic.Int64
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() {
			ok, err := f.SaveAnalysis(f.At(later), []*aftercall.DueAnalysis{d, again}[i%2], result, []aftercall.Completion{used, used})
			if err != nil {
				t.Error(err)
			}
			if ok {
				saved.Add(1)
			}
		})
	}
	all.Wait()
	cost := price(t, inboundES, billing.Usage{billing.SummaryIn: 2000, billing.SummaryOut: 200})
	if got := before - f.Show(acc).Balance(); saved.Load() != 1 || got != cost {
		t.Errorf("saved %d times for %s, want %s", saved.Load(), got, cost)
	}
	a, err := f.AnalysisOf(f.Context(), acc, s.ID)
	f.OK(err)
	if a.State != aftercall.AnalysisDone || *a.Summary != "They come on Friday." || string(a.Data) != `{"day":"Fri\u0000day"}` || !a.DoneAt.Equal(later) {
		t.Errorf("%+v", a)
	}
	call, err := history.New(f.DB).Call(f.Context(), acc, s.ID)
	f.OK(err)
	spent[billing.SummaryIn], spent[billing.SummaryOut] = 2000, 200
	if want := price(t, inboundES, spent); call.Cost != want || len(call.Generations) != 2 || call.Generations[1].Kind != "summary" || call.Generations[1].Engine != "mind" {
		t.Errorf("%s, want %s; %+v", call.Cost, want, call.Generations)
	}
	// A node that was taken for dead stores the conversation late: what came after the call stays.
	late := history.Conversation{Generations: []store.Generation{{Gen: 1, Turn: 1, Kind: "reply", Outcome: "committed", Source: "counted"}}}
	for range 2 {
		f.OK(history.New(f.DB).SaveConversation(f.Context(), acc, s.ID, late))
	}
	call, err = history.New(f.DB).Call(f.Context(), acc, s.ID)
	f.OK(err)
	var kinds []string
	for _, g := range call.Generations {
		kinds = append(kinds, g.Kind)
	}
	if want := []string{"reply", "summary", "summary"}; !slices.Equal(kinds, want) {
		t.Errorf("%q, want %q", kinds, want)
	}
	// Beside what the engines of the call had used stands what the two answers took, once.
	var uses []string
	for _, u := range call.Uses {
		uses = append(uses, fmt.Sprintf("%s %s %s %s %d", u.Stage, u.Engine, u.Model, u.Unit, u.Quantity))
	}
	answer := []string{"llm mind mind-1 tokens_in 600", "llm mind mind-1 tokens_in_cached 400", "llm mind mind-1 tokens_out 100"}
	if want := slices.Concat([]string{"asr ears  open_seconds 60000"}, answer, answer); !slices.Equal(uses, want) {
		t.Errorf("%q, want %q", uses, want)
	}
	if told := f.told(h, acc, hook.ID); !slices.Equal(told, []string{store.CallAnalyzed}) {
		t.Errorf("told %v", told)
	}
	f.noneDue(t0.Add(24 * time.Hour))
	f.Verified()
}

// TestNothingToAnalyze: calls that nobody answered, without an agent or of one that wants
// nothing.
func TestNothingToAnalyze(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(100 * usd)
	wants := f.analyst(acc, wantsBoth)
	missed := f.withAgent(acc, wants)
	_, err := f.CloseSession(f.Context(), missed, ledger.Closing{Reason: "no_answer"})
	f.OK(err)
	for _, settings := range []string{`{}`, `{"analysis": {}}`, `{"analysis": {"summary": false, "summary_prompt": ""}}`, `{"analysis": 7}`, `{"analysis": null}`} {
		f.talked(acc, f.analyst(acc, settings))
	}
	f.CloseWith(f.Start(acc, web), billing.Usage{billing.AgentTime: 1000})
	f.CloseWith(f.Start(acc, billing.Terms{Kind: billing.TTS}), billing.Usage{billing.TTSChars: 10})
	f.noneDue(t0.Add(time.Hour))
	f.talked(acc, wants)
	f.claimed(t0)
}

// TestAnalysisIsTriedAgain, with waits that grow, and not for ever; a summary that was
// made stays, and is charged, once.
func TestAnalysisIsTriedAgain(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(100 * usd)
	s := f.talked(acc, f.analyst(acc, wantsBoth))
	before, now := f.Show(acc).Balance(), t0
	d := f.claimed(now)
	text := "Friday."
	for range 2 { // the second is whoever was slow
		f.OK(f.AnalysisLater(f.At(now), d, &text, []aftercall.Completion{used}))
	}
	f.noneDue(now.Add(4 * time.Second))
	d = f.claimed(now.Add(5 * time.Second))
	if d.Try != 2 || d.Summary == nil || *d.Summary != text {
		t.Errorf("%+v", d)
	}
	for try := 2; try <= 7; try++ {
		f.OK(f.AnalysisLater(f.At(now), d, d.Summary, nil))
		now = now.Add(10 * time.Minute)
		d = f.claimed(now)
	}
	if d.Try != 8 {
		t.Errorf("%+v", d)
	}
	f.OK(f.AnalysisLater(f.At(now), d, d.Summary, nil))
	f.noneDue(now.Add(24 * time.Hour))
	a, err := f.AnalysisOf(f.Context(), acc, s.ID)
	f.OK(err)
	if a.State != aftercall.AnalysisFailed || a.Reason != aftercall.AnalysisEngine || *a.Summary != text || a.Data != nil {
		t.Errorf("%+v", a)
	}
	cost := price(t, inboundES, billing.Usage{billing.SummaryIn: 1000, billing.SummaryOut: 100})
	if got := before - f.Show(acc).Balance(); got != cost {
		t.Errorf("charged %s, want %s", got, cost)
	}
	// Eight times somebody died of it.
	s = f.talked(acc, f.analyst(acc, wantsBoth))
	for range 8 {
		f.claimed(now)
		now = now.Add(time.Hour)
	}
	f.noneDue(now)
	if a, err := f.AnalysisOf(f.Context(), acc, s.ID); err != nil || a.State != aftercall.AnalysisFailed || a.Reason != aftercall.AnalysisEngine {
		t.Errorf("%+v, %v", a, err)
	}
	f.Verified()
}

// TestAnalysisOfARow: the summary is the row's, and nobody makes another.
func TestAnalysisOfARow(t *testing.T) {
	f := setup(t)
	asked := 0
	ledgertest.Enqueue(f.DB, store.SummarizeCall, func(context.Context, pgx.Tx, string, string) error { asked++; return nil })
	acc := f.NewAccount(100 * usd)
	agent := f.analyst(acc, wantsBoth)
	wish := f.wish(acc, 2, t0)
	for i := range wish.Rows {
		wish.Rows[i].Agent = agent.ID
	}
	id, err := f.CreateCampaign(f.Context(), wish, card, nil)
	f.OK(err)
	for _, r := range f.claimRows(f.Node, t0) {
		start := f.Request(acc, outboundES)
		start.Consent = &ledger.Consent{Key: r.Manner.Key, IP: r.Manner.IP}
		start.Row, start.To, start.Agent, start.AgentVersion = &r.RowClaim, r.To, agent.ID, agent.Version
		s, err := f.StartSession(f.Context(), start)
		f.OK(err)
		f.CloseWith(s, billing.Usage{billing.LineTime: 1000, billing.AgentTime: 1000})
	}
	text := "Friday."
	_, err = f.SaveAnalysis(f.Context(), f.claimed(t0), aftercall.Analysis{State: aftercall.AnalysisDone, Summary: &text}, []aftercall.Completion{used})
	f.OK(err)
	_, err = f.SaveAnalysis(f.Context(), f.claimed(t0), aftercall.Analysis{State: aftercall.AnalysisSkipped, Reason: aftercall.AnalysisBalance}, nil)
	f.OK(err)
	var summaries []string
	for _, r := range f.rows(acc, id).Rows {
		if r.Summary != nil {
			summaries = append(summaries, *r.Summary)
		}
	}
	if asked != 0 || !slices.Equal(summaries, []string{text}) {
		t.Errorf("%d summaries were asked for, the rows have %q", asked, summaries)
	}
	f.Verified()
}

// TestServedBy: which engines served is kept with the call and its receipt.
func TestServedBy(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(100 * usd)
	s := f.Start(acc, inboundES)
	by := store.ServedBy{ASR: []string{}, LLM: []string{"first", "second"}, TTS: []string{"voice"}}
	f.OK(history.New(f.DB).SaveConversation(f.Context(), acc, s.ID, history.Conversation{Engines: &by, Generations: []store.Generation{
		{Gen: 1, Kind: "reply", Outcome: "committed", Source: "counted", Engine: "second"}, {Gen: 2, Kind: "reply", Outcome: "failed", Source: "counted"}}}))
	c, err := history.New(f.DB).Call(f.Context(), acc, s.ID)
	f.OK(err)
	r, err := statement.ReadReceipt(f.Context(), f.DB, acc, s.ID)
	f.OK(err)
	for what, got := range map[string]*store.ServedBy{"call": c.Engines, "receipt": r.Engines} {
		if got == nil || len(got.ASR) != 0 || !slices.Equal(got.LLM, by.LLM) || !slices.Equal(got.TTS, by.TTS) {
			t.Errorf("the %s says %+v", what, got)
		}
	}
	if g := c.Generations; len(g) != 2 || g[0].Engine != "second" || g[1].Engine != "" {
		t.Errorf("%+v", g)
	}
	silent := f.Start(acc, billing.Terms{Kind: billing.TTS})
	if r, err := statement.ReadReceipt(f.Context(), f.DB, acc, silent.ID); err != nil || r.Engines != nil {
		t.Errorf("%+v, %v", r, err)
	}
}
