// Package voicetest has what pages with a microphone are tested with: a fake agent, to be
// mounted behind the real transports, and flags that give a browser a fake microphone.
package voicetest

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/api"
	"parley/api/talk"
	"parley/media"
	"parley/media/mediatest"
	"parley/media/wav"
)

// Tones of the fake agent, in Hz: its first reply, and those to typed turns.
const (
	GreetingTone = 440
	AnswerTone   = 880
)

// What the fake agent says with its greeting, which lasts until it is interrupted.
const Greeting = "This is a long greeting that nobody wants to hear to its end."

// Turns that mean something to the fake agent when they are typed.
const (
	TypeDrop   = "drop"   // it ends the connection as a server does that restarts
	TypeHangUp = "hangup" // it says goodbye
	TypeEnd    = "end "   // it ends for the reason that follows, with the detail after a space
)

// Agent conducts conversations without engines: it greets with a tone, is interrupted by
// anything loud, and answers typed turns with another tone. It implements talk.Agents.
type Agent struct {
	// Refuse is why nobody is admitted; nil: everybody is.
	Refuse error
	// Silent leaves out the greeting.
	Silent bool

	mu    sync.Mutex
	talks []*Talk
}

// Talk is one conversation that the Agent has had, or has.
type Talk struct {
	agent   *Agent
	AgentID string
	Who     api.Principal
	typed   chan string
	id      string

	mu      sync.Mutex
	heard   []int16 // of the microphone, at 16 kHz, the latest seconds
	frames  int
	changes []talk.Change
	cut     int
	over    bool
}

// Talks are the conversations so far, the oldest first.
func (a *Agent) Talks() []*Talk {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]*Talk(nil), a.talks...)
}

// Admit implements talk.Agents.
func (a *Agent) Admit(_ context.Context, who api.Principal, agentID string) (talk.Conversation, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.Refuse != nil {
		return nil, a.Refuse
	}
	t := &Talk{agent: a, AgentID: agentID, Who: who, typed: make(chan string, 16), id: fmt.Sprintf("ses_%d", len(a.talks)+1)}
	a.talks = append(a.talks, t)
	return t, nil
}

// keptSeconds of the microphone are kept.
const keptSeconds = 4

// Heard is what came from the microphone lately, at 16 kHz, how many frames of 20 ms it
// were altogether, and how often it has interrupted.
func (t *Talk) Heard() (samples []int16, frames, interruptions int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]int16(nil), t.heard...), t.frames, t.cut
}

// Changes are what the client set, in the beginning and later.
func (t *Talk) Changes() []talk.Change {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]talk.Change(nil), t.changes...)
}

// Over says whether the conversation has ended.
func (t *Talk) Over() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.over
}

// ID implements talk.Conversation.
func (t *Talk) ID() string { return t.id }

// Cancel implements talk.Conversation.
func (t *Talk) Cancel() {}

// Fail implements talk.Conversation.
func (t *Talk) Fail() {}

// Type implements talk.Conversation.
func (t *Talk) Type(text string) { t.typed <- text }

// Interrupt implements talk.Conversation.
func (t *Talk) Interrupt() { t.typed <- "" }

// ToolResult implements talk.Conversation.
func (t *Talk) ToolResult(string, string) {}

// Update implements talk.Conversation.
func (t *Talk) Update(c talk.Change) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.changes = append(t.changes, c)
}

// Converse implements talk.Conversation.
func (t *Talk) Converse(ctx context.Context, asked talk.Change, leg talk.Leg) {
	t.Update(asked)
	ctx, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = leg.Run(ctx)
	}()
	c := conductor{Talk: t, leg: leg, format: leg.Format(), end: cancel}
	leg.Status("prompt_set", 0)
	if !t.agent.Silent {
		c.speak(Greeting, GreetingTone, math.MaxInt)
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		timer.Reset(time.Until(leg.Next()))
		select {
		case <-done:
			cancel(nil)
			t.mu.Lock()
			t.over = true
			t.mu.Unlock()
			return
		case text := <-t.typed:
			c.take(text)
		case <-leg.Events(): // a client that is away or back: nothing is due meanwhile
		case <-timer.C:
		}
		c.tick(time.Now())
	}
}

// conductor is the loop's own state.
type conductor struct {
	*Talk
	leg    talk.Leg
	format media.Format
	end    context.CancelCauseFunc

	number int
	tone   []int16 // a second of it, which is whole periods
	at     int     // in it
	left   int     // frames of the reply
	text   string
	loud   int // frames in a row
}

// loudFrames of the microphone in a row interrupt, at loudLevel dBFS.
const (
	loudFrames = 5
	loudLevel  = -30
)

func (c *conductor) speak(text string, tone float64, frames int) {
	c.number++
	c.leg.Status("thinking", c.number)
	c.insight("phase", map[string]any{"phase": "thinking", "turn": c.number})
	c.insight("told", map[string]any{"keep": 0, "system": "Be a tone.", "tools": []any{}, "messages": []any{map[string]string{"role": "user", "text": text}}})
	c.leg.Status("speaking", c.number)
	c.insight("phase", map[string]any{"phase": "speaking", "turn": c.number})
	c.insight("latency", map[string]any{"turn": c.number, "endpoint_ms": 200, "model_ms": 40, "voice_ms": 55, "overhead_ms": 5, "total_ms": 300,
		"speech_end_ms": 1000, "final_text_ms": 120, "first_token_ms": 240, "first_sentence_ms": 250, "first_audio_ms": 295, "first_packet_ms": 300})
	c.insight("cost", map[string]any{"usd": 0.0125})
	c.leg.Caption("agent", text)
	c.text, c.left, c.at = text, frames, 0
	c.tone = mediatest.Tone(tone, c.format.Out, int(c.format.Out), 0.25)
}

func (c *conductor) insight(name string, data any) {
	if c.leg.WantsInsight() {
		c.leg.Insight(name, c.number, data)
	}
}

// take takes a typed turn; the empty one interrupts.
func (c *conductor) take(text string) {
	switch text {
	case "":
		c.interrupt("", time.Now())
	case TypeDrop:
		c.end(nil)
	case TypeHangUp:
		c.end(&media.Ended{Reason: media.AgentHangup})
	default:
		if why, ok := strings.CutPrefix(text, TypeEnd); ok {
			reason, detail, _ := strings.Cut(why, " ")
			c.end(&media.Ended{Reason: media.EndReason(reason), Detail: media.EndDetail(detail)})
			return
		}
		c.interrupt("", time.Now())
		c.leg.Transcript("user", text)
		c.speak(fmt.Sprintf("You said %s.", text), AnswerTone, 100)
	}
}

// interrupt cuts the reply off; heard is what was heard of it.
func (c *conductor) interrupt(heard string, now time.Time) {
	if c.left == 0 {
		return
	}
	c.leg.Flush(now)
	c.left, c.text = 0, ""
	c.leg.Status("interrupted", 0)
	if heard != "" {
		c.leg.Transcript("agent", heard)
	}
	c.leg.Status("listening", 0)
	c.insight("phase", map[string]any{"phase": "listening", "turn": c.number})
}

// tick hears and speaks what is due.
func (c *conductor) tick(now time.Time) {
	for {
		f, ok := c.leg.Read(now)
		if !ok {
			break
		}
		c.hear(f, now)
	}
	for n := c.leg.Due(now); n > 0 && (c.left > 0 || c.format.Continuous); n-- {
		samples := make([]int16, c.format.Out.FrameSamples())
		if c.left > 0 {
			copy(samples, c.tone[c.at:])
			c.at = (c.at + len(samples)) % len(c.tone)
			c.left--
		}
		c.leg.Write(media.Frame{Samples: samples, Rate: c.format.Out})
		if c.left == 0 && c.text != "" {
			c.leg.Transcript("agent", c.text)
			c.leg.Status("listening", 0)
			c.text = ""
		}
	}
}

// hear takes a frame of the microphone.
func (c *conductor) hear(f media.Frame, now time.Time) {
	c.mu.Lock()
	c.frames++
	c.heard = append(c.heard, f.Samples...)
	if most := keptSeconds * int(f.Rate); len(c.heard) > most {
		c.heard = append([]int16(nil), c.heard[len(c.heard)-most:]...)
	}
	c.mu.Unlock()
	if mediatest.Level(f.Samples) < loudLevel {
		if c.loud >= loudFrames {
			c.leg.Transcript("user", "Stop, please.")
		}
		c.loud = 0
		return
	}
	if c.loud++; c.loud != loudFrames {
		return
	}
	c.leg.Caption("user", "stop")
	if c.left > 0 {
		c.mu.Lock()
		c.cut++
		c.mu.Unlock()
		c.interrupt("This is a long greeting", now)
	}
}

// Microphone are the flags of a browser whose microphone gives these samples at 48 kHz,
// again and again, and allows pages to use it.
func Microphone(t testing.TB, samples []int16) []string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "microphone.wav")
	var b bytes.Buffer
	err := wav.Encode(&b, wav.Clip{Samples: samples, Rate: media.Rate48k})
	if err == nil {
		err = os.WriteFile(file, b.Bytes(), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return []string{"--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream", "--use-file-for-fake-audio-capture=" + file,
		"--allow-loopback-in-peer-connection"} // for machines that have nothing else
}

// Refusing has the next conversations refused, or admitted again.
func (a *Agent) Refusing(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.Refuse = err
}
