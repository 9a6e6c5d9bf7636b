package realtime_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"parley/inference"
	"parley/inference/enginetest"
	"parley/inference/realtime"
)

const ms = time.Millisecond

// rig is a call of a fake engine and the stream of its recogniser.
type rig struct {
	engine *enginetest.FakeRealtime
	call   *realtime.Call
	stream inference.Recognition
	used   *inference.Usage // of all replies
}

func begin(t *testing.T, engine *enginetest.FakeRealtime) *rig {
	t.Helper()
	var used inference.Usage
	c := realtime.New(engine, inference.RealtimeConfig{Prompt: "Be brief.", Voice: "F1", Language: "en"}, func(u inference.Usage) { used = used.Plus(u) })
	stream, err := c.ASR().Open(t.Context(), inference.ASRConfig{Language: "en"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stream.Close()
		for range stream.Results() {
		}
		if n := engine.Busy(); n != 0 {
			t.Errorf("%d sessions are open", n)
		}
	})
	return &rig{engine, c, stream, &used}
}

func (r *rig) session() *enginetest.FakeSession {
	all := r.engine.Sessions()
	return all[len(all)-1]
}

// hears takes results until one of an event, and returns it and the text before it.
func (r *rig) hears(t *testing.T, event inference.Event) (inference.Result, string) {
	t.Helper()
	text := ""
	for res := range r.stream.Results() {
		if res.Err != nil {
			t.Fatal(res.Err)
		}
		if text += res.Text; res.Event == event && (event != inference.EventText || res.Final) {
			return res, text
		}
	}
	t.Fatal("the stream ended")
	return inference.Result{}, ""
}

// thinks completes a request whose last message is what the caller said.
func (r *rig) thinks(t *testing.T, ctx context.Context, messages ...inference.Message) (text string, tools []string, finish inference.Finish) {
	t.Helper()
	for d, err := range r.call.LLM().Complete(ctx, inference.Request{System: "Be brief.", Messages: messages}) {
		if err != nil {
			t.Fatal(err)
		}
		if text += d.Text; d.ToolCall != nil {
			tools = append(tools, d.ToolCall.ID)
		}
		if d.Finish != "" {
			finish = d.Finish
			if d.Usage == nil {
				t.Error("no usage")
			}
		}
	}
	return text, tools, finish
}

// speaks says texts in one utterance and returns the length of the audio of each.
func (r *rig) speaks(t *testing.T, texts ...string) []time.Duration {
	t.Helper()
	u, err := r.call.TTS().Open(t.Context(), inference.VoiceConfig{})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		if err := u.Say(text); err != nil {
			t.Fatal(err)
		}
	}
	u.End()
	lengths := make([]time.Duration, len(texts))
	for c := range u.Chunks() {
		if c.Err != nil {
			t.Fatal(c.Err)
		}
		lengths[c.Say-1] += c.Rate.Duration(len(c.Samples)).Duration()
	}
	return lengths
}

func said(text string) inference.Message {
	return inference.Message{Role: inference.RoleUser, Text: text}
}

// TestConversation: a turn that the engine hears is answered by the reply it gives by itself, cut at the sentences of
// the conductor's, and a line of the agent's own is asked for.
func TestConversation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := enginetest.NewFakeRealtime()
		engine.Turns = []enginetest.HeardTurn{{From: 5000 * ms, To: 6000 * ms, Text: "Are you open?"}}
		engine.Replies = []enginetest.RealtimeReply{
			{Text: "Welcome.", Length: time.Second},
			{Text: "Yes, we are open. Do come and see us today.", Length: 3 * time.Second},
		}
		r := begin(t, engine)
		if got := r.speaks(t, "Welcome."); got[0] != time.Second {
			t.Errorf("the first message has %v of audio", got)
		}
		if end, text := r.hears(t, inference.EventTurnEnd); text != "Are you open?" || end.EndProb != 1 || end.Utterance != 1 {
			t.Errorf("heard %q, %+v", text, end)
		}
		text, tools, finish := r.thinks(t, t.Context(), said("Are you open?"))
		if text != engine.Replies[1].Text || len(tools) != 0 || finish != inference.FinishStop {
			t.Errorf("%q, functions %v, finish %q", text, tools, finish)
		}
		got := r.speaks(t, "Yes, we are open.", "Do come and see us today.")
		if got[0]+got[1] != 3*time.Second || got[0] < 800*ms || got[1] < 800*ms {
			t.Errorf("audio of the sentences: %v", got)
		}
		if n := r.stream.Finish(); n != 1 {
			t.Errorf("utterance %d", n)
		}
		if last, _ := r.hears(t, inference.EventText); !last.Last || last.Utterance != 1 || last.Text != "" {
			t.Errorf("the last result is %+v", last)
		}
	})
}

// TestInterrupted: what the caller did not hear is cut out of the engine's history, and nothing of it is made or spoken
// any more.
func TestInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := enginetest.NewFakeRealtime()
		engine.Turns = []enginetest.HeardTurn{{From: 100 * ms, To: 1000 * ms, Text: "Tell me more."}}
		engine.Replies = []enginetest.RealtimeReply{{Text: "A long story.", Length: 20 * time.Second}}
		engine.Every = 100 * ms // as fast as it is played
		r := begin(t, engine)
		r.hears(t, inference.EventTurnEnd)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go r.call.LLM().Complete(ctx, inference.Request{System: "Be brief.", Messages: []inference.Message{said("Tell me more.")}})(
			func(inference.Delta, error) bool { return true })
		synctest.Wait()
		time.Sleep(400 * ms)
		u, err := r.call.TTS().Open(t.Context(), inference.VoiceConfig{})
		if err != nil {
			t.Fatal(err)
		}
		u.Say("A long story.")
		for range 20 {
			if c := <-u.Chunks(); c.Err != nil {
				t.Fatal(c.Err)
			}
		}
		r.call.Interrupted(1500 * ms)
		u.Cancel()
		extra := 0
		for range u.Chunks() {
			extra++
		}
		if extra > 1 {
			t.Errorf("%d chunks after the interruption", extra)
		}
		synctest.Wait()
		heard := r.session().Heard()
		if len(heard) != 1 {
			t.Fatalf("heard: %v", heard)
		}
		for _, d := range heard {
			if d != 1500*ms {
				t.Errorf("%v of the reply was heard", d)
			}
		}
	})
}

// TestTurnThatIsDropped: a reply to a turn that nobody answers is never spoken, and the engine forgets it.
func TestTurnThatIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := enginetest.NewFakeRealtime()
		engine.Turns = []enginetest.HeardTurn{{From: 100 * ms, To: 500 * ms, Text: "Mhm."}, {From: 3000 * ms, To: 4000 * ms, Text: "And then?"}}
		engine.Replies = []enginetest.RealtimeReply{{Text: "Pardon?", Length: time.Second}, {Text: "Then we close.", Length: time.Second}}
		r := begin(t, engine)
		r.hears(t, inference.EventTurnEnd)
		r.hears(t, inference.EventTurnEnd)
		if text, _, _ := r.thinks(t, t.Context(), said("And then?")); text != "Then we close." {
			t.Errorf("answered %q", text)
		}
		if heard := r.session().Heard(); len(heard) != 1 || heard["item_i"] != 0 {
			t.Errorf("heard: %v", heard)
		}
	})
}

// TestFunctionsAndTypedTurns: results of functions reach the engine once, and it is asked to go on; so it is for a turn
// that it could not hear.
func TestFunctionsAndTypedTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := enginetest.NewFakeRealtime()
		call := inference.ToolCall{ID: "call_1", Name: "look_up", Arguments: "{}"}
		engine.Replies = []enginetest.RealtimeReply{{Tool: &call}, {Text: "It is free.", Length: time.Second}}
		r := begin(t, engine)
		_, tools, finish := r.thinks(t, t.Context(), said("is the table free"))
		if len(tools) != 1 || finish != inference.FinishTools {
			t.Fatalf("functions %v, finish %q", tools, finish)
		}
		text, _, _ := r.thinks(t, t.Context(), said("is the table free"),
			inference.Message{Role: inference.RoleAgent, ToolCalls: []inference.ToolCall{call}},
			inference.Message{Role: inference.RoleTool, ToolCallID: "call_1", Text: "yes"})
		if text != "It is free." {
			t.Errorf("answered %q", text)
		}
		if got := r.session().Results()["call_1"]; got != "yes" {
			t.Errorf("the function's result is %q", got)
		}
	})
}

// TestSessionFalls: a session that fails ends the stream and the replies; the next one begins with the conversation.
func TestSessionFalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := enginetest.NewFakeRealtime()
		r := begin(t, engine)
		r.thinks(t, t.Context(), said("hello"))
		broken := errors.New("broken")
		r.session().Fail(broken)
		var last inference.Result
		for last = range r.stream.Results() {
		}
		if !errors.Is(last.Err, broken) {
			t.Errorf("the stream ended with %v", last.Err)
		}
		r.stream.Close()
		stream, err := r.call.ASR().Open(t.Context(), inference.ASRConfig{})
		if err != nil {
			t.Fatal(err)
		}
		r.stream = stream
		defer stream.Close()
		if c := r.session().Config(); len(c.History) != 2 || c.History[0].Text != "hello" || c.History[1].Text != "Yes, I can help." {
			t.Errorf("the session begins with %+v", c.History)
		}
		if text, _, _ := r.thinks(t, t.Context(), said("hello"), said("again")); text == "" {
			t.Error("no answer after the fall")
		}
	})
}

// TestRenewedBetweenTurns: a session that ends soon is replaced when both sides are silent, not before. The next one knows
// what was said, as far as it was heard, and nobody notices.
func TestRenewedBetweenTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := enginetest.NewFakeRealtime()
		engine.Turns = []enginetest.HeardTurn{{From: 1000 * ms, To: 2000 * ms, Text: "Are you open?"}}
		engine.Replies = []enginetest.RealtimeReply{{Text: "Yes, we are open today.", Length: 5 * time.Second}}
		r := begin(t, engine)
		r.hears(t, inference.EventSpeechStart)
		r.session().Expire()
		r.hears(t, inference.EventTurnEnd)
		r.thinks(t, t.Context(), said("Are you open?"))
		r.speaks(t, "Yes, we are open today.") // is given at once, and played for 5 s
		time.Sleep(2500 * ms)
		if n := len(engine.Sessions()); n != 1 {
			t.Fatalf("%d sessions while the agent speaks", n)
		}
		r.call.Interrupted(2500 * ms)
		time.Sleep(3 * time.Second)
		all := engine.Sessions()
		if len(all) != 2 || engine.Busy() != 1 {
			t.Fatalf("%d sessions, %d are open", len(all), engine.Busy())
		}
		if h := r.session().Config().History; len(h) != 2 || h[0].Text != "Are you open?" || h[1].Text != "Yes, we" || !h[1].Interrupted {
			t.Errorf("the next session begins with %+v", h)
		}
		r.stream.Write(make([]int16, 320))
		if all[0].Written() != 0 || all[1].Written() != 320 {
			t.Errorf("the sessions have heard %d and %d samples", all[0].Written(), all[1].Written())
		}
		r.hears(t, inference.EventTurnEnd) // the fake's turn, in this session too
	})
}

// TestAllUsageCounts: what the engine consumes is reported whoever takes its reply; text of lines and of replies that nobody
// takes is counted with the next request.
func TestAllUsageCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := enginetest.NewFakeRealtime()
		engine.Text = 10
		engine.Turns = []enginetest.HeardTurn{{From: 3000 * ms, To: 3500 * ms, Text: "Mhm."}, {From: 6000 * ms, To: 7000 * ms, Text: "And then?"}}
		r := begin(t, engine)
		r.speaks(t, "Welcome.")
		r.hears(t, inference.EventTurnEnd)
		r.hears(t, inference.EventTurnEnd)
		var told inference.Usage
		for d, err := range r.call.LLM().Complete(t.Context(), inference.Request{System: "Be brief.", Messages: []inference.Message{said("And then?")}}) {
			if err != nil {
				t.Fatal(err)
			}
			if d.Usage != nil {
				told = *d.Usage
			}
		}
		if told.In != 30 || told.AudioOut != 15 || r.used.In != 30 || r.used.AudioOut != 45 {
			t.Errorf("the request was told %+v, all is %+v", told, *r.used)
		}
	})
}
