package reply

import (
	"context"
	"fmt"
	"slices"
	"time"

	"parley/inference"
	"parley/media"
	"parley/pipeline/playout"
	"parley/pipeline/turn"
)

// Reply is one completion on its way from the model to the far end, or a line of the agent's
// own. It belongs to the conductor, who says in the exported fields what it is.
type Reply struct {
	Gen         int // which completion
	Number      int // public generation
	Turn        int
	Line        turn.Line
	Prompts     string       // the function call that it is the prompt of; empty: none
	Joins       bool         // it follows a sentence that is still being played
	Finishing   bool         // it is done but for a last sentence, which is played to its end
	Speculation *Speculation // nil: it was not begun before the end of its turn, or is the answer to it
	Completion  *Completion  // nil: the text is given, no model writes it
	Making      *Making
	Calls       []inference.ToolCall
	Own         []inference.Part // what the model wants back with them
	MovedAt     time.Time        // when an engine or the playout last made progress
	Clock       Clock

	stage    stage
	outcome  Outcome // when done
	err      error   // why it failed
	texts    []*playout.Sentence
	voice    voice
	question turn.Question // what its last sentence asks
	lead     int           // pieces of its first sentence; 0: not known yet
	captions int           // sentences announced
}

// stage is how far a reply is.
//
//	stage               what happens                                        next
//	speculative         its turn is committed with the same words           composing
//	                    its turn goes on, or an engine fails                done
//	composing           the first audio comes                               speaking
//	                    everything is made, and there is no audio           silent
//	                    an engine fails, or the turn goes on                done
//	speaking            everything is made, or an engine fails              draining
//	draining, silent    everything is played                                done
//	all but speculative a barge-in, another reply or the end of the call    done
type stage uint8

const (
	composing   stage = iota // it is made, nothing of it is audible
	speculative              // the same, in a pause of the caller's: it has no effects
	speaking                 // it is made and heard
	draining                 // it is made: its audio is played to its end
	silent                   // it is made, without audio
	done                     // its books are closed, except for usage
)

// Outcome is how a completion ended.
type Outcome string

// How completions end.
const (
	Committed Outcome = "committed"   // it was spoken to its end
	Cut       Outcome = "interrupted" // the caller interrupted it
	Discarded Outcome = "discarded"   // nothing of it was heard
	Failed    Outcome = "failed"      // the engine failed
)

// Completion is the model's part of a reply.
type Completion struct {
	MostCalls int              // functions that it may call
	Usage     *inference.Usage // nil: the model has not finished
	Engine    string           // that wrote it; empty: nothing came
}

// Speculation is what a speculative reply keeps until its turn is committed.
type Speculation struct {
	parked   []Part // of its engines
	calls    int    // functions that it asks for
	revision int    // of the conversation that it answers
}

// voice is the voice of a reply's last sentence.
type voice struct {
	stop    context.CancelCauseFunc // stops it; nil: it was stopped, or broke
	quietAt time.Time               // since when it owes audio, at the earliest
	retried bool                    // a sentence of the reply was spoken again
}

// silentMost is how long a voice that was given a text may stay silent. Then what was not
// said is spoken again, by the next engine where there is one: once in a reply, for a voice
// that is only slow would never be heard otherwise.
const silentMost = 1500 * time.Millisecond

// Live says that the reply is not done; a nil reply is.
func (r *Reply) Live() bool { return r != nil && r.stage != done }

// Made says that its engines have finished.
func (r *Reply) Made() bool { return r.stage >= draining }

// Audible says that its first audio is ready.
func (r *Reply) Audible() bool { return r.stage == speaking || r.stage == draining }

// Written says that the whole text is known.
func (r *Reply) Written() bool { return r.Completion == nil || r.Completion.Usage != nil }

// callID is of the completion and the number of the function that it calls: no two calls of one conversation have the same.
const callID = "call_%d_%d"

// Call notes a function that the reply calls, and returns it with its id. own is what the model wants back with it.
func (r *Reply) Call(call inference.ToolCall, own []inference.Part) inference.ToolCall {
	call.ID = fmt.Sprintf(callID, r.Gen, len(r.Calls)+1)
	r.Calls, r.Own = append(r.Calls, call), append(r.Own, own...)
	return call
}

// Question is what its last sentence asks.
func (r *Reply) Question() turn.Question { return r.question }

// InFirst says that its first sentence is not over at a position.
func (r *Reply) InFirst(at playout.Position) bool {
	return r.lead == 0 || at.Gen != r.Gen || at.Seg < r.lead
}

// InLast says that a position is in its last sentence.
func (r *Reply) InLast(at playout.Position) bool { return at.Gen == r.Gen && at.Seg >= len(r.texts)-1 }

// Conclude ends a reply that the far end hears up to h, and returns what was heard of it.
// Sentence seg is the last of which anything was.
func (r *Reply) Conclude(outcome Outcome, h playout.Position, seg int) (heard string) {
	r.stage, r.outcome = done, outcome
	r.Making.Cancel(ErrConcluded)
	if outcome == Cut && seg < len(r.texts)-1 {
		r.question = turn.NoQuestion
	}
	return playout.Heard(r.texts, h)
}

// Texts are its sentences.
func (r *Reply) Texts() []*playout.Sentence { return r.texts }

// Played is the outcome of a reply that was played to its end.
func (r *Reply) Played() Outcome {
	if r.err != nil {
		return Failed
	}
	return Committed
}

// Begin takes a sentence that its voice begins to speak, and returns it to be played.
func (r *Reply) Begin(p Part, language string, now time.Time) *playout.Sentence {
	s := &playout.Sentence{Gen: p.Gen, Seg: p.Seg, Text: p.Text, Form: p.Form}
	r.texts, r.voice.stop, r.voice.quietAt = append(r.texts, s), p.Stop, now
	r.question = turn.Asks(language, p.Text)
	if r.lead == 0 && EndsSentence(p.Text) {
		r.lead = len(r.texts)
	}
	r.Clock.sentence(p, r.Audible())
	return s
}

// Stopped says that the voice of sentence seg was stopped: audio of it that still arrives does
// not count.
func (r *Reply) Stopped(seg int) bool { return r.voice.stop == nil && seg == len(r.texts)-1 }

// PlayedBy is how much of its audio is played at a position.
func (r *Reply) PlayedBy(h playout.Position) (played media.Time) {
	if h.Gen != r.Gen {
		return 0
	}
	for _, s := range r.texts[:h.Seg] {
		played += s.Length()
	}
	return played + h.Off
}

// Phones are the phonemes of a piece of sentence seg, with times from the first audio of the
// reply.
func (r *Reply) Phones(seg int, phones []inference.Mark) []inference.Mark {
	before := r.PlayedBy(playout.Position{Gen: r.Gen, Seg: seg}).Duration()
	phones = slices.Clone(phones) // those of a line are kept with its audio
	for i := range phones {
		phones[i].Start += before
		phones[i].End += before
	}
	return phones
}

// Sound takes the audio of a voice and says whether it is the reply's first.
func (r *Reply) Sound(p Part) (first bool) {
	if r.stage != composing || len(p.Chunk.Samples) == 0 {
		return false
	}
	r.stage = speaking
	r.Clock.audio(p)
	return true
}

// Retry ends sentence seg, whose voice broke or was stopped, with the audio that is there; left
// is to be spoken again: what follows the last word of which all is there or, without the times of
// words, the whole sentence. It says false where that is not tried: it was before, or every engine
// failed before the first sound.
func (r *Reply) Retry(seg int, now time.Time) (left string, ok bool) {
	v, stopped := &r.voice, r.voice.stop == nil
	v.stop = nil
	if v.retried || !stopped && r.texts[seg].Length() == 0 {
		return "", false
	}
	v.retried, r.MovedAt = true, now
	return r.texts[seg].Truncate(), true
}

// CheckVoice stops a voice that owes audio and has been silent for too long. sounds says that
// the far end hears something else meanwhile.
func (r *Reply) CheckVoice(sounds bool, now time.Time) {
	v := &r.voice
	if v.retried || len(r.texts) == 0 {
		return
	}
	switch {
	case r.texts[len(r.texts)-1].Complete || v.stop == nil:
	case sounds:
		v.quietAt = now
	case now.Sub(v.quietAt) >= silentMost:
		v.stop(inference.ErrStalled)
		v.stop = nil
	}
}

// Resume gives its engines the time again that they had before a hold.
func (r *Reply) Resume(now time.Time) { r.MovedAt, r.voice.quietAt = now, now }

// Finish takes the end of its engines and returns why it failed, if it did.
func (r *Reply) Finish(err error) (failed error) {
	if r.stage == speaking {
		r.stage = draining
	} else {
		r.stage = silent
	}
	for _, s := range r.texts {
		s.Ended = true
	}
	if err != nil {
		r.err = err
	}
	return r.err
}

// Caption is the text of sentence seg, of which a frame is played. begins counts the sentences
// begun with it: 0 when it was before, 1 when it is the first of the reply.
func (r *Reply) Caption(seg int) (text string, begins int) {
	if seg >= r.captions {
		r.captions = seg + 1
		begins = r.captions
	}
	return r.texts[seg].Text, begins
}
