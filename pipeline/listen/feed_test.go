package listen

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"parley/inference"
	"parley/media"

	"pgregory.net/rapid"
)

// tapedStream is a recogniser that notes its calls.
type tapedStream struct {
	inference.NoContext
	said     []string
	frames   []int16 // the first sample of each
	finishes []int   // how many frames there were then
	resumes  int
}

func (s *tapedStream) Write(samples []int16) { s.frames = append(s.frames, samples[0]) }
func (s *tapedStream) Finish() int {
	s.finishes = append(s.finishes, len(s.frames))
	return len(s.finishes)
}
func (s *tapedStream) Resume()                          { s.resumes++ }
func (s *tapedStream) Said(text string)                 { s.said = append(s.said, text) }
func (s *tapedStream) Results() <-chan inference.Result { return nil }
func (s *tapedStream) Close()                           {}
func (s *tapedStream) span() (first, last int16, n int) {
	n = len(s.frames)
	return s.frames[0], s.frames[n-1], n
}
func newFeed(asr inference.Recognition) *Caller {
	c := &Caller{feed: feed{asr: asr}}
	c.feed.begin(feedRate, feedRate)
	return c
}
func (c *Caller) hearFrames(n int) { c.hearFrom(n, func(at int64) int16 { return int16(at) }) }
func (c *Caller) hearFrom(n int, sample func(int64) int16) {
	var samples [feedSamples]int16
	for range n {
		samples[0] = sample(c.feed.n)
		c.feed.push(media.Frame{Samples: samples[:], Rate: feedRate, At: media.Time(c.feed.n) * media.FrameTime})
	}
}
func (c *Caller) openUtterance()   { c.OpenUtterance(1, startAfter) }
func (c *Caller) resumeUtterance() { c.ResumeUtterance(1, startAfter) }
func (c *Caller) closeUtterance()  { c.CloseUtterance(1, 0, time.Time{}) }

const startAfter = 60 * media.Millisecond

func TestFeedBeginsBeforeTheStart(t *testing.T) {
	s := &tapedStream{}
	e := newFeed(s)
	e.hearFrames(103) // speech since frame 100, noticed after 60 ms
	e.openUtterance()
	e.hearFrames(50)
	e.closeUtterance()
	e.hearFrames(50)
	if first, last, n := s.span(); first != 80 || last != 152 || n != 73 || len(s.finishes) != 1 {
		t.Errorf("heard %d frames, %d to %d, want 400 ms before frame 100 and all to 152", n, first, last)
	}
	if e.feed.heard != 203*media.FrameTime {
		t.Errorf("the clock is at %v", e.feed.heard.Duration())
	}
}

func TestFeedAtTheBeginningOfACall(t *testing.T) {
	s := &tapedStream{}
	e := newFeed(s)
	e.hearFrames(3)
	e.openUtterance()
	if first, _, n := s.span(); first != 0 || n != 3 {
		t.Errorf("heard %d frames from %d on, want all", n, first)
	}
}

// TestFeedKeepsTheTurn: of a turn the end is kept, with its pauses, from its first utterance on; of an earlier turn nothing.
func TestFeedKeepsTheTurn(t *testing.T) {
	for _, c := range []struct {
		name        string
		speech      []int // frames, each after a pause of 50
		first, last int16
	}{
		{"one utterance", []int{50}, 280, 402},
		{"three", []int{50, 20, 100}, 280, 622},
		{"as long as is kept", []int{200, 250}, 453, 852},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newFeed(&tapedStream{})
			e.hearFrames(103)
			e.BeginTurn()
			e.openUtterance()
			e.hearFrames(150)
			e.closeUtterance()
			e.Owe(false)
			e.CommitTurn(false)
			e.hearFrames(50)
			e.BeginTurn()
			for _, n := range c.speech {
				e.openUtterance()
				e.hearFrames(n)
				e.closeUtterance()
				e.Owe(false)
				e.hearFrames(50)
			}
			audio, _ := e.Turn()
			n := len(audio) / feedSamples
			if first, last := audio[0], audio[(n-1)*feedSamples]; first != c.first || last != c.last || n != int(c.last-c.first)+1 {
				t.Errorf("%d frames, %d to %d, want %d to %d", n, first, last, c.first, c.last)
			}
		})
	}
}

func TestFeedResumes(t *testing.T) {
	for _, pause := range []int{1, 10, pageFrames, 3 * pageFrames} {
		s := &tapedStream{}
		e := newFeed(s)
		e.hearFrames(103)
		e.openUtterance()
		e.hearFrames(50)
		e.closeUtterance()
		e.hearFrames(pause)
		e.resumeUtterance()
		e.hearFrames(20)
		e.closeUtterance()
		first, last, n := s.span()
		if int(last-first)+1 != n || last != int16(172+pause) || s.resumes != 1 || len(s.finishes) != 2 {
			t.Errorf("after a pause of %d frames: %d frames from %d to %d, %d resumed", pause, n, first, last, s.resumes)
		}
	}
}

func TestFeedDoesNotRepeat(t *testing.T) {
	s := &tapedStream{}
	e := newFeed(s)
	e.hearFrames(103)
	e.openUtterance()
	e.hearFrames(10)
	e.closeUtterance()
	e.hearFrames(5)
	e.openUtterance() // 100 ms later: another utterance
	e.hearFrames(10)
	if !slices.IsSorted(s.frames) || len(slices.Compact(s.frames)) != 48 || s.finishes[0] != 33 {
		t.Errorf("heard %v", s.frames)
	}
}

// TestFeedIsRepeated: a stream that takes another's place hears the utterance whose
// result is owed from its beginning, and its numbers are ours.
func TestFeedIsRepeated(t *testing.T) {
	for _, c := range []struct {
		name     string
		closed   bool
		answered bool // the result is there
		again    bool
		frames   int
		finishes int
		offset   int
	}{
		{"in mid-utterance", false, false, true, 63, 0, 6},
		{"before its text", true, false, true, 63, 1, 6},
		{"after its text", true, true, true, 0, 0, 7},
		{"in mid-utterance, once more", false, false, false, 0, 0, 6},
		{"before its text, once more", true, false, false, 0, 1, 6},
	} {
		e := newFeed(&tapedStream{})
		e.hearFrames(103)
		e.openUtterance()
		e.hearFrames(30)
		e.feed.asr = nil // it died
		e.hearFrames(10)
		if c.closed {
			e.closeUtterance()
		}
		e.feed.owed = !c.answered
		s := &tapedStream{}
		if !c.again {
			e.feed.fallen = maxReplays + 1
		}
		e.Attach(s, inference.Info{}, 7)
		if len(s.frames) != c.frames || len(s.finishes) != c.finishes || e.feed.offset != c.offset {
			t.Errorf("%s: %d frames, %d finishes, offset %d", c.name, len(s.frames), len(s.finishes), e.feed.offset)
		}
		if c.frames > 0 && (s.frames[0] != 80 || s.frames[c.frames-1] != 142) {
			t.Errorf("%s: heard %d to %d", c.name, s.frames[0], s.frames[c.frames-1])
		}
	}
}

// described is an engine of which no more is known.
type described struct {
	inference.ASR
	info inference.Info
}

func (d described) Info() inference.Info { return d.info }

// TestFeedInAnotherLanguage: a stream for another language takes the place of one between utterances; it hears the next one from
// its beginning, and nothing again.
func TestFeedInAnotherLanguage(t *testing.T) {
	known := []string{"en", "es"}
	for name, info := range map[string]inference.Info{"speech": {Languages: known}, "all": {Languages: known, Feed: inference.FeedContinuous}} {
		first, next := &tapedStream{}, &tapedStream{}
		e := newFeed(nil)
		e.Language = "en"
		e.Attach(first, info, 0)
		e.hearFrames(103)
		e.openUtterance()
		if e.Outdated(described{info: info}, "es", true) != nil {
			t.Errorf("%s: it is gone while the caller speaks", name)
		}
		e.hearFrames(30)
		e.closeUtterance()
		before, one, several := e.Stream(), described{info: info}, described{info: info}
		several.info.Caps.Detects = true
		if e.Outdated(one, "en", true) != nil || e.Outdated(one, "fr", true) != nil || e.Outdated(several, "es", true) != nil || e.Stream() != before {
			t.Errorf("%s: it is gone in vain", name)
		}
		if e.Outdated(one, "es", true) != first || e.Outdated(one, "es", true) != nil || e.Stream() == before || e.Language != "es" {
			t.Errorf("%s: it is not gone once, with its results", name)
		}
		e.Owe(true)
		e.hearFrames(50)
		e.openUtterance()
		e.hearFrames(20)
		e.Attach(next, info, 2)
		e.hearFrames(10)
		from := e.feed.from
		if first, last, n := next.span(); int64(first) != from || last != 212 || n != int(212-from)+1 || e.Offset() != 1 {
			t.Errorf("%s: heard %d frames, %d to %d, want %d to 212; offset %d", name, n, first, last, from, e.Offset())
		}
	}
}

func TestFeedKeepsFifteenSeconds(t *testing.T) {
	e := newFeed(nil)
	e.hearFrames(1000)
	if len(e.feed.pages) != 2 {
		t.Errorf("%d pages without speech, want 2", len(e.feed.pages))
	}
	e.openUtterance()
	e.hearFrames(2000)
	s := &tapedStream{}
	e.Attach(s, inference.Info{}, 1)
	first, last, n := s.span()
	if int(last-first)+1 != n || last != 2999 || n < 700 || n > maxPages*pageFrames {
		t.Errorf("%d frames of 2023 from %d to %d", n, first, last)
	}
}

// TestFeedWithoutRecogniser: what is said while nobody hears it is kept for the recogniser
// that comes, the pause that was taken back included.
func TestFeedWithoutRecogniser(t *testing.T) {
	e := newFeed(nil)
	e.hearFrames(103)
	e.openUtterance()
	e.hearFrames(10)
	e.closeUtterance()
	e.hearFrames(5)
	e.resumeUtterance()
	e.feed.owed = e.feed.open
	e.closeUtterance()
	if e.feed.heard != 118*media.FrameTime {
		t.Errorf("the clock is at %v", e.feed.heard.Duration())
	}
	s := &tapedStream{}
	e.Attach(s, inference.Info{}, 1)
	if first, last, n := s.span(); first != 80 || last != 117 || n != 38 || len(s.finishes) != 1 {
		t.Errorf("heard %d frames, %d to %d, finished %d times; want 80 to 117, once", n, first, last, len(s.finishes))
	}
}

// TestFeedIsWhole: whatever happens in whatever order, no frame of an utterance is
// heard twice or left out. A recogniser that wants all audio gets the pauses as well.
func TestFeedIsWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var info inference.Info
		if rapid.Bool().Draw(t, "continuous") {
			info.Feed = inference.FeedContinuous
		}
		continuous := info.Feed == inference.FeedContinuous
		s := &tapedStream{}
		e := newFeed(nil)
		e.Attach(s, info, 0)
		var log []string
		note := func(format string, args ...any) { log = append(log, fmt.Sprintf(format, args...)) }
		opened := 0
		check := func() {
			for i := 1; i < len(s.frames); i++ {
				if gap := int(s.frames[i] - s.frames[i-1]); gap < 1 || gap > 1 && (continuous || !slices.Contains(s.finishes, i)) {
					t.Fatalf("frame %d after %d: %v", s.frames[i], s.frames[i-1], log)
				}
			}
			if (e.feed.open || continuous) && len(s.frames) > 0 && int64(s.frames[len(s.frames)-1]) != e.feed.n-1 {
				t.Fatalf("%d frames behind: %v", e.feed.n-1-int64(s.frames[len(s.frames)-1]), log)
			}
			if len(e.feed.pages) > maxPages {
				t.Fatalf("%d pages", len(e.feed.pages))
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"hear": func(t *rapid.T) {
				n := rapid.IntRange(1, 100).Draw(t, "frames")
				note("hear %d", n)
				e.hearFrames(n)
			},
			"open": func(t *rapid.T) {
				if !e.feed.open {
					note("open")
					opened++
					e.openUtterance()
				}
			},
			"close": func(t *rapid.T) { note("close"); e.closeUtterance() },
			"resume": func(t *rapid.T) {
				if opened > 0 && e.feed.owed {
					note("resume")
					e.resumeUtterance()
				}
			},
			"result": func(t *rapid.T) { note("result"); e.feed.owed = e.feed.open },
			"die": func(t *rapid.T) {
				note("die")
				owed := e.feed.owed
				s = &tapedStream{}
				e.Attach(s, info, opened)
				to := e.feed.to
				if continuous {
					to = e.feed.n
				}
				if owed && int64(len(s.frames)) != to-max(e.feed.from, e.feed.base) {
					t.Fatalf("told %d frames again of %d to %d: %v", len(s.frames), e.feed.from, e.feed.to, log)
				}
			},
			"": func(*rapid.T) { check() },
		})
	})
}

// TestWordsOfAContinuousFeed: word times count from the first sample of the recogniser's
// utterance, which begins where the one before was finished, or its stream.
func TestWordsOfAContinuousFeed(t *testing.T) {
	info := inference.Info{Feed: inference.FeedContinuous}
	e := newFeed(nil)
	e.hearFrames(50) // a second before there is a recogniser
	e.Attach(&tapedStream{}, info, 0)
	word := func(utterance int, at time.Duration) {
		e.hearFrames(100)
		e.OpenUtterance(utterance, 0)
		e.hearFrames(50)
		e.CloseUtterance(utterance, 0, time.Time{})
		e.Recognised(inference.Result{Utterance: utterance, Text: "yes", Final: true, Last: true,
			Words: []inference.Mark{{Text: "yes", Start: at, End: at + time.Second}}}, false, time.Time{})
	}
	word(1, 2*time.Second)         // 3 s after the call began
	word(2, 2500*time.Millisecond) // after the first was finished at 4 s
	said := e.Said("yes yes", e.feed.heard)
	if len(said.Words) != 2 || said.Words[0].From != 3*media.Second || said.Words[1].From != 6500*media.Millisecond {
		t.Errorf("%+v", said)
	}
}

// TestRawFeed: a recogniser that does better on the audio as it came gets that, from the
// moment that it is attached.
func TestRawFeed(t *testing.T) {
	for _, raw := range []bool{false, true} {
		var c Caller
		c.Begin(silencer{}, media.Format{In: feedRate}, feedRate)
		s := &tapedStream{}
		c.Attach(s, inference.Info{Raw: raw, Feed: inference.FeedContinuous}, 0)
		loud := make([]int16, feedSamples)
		for i := range loud {
			loud[i] = 1000
		}
		for n := range 20 {
			c.Hear(media.Frame{Samples: loud, Rate: feedRate, At: media.Time(n) * media.FrameTime})
		}
		if got := s.frames[19] != 0; got != raw {
			t.Errorf("raw %v: it hears the audio as it came: %v", raw, got)
		}
	}
}

// silencer removes everything.
type silencer struct{}

func (silencer) Hear(f media.Frame) (media.Frame, Activity) {
	return media.Frame{Samples: make([]int16, len(f.Samples)), Rate: f.Rate, At: f.At}, Activity{}
}

// TestRecogniserKnowsTheQuestion: a recogniser learns each sentence of the agent's when it
// begins, and one that takes its place the latest.
func TestRecogniserKnowsTheQuestion(t *testing.T) {
	var c Caller
	c.Begin(silencer{}, media.Format{In: feedRate}, feedRate)
	first, next := &tapedStream{}, &tapedStream{}
	c.Attach(first, inference.Info{}, 0)
	for _, text := range []string{"", "Good morning.", "Good morning.", "For how many?", "For how many?", ""} {
		c.Sent(media.Frame{Samples: make([]int16, feedSamples), Rate: feedRate}, true, text, time.Time{})
	}
	c.Attach(next, inference.Info{}, 0)
	if !slices.Equal(first.said, []string{"Good morning.", "For how many?"}) || !slices.Equal(next.said, []string{"For how many?"}) {
		t.Errorf("%q, then %q", first.said, next.said)
	}
}
