package replay_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/inference"
	"parley/inference/enginetest"
	"parley/media"
	"parley/pipeline"
	"parley/pipeline/journal"
	"parley/pipeline/pipelinetest"
	"parley/pipeline/replay"
	"parley/pipeline/tool"
)

const ms = time.Millisecond

// recorded is a telephone call in which the caller asks, is answered, cuts the agent off
// and goes on, and what its texts sound like.
func recorded(t *testing.T) (file []byte, sounds func(*pipeline.Config)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := pipelinetest.NewScene(
			pipelinetest.Said{From: 1000 * ms, To: 2500 * ms, Text: "what time do you open"},
			pipelinetest.Said{From: 4000 * ms, To: 5200 * ms, Text: "no wait I meant on Friday"})
		s.Leg.Telephone()
		s.Leg.HangUp = 12 * time.Second
		s.Play(t, time.Minute)
		file, sounds = s.Record(), s.Sounds
	})
	return file, sounds
}

func read(t *testing.T, file []byte) *journal.File {
	t.Helper()
	f, err := journal.Read(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func again(t *testing.T, f *journal.File, change func(*pipeline.Config)) replay.Result {
	t.Helper()
	r, err := replay.Replay(f, change)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// plain is a file without compression.
func plain(t *testing.T, file []byte) string {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// log is events as the bytes that are compared.
func log(t *testing.T, events []journal.Event) string {
	t.Helper()
	var b strings.Builder
	for _, e := range events {
		line, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(string(line) + "\n")
	}
	return b.String()
}

// kinds is what happened and when, of some kinds.
func kinds(events []journal.Event, of ...string) string {
	var list []string
	for _, e := range events {
		if slices.Contains(of, e.Kind) {
			list = append(list, fmt.Sprintf("%d %s", e.AtUS/1000, e.What()))
		}
	}
	return strings.Join(list, "; ")
}

// TestSameCall: the log of a replay is the recorded one, byte for byte, as often as one
// likes, from the compressed file and from the plain one.
func TestSameCall(t *testing.T) {
	file, sounds := recorded(t)
	f := read(t, file)
	want := log(t, f.Events)
	if got := kinds(f.Events, "user_line", "interrupted", "end"); got !=
		`2700 user_line "what time do you open"; 4300 interrupted; 5400 user_line "no wait I meant on Friday"; 12000 end user_hangup` {
		t.Errorf("the call went %s", got)
	}
	for range 3 {
		r := again(t, f, sounds)
		if got := log(t, r.Events); got != want || !r.Same || r.Parted != -1 || r.Ended.Reason != "user_hangup" {
			t.Fatalf("same %v, parted at %d, ended %v:\n%s\nwant:\n%s", r.Same, r.Parted, r.Ended, got, want)
		}
	}
	if r := again(t, read(t, []byte(plain(t, file))), sounds); log(t, r.Events) != want || !r.Same {
		t.Error("the plain file replays otherwise")
	}
}

// TestOtherSettings: what another setting changes is shown, and the recorded words are
// heard at the times that follow.
func TestOtherSettings(t *testing.T) {
	file, sounds := recorded(t)
	f := read(t, file)
	for _, tt := range []struct {
		set  []string
		want string
	}{
		{[]string{"min_endpoint_ms=500"}, `3000 user_line "what time do you open"; 4300 interrupted; 5700 user_line "no wait I meant on Friday"; 12000 end user_hangup`},
		{[]string{"interruptible=never"}, `2700 user_line "what time do you open"; 5940 user_line "no wait I meant on Friday"; 12000 end user_hangup`},
		{[]string{"idle_seconds=1", "idle_reprompts=0"}, `3480 end agent_hangup: idle`},
	} {
		s, err := replay.ParseSettings(tt.set)
		if err != nil {
			t.Fatal(err)
		}
		change := replay.With(s)
		r := again(t, f, func(c *pipeline.Config) { sounds(c); change(c) })
		got := kinds(r.Events, "user_line", "interrupted", "end")
		if got != tt.want {
			t.Errorf("%s: %s, want %s\n%s", tt.set, got, tt.want, pipelinetest.Diff(f.Events, r.Events))
		}
		if r.Same || r.Parted < 0 || pipelinetest.Diff(f.Events, r.Events) == "" {
			t.Errorf("%s: same %v, parted at %d", tt.set, r.Same, r.Parted)
		}
	}
}

// TestLongerCall: a call that now outlives its record goes on in silence, and a function
// that was called later than then takes as long as it did.
func TestLongerCall(t *testing.T) {
	var f *journal.File
	var sounds func(*pipeline.Config)
	synctest.Test(t, func(t *testing.T) {
		s := pipelinetest.NewScene(pipelinetest.Said{From: 1000 * ms, To: 2500 * ms, Text: "is a table free"})
		s.Config.Turn.Idle, s.Config.Turn.Reprompts = 2*media.Second, 0
		s.Config.Functions = []tool.Function{{Spec: inference.Tool{Name: "look_up"}, Run: func(ctx context.Context, _ json.RawMessage) (string, error) {
			time.Sleep(700 * ms)
			return `{"free":true}`, nil
		}}}
		s.LLM.Answer = func(n int, _ inference.Request) []enginetest.Step {
			if n == 0 {
				return []enginetest.Step{{After: 100 * ms, Tool: &inference.ToolCall{Name: "look_up"}}}
			}
			return enginetest.Sentences(150*ms, "Yes it is.")
		}
		s.Play(t, time.Minute)
		f, sounds = read(t, s.Record()), s.Sounds
	})
	if got, want := kinds(f.Events, "tool_begun", "tool_ended", "agent_line", "end"), `2800 tool_begun 1 call_1_1 look_up ; 3500 tool_ended call_1_1 look_up  "ok"; `+
		`4740 agent_line 1 "Yes it is."; 8740 agent_line 2 "I have to end the call now. Goodbye."; 8940 end agent_hangup: idle`; got != want {
		t.Errorf("the call went %s", got)
	}
	for set, want := range map[string]string{
		"idle_seconds=30": `2800 tool_begun 1 call_1_1 look_up ; 3500 tool_ended call_1_1 look_up  "ok"; 4740 agent_line 1 "Yes it is."; ` +
			`36760 agent_line 2 "I have to end the call now. Goodbye."; 36960 end agent_hangup: idle`,
		"idle_seconds=0": `2800 tool_begun 1 call_1_1 look_up ; 3500 tool_ended call_1_1 look_up  "ok"; 4740 agent_line 1 "Yes it is."; ` +
			`68940 end user_hangup`,
		"min_endpoint_ms=1000": `3600 tool_begun 1 call_1_1 look_up ; 4300 tool_ended call_1_1 look_up  "ok"; 5540 agent_line 1 "Yes it is."; ` +
			`9560 agent_line 2 "I have to end the call now. Goodbye."; 9760 end agent_hangup: idle`,
	} {
		s, err := replay.ParseSettings([]string{set})
		if err != nil {
			t.Fatal(err)
		}
		change := replay.With(s)
		r := again(t, f, func(c *pipeline.Config) { sounds(c); change(c) })
		if got := kinds(r.Events, "tool_begun", "tool_ended", "agent_line", "end"); got != want || r.Unheard != 0 {
			t.Errorf("%s: %s\nwant %s\n%d unheard", set, got, want, r.Unheard)
		}
	}
}

// TestOtherInput: a record in which a word was not recognised gives another log.
func TestOtherInput(t *testing.T) {
	file, sounds := recorded(t)
	text := plain(t, file)
	without := strings.ReplaceAll(text, "I meant on Friday", "I meant on Monday")
	// The log in the file is that of the call as it was.
	var lines []string
	was := strings.Split(text, "\n")
	for i, l := range strings.Split(without, "\n") {
		if strings.HasPrefix(l, `{"event"`) {
			l = was[i]
		}
		lines = append(lines, l)
	}
	f := read(t, []byte(strings.Join(lines, "\n")))
	r := again(t, f, sounds)
	diff := pipelinetest.Diff(f.Events, r.Events)
	for _, want := range []string{`- `, `+ `, `user_line "no wait I meant on Friday"`, `user_line "no wait I meant on Monday"`} {
		if !strings.Contains(diff, want) {
			t.Errorf("the difference does not show %s:\n%s", want, diff)
		}
	}
	if r.Same || !reflect.DeepEqual(r.Events[:r.Parted], f.Events[:r.Parted]) || reflect.DeepEqual(r.Events[r.Parted], f.Events[r.Parted]) {
		t.Errorf("same %v, parted at %d", r.Same, r.Parted)
	}
}

// TestCutRecord: what was kept of a call replays as far as it goes.
func TestCutRecord(t *testing.T) {
	file, sounds := recorded(t)
	lines := strings.SplitAfter(plain(t, file), "\n")
	cut := strings.Join(lines[:len(lines)/2], "")
	cut = cut[:strings.LastIndex(cut, `{"in"`)] // behind all events of an input
	f := read(t, []byte(cut+`{"cut":true}`+"\n"))
	r := again(t, f, sounds)
	if !f.Cut || !r.Same || len(r.Events) == 0 {
		t.Errorf("cut %v, same %v, %d events", f.Cut, r.Same, len(r.Events))
	}
}

// TestFilesThatAreNone: what is no record is refused, and what no call has had breaks
// nothing.
func TestFilesThatAreNone(t *testing.T) {
	file, _ := recorded(t)
	text := plain(t, file)
	first, rest, _ := strings.Cut(text, "\n")
	for name, bad := range map[string]struct {
		file string
		want error
	}{
		"nothing":         {"", journal.ErrFormat},
		"text":            {"hello\n", journal.ErrFormat},
		"another object":  {`{"openapi":"3.1"}` + "\n", journal.ErrFormat},
		"no inputs":       {first + "\n", journal.ErrFormat},
		"later":           {strings.Replace(text, `{"parley_call":1`, `{"parley_call":2`, 1), journal.ErrVersion},
		"no first line":   {rest, journal.ErrFormat},
		"cut gzip":        {string(file[:len(file)/2]), journal.ErrFormat},
		"unknown input":   {first + "\n" + `{"in":"dance","t":1}` + "\n", journal.ErrFormat},
		"no message":      {first + "\n" + `{"in":"told","t":1}` + "\n", journal.ErrFormat},
		"backwards":       {first + "\n" + `{"in":"begin","t":9}` + "\n" + `{"in":"tick","t":1}` + "\n", journal.ErrFormat},
		"half an answer":  {first + "\n" + `{"in":"tick","t":1,"answers":[1]}` + "\n", journal.ErrFormat},
		"half a frame":    {first + "\n" + `{"in":"tick","t":1,"heard":[[1]]}` + "\n", journal.ErrFormat},
		"endless":         {first + "\n" + strings.Repeat("x", 2<<20), journal.ErrFormat},
		"a rate of none":  {strings.Replace(text, `"In":8000`, `"In":8001`, 1), journal.ErrFormat},
		"an end too many": {text + `{"in":"concluded","t":99000000000,"ended":{}}` + "\n", nil},
		"closed at first": {first + "\n" + `{"in":"closed","t":1}` + "\n", nil},
		"odd sentence":    {first + "\n" + `{"in":"told","t":1,"message":{"kind":"broken","gen":1,"seg":9}}` + "\n", nil},
	} {
		f, err := journal.Read(strings.NewReader(bad.file))
		if !errors.Is(err, bad.want) {
			t.Errorf("%s: %v, want %v", name, err, bad.want)
		}
		if err == nil {
			if _, err := replay.Replay(f, nil); err != nil && !errors.Is(err, journal.ErrFormat) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// TestSettingsToChange: only settings that a replay can change are taken, and within
// their bounds.
func TestSettingsToChange(t *testing.T) {
	for _, bad := range []string{"min_endpoint_ms", "min_endpoint_ms=x", "min_endpoint_ms=50", "voice=F1", "record=true", "interruptible=sometimes", "=1"} {
		if _, err := replay.ParseSettings([]string{bad}); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
	s, err := replay.ParseSettings([]string{"goodbye=Good night.", "key_interrupts=false"})
	if err != nil || s.Goodbye == nil || *s.Goodbye != "Good night." || s.KeyInterrupts == nil || *s.KeyInterrupts {
		t.Errorf("%+v, %v", s, err)
	}
	for _, name := range replay.Settable() {
		if _, err := replay.ParseSettings([]string{name + "={}"}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s does not say what is wrong: %v", name, err)
		}
	}
}
