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
	f.T.Helper()
	line := history.TranscriptLine{Role: "user", Text: "I like " + word, AtMS: 10, Words: []history.SpokenWord{{Text: word, StartMS: 1, EndMS: 2}}}
	f.OK(history.New(f.DB).SaveConversation(f.Context(), account, call, history.Conversation{Transcript: []history.TranscriptLine{line}, Turns: []byte(`[{"turn": 1}]`),
		Log:    &history.CallLog{At: t0, Status: "connected", Events: []history.CallEvent{{At: t0, Line: &line}}},
		Replay: []byte("a replay with " + word), Functions: []history.FunctionCall{{ID: "call_1_1", Name: "order", Arguments: word}}}))
	f.OK(history.New(f.DB).SaveWire(f.Context(), account, call, history.Wire{Quality: &quality.Report{MOS: 4}, Dropped: 1,
		SIP: []history.SIPMessage{{At: t0, Text: "INVITE sip:1@x SIP/2.0\r\nFrom: \"" + word + "\" <sip:2@x>\r\n\r\n"}}}))
}

// tablesWith names the tables of a database in which the word is.
func (f *fixture) tablesWith(db *pgx.Conn) (found []string) {
	f.T.Helper()
	rows, err := db.Query(f.Context(), "select table_name::text from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE' order by 1")
	f.OK(err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	f.OK(err)
	for _, name := range tables {
		var n int
		f.OK(db.QueryRow(f.Context(), `select count(*) from "`+name+`" x where x::text like '%'||$1::text||'%'
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
	conn, err := pgx.Connect(f.Context(), url)
	f.OK(err)
	defer conn.Close(f.Context())
	acc := f.NewAccount(10 * usd)
	agent := f.analyst(acc, wantsBoth)
	used := billing.Usage{billing.LineTime: 30_000, billing.AgentTime: 30_000}

	// One of a batch, with a summary, and one with an analysis and a note that waits.
	f.batch(acc, 1, t0)
	row, err := f.dialRow(f.Node, f.claimRows(f.Node, t0)[0], t0)
	f.OK(err)
	analyzed := f.withAgent(acc, agent)
	f.noted(analyzed)
	for _, s := range []*ledger.Session{row, analyzed} {
		f.said(acc, s.ID)
		f.OK(history.New(f.DB).BeginRecording(f.Context(), s.ID, "node"))
		f.CloseWith(s, used)
	}
	_, err = conn.Exec(f.Context(), "update calls set headers = jsonb_build_object('X-Likes', $1::text), origin = jsonb_build_object('diverted_by', $1::text)", word)
	f.OK(err)
	_, err = conn.Exec(f.Context(), "update campaign_rows set headers = jsonb_build_object('X-Likes', $1::text)", word)
	f.OK(err)
	text := "They like " + word
	summary := aftercall.Completion{Generation: store.Generation{Outcome: "committed", InTokens: 10, OutTokens: 1, Source: "provider"}}
	_, err = f.SaveSummary(f.Context(), acc, row.ID, text, summary)
	f.OK(err)
	d := f.claimed(t0)
	result := aftercall.Analysis{State: aftercall.AnalysisDone, Summary: &text, Data: json.RawMessage(`{"day": "` + word + `"}`)}
	_, err = f.SaveAnalysis(f.Context(), d, result, nil)
	f.OK(err)
	if got := f.tablesWith(conn); !slices.Equal(got, []string{"call_analyses", "call_functions", "call_logs", "call_replays", "call_wire", "call_words", "calls", "campaign_rows"}) {
		t.Fatalf("the word is in %v", got)
	}

	for _, s := range []*ledger.Session{row, analyzed} {
		f.OK(history.New(f.DB).Keep(f.Context(), acc, s.ID, func(k *history.Kept) error { k.Note = &text; return nil }))
		before, err := history.New(f.DB).Call(f.Context(), acc, s.ID)
		f.OK(err)
		f.OK(history.New(f.DB).ForgetCall(f.At(t0.Add(time.Minute)), acc, s.ID))
		f.OK(history.New(f.DB).ForgetCall(f.At(t0.Add(time.Hour)), acc, s.ID))
		f.said(acc, s.ID) // a node that is late
		after, err := history.New(f.DB).Call(f.Context(), acc, s.ID)
		f.OK(err)
		if w, err := history.New(f.DB).Wire(f.Context(), acc, s.ID); err != nil || len(w.SIP) != 0 || w.Dropped != 0 || w.Quality == nil || w.Quality.MOS != 4 {
			t.Errorf("of its wire there is %+v, %v", w, err)
		}
		if len(after.Transcript) != 0 || after.DeletedAt == nil || !after.DeletedAt.Equal(t0.Add(time.Minute)) || after.Cost != before.Cost ||
			after.To != before.To || string(after.Turns) != string(before.Turns) {
			t.Errorf("%+v", after)
		}
		if r, err := history.New(f.DB).Recording(f.Context(), acc, s.ID); err != nil || r.State != history.RecordingDeleted || r.DeletedBy != "request" {
			t.Errorf("its recording is %+v, %v", r, err)
		}
	}
	ok, err := f.SaveSummary(f.Context(), acc, row.ID, text, summary)
	f.OK(err)
	again, err := f.SaveAnalysis(f.Context(), d, result, nil)
	f.OK(err)
	if got := f.tablesWith(conn); ok || again || len(got) != 0 {
		t.Errorf("the word is in %v; a late summary %v, analysis %v", got, ok, again)
	}
	if a, err := f.AnalysisOf(f.Context(), acc, analyzed.ID); err != nil || a.State != aftercall.AnalysisSkipped || a.Reason != store.AnalysisDeleted {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := f.ClaimCRMNote(f.At(t0.Add(24 * time.Hour))); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the note: %v", err)
	}
	f.Verified()
}

// TestForgetLiveCall: of a call that lasts nothing is kept, nor is it analyzed.
func TestForgetLiveCall(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(10 * usd)
	s := f.withAgent(acc, f.analyst(acc, wantsBoth))
	f.OK(history.New(f.DB).ForgetCall(f.Context(), acc, s.ID))
	f.said(acc, s.ID)
	f.CloseWith(s, billing.Usage{billing.AgentTime: 60_000})
	f.noneDue(t0)
	c, err := history.New(f.DB).Call(f.Context(), acc, s.ID)
	f.OK(err)
	log, err := history.New(f.DB).CallLog(f.Context(), acc, s.ID)
	f.OK(err)
	if len(c.Transcript) != 0 || len(log.Events) != 0 {
		t.Errorf("%+v, %+v", c, log)
	}
}

// TestExpireCalls: accounts that keep conversations for some days lose those that are
// older; others keep theirs.
func TestExpireCalls(t *testing.T) {
	f := setup(t)
	three, none, zero := 3, -1, 0
	forgets, keeps := f.NewAccount(10*usd), f.NewAccount(10*usd)
	f.Is(f.ChangeAccount(f.Context(), forgets, ledger.AccountChange{ConversationDays: &none}), store.ErrInvalid)
	f.OK(f.ChangeAccount(f.Context(), forgets, ledger.AccountChange{ConversationDays: &three}))
	if a := f.Show(forgets); a.ConversationDays == nil || *a.ConversationDays != 3 {
		t.Errorf("%+v", a)
	}
	var old []*ledger.Session
	for _, acc := range []string{forgets, keeps} {
		s := f.Start(acc, web)
		f.said(acc, s.ID)
		f.CloseWith(s, billing.Usage{billing.AgentTime: 60_000})
		old = append(old, s)
	}
	live := f.Start(forgets, web)
	f.said(forgets, live.ID)
	expired := func(after time.Duration, want int) {
		t.Helper()
		if n, err := history.New(f.DB).ExpireCalls(f.At(t0.Add(after))); n != want || err != nil {
			t.Errorf("after %v: %d, %v, want %d", after, n, err, want)
		}
	}
	expired(71*time.Hour, 0)
	expired(72*time.Hour, 1)
	expired(96*time.Hour, 0)
	for s, words := range map[*ledger.Session]int{old[0]: 0, old[1]: 1, live: 1} {
		if c, err := history.New(f.DB).Call(f.Context(), s.Account, s.ID); err != nil || len(c.Transcript) != words {
			t.Errorf("%+v, %v, want %d lines", c, err, words)
		}
	}
	f.OK(f.ChangeAccount(f.Context(), forgets, ledger.AccountChange{ConversationDays: &zero}))
	f.CloseWith(live, billing.Usage{billing.AgentTime: 60_000})
	expired(24*365*time.Hour, 0)
}
