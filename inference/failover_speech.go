package inference

import "parley/media"

// speechOnly is what a relay that is given all audio of a call keeps, so that an engine which wants speech alone can take over
// from one that wants silence, too. The relay's lock guards it.
type speechOnly struct {
	all    bool           // the relay is given all audio
	cut    bool           // the engine in use wants speech alone
	speaks bool           // the utterance in progress has begun
	sent   int64          // position up to which the engine has, or needs no, audio
	from   int64          // position after the latest Finish
	begun  map[int]speech // utterances that may wait for a result
}

// speech is where an utterance begins.
type speech struct {
	first int64 // position of its first sample, as who gives all audio counts
	voice int64 // position at which the caller begins to speak
}

// Speech implements Cutter.
func (s *relay) Speech(before int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.only.all || s.only.speaks {
		return
	}
	_, to := s.tape.Span()
	at, n := speech{s.only.from, max(s.only.from, to-int64(before))}, s.tape.Current()
	if s.only.begun == nil {
		s.only.begun = map[int]speech{}
	}
	s.only.begun[n] = at
	delete(s.only.begun, n-maxCuts)
	s.only.speaks, s.only.sent = true, max(s.only.sent, at.voice)
	s.catchUp()
}

// catchUp gives an engine that wants speech alone what it has not of the utterance in progress.
func (s *relay) catchUp() {
	if s.only.cut && s.inner != nil {
		_, to := s.tape.Span()
		s.feed(s.inner, s.only.sent, to)
		s.only.sent = to
	}
}

// ended is called after Finish, and resumed after Resume.
func (o *speechOnly) ended(at int64) { o.speaks, o.from = false, at }

func (s *relay) resumed() {
	if !s.only.all || s.only.speaks {
		return
	}
	if _, begun := s.only.begun[s.tape.Current()]; !begun { // on a stream before this one: here it begins now
		_, s.only.sent = s.tape.Span()
	}
	s.only.speaks = true
	s.catchUp()
}

// wants is where the audio of an utterance begins that the engine in use gets, no earlier than from.
func (o *speechOnly) wants(utterance int, from int64) int64 {
	if at, known := o.begun[utterance]; o.cut && known {
		return max(from, at.voice)
	}
	return from
}

// timed makes the times of words those since the utterance's first sample, for an engine that got it from a later one on.
func (o *speechOnly) timed(utterance int, words []Mark, rate media.Rate) {
	at, known := o.begun[utterance]
	if !o.cut || !known {
		return
	}
	silence := rate.Duration(int(at.voice - at.first)).Duration()
	for i := range words {
		words[i].Start += silence
		words[i].End += silence
	}
}
