package listen

import (
	"math"
	"slices"
	"strings"
	"time"

	"parley/inference"
	"parley/media"
	"parley/media/resample"
)

// BeginTurn begins a turn of the caller's, with the utterance that is open.
func (c *Caller) BeginTurn() {
	c.words.begin(c.feed.open)
	c.levels.drop()
	c.spoken.drop()
	if c.feed.turn = noTurn; c.feed.open {
		c.feed.turn = c.feed.from
	}
}

// DropTurn is BeginTurn for when the turn before was nothing: the result of its last utterance
// is not owed any more.
func (c *Caller) DropTurn() {
	c.BeginTurn()
	c.feed.owed = c.feed.open
}

// CommitTurn learns the caller's level from the turn, which is over, and returns their language where the turn before was in the
// same; empty: it was in another, or that is not known. again says that the turn was committed before.
func (c *Caller) CommitTurn(again bool) (language string) {
	c.levels.commit()
	c.feed.turn = noTurn
	return c.spoken.commit(again)
}

const (
	turnFrames = 400 // of a turn that are kept: 8 s, as inference.Pause has it
	noTurn     = math.MaxInt64
)

// Turn is a copy of the end of the caller's turn at the recogniser's rate, 8 s at most with what came after it, and the sentence
// that the agent said last.
func (c *Caller) Turn() (audio []int16, said string) {
	e := &c.feed
	from := max(min(e.turn, e.from), e.n-turnFrames, e.base)
	audio = make([]int16, 0, (e.n-from)*int64(feedSamples))
	for n := from; n < e.n; n++ {
		audio = append(audio, e.frame(n)...)
	}
	return audio, c.said.latest()
}

// commit takes the turn as evidence; drop forgets it.
func (l *levels) commit() {
	if l.turn.n > 0 {
		level := l.turn.exceeded(4)
		if l.caller == 0 {
			l.caller = level
		} else {
			l.caller += (level - l.caller) / 4
		}
	}
	l.drop()
}

func (l *levels) drop() { l.turn = levelCounts{} }

func (e *feed) begin(in, rate media.Rate) {
	e.in, e.turn = in, noTurn
	e.keep(rate)
}

// Since has the clock of a call that began elsewhere go on from a time. It comes before the first frame.
func (c *Caller) Since(at media.Time) { c.feed.since, c.feed.heard = at, at }

// keep begins to keep audio at rate, from the next frame on.
func (e *feed) keep(rate media.Rate) {
	e.rate, e.up, e.base = rate, resample.New(e.in, rate), e.n
	e.pages = append(make([]page, 0, maxPages), e.newPage(), e.newPage())
}

func (e *feed) newPage() page { return make(page, pageFrames*e.rate.FrameSamples()) }

// turnPage makes room: on the oldest page, unless it holds what may be wanted again.
func (e *feed) turnPage() {
	wanted := min(e.n-pageFrames, max(e.turn, e.n-turnFrames))
	if e.open || e.owed {
		wanted = min(wanted, e.from)
	}
	if e.base+pageFrames > wanted && len(e.pages) < maxPages {
		e.pages = append(e.pages, e.newPage())
		return
	}
	oldest := e.pages[0]
	e.pages[copy(e.pages, e.pages[1:])] = oldest
	e.base += pageFrames
}

// at is when a frame begins.
func (e *feed) at(frame int64) media.Time {
	return e.heard - media.Time(e.n-frame)*media.FrameTime
}

const (
	// maxReplays is how many streams get the same utterance: it may be what
	// brings them down.
	maxReplays = 3
	// maxAsked bounds the utterances for which a recogniser's time is measured at once.
	maxAsked = 8
)

// Attach makes asr, a stream of the engine that info describes, the recogniser from now on, and returns the
// number of its stream. utterance is the number of the latest one opened: while its result is owed it is the
// new stream's first one, and the stream gets what is kept of it.
func (c *Caller) Attach(asr inference.Recognition, info inference.Info, utterance int) (stream int) {
	e := &c.feed
	e.stream++
	e.asr, e.offset, e.raw, e.kind = asr, utterance, info.Raw, info.Feed
	e.engine, _, _ = strings.Cut(info.Name, ",")
	if text := c.said.latest(); text != "" {
		asr.Said(text)
	}
	e.sent = e.to
	if e.kind == inference.FeedContinuous {
		e.sent, e.origin = e.n, e.n
	}
	if !e.owed {
		return e.stream
	}
	e.offset--
	if e.sent = e.to; e.fallen <= maxReplays {
		e.sent = max(e.from, e.base)
	}
	e.origin = e.sent
	c.words.restarted(e.at(e.origin))
	e.write(e.to)
	e.speech(e.to - e.origin)
	if !e.open {
		asr.Finish()
		e.origin = e.to
		if e.kind == inference.FeedContinuous {
			e.write(e.n)
		}
	}
	return e.stream
}

// Detach takes the recogniser away, which the caller of Detach closes; nil: there was none. No result
// is owed any more.
func (c *Caller) Detach() inference.Recognition {
	e := &c.feed
	asr := e.asr
	if e.asr = nil; asr != nil {
		e.stream++
		e.open, e.owed = false, false
	}
	return asr
}

// Served notes which recogniser a result is of, and says whether that is another than before, or at first than the preferred
// one. Only failovers name it.
func (c *Caller) Served(engine string) (changed bool) {
	e := &c.feed
	changed = engine != "" && engine != e.engine
	if changed {
		e.engine = engine
	}
	return changed
}

// Outdated takes the recogniser away, a stream of engine, where it was opened for another language than is spoken now; it is to be
// closed, and another one opened for Language. What it owes is given up. nil: it stays, because nothing else was spoken, the
// caller speaks, the engine does not know the language, or it hears several in one stream and is to detect them.
func (c *Caller) Outdated(engine inference.ASR, language string, detect bool) (old inference.Recognition) {
	e := &c.feed
	if e.asr == nil || e.open || c.Language == language {
		return nil
	}
	if info := engine.Info(); detect && info.Caps.Detects || !slices.Contains(info.Languages, language) {
		return nil
	}
	old, c.Language = e.asr, language
	e.stream++
	e.asr, e.asked, e.owed = nil, [maxAsked]time.Time{}, false
	return old
}

// Renew takes the recogniser away, to be closed, for one of another agent: it is opened for a language, and gets audio at rate. Of an
// utterance whose result is owed it gets what is kept, which is nothing when the rate is another. It may come before Begin, which
// says the rate again. nil: there was none.
func (c *Caller) Renew(language string, rate media.Rate) (old inference.Recognition) {
	e := &c.feed
	old, c.Language = e.asr, language
	e.stream++
	e.asr, e.asked, e.fallen = nil, [maxAsked]time.Time{}, 0
	if e.in != 0 && rate != e.rate {
		e.keep(rate)
	}
	return old
}

// Stream is the number of the present stream: results of others are stale.
func (c *Caller) Stream() int { return c.feed.stream }

// Offset is the number of an utterance less the present stream's own for it.
func (c *Caller) Offset() int { return c.feed.offset }

// Behind says that the recogniser has not heard all that it was fed, as far as it knows.
func (c *Caller) Behind() bool {
	r, knows := c.feed.asr.(inference.Lagging)
	return knows && r.Lag() > 0
}

// speech tells a recogniser that is given all audio that of it the latest frames are speech, and those to come.
func (e *feed) speech(frames int64) {
	if cutter, ok := e.asr.(inference.Cutter); ok && e.kind == inference.FeedContinuous {
		cutter.Speech(int(frames) * e.rate.FrameSamples())
	}
}

// OpenUtterance begins an utterance that the detector noticed after delay.
func (c *Caller) OpenUtterance(number int, delay media.Time) {
	e := &c.feed
	if !e.open {
		e.open, e.owed = true, true
		e.from = max(e.to, e.base, e.n-int64((preRoll+delay)/media.FrameTime))
		e.turn = min(e.turn, e.from)
		if e.kind != inference.FeedContinuous {
			e.sent, e.origin = e.from, e.from
		}
		e.write(e.n)
		e.to = e.n
		e.speech(e.n - e.from)
	}
	e.asked[number%maxAsked] = time.Time{}
	c.words.opened(number, e.at(e.origin), e.heard-delay)
}

// ResumeUtterance goes on with the utterance that was closed last, the pause
// included as far as it is kept.
func (c *Caller) ResumeUtterance(number int, delay media.Time) {
	e := &c.feed
	if !e.open {
		e.open, e.owed = true, true
		if e.asr != nil {
			e.asr.Resume()
		}
		e.write(e.n)
		e.to = e.n
	}
	e.asked[number%maxAsked] = time.Time{}
	c.words.resumed(e.heard - delay)
}

// CloseUtterance ends the utterance that is open, whose speech ended silence ago, and asks the recogniser for its
// last result.
func (c *Caller) CloseUtterance(number int, silence media.Time, now time.Time) {
	e := &c.feed
	if e.open && e.asr != nil {
		e.asr.Finish()
	}
	e.open, e.origin = false, e.n
	e.asked[number%maxAsked] = now
	c.words.closed(e.heard - silence)
}

// Recognised takes a result, which has the utterance's number in the call, and returns its text: none where it repeats the agent's last words. over says
// that the utterance was begun while the agent spoke.
func (c *Caller) Recognised(r inference.Result, over bool, now time.Time) (text string) {
	if c.said.repeats(r.Text, over, c.echo, now) {
		r.Text = ""
	}
	c.words.recognised(r, now)
	c.spoken.heard(r)
	if r.Final {
		c.feed.fallen = 0
	}
	return r.Text
}

// Owe says whether another result is wanted of the utterances up to the latest.
func (c *Caller) Owe(results bool) { c.feed.owed = results && c.feed.asr != nil || c.feed.open }

// Took is how long the last result of an utterance took, which has come; ok is false when that was measured
// already or could not be.
func (c *Caller) Took(utterance int, now time.Time) (wait time.Duration, ok bool) {
	at := &c.feed.asked[utterance%maxAsked]
	if at.IsZero() {
		return 0, false
	}
	wait = now.Sub(*at)
	*at = time.Time{}
	return wait, true
}
