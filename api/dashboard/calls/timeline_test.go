package calls

import (
	"reflect"
	"testing"

	"parley/api/wire"
)

// TestTimeline: everything in a call lies on one axis, as long as its recording, or else as the call.
func TestTimeline(t *testing.T) {
	call := wire.CallDetail{CallSummary: wire.CallSummary{Direction: "inbound", Duration: 10},
		Transcript: []wire.CallLine{{Role: "agent", Text: "Good day.", At: 2, Words: []wire.CallWord{{StartMS: 1000, EndMS: 1500}, {StartMS: 1500, EndMS: 2000}}}, {Role: "user", Text: "Hello", At: 4}},
		Functions:  []wire.CallFunction{{Name: "book", StartMS: 5000, EndMS: new(int64(6000))}, {Name: "look", StartMS: 9999}},
		Turns:      []wire.CallTurn{{AtMS: 7000, TotalMS: 500}}}
	v := &callView{Call: call}
	want := &timeline{Marks: []string{"0:00", "0:02", "0:05", "0:07", "0:10"}, Lanes: []lane{
		{"Caller", []span{{"user", 4000, least, "Hello"}}},
		{"Agent", []span{{"agent", 1000, 1000, "Good day."}}},
		{"Functions", []span{{"function", 5000, 1000, "book"}, {"function", axis - least, least, "look"}}},
		{"Waits for the answer", []span{{"wait", 6500, 500, "500 ms"}}},
	}}
	if got := timelineOf(v); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	v.Waveform = &wire.Waveform{Duration: 20}
	if got := timelineOf(v); got.Lanes[1].Spans[0] != (span{"agent", 500, 500, "Good day."}) || got.Marks[4] != "0:20" {
		t.Errorf("with a recording: %+v", got)
	}
	if got := timelineOf(&callView{Call: wire.CallDetail{}}); got != nil {
		t.Errorf("of a call in which nothing happened: %+v", got)
	}
}

// TestHeldAnswers: an answer that was ready before the turn was over waited for that, and its first packet took no time.
func TestHeldAnswers(t *testing.T) {
	ms := func(n int64) *int64 { return &n }
	turns := []wire.CallTurn{{EndpointMS: 800, TotalMS: 1000, Points: &wire.CallPoints{FinalTextMS: ms(100), FirstTokenMS: ms(200), FirstSentenceMS: ms(300), FirstAudioMS: ms(400), FirstPacketMS: ms(1000)}}}
	want := []barPart{{"text", 0, 100}, {"token", 100, 100}, {"sentence", 200, 100}, {"audio", 300, 100}, {"held", 400, 400}, {"packet", 800, 200}}
	if got := bars(turns)[0].Parts; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	turns[0].EndpointMS = 300
	want = append(want[:4:4], barPart{"packet", 400, 600})
	if got := bars(turns)[0].Parts; !reflect.DeepEqual(got, want) {
		t.Errorf("that was asked for afterwards: %+v\nwant %+v", got, want)
	}
}

// TestAnswererInWords: the page of a call has a word for each answerer that the API names.
func TestAnswererInWords(t *testing.T) {
	v := &callView{}
	if got := v.Answerer(); got != "" {
		t.Errorf("nobody: %q", got)
	}
	for by, want := range map[string]string{"human": "a person", "machine": "a machine", "screening": "a screening assistant", "unknown": "not clear"} {
		v.AnsweredBy = &by
		if got := v.Answerer(); got != want {
			t.Errorf("%s: %q", by, got)
		}
	}
}
