package enginetest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"parley/inference"
	"parley/inference/enginetest/hearingtest"
	"parley/inference/enginetest/loopbacktest"
	"parley/inference/enginetest/replytest"
)

// RealtimeVendor is an engine whose vendor is a fake on loopback.
type RealtimeVendor struct {
	inference.Realtime
	Key  string                 // of the fake
	Last inference.RealtimeKind // the event with which all is known that a reply has used
	// Used are the tokens in the fake's books, and History is its own, entry by entry.
	Used    func() inference.Usage
	History func() []string
	// Asked checks what the fake was asked for, when the prompt was "Be kind." and the one tool was called hours.
	Asked func(*testing.T)
}

// RealtimeStart starts the fake of a vendor with a script, in which the caller says AskedOften, and makes an engine of it.
type RealtimeStart func(t *testing.T, replies []replytest.Reply, faults []loopbacktest.Fault) RealtimeVendor

// asked is what the caller says in a turn.
const asked = "are you open on Sunday"

// AskedOften is what a caller says who Speaks turn after turn.
func AskedOften() []hearingtest.Utterance {
	return slices.Repeat([]hearingtest.Utterance{{Text: asked, Length: 800 * time.Millisecond}}, 20)
}

// Speak writes a turn to a session at once: 0.8 s of tone and 1 s of silence.
func Speak(s inference.Session) {
	audio := make([]int16, 16000*9/5)
	for i := range audio[:12800] {
		audio[i] = int16(8000 - 16000*(i/20%2))
	}
	for part := range slices.Chunk(audio, 320) {
		s.Write(part)
	}
}

// Talk opens a session that ends with the test.
func Talk(t *testing.T, e inference.Realtime, history ...inference.Message) inference.Session {
	t.Helper()
	s, err := e.Open(t.Context(), inference.RealtimeConfig{Prompt: "Be brief.", Voice: "F1", Language: "en", History: history})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Until takes events up to one of a kind, and returns all.
func Until(t *testing.T, s inference.Session, kind inference.RealtimeKind) (list []inference.RealtimeEvent) {
	t.Helper()
	for e := range s.Events() {
		if e.Err != nil {
			t.Fatal(e.Err)
		}
		if list = append(list, e); e.Kind == kind {
			return list
		}
	}
	t.Fatal("the session ended")
	return nil
}

// TestRealtimeConversation: a turn is heard before its reply, functions are called and answered, and what is used is what the
// vendor has in its books.
func TestRealtimeConversation(t *testing.T, start RealtimeStart) {
	v := start(t, []replytest.Reply{{Calls: []replytest.Call{{Name: "hours", Arguments: `{"day":"Sunday"}`}}}, {Text: "No, we are closed.", Length: time.Second}}, nil)
	s := Talk(t, v)
	s.Update("Be kind.", []inference.Tool{{Name: "hours", Description: "Opening hours"}})
	Speak(s)
	list := Until(t, s, inference.RealtimeDone)
	var kinds []inference.RealtimeKind
	for _, x := range list {
		kinds = append(kinds, x.Kind)
	}
	if want := []inference.RealtimeKind{inference.RealtimeSpeechStart, inference.RealtimeSpeechEnd, inference.RealtimeHeard, inference.RealtimeReply,
		inference.RealtimeTool, inference.RealtimeDone}; !slices.Equal(kinds, want) {
		t.Fatalf("events %v, want %v", kinds, want)
	}
	call, finish := list[4].ToolCall, list[5].Finish
	if list[2].Text != asked || call.Name != "hours" || call.Arguments != `{"day":"Sunday"}` || finish != inference.FinishTools {
		t.Errorf("heard %q, called %+v, %q", list[2].Text, call, finish)
	}
	s.ToolResult(call.ID, "closed")
	s.Reply("")
	said := Until(t, s, inference.RealtimeDone)
	finish = said[len(said)-1].Finish
	if v.Last != inference.RealtimeDone {
		said = append(said, Until(t, s, v.Last)...)
	}
	text, samples := "", 0
	var used inference.Usage
	for _, x := range append(list, said...) {
		text, samples = text+x.Text, samples+len(x.Chunk.Samples)
		if x.Usage != nil {
			used = used.Plus(*x.Usage)
		}
	}
	if text != asked+"No, we are closed." || samples != 24000 || finish != inference.FinishStop {
		t.Errorf("said %q in %d samples, %q", text, samples, finish)
	}
	tokens := func(u inference.Usage) [6]int {
		return [6]int{u.In, u.Cached, u.Out, u.AudioIn, u.AudioCached, u.AudioOut}
	}
	if books := v.Used(); tokens(used) != tokens(books) || books.AudioIn == 0 {
		t.Errorf("used %+v, the books have %+v", used, books)
	}
	v.Asked(t)
}

// TestRealtimeHistory: a session begins with what was said, without calls that have no result, and answers it only when it
// is asked to say hello. The vendor has it then as want says.
func TestRealtimeHistory(t *testing.T, start RealtimeStart, want ...string) {
	v := start(t, nil, nil)
	s := Talk(t, v, inference.Message{Role: inference.RoleUser, Text: "Are you open?"},
		inference.Message{Role: inference.RoleAgent, Text: "Let me", Interrupted: true, ToolCalls: []inference.ToolCall{
			{ID: "call_1", Name: "hours", Arguments: "{}"}, {ID: "call_2", Name: "lost", Arguments: "{}"}}},
		inference.Message{Role: inference.RoleTool, ToolCallID: "call_1", Text: "yes"},
		inference.Message{Role: inference.RoleTool, ToolCallID: "call_3", Text: "whose?"})
	s.Reply("Say hello.")
	Until(t, s, inference.RealtimeDone)
	if got := v.History(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestRealtimeFaults: what a vendor's faults are to a call; 0: nothing. None shows the key.
func TestRealtimeFaults(t *testing.T, start RealtimeStart, faults map[loopbacktest.Fault]inference.Fault) {
	for fault, want := range faults {
		v := start(t, nil, []loopbacktest.Fault{fault})
		s, err := v.Open(t.Context(), inference.RealtimeConfig{Voice: "M1"})
		if err == nil {
			s.Reply("Hello.")
			for x := range s.Events() {
				if err = x.Err; err != nil || x.Kind == inference.RealtimeDone {
					break
				}
			}
			s.Close()
		}
		if inference.FaultOf(err) != want || err != nil && strings.Contains(err.Error(), v.Key) {
			t.Errorf("%+v: %v", fault, err)
		}
	}
}
