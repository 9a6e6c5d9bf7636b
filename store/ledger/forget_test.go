package ledger_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"
	"parley/media/quality"
	"parley/store"
	"parley/store/aftercall"
	"parley/store/history"
	"parley/store/ledger"
	"parley/store/storetest"
)

// word is said in the calls of these tests, wherever something is kept.
const word = "rhubarb"

// said stores a conversation with the word in it.
func (f *fixture) said(account, call string) {
	f.t.Helper()
	line := history.TranscriptLine{Role: "user", Text: "I like " + word, AtMS: 10, Words: []history.SpokenWord{{Text: word, StartMS: 1, EndMS: 2}}}
	f.ok(history.New(f.DB).SaveConversation(f.ctx(), account, call, history.Conversation{Transcript: []history.TranscriptLine{line}, Turns: []byte(`[{"turn": 1}]`),
		Log:    &history.CallLog{At: t0, Status: "connected", Events: []history.CallEvent{{At: t0, Line: &line}}},
		Replay: []byte("a replay with " + word), Functions: []history.FunctionCall{{ID: "call_1_1", Name: "order", Arguments: word}}}))
	f.ok(history.New(f.DB).SaveWire(f.ctx(), account, call, history.Wire{Quality: &quality.Report{MOS: 4}, Dropped: 1,
		SIP: []history.SIPMessage{{At: t0, Text: "INVITE sip:1@x SIP/2.0\r\nFrom: \"" + word + "\" <sip:2@x>\r\n\r\n"}}}))
}

// tablesWith names the tables of a database in which the word is.
func (f *fixture) tablesWith(db *pgx.Conn) (found []string) {
	f.t.Helper()
	rows, err := db.Query(f.ctx(), "select table_name::text from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE' order by 1")
	f.ok(err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	f.ok(err)
	for _, name := range tables {
		var n int
		f.ok(db.QueryRow(f.ctx(), `select count(*) from "`+name+`" x where x::text like '%'||$1::text||'%'
			or x::text like '%'||encode(convert_to($1, 'UTF8'), 'hex')||'%'`, word).Scan(&n)) // bytes are shown in hexadecimal
		if n > 0 {
			found = append(found, name)
		}
	}
	return found
}

// TestForgetCall: after it no table of the database holds a word of the call, whoever was
// about to write one; the call, its cost and its times stay.
func TestForgetCall(t *testing.T) {
	url := storetest.URL(t)
	f := prepare(t, storetest.Open(t, url))
	conn, err := pgx.Connect(f.ctx(), url)
	f.ok(err)
	defer conn.Close(f.ctx())
	acc := f.account(10 * usd)
	agent := f.analyst(acc, wantsBoth)
	used := billing.Usage{billing.LineTime: 30_000, billing.AgentTime: 30_000}

	// One of a batch, with a summary, and one with an analysis and a note that waits.
	f.batch(acc, 1, t0)
	row, err := f.dialRow(f.node, f.claimRows(f.node, t0)[0], t0)
	f.ok(err)
	analyzed := f.withAgent(acc, agent)
	f.noted(analyzed)
	for _, s := range []*ledger.Session{row, analyzed} {
		f.said(acc, s.ID)
		f.ok(history.New(f.DB).BeginRecording(f.ctx(), s.ID, "node"))
		f.closeWith(s, used)
	}
	_, err = conn.Exec(f.ctx(), "update calls set headers = jsonb_build_object('X-Likes', $1::text), origin = jsonb_build_object('diverted_by', $1::text)", word)
	f.ok(err)
	_, err = conn.Exec(f.ctx(), "update campaign_rows set headers = jsonb_build_object('X-Likes', $1::text)", word)
	f.ok(err)
	text := "They like " + word
	summary := aftercall.Completion{Generation: store.Generation{Outcome: "committed", InTokens: 10, OutTokens: 1, Source: "provider"}}
	_, err = f.SaveSummary(f.ctx(), acc, row.ID, text, summary)
	f.ok(err)
	d := f.claimed(t0)
	result := aftercall.Analysis{State: aftercall.AnalysisDone, Summary: &text, Data: json.RawMessage(`{"day": "` + word + `"}`)}
	_, err = f.SaveAnalysis(f.ctx(), d, result, nil)
	f.ok(err)
	if got := f.tablesWith(conn); !slices.Equal(got, []string{"call_analyses", "call_functions", "call_logs", "call_replays", "call_wire", "call_words", "calls", "campaign_rows"}) {
		t.Fatalf("the word is in %v", got)
	}

	for _, s := range []*ledger.Session{row, analyzed} {
		f.ok(history.New(f.DB).Keep(f.ctx(), acc, s.ID, func(k *history.Kept) error { k.Note = &text; return nil }))
		before, err := history.New(f.DB).Call(f.ctx(), acc, s.ID)
		f.ok(err)
		f.ok(history.New(f.DB).ForgetCall(f.at(t0.Add(time.Minute)), acc, s.ID))
		f.ok(history.New(f.DB).ForgetCall(f.at(t0.Add(time.Hour)), acc, s.ID))
		f.said(acc, s.ID) // a node that is late
		after, err := history.New(f.DB).Call(f.ctx(), acc, s.ID)
		f.ok(err)
		if w, err := history.New(f.DB).Wire(f.ctx(), acc, s.ID); err != nil || len(w.SIP) != 0 || w.Dropped != 0 || w.Quality == nil || w.Quality.MOS != 4 {
			t.Errorf("of its wire there is %+v, %v", w, err)
		}
		if len(after.Transcript) != 0 || after.DeletedAt == nil || !after.DeletedAt.Equal(t0.Add(time.Minute)) || after.Cost != before.Cost ||
			after.To != before.To || string(after.Turns) != string(before.Turns) {
			t.Errorf("%+v", after)
		}
		if r, err := history.New(f.DB).Recording(f.ctx(), acc, s.ID); err != nil || r.State != history.RecordingDeleted || r.DeletedBy != "request" {
			t.Errorf("its recording is %+v, %v", r, err)
		}
	}
	ok, err := f.SaveSummary(f.ctx(), acc, row.ID, text, summary)
	f.ok(err)
	again, err := f.SaveAnalysis(f.ctx(), d, result, nil)
	f.ok(err)
	if got := f.tablesWith(conn); ok || again || len(got) != 0 {
		t.Errorf("the word is in %v; a late summary %v, analysis %v", got, ok, again)
	}
	if a, err := f.AnalysisOf(f.ctx(), acc, analyzed.ID); err != nil || a.State != aftercall.AnalysisSkipped || a.Reason != store.AnalysisDeleted {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := f.ClaimCRMNote(f.at(t0.Add(24 * time.Hour))); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the note: %v", err)
	}
	f.verified()
}

// TestForgetLiveCall: of a call that lasts nothing is kept, nor is it analyzed.
func TestForgetLiveCall(t *testing.T) {
	f := setup(t)
	acc := f.account(10 * usd)
	s := f.withAgent(acc, f.analyst(acc, wantsBoth))
	f.ok(history.New(f.DB).ForgetCall(f.ctx(), acc, s.ID))
	f.said(acc, s.ID)
	f.closeWith(s, billing.Usage{billing.AgentTime: 60_000})
	f.noneDue(t0)
	c, err := history.New(f.DB).Call(f.ctx(), acc, s.ID)
	f.ok(err)
	log, err := history.New(f.DB).CallLog(f.ctx(), acc, s.ID)
	f.ok(err)
	if len(c.Transcript) != 0 || len(log.Events) != 0 {
		t.Errorf("%+v, %+v", c, log)
	}
}

// TestExpireCalls: accounts that keep conversations for some days lose those that are
// older; others keep theirs.
func TestExpireCalls(t *testing.T) {
	f := setup(t)
	three, none, zero := 3, -1, 0
	forgets, keeps := f.account(10*usd), f.account(10*usd)
	f.is(f.ChangeAccount(f.ctx(), forgets, ledger.AccountChange{ConversationDays: &none}), store.ErrInvalid)
	f.ok(f.ChangeAccount(f.ctx(), forgets, ledger.AccountChange{ConversationDays: &three}))
	if a := f.show(forgets); a.ConversationDays == nil || *a.ConversationDays != 3 {
		t.Errorf("%+v", a)
	}
	var old []*ledger.Session
	for _, acc := range []string{forgets, keeps} {
		s := f.start(acc, web)
		f.said(acc, s.ID)
		f.closeWith(s, billing.Usage{billing.AgentTime: 60_000})
		old = append(old, s)
	}
	live := f.start(forgets, web)
	f.said(forgets, live.ID)
	expired := func(after time.Duration, want int) {
		t.Helper()
		if n, err := history.New(f.DB).ExpireCalls(f.at(t0.Add(after))); n != want || err != nil {
			t.Errorf("after %v: %d, %v, want %d", after, n, err, want)
		}
	}
	expired(71*time.Hour, 0)
	expired(72*time.Hour, 1)
	expired(96*time.Hour, 0)
	for s, words := range map[*ledger.Session]int{old[0]: 0, old[1]: 1, live: 1} {
		if c, err := history.New(f.DB).Call(f.ctx(), s.Account, s.ID); err != nil || len(c.Transcript) != words {
			t.Errorf("%+v, %v, want %d lines", c, err, words)
		}
	}
	f.ok(f.ChangeAccount(f.ctx(), forgets, ledger.AccountChange{ConversationDays: &zero}))
	f.closeWith(live, billing.Usage{billing.AgentTime: 60_000})
	expired(24*365*time.Hour, 0)
}
