// Package amd decides who answered an outbound call (answering machine detection): a
// person, a machine, or an assistant that screens calls. It hears what the far end
// sends from the answer on, never early media: how long it speaks and pauses, what
// words a recogniser makes of it, and the tone after which a machine records.
//
// A Detector reads no clock, starts nothing and allocates nothing: its time is the
// audio that it was given.
//
// Sound decides first: how much the far end speaks before a second of silence, and the tone.
// Words only hasten the decision, and only after a second of speech, because a recogniser that
// expects a machine's phrases hears them in a hello. Silence at the beginning proves nothing.
// Without a decision within four seconds, a person is assumed: hanging up on one is the worse
// mistake. The agent waits for the result only where a machine gets something else than a
// conversation.
//
// What an exchange signals after it has answered (ITU-T E.180) is no speech. Ringing is waited out, and who answers then is
// known as if they had answered at once. Nobody is there behind busy, congestion, a continuous tone, special information and a fax:
// they are a machine on which no message is left before half a minute is over. TestSignals plays them.
//
// The thresholds are those that cost least on one half of 264 synthetic greetings, in English, Spanish, French, German, Italian and
// Portuguese, by ten voices over clean and noisy lines. By sound alone it knew in the other half 59 of 66 people and 55 of 66
// machines. It took 4 people for machines, who answer for a company at length or begin late, and 6 machines for people, which say
// no more than "leave a message"; it did not decide on the others.
package amd

import (
	"bytes"

	"parley/media"
)

// Verdict is who answered.
type Verdict uint8

// Who answers.
const (
	Undecided Verdict = iota
	Human
	Machine
	Screening // an assistant that asks who calls and why
	Unknown   // no decision in time
)

var verdicts = [...]string{"undecided", "human", "machine", "screening", "unknown"}

func (v Verdict) String() string { return verdicts[v] }

const (
	// Deadline is when a verdict is due at the latest, from the answer, or from the
	// first speech after ringing.
	Deadline = 4 * media.Second
	// wordy is how much speech words need to decide: a recogniser that expects a
	// machine's phrases may hear one in a hello.
	wordy = media.Second
	// faint is how far below the loudest speech so far, in dB, is the background: music,
	// other people. A run of speech counts from its third frame on.
	faint  = 24
	minRun = 3
	// shortest is how much speech is more than a click or a breath.
	shortest = 160 * media.Millisecond
	// At the deadline a person who began late has spoken for latePerson at most, and
	// waits since latePause.
	latePerson = 1200 * media.Millisecond
	latePause  = 500 * media.Millisecond
)

// settings are what was chosen by measurement: TestThresholds says how.
type settings struct {
	// pause is the silence after which a greeting was a person's, who waits for an answer.
	pause media.Time
	// longest is how much speech without such a pause only a machine makes. People who
	// answer for a company reach two seconds.
	longest media.Time
	// late is how much speech a machine that began late has made at the deadline, when it goes on.
	late media.Time
}

var chosen = settings{pause: media.Second, longest: 2600 * media.Millisecond, late: 1500 * media.Millisecond}

// When one may speak to what is no person, after the verdict.
const (
	// ToneWait is how long a machine's tone is waited for; then toneless silence will
	// do, and anything at toneGiveUp.
	ToneWait   = 20 * media.Second
	toneless   = 1500 * media.Millisecond
	toneGiveUp = 30 * media.Second
	// An assistant has asked its question when it is silent for asked.
	asked       = 800 * media.Millisecond
	askedGiveUp = 12 * media.Second
)

// Detector follows one call from its answer. It belongs to one goroutine.
type Detector struct {
	settings
	phrases *phrases
	tone    tone
	text    [textSize]byte // the last words, folded

	signal    signal
	now       media.Time // heard since the answer
	begun     media.Time // from when the deadline counts
	count                // of speech
	before    count      // what it was when a signal began
	run       int        // frames of speech without a pause
	after     int        // frames in which what sounds like speech is the end of a signal
	verdict   Verdict
	decidedAt media.Time
	words     Verdict // what the words say
	beeped    bool
}

// count is how much speech there was.
type count struct {
	voiced  media.Time
	last    media.Time // its end
	loudest float32    // dBFS
}

// New returns a detector for a far end that is heard at rate, 8 or 16 kHz, and speaks language, two
// letters. In a language without phrases only sound decides.
func New(language string, rate media.Rate) *Detector {
	d := &Detector{settings: chosen, phrases: known[language]}
	d.tone.begin(rate)
	d.loudest = -100
	return d
}

// Listen looks for tones in the next frame, as it came: noise removal would take
// them out. Step follows for the same frame.
func (d *Detector) Listen(f media.Frame) {
	samples := d.tone.narrowed(f.Samples)
	freq, power, ok := single(samples)
	beep, frames := d.tone.hear(freq, power, ok)
	if !ok {
		freq = several(samples, power)
	}
	d.signal.hear(freq, power)
	if beep != 0 && !d.signal.takes(beep, frames, d.verdict == Machine || d.before.voiced >= wordy) {
		d.beeped = true
	}
	d.beeped = d.beeped || d.signal.released()
}

// Step takes what a voice activity detector says of the frame, whose level is in dBFS,
// and returns who answered. A verdict stays, but for a Machine that turns out to be Screening before its tone.
func (d *Detector) Step(speech bool, level float32) Verdict {
	d.now += media.FrameTime
	d.signalled()
	if !speech {
		d.after = 0
	}
	if speech && d.after == 0 && !d.tone.sounds() && level >= d.loudest-faint {
		d.loudest = max(d.loudest, level)
		d.heard()
	} else {
		d.run, d.after = 0, max(0, d.after-1)
	}
	if v := d.judge(); v != d.verdict {
		d.verdict, d.decidedAt = v, d.now
	}
	return d.verdict
}

// heard counts one frame of speech.
func (d *Detector) heard() {
	switch d.run++; {
	case d.run == minRun:
		d.voiced += minRun * media.FrameTime
	case d.run > minRun:
		d.voiced += media.FrameTime
	default:
		return
	}
	d.last, d.begun = d.now, min(d.begun, d.now)
}

// judge is the verdict on all that was heard.
func (d *Detector) judge() Verdict {
	silence := d.now - d.last
	switch {
	case d.verdict == Machine && d.words == Screening && !d.beeped:
		return Screening
	case d.verdict != Undecided:
		return d.verdict
	case d.words != Undecided && d.voiced >= wordy:
		return d.words
	case d.beeped, d.signal.dead, d.voiced >= d.longest:
		return Machine
	case d.voiced >= shortest && silence >= d.pause:
		return Human
	case d.now < d.begun+Deadline:
		return Undecided
	case d.voiced >= d.late && silence < latePause:
		return Machine
	case d.voiced >= shortest && d.voiced <= latePerson && silence >= latePause:
		return Human
	}
	return Unknown
}

// Verdict is who answered, as Step last said.
func (d *Detector) Verdict() Verdict { return d.verdict }

// Open says that a Machine records, because its tone has ended or none came, and that
// a Screening has asked its question: what is said now is heard. It is false before a
// verdict, and true after any other.
func (d *Detector) Open() bool {
	since, silence := d.now-d.decidedAt, d.now-d.last
	switch d.verdict {
	case Undecided:
		return false
	case Machine:
		return d.beeped || since >= ToneWait && silence >= toneless && !d.signal.dead || since >= toneGiveUp
	case Screening:
		return d.beeped || since >= asked && silence >= asked || since >= askedGiveUp
	}
	return true
}

// Words takes what a recogniser makes of an utterance so far, or of all of it, if it is
// sure of it. Only the last words of a long text count.
func (d *Detector) Words(text string) {
	if d.phrases == nil || d.words == Screening {
		return
	}
	heard := fold(d.text[:0], text)
	switch {
	case has(heard, d.phrases.screening):
		d.words = Screening
	case has(heard, d.phrases.machine):
		d.words = Machine
	}
}

func has(text []byte, phrases [][]byte) bool {
	for _, p := range phrases {
		if bytes.Contains(text, p) {
			return true
		}
	}
	return false
}
