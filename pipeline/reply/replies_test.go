package reply

import (
	"context"
	"errors"
	"testing"
	"time"

	"parley/inference"
	"parley/media"
	"parley/pipeline/playout"
)

// still is a Crew that starts nothing: the test gives the parts.
type still struct{}

func (still) Enter() bool                     { return false }
func (still) Leave()                          {}
func (still) Fail(error)                      {}
func (still) Post(context.Context, Part) bool { return false }

// begun is a reply of which nothing is made yet.
func begun(t *testing.T) (*Replies, *Reply) {
	b, r := &Replies{Maker: NewMaker(nil, nil, nil, still{})}, &Reply{}
	b.Begin(t.Context(), r, Order{Request: &inference.Request{}, Ahead: SentencesAhead}, time.Now())
	b.Latest = r
	return b, r
}

// voiced are the parts of a sentence with a second of audio.
func voiced(r *Reply, text string) (sentence, audio Part) {
	chunk := inference.Chunk{Samples: make([]int16, 8000), Rate: media.Rate8k}
	return Part{Kind: Sentence, Gen: r.Gen, Text: text, Stop: func(error) {}}, Part{Kind: Audio, Gen: r.Gen, Chunk: chunk}
}

// TestStages walks through the table of stages.
func TestStages(t *testing.T) {
	_, r := begun(t)
	sentence, audio := voiced(r, "Yes.")
	if r.Audible() || r.Made() || !r.Live() {
		t.Error("it begins otherwise than composing")
	}
	s := r.Begin(sentence, "en", time.Now())
	s.Append(audio.Chunk)
	if !r.Sound(audio) || r.Sound(audio) || r.stage != speaking {
		t.Errorf("its first audio leads to stage %d", r.stage)
	}
	if err := r.Finish(nil); err != nil || r.stage != draining || !r.Audible() || r.Played() != Committed {
		t.Errorf("made, it is at stage %d with %v", r.stage, err)
	}
	if heard := r.Conclude(Cut, playout.Position{Gen: r.Gen, Off: media.Second / 2}, 0); heard != "" || r.Live() {
		t.Errorf("of one word half is heard as %q", heard)
	}

	_, r = begun(t)
	if err := r.Finish(errors.New("no voice")); err == nil || r.stage != silent || r.Played() != Failed {
		t.Errorf("a reply without audio is at stage %d with %v", r.stage, err)
	}
	if (*Reply)(nil).Live() {
		t.Error("no reply is live")
	}
}

// TestSpeculationIsTaken: a speculative reply becomes the answer while the conversation
// stays as it was.
func TestSpeculationIsTaken(t *testing.T) {
	b, _ := begun(t)
	speculate := func() *Reply {
		return b.Speculate(t.Context(), 1, Order{Request: &inference.Request{}}, time.Now())
	}
	r := speculate()
	sentence, _ := voiced(r, "Yes.")
	if !b.Park(sentence) || !b.Fits() || r.Audible() {
		t.Error("its parts do not wait for the turn")
	}
	if parked := b.Commit(time.Now()); len(parked) != 1 || b.Latest != r || b.Speculative != nil || r.stage != composing {
		t.Errorf("committed it is at stage %d with %d parts", r.stage, len(parked))
	}
	r = speculate()
	b.History.Add(inference.Message{Role: inference.RoleUser, Text: "wait"})
	if b.Fits() {
		t.Error("it fits another conversation")
	}
	if b.Park(Part{Kind: Finished, Gen: r.Gen, Err: errors.New("no voice")}) {
		t.Error("its failure is parked")
	}
	if b.Drop(Discarded) != r || r.Live() {
		t.Error("it lives on")
	}
}

// TestUsageOnce: what a completion consumed is known once, when it is done and counted.
func TestUsageOnce(t *testing.T) {
	b, r := begun(t)
	if _, ok := b.Usage(r); ok {
		t.Error("a live reply is counted")
	}
	r.Conclude(Discarded, playout.Position{}, 0)
	if _, ok := b.Usage(r); ok {
		t.Error("it is counted before the model says what it used")
	}
	if b.Written(Part{Kind: Written, Gen: r.Gen, Usage: inference.Usage{Out: 7}}) != r {
		t.Error("the model's end is not that of the reply")
	}
	if u, ok := b.Usage(r); !ok || u.Tokens.Out != 7 || u.Outcome != Discarded || u.Speculative() {
		t.Errorf("it is counted as %+v", u)
	}
	if _, ok := b.Usage(r); ok || b.Written(Part{Kind: Written, Gen: r.Gen}) != nil {
		t.Error("it is counted twice")
	}
}
