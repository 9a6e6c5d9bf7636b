// Package listen is the caller's side of a call's audio: it cleans each 20 ms frame and says whether it holds speech of the
// caller's, feeds the recogniser with what they say, and remembers when they said it.
//
// A Caller takes every frame with Hear, and with Sent every frame that goes the other way, which is the echo guard's
// reference. Whose turn it is it does not know: the conductor opens and closes its utterances, gives it what the recogniser
// made of them, and opens another stream where one has ended.
//
// The caller's own voice is what a quarter of their speech exceeds, less 12 dB: the mean of speech in dB lies 5 dB lower,
// where eight people 10 dB behind the caller are half of the time.
//
// Read listen.go, which is the way of a frame, then echo.go; feed.go is the audio for the recogniser, words.go keeps when its
// words were spoken.
package listen

import (
	"fmt"
	"time"

	"parley/inference"
	"parley/media"
	"parley/media/denoise"
	"parley/media/resample"
	"parley/media/vad"
)

// FrontEnd cleans a frame of the caller's audio and says whether it holds speech. It belongs to
// the conductor and obeys the rules of media.Stage.
type FrontEnd interface {
	Hear(media.Frame) (clean media.Frame, a Activity)
}

// Activity is what a frame holds.
type Activity struct {
	Speech bool
	Echo   bool    // the line is known to give the agent its own voice back
	Level  float32 // dBFS
}

// frontEnd is a denoiser and the detector that reads its spectrum.
type frontEnd struct {
	clean  denoise.Suppressor
	detect vad.Detector
}

// NewFrontEnd returns the named denoiser and voice activity detector for a leg
// that hears at rate.
func NewFrontEnd(denoiser, detector string, rate media.Rate) (FrontEnd, error) {
	clean, err := denoise.New(denoiser, rate)
	if err != nil {
		return nil, fmt.Errorf("denoiser: %w", err)
	}
	detect, err := vad.New(detector, rate, clean)
	if err != nil {
		return nil, fmt.Errorf("detector: %w", err)
	}
	return &frontEnd{clean, detect}, nil
}

// Hear implements FrontEnd.
func (e *frontEnd) Hear(f media.Frame) (media.Frame, Activity) {
	f = e.clean.Process(f)
	d := e.detect.Detect(f)
	return f, Activity{Speech: d.Speech, Level: d.Level}
}

// Caller is the caller's side of a call. Begin comes before the first frame. It belongs to one
// goroutine and starts none; Hear and Sent neither block nor allocate, but for one page of memory now
// and then in a long utterance.
type Caller struct {
	front  FrontEnd
	guard  guard
	levels levels
	feed   feed
	words  utterances
	said   transcriptEcho
	echo   bool
}

// Heard is what a frame of the caller's holds.
type Heard struct {
	Activity      // Speech: of the caller's
	Loud     bool // it is as loud as the caller's own voice
}

// Begin prepares for a leg.
func (c *Caller) Begin(front FrontEnd, f media.Format) {
	c.front = front
	c.feed.begin(f.In)
	c.guard.begin(media.FromDuration(f.Lead))
}

// Hear takes a frame of the caller's audio as it came.
func (c *Caller) Hear(f media.Frame) Heard {
	c.guard.listen(f)
	clean, a := c.front.Hear(f)
	a.Speech = c.guard.speech(a.Speech)
	a.Echo = a.Echo || c.guard.found
	c.echo = a.Echo
	if c.feed.raw {
		clean = f
	}
	c.feed.push(clean)
	c.levels.hear(a)
	return Heard{a, c.levels.loud(a.Level)}
}

// Sent takes a frame that is written to the leg, when it is; sounds says that it is not silent.
// text is the agent's sentence that it is of, empty when it is of none.
func (c *Caller) Sent(f media.Frame, sounds bool, text string, now time.Time) {
	c.guard.wrote(f, sounds)
	if text != "" {
		c.said.note(text, now)
	}
}

// Flushed learns that the last d of what was sent will not be played.
func (c *Caller) Flushed(d media.Time) { c.guard.flushed(d) }

// Echo says whether the line is known to give the agent its own voice back.
func (c *Caller) Echo() bool { return c.echo }

// End is the end of the last frame heard, in media time of the call.
func (c *Caller) End() media.Time { return c.feed.heard }

// Skip has the clock run on by n frames that somebody else takes.
func (c *Caller) Skip(n int) { c.feed.heard += media.Time(n) * media.FrameTime }

// BeginTurn begins a turn of the caller's, with the utterance that is open.
func (c *Caller) BeginTurn() {
	c.words.begin(c.feed.open)
	c.levels.drop()
}

// DropTurn is BeginTurn for when the turn before was nothing: the result of its last utterance
// is not owed any more.
func (c *Caller) DropTurn() {
	c.BeginTurn()
	c.feed.owed = c.feed.open
}

// CommitTurn learns the caller's level from the turn.
func (c *Caller) CommitTurn() { c.levels.commit() }

// levels learns how loud this caller speaks, in dBFS, from committed turns: the level
// that a quarter of their speech exceeds. It is the speech itself; a mean would be
// drawn down by the pauses in it, and somebody who talks behind the caller would come near
// it. What is 12 dB quieter is somebody else.
//
// Before the first turn the caller's level is not known, and a quiet caller, or a quiet
// line, lies 10 dB below the usual. Then a frame must stand out from the background,
// which is the median of all that was heard: the people in a room go on all the time.
type levels struct {
	caller float32     // 0: not known yet
	turn   levelCounts // of the speech of the turn in progress
	all    levelCounts // of everything that was heard, until the caller is known
}

// levelCounts counts frames by whole dB below 0.
type levelCounts struct {
	by [levelsDown]uint16
	n  int
}

const (
	firstLoud  = -30 // dBFS: loud before the caller's level is known, whatever the background
	firstQuiet = -48 // and this is not, in any silence
	firstAbove = 8   // dB above the background, between the two
	loudWithin = 12  // dB below the caller's level
	levelsDown = 102
)

// hear takes the level of a frame, which is of the turn in progress when it is speech.
func (l *levels) hear(a Activity) {
	if l.caller == 0 {
		l.all.add(a.Level)
	}
	if a.Speech {
		l.turn.add(a.Level)
	}
}

func (l *levels) loud(level float32) bool {
	if l.caller == 0 {
		return level >= min(firstLoud, max(firstQuiet, l.all.exceeded(2)+firstAbove))
	}
	return level >= l.caller-loudWithin
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

// add counts a frame. Beyond 20 minutes of one level no more are counted.
func (c *levelCounts) add(level float32) {
	i := max(0, min(levelsDown-1, int(-level)))
	if c.by[i] < 1<<16-1 {
		c.by[i]++
		c.n++
	}
}

// exceeded is the level that one of so many frames exceeds.
func (c *levelCounts) exceeded(share int) float32 {
	above := 0
	for i, n := range c.by {
		if above += int(n); share*above >= c.n {
			return float32(-i)
		}
	}
	return 1 - levelsDown
}

const (
	// preRoll is how long before the detector was sure an utterance begins, so that the first
	// sound of a word is not lost.
	preRoll     = 400 * media.Millisecond
	feedRate    = media.Rate16k
	feedSamples = int(feedRate) / 50
	// pageFrames are always kept: 1.28 s for preRoll, the detector's own delay and
	// a pause that is taken back.
	pageFrames = 64
	// maxPages bounds what is kept of an utterance for a recogniser that takes the
	// place of one that died: 15 s, 490 kB.
	maxPages = 12
)

// page is a stretch of the caller's audio.
type page [pageFrames][feedSamples]int16

// feed keeps the last of the caller's audio at 16 kHz and feeds the recogniser from
// it while the caller speaks. Frames are numbered from 0.
type feed struct {
	up    *resample.Resampler
	pages []*page    // oldest first
	base  int64      // first frame kept
	n     int64      // frames heard
	heard media.Time // end of the last frame
	from  int64      // the latest utterance: frames from to to
	to    int64
	open  bool // it goes on
	owed  bool // its last result is to come

	asr        inference.Recognition // nil: there is none, or one is being opened
	raw        bool                  // it gets the audio as it came, which is ahead of the clean audio by the denoiser's delay
	continuous bool                  // it gets all audio, not only the utterances'
	sent       int64                 // the next frame for it
	origin     int64                 // the first frame of its utterance, as it counts
	stream     int                   // number of the present stream
	fallen     int                   // streams that fell since the last result
	offset     int                   // number of an utterance less the stream's own for it
	// asked is when the recogniser was asked for the last results of the latest utterances,
	// by number; zero: it was not, or has answered.
	asked [maxAsked]time.Time
}

func (e *feed) begin(in media.Rate) {
	e.up = resample.New(in, feedRate)
	e.pages = append(make([]*page, 0, maxPages), new(page), new(page))
}

// push takes one frame of the caller's audio.
func (e *feed) push(f media.Frame) {
	e.heard = f.At + media.FrameTime
	if e.n == e.base+int64(len(e.pages))*pageFrames {
		e.turnPage()
	}
	copy(e.frame(e.n), e.up.Process(f).Samples)
	e.n++
	if e.open {
		e.to = e.n
	}
	if e.open || e.continuous {
		e.write(e.n)
	}
}

// turnPage makes room: on the oldest page, unless it holds what may be wanted again.
func (e *feed) turnPage() {
	wanted := e.n - pageFrames
	if e.open || e.owed {
		wanted = min(wanted, e.from)
	}
	if e.base+pageFrames > wanted && len(e.pages) < maxPages {
		e.pages = append(e.pages, new(page))
		return
	}
	oldest := e.pages[0]
	e.pages[copy(e.pages, e.pages[1:])] = oldest
	e.base += pageFrames
}

func (e *feed) frame(n int64) []int16 {
	at := n - e.base
	return e.pages[at/pageFrames][at%pageFrames][:]
}

// at is when a frame begins.
func (e *feed) at(frame int64) media.Time {
	return e.heard - media.Time(e.n-frame)*media.FrameTime
}

// write gives the recogniser the frames that it has not got, before frame until.
func (e *feed) write(until int64) {
	if e.asr != nil {
		for n := max(e.sent, e.base); n < until; n++ {
			e.asr.Write(e.frame(n))
		}
	}
	e.sent = until
}
