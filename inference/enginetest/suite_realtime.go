package enginetest

import (
	"context"
	"math"
	"sync"
	"testing"
	"time"

	"parley/inference"
)

// RealtimeOptions is what TestRealtime has to know of the engine.
type RealtimeOptions struct {
	// Audio is one turn at 16 kHz; nil means a second of tone. Silence follows it.
	Audio []int16
	// Busy says how many sessions are open. nil when that is not known.
	Busy func() int
	// Run is synctest.Test for an engine that lives in simulated time.
	Run func(*testing.T, func(*testing.T))
}

// TestRealtime checks that an engine keeps the contract of inference.Realtime.
func TestRealtime(t *testing.T, engine inference.Realtime, o RealtimeOptions) {
	if o.Audio == nil {
		o.Audio = make([]int16, 16000)
		for i := range o.Audio {
			o.Audio[i] = int16(8000 * math.Sin(2*math.Pi*440*float64(i)/16000))
		}
	}
	s := realtimeSuite{engine, o}
	bubble(o.Run).runAll(t, []check{
		{"info", s.info},
		{"unknown", s.unknown},
		{"turn", s.turn},
		{"reply", s.reply},
		{"interrupt", s.interrupt},
		{"follows", s.follows},
		{"close", s.close},
		{"cancelled", s.cancelled},
		{"nobody reads", s.nobodyReads},
		{"concurrent", s.concurrent},
	})
}

type realtimeSuite struct {
	engine inference.Realtime
	o      RealtimeOptions
}

func (s realtimeSuite) config() inference.RealtimeConfig {
	return inference.RealtimeConfig{Prompt: "Be brief.", Voice: s.engine.Voices()[0].ID, Language: s.engine.Info().Languages[0]}
}

func (s realtimeSuite) open(t *testing.T, ctx context.Context) inference.Session {
	t.Helper()
	r, err := s.engine.Open(ctx, s.config())
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return r
}

func (s realtimeSuite) info(t *testing.T) {
	info := s.engine.Info()
	if info.Name == "" || info.Feed != inference.FeedContinuous || len(s.engine.Voices()) == 0 {
		t.Errorf("info %+v, voices %v", info, s.engine.Voices())
	}
	languages(t, info.Languages)
}

func (s realtimeSuite) unknown(t *testing.T) {
	c := s.config()
	c.Voice = "X9"
	if _, err := s.engine.Open(t.Context(), c); inference.FaultOf(err) != inference.ErrVoice {
		t.Errorf("unknown voice: %v", err)
	}
	c = s.config()
	c.Language = "xx"
	if _, err := s.engine.Open(t.Context(), c); inference.FaultOf(err) != inference.ErrLanguage {
		t.Errorf("unknown language: %v", err)
	}
}

// speak writes a turn and the silence after it in 20 ms frames, in real time.
func (s realtimeSuite) speak(r inference.Session) {
	audio := append(append([]int16{}, s.o.Audio...), make([]int16, 16000)...)
	for len(audio) >= 320 {
		r.Write(audio[:320])
		audio = audio[320:]
		time.Sleep(20 * time.Millisecond)
	}
}

// answer reads a whole reply: it begins, has audio of one rate under one item, and
// is done. at, when set, sees each event.
func (s realtimeSuite) answer(t *testing.T, r inference.Session, at func(inference.RealtimeEvent)) {
	t.Helper()
	inTime(t, "a reply", func() {
		item, samples, rate := "", 0, 0
		for e := range r.Events() {
			if e.Err != nil {
				t.Errorf("the session failed: %v", e.Err)
				return
			}
			if at != nil {
				at(e)
			}
			switch e.Kind {
			case inference.RealtimeReply:
				if item != "" || e.Item == "" {
					t.Errorf("reply %q begins in %q", e.Item, item)
				}
				item = e.Item
			case inference.RealtimeAudio:
				if e.Item != item || item == "" || !e.Chunk.Rate.Valid() || rate != 0 && rate != int(e.Chunk.Rate) {
					t.Errorf("audio of %q at %v in %q", e.Item, e.Chunk.Rate, item)
				}
				rate = int(e.Chunk.Rate)
				samples += len(e.Chunk.Samples)
			case inference.RealtimeDone:
				if e.Item != item || samples == 0 || e.Finish == "" {
					t.Errorf("%q is done (%q) after %q with %d samples", e.Item, e.Finish, item, samples)
				}
				return
			}
		}
		t.Error("the session ended before the reply")
	})
}

// turn: what the caller says is heard and answered.
func (s realtimeSuite) turn(t *testing.T) {
	r := s.open(t, t.Context())
	defer r.Close()
	var fed sync.WaitGroup
	fed.Go(func() { s.speak(r) })
	defer fed.Wait()
	var kinds []inference.RealtimeKind
	s.answer(t, r, func(e inference.RealtimeEvent) { kinds = append(kinds, e.Kind) })
	want := []inference.RealtimeKind{inference.RealtimeSpeechStart, inference.RealtimeSpeechEnd, inference.RealtimeHeard}
	n := 0
	for _, k := range kinds {
		if n < len(want) && k == want[n] {
			n++
		}
	}
	if n < len(want) {
		t.Errorf("events %v do not have %v in order", kinds, want)
	}
}

// reply: it speaks when it is asked to, with nobody speaking before.
func (s realtimeSuite) reply(t *testing.T) {
	r := s.open(t, t.Context())
	defer r.Close()
	r.Reply("Greet the caller.")
	s.answer(t, r, nil)
}

// interrupt: no audio follows but what was on its way, and the next reply is whole.
func (s realtimeSuite) interrupt(t *testing.T) {
	r := s.open(t, t.Context())
	defer r.Close()
	r.Reply("Tell a long story.")
	item := ""
	inTime(t, "the interrupted reply", func() {
		late := 0
		for e := range r.Events() {
			switch {
			case e.Kind == inference.RealtimeAudio && item == "":
				item = e.Item
				r.Interrupt(item)
			case e.Kind == inference.RealtimeAudio:
				late++
			case e.Kind == inference.RealtimeDone:
				if late > 1 {
					t.Errorf("%d pieces of audio after Interrupt", late)
				}
				return
			}
		}
		t.Error("the session ended")
	})
	r.Truncate(item, 20*time.Millisecond)
	r.Interrupt(item) // it has ended
	r.Interrupt("")
	r.Reply("")
	s.answer(t, r, nil)
}

// follows: a session may follow another, which is open until then.
func (s realtimeSuite) follows(t *testing.T) {
	old := s.open(t, t.Context())
	defer old.Close()
	old.Reply("Greet the caller.")
	s.answer(t, old, nil)
	c := s.config()
	c.After, c.History = old, []inference.Message{{Role: inference.RoleAgent, Text: "Hello."}}
	next, err := s.engine.Open(t.Context(), c)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	defer next.Close()
	next.Reply("Go on.")
	s.answer(t, next, nil)
}

func (s realtimeSuite) close(t *testing.T) {
	r := s.open(t, t.Context())
	r.Reply("")
	inTime(t, "Close", r.Close)
	inTime(t, "Events", func() {
		for range r.Events() {
		}
	})
	inTime(t, "a second Close", r.Close)
	r.Write(s.o.Audio[:320]) // harmless from now on
	r.Reply("")
	r.Interrupt("")
	r.ToolResult("none", "{}")
	r.Update("", nil)
	idle(t, s.o.Busy)
}

func (s realtimeSuite) cancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := s.open(t, ctx)
	r.Reply("")
	cancel()
	inTime(t, "Events", func() {
		for range r.Events() {
		}
	})
	inTime(t, "Close", r.Close)
	idle(t, s.o.Busy)
}

// nobodyReads: writing and asking never wait for events to be read, nor does Close.
func (s realtimeSuite) nobodyReads(t *testing.T) {
	r := s.open(t, t.Context())
	inTime(t, "writing 20 s", func() {
		for range 1000 {
			r.Write(s.o.Audio[:320])
		}
		for range 10 {
			r.Reply("")
			r.Interrupt("")
		}
	})
	inTime(t, "Close", r.Close)
	idle(t, s.o.Busy)
}

func (s realtimeSuite) concurrent(t *testing.T) {
	many(4, func(int) {
		r, err := s.engine.Open(t.Context(), s.config())
		if err != nil {
			t.Errorf("open: %v", err)
			return
		}
		defer r.Close()
		r.Reply("")
		s.answer(t, r, nil)
	})
	idle(t, s.o.Busy)
}
