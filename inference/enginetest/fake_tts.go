package enginetest

import (
	"context"
	"errors"
	"iter"
	"math"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"parley/inference"
	"parley/media"
)

// FakeTTS speaks a tone of a known length for every sentence. Safe for use from
// several goroutines once its fields are set.
type FakeTTS struct {
	Name       string
	Languages  []string
	VoiceIDs   []string
	Rate       media.Rate
	FirstAudio time.Duration // from Speak to the first chunk
	Sentence   time.Duration // audio per sentence of the text, at speed 1
	MarkEvery  time.Duration // a word mark each; 0: no marks
	Chunk      time.Duration // audio per chunk
	Every      time.Duration // wait between chunks; 0: all at once
	Tone       float64       // in Hz; a quarter of full scale
	// Limit is how many chunks are given before Err, or before silence that lasts
	// until the context ends when Err is nil. Below 0: no limit. It counts for texts that
	// contain LimitIn.
	Limit   int
	LimitIn string
	Err     error
	Remote  bool // it is not Local
	// IgnoreCancel makes it go on after its context has ended: late chunks.
	IgnoreCancel bool

	mu    sync.Mutex
	calls []*TTSCall
}

// TTSCall is one text a FakeTTS was given.
type TTSCall struct {
	Speech    inference.Speech
	Start     time.Time
	End       time.Time // zero while it runs
	Given     time.Duration
	Cancelled bool
}

// NewFakeTTS gives its first audio after 80 ms, then all of it: 1,000 ms a
// sentence at 24 kHz in chunks of 100 ms, a word mark each 250 ms.
func NewFakeTTS() *FakeTTS {
	return &FakeTTS{
		Name:       "fake-tts",
		Languages:  []string{"en", "es", "ca", "gl", "eu", "pt", "fr", "it", "de"},
		VoiceIDs:   []string{"F1", "F2", "F3", "F4", "F5", "M1", "M2", "M3", "M4", "M5"},
		Rate:       media.Rate24k,
		FirstAudio: 80 * time.Millisecond,
		Sentence:   time.Second,
		MarkEvery:  250 * time.Millisecond,
		Chunk:      100 * time.Millisecond,
		Tone:       440,
		Limit:      -1,
	}
}

// Info implements inference.TTS.
func (f *FakeTTS) Info() inference.Info {
	return inference.Info{Name: f.Name, Description: "fake voice for tests", Languages: f.Languages, Local: !f.Remote}
}

// Voices implements inference.TTS.
func (f *FakeTTS) Voices() []inference.Voice {
	list := make([]inference.Voice, len(f.VoiceIDs))
	for i, id := range f.VoiceIDs {
		list[i] = inference.Voice{ID: id, Gender: "female", Description: "tone"}
		if strings.HasPrefix(id, "M") {
			list[i].Gender = "male"
		}
	}
	return list
}

// Calls lists the texts so far, oldest first.
func (f *FakeTTS) Calls() []TTSCall {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := make([]TTSCall, len(f.calls))
	for i, c := range f.calls {
		list[i] = *c
	}
	return list
}

// Busy is the number of texts in progress.
func (f *FakeTTS) Busy() int {
	n := 0
	for _, c := range f.Calls() {
		if c.End.IsZero() {
			n++
		}
	}
	return n
}

// Speak implements inference.TTS.
func (f *FakeTTS) Speak(ctx context.Context, s inference.Speech) iter.Seq2[inference.Chunk, error] {
	return func(yield func(inference.Chunk, error) bool) {
		if err := f.refuse(s.VoiceConfig); err != nil {
			yield(inference.Chunk{}, err)
			return
		}
		f.speak(ctx, s, f.FirstAudio, yield)
	}
}

// refuse is the fault of a voice or language that it has not.
func (f *FakeTTS) refuse(v inference.VoiceConfig) error {
	if !slices.Contains(f.VoiceIDs, v.Voice) {
		return f.fault(inference.ErrVoice)
	}
	if !slices.Contains(f.Languages, v.Language) {
		return f.fault(inference.ErrLanguage)
	}
	return nil
}

// speak plays one text, its first chunk after a wait, and says whether it came to its end.
func (f *FakeTTS) speak(ctx context.Context, s inference.Speech, first time.Duration, yield func(inference.Chunk, error) bool) bool {
	call := &TTSCall{Speech: s, Start: time.Now()}
	f.mu.Lock()
	f.calls = append(f.calls, call)
	f.mu.Unlock()
	finished := f.play(ctx, call, first, yield)
	f.mu.Lock()
	call.End, call.Cancelled = time.Now(), !finished
	f.mu.Unlock()
	return finished
}

func (f *FakeTTS) fault(k inference.Fault) error {
	return &inference.Error{Engine: f.Name, Fault: k}
}

func (f *FakeTTS) play(ctx context.Context, call *TTSCall, pause time.Duration, yield func(inference.Chunk, error) bool) bool {
	wait := ctx
	if f.IgnoreCancel {
		wait = context.WithoutCancel(ctx)
	}
	marks, length := f.layout(call.Speech)
	total := media.FromDuration(length).Samples(f.Rate)
	size := max(1, media.FromDuration(f.Chunk).Samples(f.Rate))
	for n, at := 0, 0; at < total; n++ {
		err := sleep(wait, pause)
		if err == nil && n == f.Limit && strings.Contains(call.Speech.Text, f.LimitIn) {
			if err = f.Err; err == nil {
				<-ctx.Done()
				err = context.Cause(ctx)
			}
		}
		if err != nil {
			yield(inference.Chunk{}, err)
			return false
		}
		end := min(at+size, total)
		c := inference.Chunk{Rate: f.Rate, Samples: f.tone(at, end)}
		until := f.Rate.Duration(end).Duration()
		for len(marks) > 0 && (marks[0].Start < until || end == total) {
			c.Words, marks = append(c.Words, marks[0]), marks[1:]
		}
		f.mu.Lock()
		call.Given = until
		f.mu.Unlock()
		if !yield(c, nil) {
			return false
		}
		at, pause = end, f.Every
	}
	return true
}

// tone is the samples from at to end of an endless tone.
func (f *FakeTTS) tone(at, end int) []int16 {
	s := make([]int16, end-at)
	for i := range s {
		s[i] = int16(8191 * math.Sin(2*math.Pi*f.Tone*float64(at+i)/float64(f.Rate)))
	}
	return s
}

// layout places the words of the text: each sentence takes Sentence, and its
// words are shared out evenly over its marks, so that a mark stands for one word
// where there are no more words than marks.
func (f *FakeTTS) layout(s inference.Speech) (marks []inference.Mark, length time.Duration) {
	speed := s.Speed
	if speed == 0 {
		speed = 1
	}
	scaled := func(d time.Duration) time.Duration { return time.Duration(float64(d) / speed) }
	for _, words := range sentences(s.Text) {
		slots := len(words)
		if f.MarkEvery > 0 {
			slots = min(slots, int(f.Sentence/f.MarkEvery))
		} else {
			slots = 0
		}
		for k := range slots {
			run := words[k*len(words)/slots : (k+1)*len(words)/slots]
			texts := make([]string, len(run))
			for i, w := range run {
				texts[i] = w.text
			}
			start := length + scaled(time.Duration(k)*f.MarkEvery)
			marks = append(marks, inference.Mark{
				Text: strings.Join(texts, " "), Start: start, End: start + scaled(f.MarkEvery), Char: run[0].at,
			})
		}
		length += scaled(f.Sentence)
	}
	return marks, length
}

type word struct {
	text string
	at   int // in code points
}

// sentences cuts a text at its full stops, question and exclamation marks.
func sentences(text string) [][]word {
	var all [][]word
	var current []word
	runes := []rune(text)
	at := 0
	for _, field := range strings.Fields(text) {
		for at < len(runes) && unicode.IsSpace(runes[at]) {
			at++
		}
		current = append(current, word{field, at})
		at += len([]rune(field))
		if strings.ContainsAny(field[len(field)-1:], ".?!") {
			all, current = append(all, current), nil
		}
	}
	if len(current) > 0 {
		all = append(all, current)
	}
	return all
}

// ErrFake is an error for tests to give to a fake.
var ErrFake = errors.New("the fake fails as planned")
