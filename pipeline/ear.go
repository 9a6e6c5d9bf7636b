package pipeline

import (
	"time"

	"parley/inference"
	"parley/media"
	"parley/media/resample"
)

// The recogniser is fed only while the caller speaks, beginning preRoll before
// the detector was sure, so that the first sound of a word is not lost.
const (
	preRoll    = 400 * media.Millisecond
	earRate    = media.Rate16k
	earSamples = int(earRate) / 50
	// pageFrames are always kept: 1.28 s for preRoll, the detector's own delay and
	// a pause that is taken back.
	pageFrames = 64
	// maxPages bounds what is kept of an utterance for a recogniser that takes the
	// place of one that died: 15 s, 490 kB.
	maxPages = 12
)

// page is a stretch of the caller's audio.
type page [pageFrames][earSamples]int16

// ear keeps the last of the caller's audio at 16 kHz and feeds the recogniser from
// it. Frames are numbered from 0.
type ear struct {
	up     *resample.Resampler
	asr    inference.Recognition // nil: nobody hears, or one is being opened
	offset int                   // number of an utterance less the stream's own for it
	pages  []*page               // oldest first
	base   int64                 // first frame kept
	n      int64                 // frames heard
	heard  media.Time            // end of the last frame
	from   int64                 // the latest utterance: frames from to to
	to     int64
	feeds  bool // it is open
	owed   bool // its last result is to come
	// asked is when the recogniser was asked for the last results of the latest utterances,
	// by number; zero: it was not, or has answered.
	asked [maxAsked]time.Time
}

// maxAsked bounds the utterances for which a recogniser's time is measured at once.
const maxAsked = 8

// took is how long the last result of an utterance took; ok is false when that was measured
// already or could not be.
func (e *ear) took(utterance int, now time.Time) (wait time.Duration, ok bool) {
	at := &e.asked[utterance%maxAsked]
	if at.IsZero() {
		return 0, false
	}
	wait = now.Sub(*at)
	*at = time.Time{}
	return wait, true
}

func (e *ear) begin(in media.Rate) {
	e.up = resample.New(in, earRate)
	e.pages = append(make([]*page, 0, maxPages), new(page), new(page))
}

// push takes one cleaned frame of the caller's audio.
func (e *ear) push(f media.Frame) {
	e.heard = f.At + media.FrameTime
	if e.n == e.base+int64(len(e.pages))*pageFrames {
		e.turnPage()
	}
	copy(e.frame(e.n), e.up.Process(f).Samples)
	e.n++
	if e.feeds {
		e.feed(e.n - 1)
	}
}

// turnPage makes room: on the oldest page, unless it holds what may be wanted again.
func (e *ear) turnPage() {
	wanted := e.n - pageFrames
	if e.feeds || e.owed {
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

func (e *ear) frame(n int64) []int16 {
	at := n - e.base
	return e.pages[at/pageFrames][at%pageFrames][:]
}

// feed writes what was heard from frame from on.
func (e *ear) feed(from int64) {
	if e.asr != nil {
		for n := max(from, e.base); n < e.n; n++ {
			e.asr.Write(e.frame(n))
		}
	}
	e.to = e.n
}

// openUtterance begins an utterance that the detector noticed after delay.
func (e *ear) openUtterance(delay media.Time) {
	if e.feeds {
		return
	}
	e.feeds, e.owed = true, true
	e.from = max(e.to, e.base, e.n-int64((preRoll+delay)/media.FrameTime))
	e.feed(e.from)
}

// resumeUtterance goes on with the utterance that was closed last, the pause
// included as far as it is kept.
func (e *ear) resumeUtterance() {
	if e.feeds {
		return
	}
	e.feeds, e.owed = true, true
	if e.asr != nil {
		e.asr.Resume()
	}
	e.feed(e.to)
}

// since is the media time from which on the latest utterance is fed.
func (e *ear) since() media.Time { return e.heard - media.Time(e.n-e.from)*media.FrameTime }

func (e *ear) closeUtterance() {
	if !e.feeds {
		return
	}
	e.feeds = false
	if e.asr != nil {
		e.asr.Finish()
	}
}

// open makes asr the stream from now on. utterance is the number of the latest one
// opened. While its result is owed it is the new stream's first one: with again it
// hears what is kept of it.
func (e *ear) open(asr inference.Recognition, utterance int, again bool) {
	e.asr, e.offset = asr, utterance
	if !e.owed {
		return
	}
	e.offset--
	if again {
		for n := max(e.from, e.base); n < e.to; n++ {
			asr.Write(e.frame(n))
		}
	}
	if !e.feeds {
		asr.Finish()
	}
}

// forget says that the latest utterance does not matter any more.
func (e *ear) forget() { e.owed = e.feeds }

// close ends the stream.
func (e *ear) close() {
	if e.asr != nil {
		e.asr.Close()
		e.asr = nil
	}
}
