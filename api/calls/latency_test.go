package calls_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/api/wire"
	"parley/store"
	"parley/store/history"
	"parley/store/ledger"
	"parley/store/storetest"
)

// spoken is a call that has turns of those totals, its stages shares of them.
func (o *line) spoken(who owner, at time.Time, totals ...int) {
	o.Helper()
	s := o.start(who, inbound, at)
	var turns []map[string]int
	for i, ms := range totals {
		turns = append(turns, map[string]int{"turn": i + 1, "generation": i + 1, "at_ms": 1000 * i, "endpoint_ms": ms / 2, "model_ms": ms / 4, "voice_ms": ms / 4, "total_ms": ms})
	}
	text, err := json.Marshal(turns)
	o.OK(err)
	if turns == nil {
		text = []byte("[]")
	}
	o.OK(history.New(o.DB).SaveConversation(o.Context(), who.Account, s.ID, history.Conversation{Turns: text}))
	_, err = o.Ledger.CloseSession(storetest.At(o.Context(), at.Add(time.Minute)), s, ledger.Closing{Reason: "user_hangup"})
	o.OK(err)
}

// TestLatency: percentiles are values that occurred, of the calls asked for alone.
func TestLatency(t *testing.T) {
	o := open(t)
	day := began.Truncate(24 * time.Hour)
	var ten []int
	for i := range 10 {
		ten = append(ten, 400*(i+1))
	}
	o.spoken(o.A, day.Add(10*time.Hour), ten...)
	o.spoken(o.A, day.Add(10*time.Hour+time.Minute))
	o.spoken(o.A, day.Add(-14*time.Hour), 100, 100)
	o.spoken(o.B, day.Add(10*time.Hour), 9000)
	type span struct{ P50, P90, P95, P99 int }
	type group struct {
		Key          *string
		Calls, Turns int
		Endpoint     span `json:"endpoint_ms"`
		Model        span `json:"model_ms"`
		Voice        span `json:"voice_ms"`
		Total        span `json:"total_ms"`
	}
	var got struct {
		Data  []group
		Total *group
	}
	period := "from=" + day.AddDate(0, 0, -3).Format(time.DateOnly) + "&to=" + day.AddDate(0, 0, 2).Format(time.DateOnly)
	o.Read(o.A, "/v1/latency?"+period, &got)
	if len(got.Data) != 2 || got.Total == nil {
		t.Fatalf("%+v", got)
	}
	if g := got.Data[1]; *g.Key != day.Format(time.DateOnly) || g.Calls != 1 || g.Turns != 10 || g.Total != (span{2000, 3600, 4000, 4000}) || g.Voice != (span{500, 900, 1000, 1000}) {
		t.Errorf("the day: %+v", g)
	}
	if g := got.Data[0]; *g.Key != day.AddDate(0, 0, -1).Format(time.DateOnly) || g.Turns != 2 || g.Total != (span{100, 100, 100, 100}) {
		t.Errorf("the day before: %+v", g)
	}
	if g := got.Total; g.Key != nil || g.Calls != 2 || g.Turns != 12 || g.Total != (span{1600, 3600, 4000, 4000}) {
		t.Errorf("both: %+v", g)
	}
	o.Read(o.A, "/v1/latency?group_by=hour&"+period, &got)
	if len(got.Data) != 2 || *got.Data[1].Key != day.Format(time.DateOnly)+"T10:00:00Z" {
		t.Errorf("by the hour: %+v", got.Data)
	}
	o.Read(o.A, "/v1/latency?group_by=agent&agent_id="+o.A.Agent+"&"+period, &got)
	if len(got.Data) != 1 || *got.Data[0].Key != o.A.Agent || got.Data[0].Turns != 12 {
		t.Errorf("by agent: %+v", got.Data)
	}
	for _, query := range []string{"direction=web", "agent_id=" + o.B.Agent, "from=2001-01-01&to=2001-02-01"} {
		got.Data, got.Total = nil, nil
		o.Read(o.A, "/v1/latency?"+query, &got)
		if len(got.Data) != 0 || got.Total != nil {
			t.Errorf("%s: %+v", query, got)
		}
	}
	for _, query := range []string{"group_by=year", "from=x", "from=2001-01-01", "group_by=hour&from=2001-01-01&to=2001-03-01", "agent_id=%00", "direction=up"} {
		if status, text := o.get(o.A, "/v1/latency?"+query); status != 400 {
			t.Errorf("%s: %d %s", query, status, text)
		}
	}
}

// TestLatencyOfOddTurns: turns without a latency count as turns, and what is no turn holds up nothing; what is stored of a call later
// takes the place of that.
func TestLatencyOfOddTurns(t *testing.T) {
	o := open(t)
	day := began.Truncate(24 * time.Hour)
	s := o.start(o.A, inbound, day.Add(10*time.Hour))
	var got struct {
		Total *struct {
			Calls, Turns int
			Voice        struct{ P50 int }      `json:"voice_ms"`
			Total        struct{ P50, P99 int } `json:"total_ms"`
		}
	}
	at := "/v1/latency?from=" + day.AddDate(0, 0, -1).Format(time.DateOnly) + "&to=" + day.AddDate(0, 0, 2).Format(time.DateOnly)
	for _, x := range []struct {
		turns              string
		n, voice, p50, p99 int
	}{
		{`[5,{"total_ms":"soon"},{"total_ms":700},{"total_ms":99999999999,"voice_ms":-3}]`, 4, 0, 700, 1<<31 - 1},
		{`[{"turn":1,"voice_ms":80,"total_ms":300}]`, 1, 80, 300, 300},
	} {
		o.OK(history.New(o.DB).SaveConversation(o.Context(), o.A.Account, s.ID, history.Conversation{Turns: []byte(x.turns)}))
		got.Total = nil
		if o.Read(o.A, at, &got); got.Total == nil || got.Total.Calls != 1 || got.Total.Turns != x.n || got.Total.Voice.P50 != x.voice || got.Total.Total.P50 != x.p50 || got.Total.Total.P99 != x.p99 {
			t.Errorf("%s: %+v", x.turns, got.Total)
		}
	}
}

// TestLatencyPages: groups come in pages, each with the sum of all; the calls of no agent
// are a group without a name.
func TestLatencyPages(t *testing.T) {
	o := open(t)
	day := began.Truncate(24 * time.Hour)
	for i := range 5 {
		o.spoken(o.A, day.AddDate(0, 0, -i).Add(10*time.Hour), 100*(i+1), 100)
	}
	o.spoken(o.B, day.Add(10*time.Hour), 9000)
	s, err := o.Ledger.StartSession(storetest.At(t.Context(), day.Add(time.Hour)), ledger.Start{Node: o.node, Account: o.A.Account, Terms: inbound, Card: card})
	o.OK(err)
	o.OK(history.New(o.DB).SaveConversation(t.Context(), o.A.Account, s.ID, history.Conversation{Turns: []byte(`[{"turn":1,"endpoint_ms":1,"model_ms":1,"voice_ms":1,"total_ms":3}]`)}))
	type answer struct {
		Data []struct {
			Key   *string
			Turns int
		}
		Total *struct{ Turns int }
		More  bool    `json:"has_more"`
		Next  *string `json:"next_cursor"`
	}
	for by, groups := range map[string]int{"day": 5, "hour": 6, "agent": 2} {
		target := "/v1/latency?group_by=" + by + "&from=" + day.AddDate(0, 0, -6).Format(time.DateOnly) + "&to=" + day.AddDate(0, 0, 2).Format(time.DateOnly)
		var whole answer
		o.Read(o.A, target, &whole)
		if len(whole.Data) != groups || whole.More || whole.Next != nil || whole.Total.Turns != 11 {
			t.Errorf("by %s: %+v", by, whole)
		}
		for _, limit := range []int{1, 2, 4, groups} {
			var got answer
			n := 0
			for at := fmt.Sprintf("%s&limit=%d", target, limit); at != ""; {
				var page answer
				o.Read(o.A, at, &page)
				if len(page.Data) > limit || page.More != (page.Next != nil) || page.Total == nil || page.Total.Turns != 11 {
					t.Fatalf("%s: %+v", at, page)
				}
				got.Data = append(got.Data, page.Data...)
				at = ""
				if page.More {
					at = fmt.Sprintf("%s&limit=%d&cursor=%s", target, limit, *page.Next)
				}
				n++
			}
			if n != (groups+limit-1)/limit || !reflect.DeepEqual(got.Data, whole.Data) {
				t.Errorf("by %s in %d pages of %d: %+v, want %+v", by, n, limit, got.Data, whole.Data)
			}
		}
	}
}

// TestEngineLatency: percentiles of what turns waited for an engine, of the account's own calls that it served alone.
func TestEngineLatency(t *testing.T) {
	o := open(t)
	at := began
	served := func(who owner, at time.Time, by *store.ServedBy, turns string) {
		t.Helper()
		s := o.start(who, inbound, at)
		o.OK(history.New(o.DB).SaveConversation(t.Context(), who.Account, s.ID, history.Conversation{Turns: []byte(turns), Engines: by}))
		_, err := o.Ledger.CloseSession(storetest.At(t.Context(), at.Add(time.Minute)), s, ledger.Closing{Reason: "user_hangup"})
		o.OK(err)
	}
	turn := func(model, sentence, audio string) string {
		return fmt.Sprintf(`{"turn":1,"generation":1,"at_ms":1,"endpoint_ms":1,"model_ms":%s,"voice_ms":1,"total_ms":3,"points":{"speech_end_ms":1,"first_sentence_ms":%s,"first_audio_ms":%s}}`, model, sentence, audio)
	}
	var twenty []string
	for i := range 20 {
		twenty = append(twenty, turn(fmt.Sprint(100*(i+1)), "200", fmt.Sprint(200+10*(i+1))))
	}
	haiku := &store.ServedBy{LLM: []string{"haiku"}, TTS: []string{"sonic"}}
	served(o.A, at, haiku, "["+strings.Join(twenty, ",")+"]")
	served(o.A, at.Add(time.Minute), &store.ServedBy{LLM: []string{"haiku", "scripted"}, TTS: []string{"espeak"}}, "["+turn("9000", "200", "150")+","+turn("9000", "null", "150")+"]")
	served(o.A, at.Add(2*time.Minute), nil, "["+turn("9000", "1", "2")+"]")
	served(o.A, at.Add(3*time.Minute), &store.ServedBy{}, "["+turn("9000", "1", "2")+"]")
	served(o.A, at.AddDate(0, 0, -20), haiku, "["+turn("9000", "1", "9000")+"]")
	served(o.B, at, haiku, "["+turn("5", "1", "7")+"]")
	day := "from=" + at.Format(time.DateOnly) + "&to=" + at.AddDate(0, 0, 2).Format(time.DateOnly)
	for _, tt := range []struct {
		who  owner
		want []wire.EngineLatency
	}{
		{o.A, []wire.EngineLatency{{Stage: "llm", Engine: "haiku", Calls: 1, Turns: 20, P50: 1000, P95: 1900}, {Stage: "tts", Engine: "espeak", Calls: 1, Turns: 1},
			{Stage: "tts", Engine: "sonic", Calls: 1, Turns: 20, P50: 100, P95: 190}}},
		{o.B, []wire.EngineLatency{{Stage: "llm", Engine: "haiku", Calls: 1, Turns: 1, P50: 5, P95: 5}, {Stage: "tts", Engine: "sonic", Calls: 1, Turns: 1, P50: 6, P95: 6}}},
	} {
		var got struct{ Data []wire.EngineLatency }
		o.Read(tt.who, "/v1/latency/engines?"+day, &got)
		if !slices.Equal(got.Data, tt.want) {
			t.Errorf("%+v, want %+v", got.Data, tt.want)
		}
	}
	for query, want := range map[string]int{"from=2001-01-01&to=2001-02-01": 0, day + "&direction=web": 0, day + "&agent_id=" + o.B.Agent: 0, day + "&agent_id=" + o.A.Agent + "&direction=inbound": 3} {
		var got struct{ Data []wire.EngineLatency }
		o.Read(o.A, "/v1/latency/engines?"+query, &got)
		if got.Data == nil || len(got.Data) != want {
			t.Errorf("%s: %+v, want %d", query, got.Data, want)
		}
	}
	for _, query := range []string{"from=x", "from=2001-01-01", "direction=up"} {
		if status, text := o.get(o.A, "/v1/latency/engines?"+query); status != 400 {
			t.Errorf("%s: %d %s", query, status, text)
		}
	}
}

// TestCallsAsAFile: the file has what the list has, as it is filtered, and no formula.
func TestCallsAsAFile(t *testing.T) {
	o := open(t)
	o.spoken(o.B, began)
	for i := range 205 {
		o.spoken(o.A, began.Add(time.Duration(i)*time.Millisecond))
	}
	evil, err := o.Ledger.StartSession(storetest.At(t.Context(), began.Add(time.Minute)), ledger.Start{Node: o.node, Account: o.A.Account, Terms: inbound, Card: card, Agent: o.A.Agent,
		From: `+1+cmd|' /C calc'!A0`, To: "+34911234567"})
	o.OK(err)
	_, err = o.Ledger.CloseSession(storetest.At(t.Context(), began.Add(2*time.Minute)), evil, ledger.Closing{Reason: "failed", Detail: "media_timeout"})
	o.OK(err)
	o.OK(history.New(o.DB).Keep(t.Context(), o.A.Account, evil.ID, kept(map[string]string{"order": "42"})))
	rows := func(query string) [][]string {
		t.Helper()
		status, text := o.get(o.A, "/v1/calls.csv"+query)
		if status != 200 {
			t.Fatalf("%s: %d %s", query, status, text)
		}
		rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		o.OK(err)
		return rows
	}
	all := rows("")
	var page struct{ Data []seen }
	o.Read(o.A, "/v1/calls?limit=100", &page)
	if len(all) != 207 {
		t.Fatalf("%d rows", len(all))
	}
	for i, c := range page.Data {
		if all[i+1][0] != c.ID {
			t.Fatalf("row %d is %v, and in the list %s", i+1, all[i+1], c.ID)
		}
	}
	if oldest := rows("?sort=oldest"); len(oldest) != len(all) || oldest[1][0] != all[206][0] || oldest[206][0] != all[1][0] {
		t.Errorf("the oldest first: %v to %v of %d", oldest[1], oldest[len(oldest)-1], len(oldest))
	}
	cell := map[string]string{}
	for i, name := range all[0] {
		cell[name] = all[1][i]
	}
	if want := "'" + `+1+cmd|' /C calc'!A0`; cell["from"] != want || cell["to"] != "+34911234567" || cell["end_detail"] != "media_timeout" || cell["status"] != "ended" || cell["agent_id"] != o.A.Agent ||
		cell["metadata"] != `{"order":"42"}` {
		t.Errorf("the newest is %v", cell)
	}
	for query, want := range map[string]int{"?state=live": 0, "?state=ended": 206, "?end_reason=failed": 1, "?metadata[order]=42": 1, "?metadata[order]=43": 0, "?direction=web": 0, "?number=34911234567": 206, "?agent_id=" + o.B.Agent: 0,
		"?from=" + began.Add(time.Second).Format(time.RFC3339): 1} {
		if got := len(rows(query)) - 1; got != want {
			t.Errorf("%s: %d calls, want %d", query, got, want)
		}
	}
	for _, query := range []string{"?state=dead", "?direction=up", "?number=x", "?from=x", "?agent_id=%00", "?end_reason=%00", "?metadata[a%20b]=1"} {
		if status, text := o.get(o.A, "/v1/calls.csv"+query); status != 400 {
			t.Errorf("%s: %d %s", query, status, text)
		}
	}
	if status, _ := o.get(owner{}, "/v1/calls.csv"); status != 401 {
		t.Errorf("without a key: %d", status)
	}
}
