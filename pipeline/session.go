package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"parley/billing"
	"parley/media"
	"parley/store"
)

// Session is an admitted call with its bill: what it has used, what was said.
type Session struct {
	m      *Manager
	stored *store.Session // nil until the store has it
	meter  billing.Meter

	// Of the manager's Run alone.
	seq     int64
	granted int64 // line minutes permitted

	mu      sync.Mutex
	call    *Call
	stopped *media.Ended // asked to end before it had a call
	started time.Time    // when its clock started; zero before
	ended   time.Time    // and when it stopped
	talk    store.Conversation
	turns   []turnRecord
}

// turnRecord is where the time of one turn went, as it is stored.
type turnRecord struct {
	Turn       int   `json:"turn"`
	Generation int   `json:"generation"`
	AtMS       int64 `json:"at_ms"`
	EndpointMS int64 `json:"endpoint_ms"`
	ModelMS    int64 `json:"model_ms"`
	VoiceMS    int64 `json:"voice_ms"`
	TotalMS    int64 `json:"total_ms"`
}

// Stored history is bounded: a call of two hours has far less.
const (
	maxTranscript  = 5000
	maxGenerations = 5000
)

// ID is the session's and the call's identifier.
func (s *Session) ID() string { return s.stored.ID }

// Begin starts the session's clock: a web session's configuration is complete, a
// telephone call is answered. Before it nothing is owed.
func (s *Session) Begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.started.IsZero() {
		s.started = time.Now()
	}
}

// usage is what the session has used up to now.
func (s *Session) usage(now time.Time) (started time.Time, u billing.Usage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u = s.meter.Usage()
	if s.started.IsZero() {
		return s.started, u
	}
	if !s.ended.IsZero() {
		now = s.ended
	}
	ms := max(0, now.Sub(s.started).Milliseconds())
	u[billing.AgentTime] = ms
	if s.stored.Terms.Kind.Phone() {
		u[billing.LineTime] = ms
	}
	return s.started, u
}

// wants is the line minute to ask permission for now; 0 when there is none.
func (s *Session) wants(now time.Time) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.stored.Terms.Kind.Phone() || s.started.IsZero() || !s.ended.IsZero() {
		return 0
	}
	minute := int64((now.Sub(s.started)+permitAhead)/time.Minute) + 1
	if minute <= max(1, s.granted) {
		return 0
	}
	return max(1, s.granted) + 1
}

// Observer returns the function to give to a call's Config: it keeps the books
// and hands every event on.
func (s *Session) Observer(next func(Event)) func(Event) {
	return func(e Event) {
		s.observe(e)
		if next != nil {
			next(e)
		}
	}
}

func (s *Session) observe(e Event) {
	switch e.Kind {
	case Used:
		t := e.Usage.Tokens
		s.meter.AddTokens(billing.Reply, t.In, t.Out)
		s.m.checkpointSoon()
		s.note(func() {
			if len(s.talk.Generations) < maxGenerations {
				s.talk.Generations = append(s.talk.Generations, store.Generation{Gen: e.Usage.Generation, Turn: e.Turn, Kind: e.Usage.Kind,
					Outcome: string(e.Usage.Outcome), InTokens: int64(t.In), OutTokens: int64(t.Out), Source: string(t.Source)})
			}
		})
	case UserLine, AgentLine:
		role := "user"
		if e.Kind == AgentLine {
			role = "agent"
		}
		s.note(func() {
			if len(s.talk.Transcript) < maxTranscript {
				s.talk.Transcript = append(s.talk.Transcript, store.TranscriptLine{Role: role, Text: e.Text, AtMS: e.At.Milliseconds()})
			}
		})
	case UserLineAgain:
		s.note(func() { s.replaceUser(e.Text) })
	case Timed:
		t := e.Timing
		s.note(func() {
			if len(s.turns) < maxTranscript {
				s.turns = append(s.turns, turnRecord{Turn: e.Turn, Generation: e.Generation, AtMS: e.At.Milliseconds(),
					EndpointMS: t.Endpoint.Milliseconds(), ModelMS: t.Model.Milliseconds(), VoiceMS: t.Voice.Milliseconds(), TotalMS: t.Total.Milliseconds()})
			}
		})
	}
}

func (s *Session) note(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

func (s *Session) replaceUser(text string) {
	for i := len(s.talk.Transcript) - 1; i >= 0; i-- {
		if s.talk.Transcript[i].Role == "user" {
			s.talk.Transcript[i].Text = text
			return
		}
	}
}

// Conduct runs the prepared call on leg and ends the session with it. Begin must
// have been called.
func (s *Session) Conduct(call *Call, leg media.Leg) media.Ended {
	s.mu.Lock()
	s.call = call
	stopped := s.stopped
	s.mu.Unlock()
	if stopped != nil {
		call.kill(stopped)
	}
	ended := call.Run(leg)
	s.End(ended)
	return ended
}

// Stop cuts the call off. It never blocks.
func (s *Session) Stop(why media.Ended) { s.stop(&why, false) }

// stop ends the call. Without goodbye, or when there is no conversation yet, it
// is cut off.
func (s *Session) stop(why *media.Ended, goodbye bool) {
	s.mu.Lock()
	call := s.call
	if s.stopped == nil {
		s.stopped = why
	}
	s.mu.Unlock()
	switch {
	case call == nil:
	case goodbye:
		call.Stop(why.Reason, why.Detail, true)
	default:
		call.kill(why)
	}
}

// A session whose end the store does not take is tried again this often and for
// this long; after that the next start of the node closes it at its last
// checkpoint.
const (
	closeRetry = 500 * time.Millisecond
	closeMax   = time.Minute
)

// End stops the session's clock and closes its books. It returns when the store
// has them, or cannot have them.
func (s *Session) End(e media.Ended) {
	s.note(func() {
		if s.ended.IsZero() {
			s.ended = time.Now()
		}
	})
	defer s.m.leave(s)
	started, usage := s.usage(time.Now())
	closing := store.Closing{Reason: string(e.Reason), Detail: e.Detail, StartedAt: started, Usage: usage}
	for deadline := time.Now().Add(closeMax); ; {
		err := s.settle(closing)
		switch {
		case err == nil:
			return
		case !errors.Is(err, store.ErrUnavailable) && !errors.Is(err, context.DeadlineExceeded), time.Now().After(deadline):
			s.m.log.Error("a session was not closed", "session", s.stored.ID, "err", err)
			return
		}
		time.Sleep(closeRetry)
	}
}

// settle stores the end once: the conversation first, for it is shown with the end.
func (s *Session) settle(c store.Closing) error {
	ctx, cancel := context.WithTimeout(context.Background(), ledgerPatience)
	defer cancel()
	talk := s.conversation()
	if err := s.m.ledger.SaveConversation(ctx, s.stored.Account, s.stored.ID, talk); err != nil {
		return err
	}
	_, err := s.m.ledger.CloseSession(ctx, s.stored, c, time.Now())
	return err
}

func (s *Session) conversation() store.Conversation {
	s.mu.Lock()
	defer s.mu.Unlock()
	talk := s.talk
	if turns, err := json.Marshal(s.turns); err == nil && s.turns != nil {
		talk.Turns = turns
	}
	return talk
}
