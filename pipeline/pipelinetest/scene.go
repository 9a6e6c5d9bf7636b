package pipelinetest

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"parley/inference"
	"parley/inference/enginetest"
	"parley/media"
	"parley/pipeline"
	"parley/pipeline/agent"
	"parley/pipeline/event"
	"parley/pipeline/journal"
	"parley/pipeline/listen"
	"parley/pipeline/replay"
	"parley/pipeline/turn"
)

// Scene is one conversation with scripted engines. Its fields may be changed
// until Play. It must be made and played in the same testing/synctest bubble, or
// outside of any.
type Scene struct {
	Leg    *Leg
	ASR    *enginetest.FakeASR
	LLM    *enginetest.FakeLLM
	TTS    *enginetest.FakeTTS
	Config pipeline.Config
	// Recogniser, Model and Voice take the places of ASR, LLM and TTS when they
	// are set, usually around them.
	Recogniser inference.ASR
	Model      inference.LLM
	Voice      inference.TTS
	Deaf       bool // there is no recogniser
	// Unkept: no record is kept, and Play does not replay it.
	Unkept bool
	// FrontEnd takes the place of one that knows the leg's script when it is set.
	FrontEnd listen.FrontEnd

	// Fit is called between Prepare and Run when it is set.
	Fit func(c *pipeline.Call)
	// Act runs beside the call, for what a client does.
	Act func(c *pipeline.Call)
	// Observe sees every event besides the log.
	Observe func(c *pipeline.Call, e event.Event)

	log    []string
	record journal.Writer
}

// NewScene returns a conversation in which the caller speaks as told. The
// recogniser hears each utterance's text with the lags of a good streaming
// engine; the model's first sentence comes after 150 ms and it writes three; the
// voice begins after 80 ms and speaks a second per sentence. Every text sounds
// complete, and a turn ends 200 ms after it. Nobody greets, nobody asks whether the caller is still there.
func NewScene(said ...Said) *Scene {
	s := &Scene{ASR: enginetest.NewFakeASR(), LLM: enginetest.NewFakeLLM(), TTS: enginetest.NewFakeTTS()}
	var speech []Utterance
	for _, u := range said {
		speech = append(speech, Utterance{From: u.From, To: u.To, Level: u.Level})
		if u.Text != "" {
			s.ASR.Plan = append(s.ASR.Plan, enginetest.Spoken(u.From, u.To, u.Text)...)
		}
	}
	s.ASR.FinalAfter = -1
	s.Leg = NewLeg(speech...)
	s.Config = pipeline.Config{
		Agent: agent.Agent{Voice: "F1", Language: "en", Prompt: "You help."},
		Turn:  turn.DefaultConfig("en"),
	}
	s.Config.Turn.Idle, s.Config.Turn.MinDelay = 0, 200*media.Millisecond
	s.Config.Turn.Complete = func(string) float64 { return 0.9 }
	return s
}

// Said is an utterance and what the recogniser makes of it; no text: nothing.
type Said struct {
	From, To time.Duration
	Text     string
	Level    float32
}

// Call is the conversation's call, not prepared yet. It notes its events.
func (s *Scene) Call() *pipeline.Call {
	cfg := s.Config
	cfg.ASR, cfg.LLM, cfg.TTS = s.ASR, s.LLM, s.TTS
	if s.Recogniser != nil {
		cfg.ASR = s.Recogniser
	}
	if s.Model != nil {
		cfg.LLM = s.Model
	}
	if s.Voice != nil {
		cfg.TTS = s.Voice
	}
	if s.Deaf {
		cfg.ASR = nil
	}
	cfg.FrontEnd = FrontEnd{s.Leg}
	if s.FrontEnd != nil {
		cfg.FrontEnd = s.FrontEnd
	}
	var call *pipeline.Call
	observe := cfg.Observe
	cfg.Observe = func(e event.Event) {
		if e.Kind != event.Served { // as the script says
			s.log = append(s.log, line(e))
		}
		if observe != nil {
			observe(e)
		}
		if s.Observe != nil {
			s.Observe(call, e)
		}
	}
	call = pipeline.New(cfg)
	s.ASR.Origin = s.Leg.start
	return call
}

// Play conducts the conversation until it ends or the time is up.
func (s *Scene) Play(t *testing.T, limit time.Duration) media.Ended {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	if s.Config.Journal == nil && !s.Unkept {
		s.Config.Journal = &s.record
	}
	call := s.Call()
	if err := call.Prepare(ctx); err != nil {
		t.Fatal(err)
	}
	if s.Fit != nil {
		s.Fit(call)
	}
	done := make(chan struct{})
	if s.Act != nil {
		go func() {
			defer close(done)
			s.Act(call)
		}()
	} else {
		close(done)
	}
	ended := call.Run(s.Leg)
	<-done
	if n := s.ASR.Busy() + s.LLM.Busy() + s.TTS.Busy(); n != 0 {
		t.Errorf("%d engine streams are still busy after the call", n)
	}
	if s.Config.Journal == &s.record {
		s.replay(t)
	}
	return ended
}

// replay conducts the conversation again from its record: its log must be the same.
func (s *Scene) replay(t *testing.T) {
	t.Helper()
	kept := s.record.Bytes()
	if kept == nil { // it ended before it began
		return
	}
	f, err := journal.Read(bytes.NewReader(kept))
	if err != nil {
		t.Fatalf("the record of the conversation: %v", err)
	}
	again, err := replay.Replay(f, s.Sounds)
	if err != nil {
		t.Fatal(err)
	}
	if !again.Same { // outside of simulated time the record may be cut
		t.Errorf("the conversation does not replay, from event %d of %d on:\n%s", again.Parted, len(f.Events), Diff(f.Events, again.Events))
	}
}

// Sounds has a replay take texts for complete as the scene does.
func (s *Scene) Sounds(c *pipeline.Config) { c.Turn.Complete = s.Config.Turn.Complete }

// Record is what was kept of a conversation that was played. The slice is the scene's.
func (s *Scene) Record() []byte { return s.record.Bytes() }

// Log is every event of the conversation, one a line, with its time in ms.
func (s *Scene) Log() string { return strings.Join(s.log, "\n") }

// line renders an event. Captions, phonemes and timings are left out: they follow
// from the rest.
func line(e event.Event) string {
	b := fmt.Sprintf("%d %s", e.At.Milliseconds(), e.Kind)
	switch e.Kind {
	case event.Thinking, event.Speaking:
		return fmt.Sprintf("%s %d", b, e.Generation)
	case event.UserLine, event.UserLineAgain, event.AgentLine, event.UserPartial, event.AgentPartial, event.Answered, event.HandedOver, event.SteppedIn, event.SupervisorLine:
		return fmt.Sprintf("%s %q", b, e.Text)
	case event.Ducked:
		return fmt.Sprintf("%s %v", b, e.On)
	case event.ToolAsked, event.ToolBegun:
		return fmt.Sprintf("%s %s %s %s", b, e.Call.ID, e.Call.Name, e.Call.Arguments)
	case event.ToolEnded:
		return fmt.Sprintf("%s %s %s", b, e.Call.ID, e.Text)
	case event.Used:
		if e.Usage.Kind != "reply" {
			b += " " + e.Usage.Kind
		}
		return fmt.Sprintf("%s %d %s", b, e.Usage.Generation, e.Usage.Outcome)
	case event.Fault, event.Recovered:
		return fmt.Sprintf("%s %v", b, e.Err)
	case event.Timed:
		return fmt.Sprintf("%s endpoint %v model %v voice %v total %v overhead %v", b, e.Timing.Endpoint, e.Timing.Model, e.Timing.Voice, e.Timing.Total, e.Timing.Overhead)
	case event.End:
		return fmt.Sprintf("%s %s", b, e.Ended.Error())
	}
	return b
}

// Prompts is what the model was asked, request by request.
func (s *Scene) Prompts() [][]inference.Message {
	var all [][]inference.Message
	for _, c := range s.LLM.Calls() {
		all = append(all, c.Request.Messages)
	}
	return all
}

// Diff is the comparison as text, a line for each event; empty when nothing differs.
func Diff(then, now []journal.Event) string {
	var b strings.Builder
	differs := false
	for _, d := range replay.Compare(then, now) {
		differs = differs || !d.Same()
		b.WriteString(d.String() + "\n")
	}
	if !differs {
		return ""
	}
	return b.String()
}
