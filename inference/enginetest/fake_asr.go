package enginetest

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"parley/inference"
)

// FakeASR has planned results, whatever audio it gets. Three ways: Plan
// says what is believed when; without one, every Finish is answered from Texts;
// and at any time the test speaks through a stream's Partial, Final and Fail.
// Safe for use from several goroutines once its fields are set.
type FakeASR struct {
	Name       string
	Languages  []string
	Latency    time.Duration // what Info says
	Confidence float64
	// Texts are the answers to Finish: utterance 1 hears the first one, and so on;
	// the last one repeats.
	Texts []string
	// FinalAfter is the wait from Finish to its answer. Below 0, and with a Plan,
	// Finish is not answered by itself.
	FinalAfter time.Duration
	// Plan is played by every stream, its times counted from Origin, or from Open
	// when Origin is zero. A stream says nothing of what was planned before it was opened.
	Plan      []Heard
	Origin    time.Time
	OpenDelay time.Duration
	OpenErr   error
	Keep      bool           // streams keep their audio for Audio
	Feed      inference.Feed // what Info says
	Local     bool           // likewise
	Raw       bool           // likewise
	Caps      inference.Caps // likewise
	// Lag is how far streams say they are behind, by the time since Origin; nil: they are not.
	Lag func(at time.Duration) time.Duration

	mu      sync.Mutex
	streams []*FakeStream
}

// Heard is one entry of a plan.
type Heard struct {
	At    time.Duration
	Text  string
	Final bool
	More  bool             // final, but more follows for this utterance though it was finished
	Err   error            // the stream fails
	Words []inference.Mark // as Result has them

	Event    inference.Event // likewise
	EndProb  float64
	Language string
}

// The lags of Spoken, those of a good streaming recogniser.
const (
	PartialLag = 100 * time.Millisecond
	FinalLag   = 120 * time.Millisecond
)

// Spoken is the plan of one utterance spoken between two times: its words are
// spread evenly, each is in a partial PartialLag after it ends, and the final
// comes FinalLag after the utterance's end.
func Spoken(from, to time.Duration, text string) []Heard {
	words := strings.Fields(text)
	var plan []Heard
	for i := range words {
		end := from + (to-from)*time.Duration(i+1)/time.Duration(len(words))
		plan = append(plan, Heard{At: end + PartialLag, Text: strings.Join(words[:i+1], " ")})
	}
	return append(plan, Heard{At: to + FinalLag, Text: text, Final: true})
}

// SpokenTurn is the plan of one turn, as an engine with Caps.Turns and Caps.Eager
// reports it: Spoken, its beginning, an eager end FinalLag after the caller pauses at
// pause and goes on 200 ms later, where pause is not 0, and its end.
func SpokenTurn(from, to, pause time.Duration, text string) []Heard {
	plan := Spoken(from, to, text)
	plan = append(plan, Heard{At: from + PartialLag, Event: inference.EventSpeechStart})
	if pause > 0 {
		plan = append(plan, Heard{At: pause + FinalLag, Event: inference.EventEagerEnd, EndProb: 0.5},
			Heard{At: pause + FinalLag + 200*time.Millisecond, Event: inference.EventResumed})
	}
	plan = append(plan, Heard{At: to + FinalLag, Event: inference.EventEagerEnd, EndProb: 0.6, Text: text},
		Heard{At: to + FinalLag, Event: inference.EventTurnEnd, EndProb: 0.8, Text: text})
	slices.SortStableFunc(plan, func(a, b Heard) int { return cmp.Compare(a.At, b.At) })
	return plan
}

// NewFakeASR answers every Finish with "hello" after 120 ms.
func NewFakeASR() *FakeASR {
	return &FakeASR{
		Name:       "fake-asr",
		Languages:  []string{"en", "es", "pt", "fr", "it", "de"},
		Latency:    600 * time.Millisecond,
		Confidence: 0.9,
		Texts:      []string{"hello"},
		FinalAfter: FinalLag,
	}
}

// Info implements inference.ASR.
func (f *FakeASR) Info() inference.Info {
	return inference.Info{Name: f.Name, Description: "fake recogniser for tests", Languages: f.Languages, Latency: f.Latency, Feed: f.Feed, Local: f.Local, Raw: f.Raw, Caps: f.Caps}
}

// Open implements inference.ASR.
func (f *FakeASR) Open(ctx context.Context, c inference.ASRConfig) (inference.Recognition, error) {
	if c.Detect && f.Caps.Detects {
		c.Language = ""
	}
	if c.Language != "" && !slices.Contains(f.Languages, c.Language) {
		return nil, &inference.Error{Engine: f.Name, Fault: inference.ErrLanguage}
	}
	if err := sleep(ctx, f.OpenDelay); err != nil {
		return nil, err
	}
	if f.OpenErr != nil {
		return nil, f.OpenErr
	}
	s := &FakeStream{asr: f, config: c, results: make(chan inference.Result), done: make(chan struct{}),
		wake: make(chan struct{}, 1), current: 1, answering: 1}
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	now := time.Now()
	origin := f.Origin
	if origin.IsZero() {
		origin = now
	}
	for _, h := range f.Plan {
		if at := origin.Add(h.At); !at.Before(now) {
			s.due = append(s.due, pending{at, h, 0})
		}
	}
	f.mu.Lock()
	f.streams = append(f.streams, s)
	f.mu.Unlock()
	go s.run()
	return s, nil
}

// Streams lists the streams opened so far, oldest first, closed ones included.
func (f *FakeASR) Streams() []*FakeStream {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.streams)
}

// Busy is the number of streams that have not ended.
func (f *FakeASR) Busy() int {
	n := 0
	for _, s := range f.Streams() {
		if !s.ended.Load() { // done itself may belong to another bubble
			n++
		}
	}
	return n
}

var errClosed = errors.New("stream closed")
