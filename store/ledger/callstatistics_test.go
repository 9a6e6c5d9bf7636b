package ledger_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"
	"parley/store"
	"parley/store/aftercall"
	"parley/store/history"
	"parley/store/ledger"
	"parley/store/storetest"
)

// spoke is what a call of these tests is: see fixture.spoke.
type spoke struct {
	account, agent string
	terms          billing.Terms
	at             time.Time // when it began, and was answered unless seconds is 0
	seconds        int
	reason         string
	waits          []int // the totals of its turns, in milliseconds
	engines        *store.ServedBy
}

// turnsOf are turns of those totals: endpointing is half of each, the model a quarter, the voice a tenth.
func turnsOf(waits []int) json.RawMessage {
	var turns []string
	for i, ms := range waits {
		turns = append(turns, fmt.Sprintf(`{"turn": %d, "generation": %d, "at_ms": 1000, "endpoint_ms": %d, "model_ms": %d, "voice_ms": %d, "total_ms": %d, "points": {"speech_end_ms": 100,
			"final_text_ms": -3, "first_token_ms": %d, "first_sentence_ms": %d, "first_audio_ms": %d, "first_packet_ms": %d}}`, i+1, i+1, ms/2, ms/4, ms/10, ms, 3*ms/4, 8*ms/10, 9*ms/10, ms))
	}
	return json.RawMessage("[" + strings.Join(turns, ",") + "]")
}

// spoke is a call that has ended.
func (f *fixture) spoke(c spoke) *ledger.Session {
	f.T.Helper()
	r := f.Request(c.account, c.terms)
	if c.agent != "" {
		r.Agent, r.AgentVersion = c.agent, 1
	}
	s, err := f.StartSession(f.At(c.at), r)
	f.OK(err)
	f.OK(history.New(f.DB).SaveConversation(f.At(c.at), c.account, s.ID, history.Conversation{Turns: turnsOf(c.waits), Engines: c.engines}))
	over := ledger.Closing{Reason: c.reason, EndedAt: c.at.Add(time.Duration(c.seconds)*time.Second + 900*time.Millisecond)}
	if c.seconds > 0 {
		over.StartedAt = c.at
		over.Usage = billing.Usage{billing.AgentTime: int64(c.seconds) * 1000}
	}
	_, err = f.CloseSession(f.At(over.EndedAt), s, over)
	f.OK(err)
	return s
}

func (f *fixture) statistics(account string, of history.StatisticsOf) *history.Statistics {
	f.T.Helper()
	st, err := history.New(f.DB).Statistics(f.Context(), account, of)
	f.OK(err)
	return st
}

// count counts all calls, and returns how many entries the line had.
func (f *fixture) count() (n int) {
	f.T.Helper()
	for countOf(f, "calls_to_count") > 0 { // the connection of one who was ended may count for a moment
		took, err := history.New(f.DB).CountCalls(f.Context())
		f.OK(err)
		n += took
	}
	return n
}

// same holds statistics to be those that are wanted.
func (f *fixture) same(when string, got, want *history.Statistics) {
	f.T.Helper()
	if !reflect.DeepEqual(got, want) {
		f.T.Errorf("%s:\n%+v\nwant\n%+v", when, got, want)
	}
}

// TestStatistics: what an account's calls come to is the same before they are counted, between and after it, with what they cost
// later and what is known of them late, and when what was said is deleted.
func TestStatistics(t *testing.T) {
	f := setup(t)
	h := history.New(f.DB)
	mine, theirs := f.NewAccount(100*usd), f.NewAccount(100*usd)
	ana := f.analyst(mine, wantsBoth)
	lola, day := f.NewAgent(mine).ID, 24*time.Hour
	by := &store.ServedBy{ASR: []string{"ears"}, LLM: []string{"mind"}, TTS: []string{"mouth", "spare"}}
	at := t0.Truncate(day)
	late := at.Add(day - time.Second) // its end is on the next day
	first := f.spoke(spoke{mine, ana.ID, inboundES, late, 61, "user_hangup", []int{400, 800, 1600}, by})
	f.spoke(spoke{mine, lola, outboundES, at.Add(day), 0, "no_answer", nil, nil})
	f.spoke(spoke{mine, lola, outboundES, at.Add(day), 30, "user_hangup", []int{2000}, &store.ServedBy{LLM: []string{"mind"}}})
	f.spoke(spoke{mine, "", web, at.Add(2 * day), 5, "agent_hangup", nil, nil})
	f.spoke(spoke{theirs, "", web, at.Add(day), 5, "failed", []int{9000}, by})
	live, err := f.startBy(mine, "", lola, inboundES, at.Add(2*day))
	f.OK(err)
	f.OK(h.SaveConversation(f.Context(), mine, live.ID, history.Conversation{Turns: turnsOf([]int{100})}))

	calls, err := h.Calls(f.Context(), mine, history.CallPage{State: history.EndedCalls})
	f.OK(err)
	costs := map[string]billing.Money{}
	var cost billing.Money
	for _, c := range calls {
		cost += c.Cost
		costs[c.OpenedAt.Format(time.DateOnly)] += c.Cost
		if c.Agent != nil {
			costs[*c.Agent] += c.Cost
		} else {
			costs[""] += c.Cost
		}
	}
	const d1, d2, d3 = "2026-03-01", "2026-03-02", "2026-03-03"
	want := &history.Statistics{
		Total: history.Figures{Calls: 4, Answered: 3, Seconds: 61 + 30 + 5, Cost: cost},
		Days: []history.FiguresOf{{Name: d1, Figures: history.Figures{Calls: 1, Answered: 1, Seconds: 61, Cost: costs[d1]}},
			{Name: d2, Figures: history.Figures{Calls: 2, Answered: 1, Seconds: 30, Cost: costs[d2]}}, {Name: d3, Figures: history.Figures{Calls: 1, Answered: 1, Seconds: 5, Cost: costs[d3]}}},
		Agents: []history.FiguresOf{{Name: lola, Figures: history.Figures{Calls: 2, Answered: 1, Seconds: 30, Cost: costs[lola]}},
			{Name: "", Figures: history.Figures{Calls: 1, Answered: 1, Seconds: 5, Cost: costs[""]}}, {Name: ana.ID, Figures: history.Figures{Calls: 1, Answered: 1, Seconds: 61, Cost: costs[ana.ID]}}},
	}
	got := f.statistics(mine, history.StatisticsOf{})
	for _, o := range got.Outcomes {
		want.Outcomes = append(want.Outcomes, history.FiguresOf{Name: o.Name, Figures: o.Figures})
	}
	if o := got.Outcomes; len(o) != 3 || o[0].Name != "user_hangup" || o[0].Calls != 2 || o[1].Name != "agent_hangup" || o[2].Name != "no_answer" || o[2].Answered != 0 {
		t.Errorf("outcomes: %+v", o)
	}
	wait := func(stage, engine string, turns, p50, p95 int64) history.WaitSum {
		return history.WaitSum{Wait: history.Wait{Stage: stage, Engine: engine}, Turns: turns, P50: p50, P95: p95}
	}
	want.Waits = []history.WaitSum{wait("total", "", 4, 815, 2014), wait("endpoint", "", 4, 415, 987), wait("asr", "", 1, 0, 0), wait("asr", "ears", 3, 0, 0),
		wait("llm", "mind", 4, 197, 494), wait("tts", "", 4, 82, 197)}
	// Two of three turns of the first day waited 800 ms or less; the second day had one.
	want.DayWaits = map[string]history.WaitSum{d1: wait("total", "", 3, 815, 1600), d2: wait("total", "", 1, 2014, 2014)}
	for day, w := range got.DayWaits {
		if at := want.DayWaits[day]; near(w.P50, at.P50) && near(w.P95, at.P95) {
			at.P50, at.P95 = w.P50, w.P95
			want.DayWaits[day] = at
		}
	}
	for i, w := range got.Waits { // what stands for a bucket is another test's
		if i < len(want.Waits) && near(w.P50, want.Waits[i].P50) && near(w.P95, want.Waits[i].P95) {
			want.Waits[i].P50, want.Waits[i].P95 = w.P50, w.P95
		}
	}
	f.same("before they are counted", got, want)

	_, err = f.Pool().Exec(f.Context(), "create table later as select * from calls_to_count where session_id <> $1", first.ID)
	f.OK(err)
	_, err = f.Pool().Exec(f.Context(), "delete from calls_to_count where session_id <> $1", first.ID)
	f.OK(err)
	if n := f.count(); n == 0 {
		t.Error("nothing was in line")
	}
	_, err = f.Pool().Exec(f.Context(), "insert into calls_to_count (session_id, account_id) select session_id, account_id from later")
	f.OK(err)
	f.same("with one counted", f.statistics(mine, history.StatisticsOf{}), want)
	f.count()
	if n := f.count(); n != 0 {
		t.Errorf("%d entries are left", n)
	}
	f.same("counted", f.statistics(mine, history.StatisticsOf{}), want)

	// What it costs later counts on its day.
	after := late.Add(2 * time.Minute)
	due := f.claimed(after)
	text := "They come on Friday."
	f.OK(f.AnalysisLater(f.At(after), due, &text, []aftercall.Completion{used}))
	c, err := h.Call(f.Context(), mine, first.ID)
	f.OK(err)
	more := c.Cost - costs[d1]
	if more <= 0 {
		t.Fatal("the analysis has cost nothing")
	}
	want.Total.Cost += more
	want.Days[0].Cost += more
	want.Agents[2].Cost += more
	want.Outcomes[0].Cost += more
	f.same("with a cost to count", f.statistics(mine, history.StatisticsOf{}), want)
	f.count()
	f.same("with a cost that is counted", f.statistics(mine, history.StatisticsOf{}), want)

	f.OK(h.ForgetCall(f.At(t0.Add(4*day)), mine, first.ID))
	f.count()
	f.same("with a call that is deleted", f.statistics(mine, history.StatisticsOf{}), want)
	if c, err = h.Call(f.Context(), mine, first.ID); err != nil || c.Wait == nil || *c.Wait != 800 {
		t.Errorf("half of its turns took %v, %v", c.Wait, err)
	}

	for name, x := range map[string]struct {
		of                   history.StatisticsOf
		calls, turns, stages int
	}{
		"a day":            {history.StatisticsOf{From: at.Add(day), To: at.Add(2 * day)}, 2, 1, 5},
		"until a day":      {history.StatisticsOf{To: at.Add(day)}, 1, 3, 5},
		"from a day":       {history.StatisticsOf{From: at.Add(2 * day)}, 1, 0, 0},
		"an agent":         {history.StatisticsOf{Agent: lola}, 2, 1, 5},
		"a direction":      {history.StatisticsOf{Direction: billing.Inbound}, 1, 3, 5},
		"another's agent":  {history.StatisticsOf{Agent: f.NewAgent(theirs).ID}, 0, 0, 0},
		"nothing together": {history.StatisticsOf{Agent: ana.ID, Direction: billing.Outbound}, 0, 0, 0},
	} {
		st := f.statistics(mine, x.of)
		turns := 0
		if len(st.Waits) > 0 {
			turns = int(st.Waits[0].Turns)
		}
		if int(st.Total.Calls) != x.calls || turns != x.turns || len(st.Waits) != x.stages {
			t.Errorf("%s: %+v", name, st)
		}
	}
	if st := f.statistics(theirs, history.StatisticsOf{}); st.Total.Calls != 1 || len(st.Days) != 1 || len(st.Waits) != 5 || st.Waits[0].Turns != 1 {
		t.Errorf("another account: %+v", st)
	}
	if st := f.statistics("acc_nobody", history.StatisticsOf{}); !reflect.DeepEqual(st, &history.Statistics{}) {
		t.Errorf("nobody: %+v", st)
	}
	f.Verified()
}

// near says that two latencies are a bucket's width apart at most.
func near(a, b int64) bool { return a*100 <= b*105+100 && b*100 <= a*105+100 }

// TestConversationsThatComeLate: a call that was closed for a node that was taken for dead is counted, and its turns when that
// node stores them after all, once.
func TestConversationsThatComeLate(t *testing.T) {
	f := setup(t)
	h := history.New(f.DB)
	acc := f.NewAccount(10 * usd)
	s := f.Start(acc, web)
	lost, err := f.CloseLost(f.At(t0.Add(time.Minute)), []ledger.Lost{{Account: acc, ID: s.ID}})
	f.OK(err)
	f.OK(lost[0].Err)
	f.count()
	if st := f.statistics(acc, history.StatisticsOf{}); st.Total != (history.Figures{Calls: 1}) || len(st.Waits) != 0 {
		t.Errorf("%+v", st)
	}
	for range 2 {
		f.OK(h.SaveConversation(f.At(t0.Add(time.Hour)), acc, s.ID, history.Conversation{Turns: turnsOf([]int{700, 900})}))
		for range 2 {
			if st := f.statistics(acc, history.StatisticsOf{}); st.Total != (history.Figures{Calls: 1}) || len(st.Waits) != 5 || st.Waits[0].Turns != 2 {
				t.Errorf("%+v", st)
			}
			f.count()
		}
	}
}

// TestCallsAreCountedOnce: by several nodes at a time, while calls end, cost more and are stored again; one that
// dies, or fails, has counted nothing.
func TestCallsAreCountedOnce(t *testing.T) {
	url := storetest.URL(t)
	f := prepare(t, storetest.Open(t, url+"&lock_timeout=20000"))
	accounts := []string{f.NewAccount(100 * usd), f.NewAccount(100 * usd)}
	f.spoke(spoke{accounts[0], "", web, t0, 5, "user_hangup", []int{500}, nil})
	exec := func(sql string) {
		t.Helper()
		_, err := f.Pool().Exec(f.Context(), sql, pgx.QueryExecModeSimpleProtocol)
		f.OK(err)
	}
	exec(`create function no() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$; create trigger no before insert on call_counts for each row execute function no()`)
	if _, err := history.New(f.DB).CountCalls(f.Context()); err == nil {
		t.Fatal("counted all the same")
	}
	if n := countOf(f, "call_sums") + countOf(f, "call_waits"); n != 0 {
		t.Errorf("a failure has left %d rows", n)
	}
	exec("drop trigger no on call_counts")

	ctx, stop := context.WithCancel(f.Context())
	var counters, callers sync.WaitGroup
	for range 3 {
		node := history.New(storetest.Open(t, url))
		counters.Go(func() {
			for ctx.Err() == nil {
				if _, err := node.CountCalls(ctx); err != nil && ctx.Err() == nil {
					t.Error(err)
				}
			}
		})
	}
	const each = 40
	for i, account := range accounts {
		callers.Go(func() {
			for n := range each {
				s := f.spoke(spoke{account, "", web, t0.AddDate(0, 0, n%3), 5, "user_hangup", []int{500 + i, 600}, nil})
				if err := history.New(f.DB).SaveConversation(f.Context(), account, s.ID, history.Conversation{Turns: turnsOf([]int{500, 600})}); err != nil {
					t.Error(err)
				}
				if st, err := history.New(f.DB).Statistics(f.Context(), account, history.StatisticsOf{}); err != nil || st.Total.Calls != int64(n+1+(1-i)) || st.Waits[0].Turns != int64(2*(n+1)+(1-i)) {
					t.Errorf("after %d calls: %+v, %v", n+1, st, err)
				}
			}
		})
	}
	callers.Wait()
	stop()
	counters.Wait()
	f.count()
	for i, account := range accounts {
		calls := int64(each + 1 - i)
		if st := f.statistics(account, history.StatisticsOf{}); st.Total.Calls != calls || st.Total.Answered != calls || st.Total.Seconds != 5*calls ||
			st.Total.Cost != billing.Money(calls)*price(t, web, billing.Usage{billing.AgentTime: 5000}) {
			t.Errorf("%+v", st.Total)
		}
	}
	if n := countOf(f, "call_counts"); n != 2*each+1 {
		t.Errorf("%d calls are counted", n)
	}
}

func countOf(f *fixture, table string) (n int) {
	f.T.Helper()
	f.OK(f.Pool().QueryRow(f.Context(), "select count(*) from "+table).Scan(&n))
	return n
}

// TestCallsOfBeforeAreCounted: the migration puts them in line, but for those that last.
func TestCallsOfBeforeAreCounted(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(10 * usd)
	f.spoke(spoke{acc, "", web, t0, 5, "user_hangup", []int{500}, nil})
	f.Start(acc, web)
	_, err := f.Pool().Exec(f.Context(), "delete from calls_to_count")
	f.OK(err)
	if st := f.statistics(acc, history.StatisticsOf{}); st.Total.Calls != 0 {
		t.Fatalf("%+v", st)
	}
	text, err := os.ReadFile("../migrations/00078_calls_to_count.sql")
	f.OK(err)
	_, fill, _ := strings.Cut(string(text), "execute function count_call();")
	_, err = f.Pool().Exec(f.Context(), fill)
	f.OK(err)
	if n := countOf(f, "calls_to_count"); n != 1 {
		t.Errorf("%d are in line", n)
	}
	f.count()
	if st := f.statistics(acc, history.StatisticsOf{}); st.Total.Calls != 1 || st.Waits[0].Turns != 1 {
		t.Errorf("%+v", st)
	}
}

// TestOddTurnsHoldUpNothing: what is stored of a call's turns is the conversation's business, and may be anything.
func TestOddTurnsHoldUpNothing(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(10 * usd)
	for _, turns := range []string{`{}`, `7`, `[1, "x"]`, `[{"total_ms": "soon"}]`, `[{"total_ms": 1e99}]`, `[{}]`, `[{"total_ms": -5}]`} {
		s := f.Start(acc, web)
		f.OK(history.New(f.DB).SaveConversation(f.Context(), acc, s.ID, history.Conversation{Turns: json.RawMessage(turns)}))
		f.CloseWith(s, billing.Usage{billing.AgentTime: 1000})
	}
	for range 2 {
		if st := f.statistics(acc, history.StatisticsOf{}); st.Total.Calls != 7 || len(st.Waits) != 1 || st.Waits[0].Turns != 1 || st.Waits[0].P95 != 0 {
			t.Errorf("%+v", st)
		}
		f.count()
	}
}
