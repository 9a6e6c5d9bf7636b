package loopbacktest

import (
	"context"
	"net/http"
	"testing"
	"time"
)

// TestTokensAreCountedUntilTheClientGoes: the books say what was sent and thought.
func TestTokensAreCountedUntilTheClientGoes(t *testing.T) {
	asked := make(chan struct{}, 1)
	hour := func() time.Duration {
		asked <- struct{}{}
		return time.Hour
	}
	var s *Server
	s, err := Listen("key", nil, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.Stream(w, r, Fault{}, Shapes{}, func(data []byte, _ string) []byte { return data }, func(k *Stream) error {
			tokens := Tokens{Stream: k, Delays: Delays{Token: hour}}
			return tokens.Think(Words("one two"), func(piece string) error { return k.Send(map[string]any{"text": piece}) })
		})
	}))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	Post(ctx, t, s.URL, nil, nil)
	<-asked
	cancel()
	s.Close()
	if b := s.Books(); b.TokensOut != 1 || b.Reasoning != 1 {
		t.Errorf("%+v", b)
	}
}

// TestFinishReplacesWhatWasCounted: a script may say what a reply costs.
func TestFinishReplacesWhatWasCounted(t *testing.T) {
	s := &Server{}
	for want, out := range map[int]int{3: 0, 40: 40} {
		k := Tokens{Stream: &Stream{server: s}, Out: 3}
		s.Note(func(b *Books) { b.TokensOut = 3 })
		k.Finish(out)
		if got := s.Books().TokensOut; got != want {
			t.Errorf("%d, want %d", got, want)
		}
	}
}
