package conversation

import (
	"context"

	"parley/inference"
	"parley/pipeline/playout"
	"parley/pipeline/reply"
	"parley/pipeline/session"
)

// Utter speaks a text in the voice of the agent of a plan, for an admitted session in which no agent talks, or none yet.
func (m *Maker) Utter(ctx context.Context, s *session.Session, p *Plan, text string) ([]*playout.Sentence, error) {
	engines := m.chosen(ctx, s.Account(), p)
	s.Serves(engines.Engine)
	return reply.NewMaker(engines.LLM, engines.TTS, nil, nil).Sentences(inference.Meter(s.Spent).With(ctx), &p.Agent, text)
}
