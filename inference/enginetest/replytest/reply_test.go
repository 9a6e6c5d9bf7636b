package replytest

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"parley/inference/enginetest/loopbacktest"
)

func TestPieces(t *testing.T) {
	var texts []string
	length := time.Duration(0)
	for _, p := range (Reply{Text: "Yes, I can help.", Length: 250 * time.Millisecond}).Pieces(loopbacktest.Alaw, 8000, 1) {
		texts, length = append(texts, p.Text), length+p.Length
		if len(p.Audio) != int(p.Length.Milliseconds())*8 {
			t.Errorf("%d bytes are %v", len(p.Audio), p.Length)
		}
	}
	if !slices.Equal(texts, []string{"Yes, I", " can", " help.", ""}) || length != 250*time.Millisecond {
		t.Errorf("%q in %v", texts, length)
	}
	if list := (Reply{Text: "Yes."}).Pieces(loopbacktest.S16, 24000, 1.5); len(list) != 2 || list[0].Length+list[1].Length != 160*time.Millisecond {
		t.Errorf("%d pieces at another speed", len(list))
	}
	if list := (Reply{}).Pieces(loopbacktest.S16, 24000, 1); list != nil {
		t.Errorf("nothing has %d pieces", len(list))
	}
	if Tokens("") != 0 || Tokens("Sí, sí") != 2 {
		t.Error("tokens are counted otherwise")
	}
}

func TestTheLastReplyRepeats(t *testing.T) {
	list := []Reply{{Text: "a"}, {Text: "b"}}
	if Nth(list, 0).Text != "a" || Nth(list, 1).Text != "b" || Nth(list, 7).Text != "b" || Nth(nil, 3).Text == "" {
		t.Error("they come in another order")
	}
}

// TestNoStepFollowsTheEnd: a step that ends the context is the last.
func TestNoStepFollowsTheEnd(t *testing.T) {
	s, err := loopbacktest.Listen("key", nil, http.NotFoundHandler())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	ctx, cancel := context.WithCancel(t.Context())
	did := 0
	count := func() { did++ }
	Run(ctx, s, new(sync.Mutex), []Step{{Do: count}, {After: func() time.Duration { return time.Millisecond }, Do: cancel}, {Do: count}})
	if did != 1 {
		t.Errorf("%d steps", did)
	}
}
