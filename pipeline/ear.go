package pipeline

import (
	"parley/inference"
	"parley/media"
	"parley/media/resample"
)

// The recogniser is fed only while the caller speaks, beginning preRoll before
// the detector was sure, so that the first sound of a word is not lost.
const (
	preRoll    = 400 * media.Millisecond
	earFrames  = 64 // 1.28 s kept: preRoll, the detector's own delay and a pause that is taken back
	earRate    = media.Rate16k
	earSamples = int(earRate) / 50
)

// ear keeps the last second of the caller's audio at 16 kHz and feeds the
// recogniser from it.
type ear struct {
	up    *resample.Resampler
	asr   inference.Recognition
	ring  [earFrames][earSamples]int16
	n     int64      // frames heard
	fed   int64      // frames the recogniser has, or that were passed over
	heard media.Time // end of the last frame
	feeds bool       // an utterance is open
}

func (e *ear) open(rec inference.Recognition) { e.asr = rec }

func (e *ear) begin(in media.Rate) { e.up = resample.New(in, earRate) }

func (e *ear) results() <-chan inference.Result {
	if e.asr == nil {
		return nil
	}
	return e.asr.Results()
}

func (e *ear) close() {
	if e.asr != nil {
		e.asr.Close()
		e.asr = nil
	}
}

// push takes one cleaned frame of the caller's audio.
func (e *ear) push(f media.Frame) {
	e.heard = f.At + media.FrameTime
	copy(e.ring[e.n%earFrames][:], e.up.Process(f).Samples)
	e.n++
	if e.feeds {
		e.feed(e.n - 1)
	}
}

// feed writes what was heard from frame from on.
func (e *ear) feed(from int64) {
	for from = max(from, e.fed, e.n-earFrames); from < e.n; from++ {
		e.asr.Write(e.ring[from%earFrames][:])
	}
	e.fed = e.n
}

// openUtterance begins an utterance that the detector noticed after delay.
func (e *ear) openUtterance(delay media.Time) {
	if e.asr == nil || e.feeds {
		return
	}
	e.feeds = true
	e.feed(e.n - int64((preRoll+delay)/media.FrameTime))
}

// resumeUtterance goes on with the utterance that was closed last, the pause
// included.
func (e *ear) resumeUtterance() {
	if e.asr == nil || e.feeds {
		return
	}
	e.asr.Resume()
	e.feeds = true
	e.feed(e.fed)
}

func (e *ear) closeUtterance() {
	if e.asr == nil || !e.feeds {
		return
	}
	e.feeds = false
	e.asr.Finish()
}

// levels learns how loud this caller speaks, in dBFS, from committed turns. What
// is 12 dB quieter is somebody else.
type levels struct {
	caller float32 // 0: not known yet
	sum    float32 // of the turn in progress
	n      int
}

const (
	firstLoud  = -30 // dBFS, before the caller's level is known
	loudWithin = 12  // dB below it
)

func (l *levels) loud(level float32) bool {
	if l.caller == 0 {
		return level >= firstLoud
	}
	return level >= l.caller-loudWithin
}

func (l *levels) add(level float32) {
	l.sum += level
	l.n++
}

// commit takes the turn's mean as evidence; drop forgets it.
func (l *levels) commit() {
	if l.n > 0 {
		mean := l.sum / float32(l.n)
		if l.caller == 0 {
			l.caller = mean
		} else {
			l.caller += (mean - l.caller) / 4
		}
	}
	l.drop()
}

func (l *levels) drop() { l.sum, l.n = 0, 0 }
