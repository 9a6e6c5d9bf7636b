package inference_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"parley/inference"
	"parley/inference/enginetest"
)

// fakeVoices are two voices, a and b, of which each streams or takes whole texts.
type fakeVoices struct {
	a, b    *enginetest.FakeStreamingTTS
	engines []inference.TTS
	failed  []string
}

func newVoices(kinds string) *fakeVoices {
	v := &fakeVoices{a: enginetest.NewFakeStreamingTTS(), b: enginetest.NewFakeStreamingTTS()}
	v.a.Name, v.b.Name = "a", "b"
	for i, one := range []*enginetest.FakeStreamingTTS{v.a, v.b} {
		one.Unmarked = kinds[i] == 'u'
		if kinds[i] == 'w' {
			v.engines = append(v.engines, one.FakeTTS)
		} else {
			v.engines = append(v.engines, one)
		}
	}
	return v
}

func (v *fakeVoices) open(t *testing.T, ctx context.Context, c inference.FailoverConfig) (*inference.FailoverTTS, inference.Utterance) {
	c.Failed = func(engine string, err error) { v.failed = append(v.failed, engine) }
	tts := inference.NewFailoverTTS(c, v.engines...)
	u, err := tts.Open(ctx, speech.VoiceConfig)
	if err != nil {
		t.Fatal(err)
	}
	return tts, u
}

// closed checks that no engine has an utterance any more.
func (v *fakeVoices) closed(t *testing.T) {
	synctest.Wait()
	for _, one := range []*enginetest.FakeStreamingTTS{v.a, v.b} {
		for _, u := range one.Utterances() {
			if !u.Over {
				t.Errorf("%s has an open utterance: %+v", one.Name, u)
			}
		}
		if one.Busy() != 0 {
			t.Errorf("%s is busy", one.Name)
		}
	}
}

// spokenBy is the words of an utterance: the engine, the number of the Say, the word, and when it begins.
func spokenBy(u inference.Utterance) (log []string, err error) {
	for c := range u.Chunks() {
		for _, w := range c.Words {
			log = append(log, fmt.Sprintf("%s %d %s %v", c.Engine, c.Say, w.Text, w.Start))
		}
		err = c.Err
	}
	return log, err
}

// TestFailoverUtterance: an engine that fails hands over what it has not begun, whether the
// engines stream or not; one that breaks off in a Say ends the utterance.
func TestFailoverUtterance(t *testing.T) {
	all := []string{"a 1 One. 0s", "a 2 Two. 1s", "a 3 Three. 2s"}
	over := []string{"a 1 One. 0s", "b 2 Two. 1s", "b 3 Three. 2s"}
	short := []string{"a 1 One. 0s", "a 2 Two. 1s"}
	for _, kinds := range []string{"ss", "ws", "sw", "ww", "us", "uw"} {
		for name, c := range map[string]struct {
			limit  int
			err    error
			want   []string
			broken error  // what ends the utterance
			next   string // who speaks the next utterance
		}{
			"well":           {limit: -1, want: all, next: "a"},
			"before a Say":   {err: down, want: over, next: "b"},
			"refused":        {err: refused, want: over, next: "a"},
			"silent":         {want: over, next: "b"},
			"in a Say":       {limit: 5, err: down, want: short, broken: down, next: "b"},
			"in its silence": {limit: 5, want: short, next: "b"},
		} {
			t.Run(kinds+" "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					v := newVoices(kinds)
					v.a.Limit, v.a.LimitIn, v.a.Err = c.limit, "Two", c.err
					want, broken := c.want, c.broken
					if v.a.Unmarked && c.limit == 0 { // it may have broken off in the first Say
						want, broken = all[:1], c.err
					} else if c.err == refused && kinds[1] == 'w' { // a keeps its place
						want = []string{over[0], over[1], all[2]}
					}
					ctx, cancel := context.WithCancelCause(t.Context())
					defer cancel(nil)
					tts, u := v.open(t, ctx, inference.FailoverConfig{First: time.Second})
					for _, text := range []string{"One. ", "Two. ", "Three. "} {
						if err := u.Say(text); err != nil {
							t.Error(err)
						}
					}
					u.End()
					if c.limit != -1 && c.err == nil && (c.limit > 0 || v.a.Unmarked) { // only its reader sees that nothing comes
						time.AfterFunc(3*time.Second, func() { cancel(inference.ErrStalled) })
						broken = nil
					}
					if log, err := spokenBy(u); !slices.Equal(log, want) || err != broken {
						t.Errorf("spoken: %q, error %v; want %q, %v", log, err, want, broken)
					}
					v.closed(t)
					if n := len(v.failed); n != 0 != (c.limit != -1) || n > 1 && c.err != refused {
						t.Errorf("failed: %q", v.failed)
					}
					u, err := tts.Open(t.Context(), speech.VoiceConfig)
					if err != nil {
						t.Fatal(err)
					}
					u.Say("Four.")
					u.End()
					if log, err := spokenBy(u); err != nil || !slices.Equal(log, []string{c.next + " 1 Four. 0s"}) {
						t.Errorf("then: %q, error %v", log, err)
					}
					v.closed(t)
				})
			})
		}
	}
}

// TestFailoverUtteranceStreams: an engine that streams has each Say when it is said, the
// flushes and the end; and it keeps the utterance though another is preferred again.
func TestFailoverUtteranceStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVoices("ss")
		v.a.Limit, v.a.Err = 0, down
		v.b.Every = 100 * time.Millisecond
		_, u := v.open(t, t.Context(), inference.FailoverConfig{Cooldown: time.Second})
		var log []string
		done := make(chan struct{})
		go func() {
			defer close(done)
			log, _ = spokenBy(u)
		}()
		u.Say("One. ")
		time.Sleep(300 * time.Millisecond)
		u.Say(" ")
		u.Say("Two ")
		synctest.Wait()
		if got := v.b.Utterances(); len(got) != 1 || !slices.Equal(got[0].Says, []string{"One. ", " ", "Two "}) {
			t.Errorf("while the first is spoken, the engine has %+v", got)
		}
		v.a.Limit = -1
		time.Sleep(2 * time.Second) // a has had its rest
		u.Say(" ")
		time.Sleep(time.Second)
		u.Say("Three")
		u.End()
		<-done
		if want := []string{"b 1 One. 0s", "b 3 Two 1s", "b 5 Three 2s"}; !slices.Equal(log, want) {
			t.Errorf("spoken: %q, want %q", log, want)
		}
		if got := v.b.Utterances(); len(got) != 1 || !got[0].Ended {
			t.Errorf("utterances of b: %+v", got)
		}
		v.closed(t)
	})
}

// TestFailoverUtteranceIdles: an engine that gives up an utterance while there is nothing to say
// is asked again, and has not failed.
func TestFailoverUtteranceIdles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVoices("ss")
		v.a.Idle = time.Second
		_, u := v.open(t, t.Context(), inference.FailoverConfig{})
		time.AfterFunc(0, func() {
			u.Say("One. ")
			time.Sleep(3 * time.Second)
			u.Say("Two. ")
			u.End()
		})
		if log, err := spokenBy(u); err != nil || !slices.Equal(log, []string{"a 1 One. 0s", "a 2 Two. 1s"}) || v.failed != nil {
			t.Errorf("spoken: %q, error %v, failed: %q", log, err, v.failed)
		}
		v.closed(t)
	})
}

// TestFailoverUtteranceConforms runs the suite over failovers whose first engine is down.
func TestFailoverUtteranceConforms(t *testing.T) {
	for _, kinds := range []string{"ss", "sw", "ws", "ww"} {
		t.Run(kinds, func(t *testing.T) {
			v := newVoices(kinds)
			v.a.Limit = 0
			tts := inference.NewFailoverTTS(inference.FailoverConfig{First: 300 * time.Millisecond}, v.engines...)
			busy := func() int { return v.a.Busy() + v.b.Busy() }
			enginetest.TestStreamingTTS(t, tts, enginetest.TTSOptions{Busy: busy, Run: synctest.Test})
		})
	}
}
