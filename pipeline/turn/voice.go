package turn

import (
	"math/bits"

	"parley/media"
)

// voice is what the detector hears of the caller.
type voice struct {
	Kind       voiceKind
	SpeechRun  media.Time // speech without a pause; what is shorter than StartAfter may be a click
	SilenceRun media.Time // silence since the latest speech
	LastSpeech media.Time // end of the last speech heard
	Gap        media.Time // silence before the current run of speech
	Own        uint64     // the latest frames of the current run of speech: a bit each, set when at the caller's own level
	OwnFrames  int        // the most of the latest 16 that were, in the current turn or overlap
	OwnRun     int        // the most of them at a stretch
	OwnAt      media.Time // when most of the latest frames were the caller's own
}

// voiceKind says what the detector hears at the moment.
type voiceKind uint8

const (
	voiceQuiet      voiceKind = iota
	voiceSpeech               // a run of speech has passed StartAfter
	voiceBackground           // speech goes on that is not the caller's: checkEndless
)

// The barge-in level gate. Of the latest 16 frames (320 ms) at least ownStop, for a stop
// word, which is short, or ownWords, for other words, must be within 12 dB of the caller's
// learned speech level; where no word says so, ownPercent of those of BargeInAfter. It
// keeps background talkers from interrupting: now and then a person behind the caller is
// as loud for a syllable, and recognisers are sure of words in what they say. Of eight
// people 10 dB behind the caller eleven frames of sixteen were the most in half an hour.
// Of "stop" the vowel alone is loud, six frames in some voices, but at a stretch
// (ownStretch), which happened in one of two hundred overlaps of those people.
const (
	ownWindow  = 16
	ownStop    = 10
	ownStretch = 6
	ownWords   = 12
	ownPercent = 73
)

// add takes a frame: own says that it is speech at the caller's own level.
func (v *voice) add(own bool) {
	v.Own <<= 1
	if own {
		v.Own |= 1
	}
}

// ownFrames is how many of the latest frames are at the caller's own level.
func (v *voice) ownFrames() int { return bits.OnesCount64(v.Own & (1<<ownWindow - 1)) }

// ownRun is how many of them are so without a gap.
func (v *voice) ownRun() int { return bits.TrailingZeros64(^v.Own) }

// hear updates the caller's voice from one frame and says whether a run of speech began
// or ended with it.
func (s *step) hear(e Event) (began, ended bool) {
	v := &s.Voice
	if v.Kind == voiceBackground && s.hearBackground(e) {
		return false, false
	}
	if e.Speech == NoSpeech {
		v.SilenceRun += media.FrameTime
		ended = v.Kind == voiceSpeech && v.SilenceRun >= s.cfg.StopAfter
		if ended || v.Kind != voiceSpeech {
			v.Kind, v.SpeechRun, v.Own = voiceQuiet, 0, 0
		}
		return false, ended
	}
	v.SpeechRun += media.FrameTime
	v.add(e.Speech == CallerSpeech)
	if v.ownFrames() >= ownWords {
		v.OwnAt = e.Now
	}
	v.OwnFrames, v.OwnRun = max(v.OwnFrames, v.ownFrames()), max(v.OwnRun, v.ownRun())
	switch {
	case v.Kind == voiceSpeech:
		s.Caller.Spoken += media.FrameTime
	case v.SpeechRun < s.cfg.StartAfter:
		return false, false
	default:
		v.Kind, began = voiceSpeech, true
		v.Gap = e.Now - v.SpeechRun - v.LastSpeech
		s.Caller.Spoken += v.SpeechRun
	}
	v.SilenceRun, v.LastSpeech = 0, e.Now
	return began, false
}

// hearBackground takes a frame while what is heard counts as background, and says
// whether it still does: until it pauses or the caller's own voice comes.
func (s *step) hearBackground(e Event) bool {
	v := &s.Voice
	v.add(e.Speech == CallerSpeech)
	if v.SilenceRun += media.FrameTime; e.Speech != NoSpeech {
		v.SilenceRun = 0
	}
	if v.SilenceRun < s.cfg.StopAfter && v.ownFrames() < ownWords {
		return true
	}
	v.Kind, v.Own = voiceQuiet, 0
	return false
}
