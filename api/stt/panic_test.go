package stt_test

import (
	"context"
	"errors"
	"testing"

	"parley/inference"
	"parley/inference/enginetest"
	"parley/media/isolate"
)

// broken panics when it is opened.
type broken struct{ *enginetest.FakeASR }

func (broken) Open(context.Context, inference.ASRConfig) (inference.Recognition, error) {
	panic("a fault")
}

// TestPanicClosesTheBooks: work whose code panics does not go on for ever, and costs nothing.
func TestPanicClosesTheBooks(t *testing.T) {
	for name, ask := range map[string]func(t *testing.T, s *server){
		"a stream": func(t *testing.T, s *server) {
			p := s.connect(t)
			p.say(`{"language":"en"}`)
			p.sound(make([]byte, 6400))
			for _, _, err := p.ReadMessage(); err == nil; _, _, err = p.ReadMessage() {
			}
		},
		"a recording": func(t *testing.T, s *server) {
			file := wavFile(t, speech(t, sentence), 16000)
			contentType, body := form(t, file)
			_, _ = s.post(t, t.Context(), contentType, body) // there may be no answer
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, broken{quick()})
			ask(t, s)
			if used, err := s.books.settled(t); used != 0 || !errors.Is(err, isolate.Internal) {
				t.Errorf("used %d, ended by %v", used, err)
			}
		})
	}
}
