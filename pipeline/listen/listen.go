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
// Read listen.go, which is the way of a frame; echo.go finds the echo of a line, tone.go in which tone speech ended, feed.go keeps the
// audio for the recogniser, words.go when its words were spoken, language.go in which language.
package listen

import (
	"fmt"
	"slices"
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
	Tone   Tone    // of the speech that ended 100 ms ago
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
	clean := e.clean.Process(f)
	d := e.detect.Detect(f)
	return clean, Activity{Speech: d.Speech, Level: d.Level}
}

// Caller is the caller's side of a call. Begin comes before the first frame. It belongs to one
// goroutine and starts none; Hear and Sent neither block nor allocate, but for one page of memory now
// and then in a long utterance.
type Caller struct {
	Language string // for which the recogniser is opened

	front  FrontEnd
	guard  guard
	levels levels
	feed   feed
	words  utterances
	said   transcriptEcho
	spoken languages
	echo   bool
	quiet  int        // frames without speech
	came   time.Time  // when a frame came last
	clock  media.Time // the latest that Clock gave
}

// Heard is what a frame of the caller's holds.
type Heard struct {
	Activity      // Speech: of the caller's
	Loud     bool // it is as loud as the caller's own voice
}

// Begin prepares for a leg. feed is the rate of the audio that the recogniser gets.
func (c *Caller) Begin(front FrontEnd, f media.Format, feed media.Rate) {
	c.front = front
	c.feed.begin(f.In, feed)
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
	if c.quiet++; a.Speech {
		c.quiet = 0
	}
	if c.quiet == toneAfter && a.Tone == NoTone {
		a.Tone = c.feed.tone()
	}
	return Heard{a, c.levels.loud(a.Level)}
}

// Sent takes a frame that is written to the leg, when it is; sounds says that it is not silent. text is the agent's sentence, or empty.
func (c *Caller) Sent(f media.Frame, sounds bool, text string, now time.Time) {
	c.guard.wrote(f, sounds)
	if text != "" && c.said.note(text, now) && c.feed.asr != nil {
		c.feed.asr.Said(text)
	}
}

// Flushed learns that the last d of what was sent will not be played.
func (c *Caller) Flushed(d media.Time) { c.guard.flushed(d) }

// Echo says whether the line is known to give the agent its own voice back.
func (c *Caller) Echo() bool { return c.echo }

// End is the end of the last frame heard, in media time of the call.
func (c *Caller) End() media.Time { return c.feed.heard }

// Came notes when a frame came, or the call began.
func (c *Caller) Came(now time.Time) { c.came = now }

// Moment is the media time of the call now: the end of what was heard and, between two frames, at most one frame more.
func (c *Caller) Moment(now time.Time) media.Time {
	since := min(media.FromDuration(now.Sub(c.came)), media.FrameTime)
	return max(c.clock, c.feed.heard+since)
}

// Clock is Moment, and does not go back.
func (c *Caller) Clock(now time.Time) media.Time {
	c.clock = c.Moment(now)
	return c.clock
}

// Skip has the clock run on by n frames that somebody else takes.
func (c *Caller) Skip(n int) { c.feed.heard += media.Time(n) * media.FrameTime }

// The echo guard. A far end on a loudspeaker gives the agent its own voice back, which
// is no speech of the caller's. The guard looks for what was played in what is heard,
// by cross-correlation of both at echoRate over delays of up to half a second: when what was
// played explains half of what is heard at one delay, the echo's level is known at any time, and only
// what is echoMargin above it passes for speech. The floor of -35 dBFS holds until a line is known to have
// no echo, and on lines that have one: quiet callers have a right to interrupt. It costs nothing while the agent
// is silent, and one search of about 25 us a frame otherwise at most.
//
// An echo that passes is found by its words (transcriptEcho): text that was begun over the agent's voice and repeats it, when it has
// five words or the line has an echo; short answers repeat the question.
const (
	echoRate  = 2000 // Hz
	echoFrame = echoRate / 50
	echoLags  = echoRate / 2 // half a second
	echoLine  = echoLags + echoFrame
	// echoPowers are the played frames whose echo can be heard now, and the ones around.
	echoPowers = echoLags/echoFrame + 2
	// echoTrain is how many frames nothing of the agent's voice is heard in, while it
	// could be, until a line is believed to have no echo: 300 ms after the longest delay.
	echoTrain = 40
)

const (
	echoForget  = 0.95   // of what was seen, a frame: it fades in 400 ms
	echoSeen    = 12     // frames of both before a delay is looked at
	echoSteady  = 8      // frames that a delay stays the best one
	echoSame    = 2      // samples by which it may move
	echoAlike   = 0.5    // share of what is heard that what is played explains, at least
	echoUnlike  = 0.25   // and at most where there is no echo
	echoQuiet   = 1e-6   // -60 dBFS: below is nothing
	echoFloor   = 1e-5   // -50 dBFS: what is left must be this loud
	echoUnknown = 3.2e-4 // -35 dBFS: and this loud while the line is not known,
	echoWorst   = 0.03   // or within 15 dB of what is played, where that is less
	echoMargin  = 4      // 6 dB: and this many times the echo
	echoSure    = 3      // frames of speech after which a gap in it
	echoHold    = 5      // of this many frames stays speech
	echoLess    = 0.25   // -6 dB: heard below the estimate, which is too high then
	echoDecline = 0.97   // by which it falls a frame
)

// echoPart is one frame of one end: its band around 500 Hz and its whole power.
type echoPart struct {
	band  [echoFrame]float32
	power float32
}

// guard is the echo guard. It allocates with begin only.
type guard struct {
	far, near echoBand
	queue     []echoPart // written and not yet played; a ring
	head, n   int
	line      [echoLine]float32   // played, the newest last
	powers    [echoPowers]float32 // of the frames played, the newest last
	active    int                 // frames until nothing of it can be heard any more
	heard     echoPart            // the frame heard last

	clear   int               // frames in a row without the agent's voice, up to echoTrain
	seen    int               // frames of both
	cross   [echoLags]float32 // of line and heard, by delay
	energy  [echoLags]float32 // of line, by delay
	own     float32           // of heard
	best    int               // delay
	steady  int
	found   bool
	lag     int
	gain    float32 // power of the echo, of what was played
	sure    int
	holding int
}

// echoBand reduces frames to echoRate: means of 0.5 ms, and their difference to the last
// but one, which passes 500 Hz and neither hum nor what the means have folded down.
type echoBand struct{ before, last float32 }

func (b *echoBand) reduce(f media.Frame, p *echoPart) {
	n := len(f.Samples)
	sum := 0.0
	from := 0
	for k := range p.band {
		to := (k + 1) * n / echoFrame
		mean := float32(0)
		for _, v := range f.Samples[from:to] {
			x := float32(v) / 32768
			mean += x
			sum += float64(x * x)
		}
		mean /= float32(max(1, to-from))
		from = to
		p.band[k] = mean - b.before
		b.before, b.last = b.last, mean
	}
	p.power = float32(sum / float64(max(1, n)))
}

// wrote takes a frame that was written to the leg; speech says that it is not silent.
func (g *guard) wrote(f media.Frame, speech bool) {
	if g.n == len(g.queue) { // more than the far end can hold: the oldest has been played
		g.head = (g.head + 1) % len(g.queue)
		g.n--
	}
	p := &g.queue[(g.head+g.n)%len(g.queue)]
	g.n++
	if !speech {
		*p = echoPart{}
		g.far = echoBand{}
		return
	}
	g.far.reduce(f, p)
}

// listen takes a frame that was heard, as it came, while the oldest one written was
// being played.
func (g *guard) listen(f media.Frame) {
	played := &echoPart{}
	if g.n > 0 {
		played = &g.queue[g.head]
		g.head = (g.head + 1) % len(g.queue)
		g.n--
	}
	if played.power > echoQuiet {
		g.active = echoPowers
	} else if g.active > 0 {
		g.active--
	}
	if g.active == 0 {
		return
	}
	copy(g.line[:], g.line[echoFrame:])
	copy(g.powers[:], g.powers[1:])
	copy(g.line[echoLags:], played.band[:])
	g.powers[echoPowers-1] = played.power
	g.near.reduce(f, &g.heard)
}

// speech says whether the frame that was listened to holds speech of the caller's, when
// the detector says that it holds speech.
func (g *guard) speech(detected bool) bool {
	if g.active == 0 {
		g.sure, g.holding = 0, 0
		return detected
	}
	if g.heard.power <= echoQuiet {
		if g.clear = min(g.clear+1, echoTrain); g.seen == 0 { // a line on which nothing was ever heard
			return detected
		}
	} else if detected || g.clear < echoTrain {
		g.search()
	}
	estimate := g.estimate()
	if !detected {
		g.sure, g.holding = 0, max(0, g.holding-1)
		return false
	}
	if !g.found && g.clear < echoTrain {
		estimate = min(echoUnknown, echoWorst*slices.Max(g.powers[:])) / echoMargin
	}
	left := g.heard.power - estimate
	begun := !g.found && g.sure >= echoSure // speech goes on through its weak sounds
	if (g.found || g.clear < echoTrain) && !begun && (left < echoFloor || left < echoMargin*estimate) {
		g.sure, g.holding = 0, max(0, g.holding-1)
		return g.holding > 0
	}
	if g.sure++; g.sure >= echoSure {
		g.holding = echoHold
	}
	return true
}

// estimate is the power of the echo in the frame heard, at most.
func (g *guard) estimate() float32 {
	if !g.found {
		return 0
	}
	at := echoPowers - 1 - g.lag/echoFrame
	played := max(g.powers[min(at+1, echoPowers-1)], g.powers[at], g.powers[max(at-1, 0)])
	if e := g.gain * played; e > echoQuiet && g.heard.power < echoLess*e {
		g.gain *= echoDecline
		g.found = g.gain > echoQuiet
	}
	return g.gain * played
}

// note takes the sentence whose frame is being written. It does not allocate.
func (l *transcriptEcho) note(text string, now time.Time) (begins bool) {
	if begins = l.latest() != text; begins {
		l.n++
	}
	t := &l.texts[(l.n-1)%len(l.texts)]
	t.text, t.at = text, now
	return begins
}

// latest is the sentence that was noted last; empty: none was.
func (l *transcriptEcho) latest() string {
	if l.n == 0 {
		return ""
	}
	return l.texts[(l.n-1)%len(l.texts)].text
}

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
	preRoll = 400 * media.Millisecond
	// feedRate is the highest rate of a feed, and feedSamples those of its frame.
	feedRate    = media.Rate16k
	feedSamples = int(feedRate) / 50
	// pageFrames are always kept: 1.28 s for preRoll, the detector's own delay and
	// a pause that is taken back.
	pageFrames = 64
	// maxPages bounds what is kept of an utterance for a recogniser that takes the
	// place of one that died: 15 s, 490 kB.
	maxPages = 12
)

// page is pageFrames of the caller's audio.
type page []int16

// feed keeps the last of the caller's audio, at the recogniser's rate, and feeds the recogniser from
// it while the caller speaks. Frames are numbered from 0.
type feed struct {
	in     media.Rate // of the leg
	rate   media.Rate
	up     *resample.Resampler
	pages  []page     // oldest first
	base   int64      // first frame kept
	n      int64      // frames heard
	heard  media.Time // end of the last frame
	since  media.Time // begin of the first one
	engine string     // that recognises
	from   int64      // the latest utterance: frames from to to
	to     int64
	open   bool  // it goes on
	owed   bool  // its last result is to come
	turn   int64 // the first frame of the caller's turn; noTurn: there is none

	asr    inference.Recognition // nil: there is none, or one is being opened
	raw    bool                  // it gets the audio as it came, which is ahead of the clean audio by the denoiser's delay
	kind   inference.Feed        // it gets all audio, or only the utterances'
	sent   int64                 // the next frame for it
	origin int64                 // the first frame of its utterance, as it counts
	stream int                   // number of the present stream
	fallen int                   // streams that fell since the last result
	offset int                   // number of an utterance less the stream's own for it
	// asked is when the recogniser was asked for the last results of the latest utterances,
	// by number; zero: it was not, or has answered.
	asked [maxAsked]time.Time
}

// push takes one frame of the caller's audio.
func (e *feed) push(f media.Frame) {
	e.heard = e.since + f.At + media.FrameTime
	if e.n == e.base+int64(len(e.pages))*pageFrames {
		e.turnPage()
	}
	copy(e.frame(e.n), e.up.Process(f).Samples)
	e.n++
	if e.open {
		e.to = e.n
	}
	if e.open || e.kind == inference.FeedContinuous {
		e.write(e.n)
	}
}

func (e *feed) frame(n int64) []int16 {
	at, size := int(n-e.base), e.rate.FrameSamples()
	from := at % pageFrames * size
	return e.pages[at/pageFrames][from : from+size : from+size]
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
