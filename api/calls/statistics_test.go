package calls_test

import (
	"strings"
	"testing"
	"time"

	"parley/api/calls"
	"parley/api/wire"
	"parley/billing"
	"parley/store"
	"parley/store/history"
	"parley/store/ledger"
	"parley/store/storetest"
)

// TestStatistics: of the days that are asked for, by what they are asked for, and of nobody else.
func TestStatistics(t *testing.T) {
	o := open(t)
	today := time.Now().UTC().Truncate(24 * time.Hour)
	call := func(who owner, at time.Time, reason string, seconds int64) *ledger.Session {
		t.Helper()
		s := o.start(who, inbound, at)
		o.OK(history.New(o.DB).SaveConversation(o.Context(), who.Account, s.ID, history.Conversation{Engines: &store.ServedBy{ASR: []string{}, LLM: []string{"haiku"}, TTS: []string{}},
			Turns: []byte(`[{"turn":1,"endpoint_ms":400,"model_ms":300,"voice_ms":100,"total_ms":900}]`)}))
		end := ledger.Closing{Reason: reason, EndedAt: at.Add(time.Duration(seconds) * time.Second)}
		if seconds > 0 {
			end.StartedAt, end.Usage = at, billing.Usage{billing.AgentTime: 1000 * seconds, billing.LineTime: 1000 * seconds}
		}
		_, err := o.Ledger.CloseSession(storetest.At(o.Context(), end.EndedAt), s, end)
		o.OK(err)
		return s
	}
	call(o.A, today.Add(time.Minute), "user_hangup", 61)
	yesterday := call(o.A, today.AddDate(0, 0, -1), "user_hangup", 4)
	call(o.A, today.AddDate(0, 0, -1), "no_answer", 0)
	call(o.A, today.AddDate(0, 0, -31), "failed", 2)
	call(o.B, today.Add(time.Minute), "busy", 0)
	o.start(o.A, inbound, today) // lasts
	var list struct{ Data []wire.CallSummary }
	o.Read(o.A, "/v1/calls?state=ended&from="+today.AddDate(0, 0, -1).Format(time.DateOnly), &list)
	cost := wire.USD(0)
	for _, c := range list.Data {
		if cost += c.Cost; c.Wait != nil {
			t.Error("a call says what half of its turns took, and was not counted")
		}
	}

	for _, when := range []string{"before they are counted", "then"} {
		var st wire.Statistics
		o.Read(o.A, "/v1/statistics", &st)
		if st.From != today.AddDate(0, 0, -29).Format(time.DateOnly) || st.To != today.AddDate(0, 0, 1).Format(time.DateOnly) {
			t.Errorf("%s: from %s to %s", when, st.From, st.To)
		}
		if x := st.Total; x.Calls != 3 || x.Answered != 2 || *x.AnswerRate != 0.6667 || x.Duration != 65 || x.Cost != cost || cost == 0 {
			t.Errorf("%s, all: %+v, %v", when, x, *x.AnswerRate)
		}
		if d := st.Days; len(d) != 2 || d[0].Day != today.AddDate(0, 0, -1).Format(time.DateOnly) || d[0].Calls != 2 || *d[0].AnswerRate != 0.5 || d[1].Calls != 1 || d[0].Cost+d[1].Cost != cost {
			t.Errorf("%s, days: %+v", when, d)
		}
		for _, d := range st.Days {
			if d.P50 == nil || *d.P50 < 860 || *d.P50 > 940 || d.P95 == nil || *d.P95 != *d.P50 {
				t.Errorf("%s, on %s turns waited %v and %v ms", when, d.Day, d.P50, d.P95)
			}
		}
		if a := st.Agents; len(a) != 1 || *a[0].AgentID != o.A.Agent || a[0].Calls != 3 {
			t.Errorf("%s, agents: %+v", when, a)
		}
		if e := st.Outcomes; len(e) != 2 || e[0] != (wire.OutcomeFigures{EndReason: "user_hangup", Calls: 2}) || e[1].EndReason != "no_answer" {
			t.Errorf("%s, outcomes: %+v", when, e)
		}
		var stages []string
		for _, w := range st.Stages {
			engine := "-"
			if w.Engine != nil {
				engine = *w.Engine
			}
			stages = append(stages, w.Stage+" "+engine)
			if w.Turns != 3 || w.P50 < 280 || w.P95 > 950 || w.P50 != w.P95 {
				t.Errorf("%s, %s: %+v", when, w.Stage, w)
			}
		}
		if got := strings.Join(stages, ", "); got != "total -, endpoint -, llm haiku" {
			t.Errorf("%s, stages: %s", when, got)
		}
		_, err := history.New(o.DB).CountCalls(o.Context())
		o.OK(err)
	}
	var one wire.CallDetail
	if o.Read(o.A, "/v1/calls/"+yesterday.ID, &one); one.Wait == nil || *one.Wait != 900 {
		t.Errorf("half of a call's turns took %v", one.Wait)
	}
	if _, file := o.get(o.A, "/v1/calls.csv"); !strings.Contains(file, ",mos,wait_p50_ms,") || !strings.Contains(file, ",900,") {
		t.Errorf("the file has not what half of a call's turns took:\n%s", file)
	}
	c, err := history.New(o.DB).Call(o.Context(), o.A.Account, yesterday.ID)
	o.OK(err)
	if told, err := calls.Over(c); err != nil || c.Wait == nil || told.Wait != nil {
		t.Errorf("an event says more when it is sent again: %+v, %v", told, err)
	}

	from := "?from=" + today.AddDate(0, 0, -31).Format(time.DateOnly)
	for query, calls := range map[string]int64{from: 4, from + "&to=" + today.Format(time.DateOnly): 3, "?direction=web": 0, "?direction=inbound": 3,
		"?agent_id=" + o.A.Agent: 3, "?agent_id=" + o.B.Agent: 0, "?from=2001-01-01&to=2002-02-01": 0} {
		var st wire.Statistics
		o.Read(o.A, "/v1/statistics"+query, &st)
		if st.Total.Calls != calls || (st.Total.AnswerRate == nil) != (calls == 0) {
			t.Errorf("%s: %+v", query, st)
		}
	}
	for query, want := range map[string][2]int{"group_by=day": {2, 0}, "group_by=agent": {0, 1}, "group_by=day,agent": {2, 1}} {
		var st wire.Statistics
		o.Read(o.A, "/v1/statistics?"+query, &st)
		if len(st.Days) != want[0] || len(st.Agents) != want[1] || len(st.Outcomes) != 2 {
			t.Errorf("%s: %+v", query, st)
		}
	}
	for _, query := range []string{"from=x", "from=2026-03-01T00:00:00Z", "from=2001-01-01", "to=2001-01-01&from=2001-01-01", "from=2001-01-01&to=2002-02-06", "direction=up",
		"group_by=hour", "agent_id=%00", "agent_id=" + strings.Repeat("a", 101)} {
		if status, text := o.get(o.A, "/v1/statistics?"+query); status != 400 {
			t.Errorf("%s: %d %s", query, status, text)
		}
	}
}
