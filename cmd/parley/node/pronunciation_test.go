package node

import (
	"log/slog"
	"testing"

	"parley/store"
)

// TestPronunciationOfAnAgent: what is stored with an agent reaches its voice.
func TestPronunciationOfAnAgent(t *testing.T) {
	a := &store.Agent{Language: "en", Settings: []byte(`{"pronunciation":[{"word":"Lola","say":"low la"}]}`)}
	if p := planOf(a, slog.New(slog.DiscardHandler)); p.agent.Pronunciation == nil {
		t.Error("it is lost")
	}
	a.Settings = nil
	if p := planOf(a, slog.New(slog.DiscardHandler)); p.agent.Pronunciation != nil {
		t.Error("there is one that nobody stored")
	}
}
