package deepgramtest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"parley/inference/enginetest/loopbacktest"
)

func TestTurns(t *testing.T) {
	s := New(t, Script{Voice: Voice{Delays: VoiceDelays{Chunk: func() time.Duration { return 20 * ms }}}})
	l := listen(t, s, turnsPath)
	l.speak("First\u0007. ")
	l.speak("Second one.")
	l.order("Flush")
	l.speak("Third.") // waits for its turn
	l.order("Flush")
	list := l.until("SpeechMetadata")
	names := types(list)
	loopbacktest.Same(t, names[:2], "Connected", "SpeechStarted")
	if !slices.Contains(names, "Flushed") || names[len(names)-2] != "audio" {
		t.Errorf("%q: audio follows Flushed", names)
	}
	last := list[len(list)-1]
	if ms := heard16(list); ms != 19*60 || last.Length != ms || last.Input != 19 || last.Billable != 18 {
		t.Errorf("%d ms, %+v", ms, last)
	}
	second := l.until("SpeechMetadata")
	loopbacktest.Same(t, types(second)[:1], "SpeechStarted")
	if id := second[0].Speech; !strings.HasPrefix(id, "dg_sp_") || id != second[len(second)-1].Speech || id == last.Speech || last.Speech != list[1].Speech {
		t.Errorf("%+v", second)
	}
	l.order("Close")
	closing := l.closed(1000)
	loopbacktest.Same(t, types(closing), "SessionMetadata")
	if m := closing[0]; m.TotalLength != 25*60 || m.TotalBillable != 24 {
		t.Errorf("%+v", m)
	}
	if all := s.Speeches(); len(all) != 2 || all[0].End != "done" || all[1].Audio != 360*ms || all[1].ID != second[0].Speech {
		t.Errorf("%+v", all)
	}
	if b := s.Books(); b.Requests != 2 || b.Characters != 25 || b.Audio != 1500*ms || s.Busy() != 0 {
		t.Errorf("%+v", b)
	}
}

func TestTurnsAreDrainedByClose(t *testing.T) {
	s := New(t, Script{Voice: Voice{Delays: VoiceDelays{Chunk: func() time.Duration { return ms }}}})
	l := listen(t, s, turnsPath)
	l.speak("A sentence.")
	l.order("Flush")
	l.order("Close")
	list := l.closed(1000)
	if names := types(list); heard16(list) != 660 || names[len(names)-2] != "SpeechMetadata" || names[len(names)-1] != "SessionMetadata" {
		t.Errorf("%q", names)
	}
}

func TestTurnsAreInterrupted(t *testing.T) {
	for late := range 3 {
		s := New(t, Script{Voice: Voice{LateChunks: late, Delays: patient()}})
		l := listen(t, s, turnsPath)
		l.speak("A long sentence.")
		l.order("Flush")
		l.speak("Another.") // waits
		l.until("audio")
		l.order("Interrupt")
		list := l.until("SpeechInterrupted")
		m := list[len(list)-1]
		if ms := heard16(list); ms != late*80 || *m.Played != 80+ms || m.Speech == "" || m.Metadata.Speech != m.Speech || m.Metadata.Length != 80+ms || m.Said != "" {
			t.Errorf("%d ms after an Interrupt, %+v", ms, m)
		}
		if s.Busy() != 0 || s.Books().Cancels != 1 {
			t.Errorf("%d busy", s.Busy())
		}
		l.order("Interrupt")
		l.order("Flush")
		for range 2 {
			if list := l.until("Warning"); len(list) != 1 || list[0].Code != "NO_ACTIVE_SPEECH" {
				t.Errorf("%+v", list)
			}
		}
		l.speak("Sorry?")
		loopbacktest.Same(t, types(l.until("audio")), "SpeechStarted", "audio")
		if all := s.Speeches(); len(all) != 3 || all[0].End != "interrupted" || all[1].End != "interrupted" || all[2].End != "" {
			t.Errorf("%+v", all)
		}
	}
}

// TestInterruptKnowsWhatWasHeard: offsets count from the beginning of the session.
func TestInterruptKnowsWhatWasHeard(t *testing.T) {
	s := New(t, Script{Expects: []string{"does not go beyond 780 ms"}})
	l := listen(t, s, turnsPath)
	l.speak("One two.") // 480 ms
	l.order("Flush")
	l.until("SpeechMetadata")
	l.speak("Three four.")
	for heard := 0; heard < 660; {
		m, err := l.read()
		if err != nil {
			t.Fatal(err)
		}
		heard += heard16([]spoken{m})
	}
	l.Text(`{"type":"Interrupt","playback_offset":{"type":"time_ms","value":780}}`)
	list := l.until("SpeechInterrupted")
	if m := list[len(list)-1]; *m.Played != 780 || m.Said != "Three" || m.Remaining != " four." {
		t.Errorf("%+v", m)
	}
	l.speak("Five.")
	l.until("audio")
	l.Text(`{"type":"Interrupt","playback_offset":{"type":"time_ms","value":780}}`)
	list = l.until("Warning")
	if m := list[len(list)-1]; m.Code != "INVALID_INTERRUPT_OFFSET" {
		t.Errorf("%+v", m)
	}
	l.order("Flush")
	l.until("SpeechMetadata") // it was ignored
}

func TestInterruptsAreIgnored(t *testing.T) {
	s := New(t, Script{Expects: []string{"another was unanswered"}, Voice: Voice{
		Traps:  VoiceTraps{NoAudioGenerated: true, InterruptedWithoutID: true},
		Delays: VoiceDelays{FirstAudio: func() time.Duration { return 300 * ms }, Chunk: patient().Chunk, Cleared: func() time.Duration { return 100 * ms }}}})
	l := listen(t, s, turnsPath)
	l.speak("A sentence.")
	l.until("SpeechStarted")
	l.order("Interrupt")
	list := l.until("Warning")
	if m := list[len(list)-1]; m.Code != "NO_AUDIO_GENERATED" {
		t.Errorf("%+v", m)
	}
	l.until("audio")
	l.order("Interrupt")
	l.order("Interrupt")
	list = l.until("SpeechInterrupted")
	loopbacktest.Same(t, types(list), "Warning", "SpeechInterrupted")
	if list[1].Speech != "" || list[1].Metadata.Speech == "" || list[0].Code != "INTERRUPT_IN_PROGRESS" {
		t.Errorf("%+v", list)
	}
}

func TestTurnsWithoutWords(t *testing.T) {
	s := New(t, Script{})
	l := listen(t, s, turnsPath)
	l.speak(" ... ")
	l.order("Flush")
	list := l.until("SpeechMetadata")
	if m := list[len(list)-1]; heard16(list) != 0 || m.Length != 0 || m.Input != 5 || !slices.ContainsFunc(list, func(m spoken) bool { return m.Code == "NO_SYNTHESIZABLE_TEXT" }) {
		t.Errorf("%+v", list)
	}
}

func TestTurnsAreConfigured(t *testing.T) {
	s := New(t, Script{Expects: []string{"SPEED_OUT_OF_RANGE", "SPEED_INCREMENT_INVALID", "unknown field expressivity"}})
	l := listen(t, s, turnsPath)
	l.until("Connected")
	for message, want := range map[string]string{
		`{"type":"Configure","speed":2}`:    "SPEED_OUT_OF_RANGE",
		`{"type":"Configure","speed":1.01}`: "SPEED_INCREMENT_INVALID",
	} {
		l.Text(message)
		if list := l.until("ConfigureFailure"); len(list) != 1 || list[0].Code != want {
			t.Errorf("%+v", list)
		}
	}
	l.Text(`{"type":"Configure","speed":1.2,"expressivity":1}`)
	if list := l.until("ConfigureSuccess"); list[0].Applied.Speed != 1.2 {
		t.Errorf("%+v", list)
	}
	l.speak("Hello.")
	l.order("Flush")
	if ms := heard16(l.until("SpeechMetadata")); ms != 300 {
		t.Errorf("%d ms", ms)
	}
}
