package session

import (
	"parley/store/history"

	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestLogIsBounded: a long call's log is never larger than said, and what is left out
// of it is in how the call stood after it.
func TestLogIsBounded(t *testing.T) {
	for _, words := range []int{1, 400} {
		l := newCallLog(CallDialing, time.Now)
		l.add(history.CallEvent{Status: "ringing"})
		l.add(history.CallEvent{Status: "connected"})
		l.add(history.CallEvent{AnsweredBy: "human"})
		const lines = 5000
		for i := range lines {
			l.add(history.CallEvent{Line: &history.TranscriptLine{Role: "user", Text: fmt.Sprint(i, strings.Repeat(" word", words)), AtMS: int64(i)}})
			if i%3 == 0 {
				l.add(history.CallEvent{Correction: &history.Correction{Line: i, Text: "Corrected."}})
			}
			if len(l.Events) > maxLogEvents || l.bytes > maxLogBytes {
				t.Fatalf("%d events of %d bytes", len(l.Events), l.bytes)
			}
		}
		text, err := json.Marshal(l.CallLog)
		if err != nil {
			t.Fatal(err)
		}
		if len(text) > maxLogBytes*3/2 {
			t.Errorf("as JSON it has %d bytes", len(text))
		}
		if l.Status != "connected" || l.AnsweredBy != "human" || l.Omitted == 0 || l.Omitted+len(l.Events) != 3+lines+(lines+2)/3 {
			t.Errorf("%s, %s, %d of %d left out", l.Status, l.AnsweredBy, l.Omitted, l.Omitted+len(l.Events))
		}
		kept := 0
		for _, e := range l.Events {
			if e.Line != nil {
				if want := fmt.Sprint(l.Lines+kept, " "); !strings.HasPrefix(e.Line.Text, want) {
					t.Fatalf("after %d lines comes %.10q", l.Lines+kept, e.Line.Text)
				}
				kept++
			}
		}
		if l.Lines+kept != lines {
			t.Errorf("%d lines before it and %d in it", l.Lines, kept)
		}
	}
}
