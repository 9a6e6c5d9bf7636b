package deepgramtest

import (
	"testing"
	"time"

	"parley/inference/enginetest/loopbacktest"
)

func TestAuraSpeaks(t *testing.T) {
	s := New(t, Script{})
	l := listen(t, s, auraPath)
	l.speak("First. ")
	l.speak("Second one.")
	l.order("Flush")
	l.speak("Third")
	l.order("Flush")
	list := l.until("Flushed")
	loopbacktest.Same(t, types(list), "Metadata", "audio", "Flushed")
	if ms := heard16(list); ms != 18*60 || *list[len(list)-1].Sequence != 0 {
		t.Errorf("%d ms, %+v", ms, list[len(list)-1])
	}
	list = l.until("Flushed")
	if ms := heard16(list); ms != 5*60 || *list[len(list)-1].Sequence != 1 {
		t.Errorf("%d ms, %+v", ms, list[len(list)-1])
	}
	all := s.Speeches()
	if len(all) != 2 || all[0] != (Speech{Text: "First. Second one.", Audio: 1080 * ms, End: "done"}) || all[1].Text != "Third" {
		t.Errorf("%+v", all)
	}
	if b := s.Books(); b.Requests != 2 || b.Characters != 23 || b.Finishes != 2 || b.Audio != 1380*ms || s.Busy() != 0 {
		t.Errorf("%+v", b)
	}
}

func TestAuraHoldsTextUntilASentenceEnds(t *testing.T) {
	s := New(t, Script{})
	l := listen(t, s, auraPath)
	l.speak("One. Two")
	list := l.until("audio")
	for range 3 { // 5 characters are 300 ms in 4 chunks
		m, err := l.read()
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, m)
	}
	if ms := heard16(list); ms != 300 || s.Busy() != 1 {
		t.Errorf("%d ms, %d busy", ms, s.Busy())
	}
	l.order("Flush")
	if ms := heard16(l.until("Flushed")); ms != 180 {
		t.Errorf("%d ms", ms)
	}
}

func TestAuraIsCleared(t *testing.T) {
	for late := range 3 {
		s := New(t, Script{Voice: Voice{LateChunks: late, Delays: patient()}})
		l := listen(t, s, auraPath)
		l.speak("A long sentence. And")
		l.order("Flush")
		l.until("audio")
		l.order("Clear")
		list := l.until("Cleared")
		if ms := heard16(list); ms != late*80 || s.Busy() != 0 || s.Books().Cancels != 1 {
			t.Errorf("%d ms after a Clear, want %d", ms, late*80)
		}
		l.order("Clear") // nothing speaks
		l.speak("Hi.")
		if list := l.until("audio"); list[0].Type != "Cleared" || *list[0].Sequence != 1 {
			t.Errorf("%+v", list)
		}
		if all := s.Speeches(); len(all) != 2 || all[0].End != "cleared" || all[1].End != "" {
			t.Errorf("%+v", all)
		}
	}
}

func TestAuraIsFlushedTooOften(t *testing.T) {
	for _, fields := range []bool{false, true} {
		s := New(t, Script{Expects: []string{"more than 20 flushes"}, Voice: Voice{Traps: VoiceTraps{WarnFields: fields}}})
		l := listen(t, s, auraPath)
		for range maxFlushes {
			l.order("Flush")
			l.until("Flushed")
		}
		l.speak("Hello")
		l.order("Flush")
		list := l.until("Warning")
		m := list[len(list)-1]
		if len(list) != 1 || m.Code+m.WarnCode != "EXCESSIVE_FLUSH" || (m.WarnCode != "") != fields {
			t.Errorf("%+v", list)
		}
	}
	s := New(t, Script{Voice: Voice{FlushWindow: time.Nanosecond}})
	l := listen(t, s, auraPath)
	for range maxFlushes + 1 {
		l.order("Flush")
		l.until("Flushed")
	}
}

func TestAuraCloses(t *testing.T) {
	s := New(t, Script{Voice: Voice{Delays: patient()}})
	l := listen(t, s, auraPath)
	l.speak("A sentence.")
	l.order("Flush")
	l.until("audio")
	l.order("Close")
	if list := l.closed(1000); len(list) != 0 {
		t.Errorf("%+v", list)
	}
}

func TestAuraStalls(t *testing.T) {
	s := New(t, Script{Faults: []Fault{{Then: loopbacktest.Stall, AfterMessages: 2}}})
	l := listen(t, s, auraPath)
	l.speak("Hello.")
	l.order("Flush")
	l.until("audio")
	_ = l.Conn.SetReadDeadline(time.Now().Add(50 * ms))
	if _, data, err := l.Conn.ReadMessage(); err == nil || s.Busy() != 1 {
		t.Errorf("%d bytes, %d busy", len(data), s.Busy())
	}
}
