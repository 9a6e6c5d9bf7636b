// Package replay keeps what reached a call's conductor, and conducts the call again from
// it: the same inputs give the same events, byte for byte. With other settings it shows
// where the call would have gone another way.
//
// # The file
//
// One JSON object a line, in UTF-8, usually through gzip. Times t are nanoseconds of the
// wall clock since the call's first moment; media times are counted in units of
// media.Time (1/7,056,000 s). The first line says what the file is and what the call
// began with:
//
//	{"parley_call":1,"minor":1,"origin":{"start":…,"format":…,"agent":…,"turn":…,…}}
//
// Then come the inputs, in the order in which the conductor dealt with them:
//
//	{"in":"begin","t":21000}
//	{"in":"tick","t":20140000,"heard":[[1,-23.5]],"answers":[1,1,2,0]}
//	{"in":"told","t":2620180000,"message":{"kind":"result","result":…}}
//	{"in":"key","t":…,"digit":"5"}
//	{"in":"key","t":…,"hold":"on"}
//	{"in":"stop","t":…,"stop":{"reason":"max_duration",…}}
//	{"in":"concluded","t":…,"ended":{"Reason":"user_hangup",…},"outside":true}
//	{"in":"late","t":…,"message":…}
//	{"in":"closed","t":…}
//
// heard is a frame of the caller's each: 1 for speech, plus 2 where the line has an echo,
// plus 4 where who answered may be spoken to; the level in dBFS; who answered, when that
// is asked. answers are pairs of a pipeline.AnswerKind and what the leg, or another part
// that is no function of the inputs, said. Audio is not kept, only how long it was, so a
// replay takes the detector's word for what was speech.
//
// Behind each input stand the events that followed from it, which are the call's log, and
// notes of what later inputs answer to:
//
//	{"event":{"at_us":2700000,"kind":"thinking","turn":1,"generation":1}}
//	{"note":"reply","t":2700210000,"n":1,"text":"user: I need a table"}
//
// A last line {"cut":true} says that the rest could not be kept. A reader refuses another
// number than 1, and passes over names that it does not know. Files without a minor number
// have events without times of words and without the points of turns, and a replay is
// compared with them without those.
package replay

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"parley/media"
	"parley/pipeline"
)

// Version is the format's number, and minor says what its events tell.
const (
	Version = 1
	minor   = 1
)

// maxLine bounds a line of a file, in bytes: what a function returned is the longest.
const maxLine = 1 << 20

// maxFile bounds what is read of a file, in bytes, uncompressed: a call of two hours has
// a tenth of it.
const maxFile = 512 << 20

// Errors of reading.
var (
	ErrFormat  = errors.New("not the record of a call")
	ErrVersion = errors.New("of another version of the format")
)

// line is one line of a file.
type line struct {
	Version int              `json:"parley_call,omitempty"`
	Minor   int              `json:"minor,omitempty"`
	Origin  *pipeline.Origin `json:"origin,omitempty"`

	In      string              `json:"in,omitempty"`
	T       int64               `json:"t,omitempty"`
	Heard   [][]float32         `json:"heard,omitempty"`
	Answers []int64             `json:"answers,omitempty"`
	Saving  bool                `json:"saving,omitempty"`
	Carried int                 `json:"carried,omitempty"`
	Message *pipeline.Message   `json:"message,omitempty"`
	Stop    *pipeline.StopAsked `json:"stop,omitempty"`
	Digit   string              `json:"digit,omitempty"`
	Hold    string              `json:"hold,omitempty"` // on, off
	Ended   *media.Ended        `json:"ended,omitempty"`
	Outside bool                `json:"outside,omitempty"`

	Event *Event `json:"event,omitempty"`
	Note  string `json:"note,omitempty"`
	N     int    `json:"n,omitempty"`
	Text  string `json:"text,omitempty"`
	Cut   bool   `json:"cut,omitempty"`
}

// Bits of a frame.
const (
	bitSpeech = 1 << iota
	bitEcho
	bitOpen
	bitBehind
)

func inputLine(in *pipeline.Input) line {
	l := line{In: in.Kind.String(), T: int64(in.At), Saving: in.NoSpeculation, Carried: in.Carried, Message: in.Message,
		Stop: in.Stop, Ended: in.Ended, Outside: in.Outside}
	if in.Digit != 0 {
		l.Digit = string(rune(in.Digit))
	}
	switch in.Hold {
	case media.LegHold:
		l.Hold = "on"
	case media.LegResume:
		l.Hold = "off"
	}
	for _, h := range in.Heard() {
		bits := float32(0)
		for _, b := range []struct {
			set bool
			bit float32
		}{{h.Speech, bitSpeech}, {h.Echo, bitEcho}, {h.Open, bitOpen}, {h.Behind, bitBehind}} {
			if b.set {
				bits += b.bit
			}
		}
		f := []float32{bits, h.Level}
		if h.Verdict != 0 {
			f = append(f, float32(h.Verdict))
		}
		l.Heard = append(l.Heard, f)
	}
	for _, a := range in.Answers() {
		l.Answers = append(l.Answers, int64(a.Kind), a.Value)
	}
	return l
}

func (l *line) input() (*pipeline.Input, error) {
	in := &pipeline.Input{Kind: pipeline.InputNamed(l.In), At: time.Duration(l.T), NoSpeculation: l.Saving, Carried: l.Carried,
		Message: l.Message, Stop: l.Stop, Ended: l.Ended, Outside: l.Outside}
	needs := map[pipeline.InputKind]bool{pipeline.Told: l.Message != nil, pipeline.Buried: l.Message != nil,
		pipeline.Stopped: l.Stop != nil, pipeline.Concluded: l.Ended != nil}
	if there, needed := needs[in.Kind]; in.Kind == 0 || needed && !there || len(l.Answers)%2 != 0 {
		return nil, ErrFormat
	}
	if l.Digit != "" {
		in.Digit = l.Digit[0]
	}
	switch l.Hold {
	case "on":
		in.Hold = media.LegHold
	case "off":
		in.Hold = media.LegResume
	}
	for _, f := range l.Heard {
		if len(f) < 2 {
			return nil, ErrFormat
		}
		bits := int(f[0])
		h := pipeline.Heard{Speech: bits&bitSpeech != 0, Echo: bits&bitEcho != 0, Open: bits&bitOpen != 0, Behind: bits&bitBehind != 0, Level: f[1]}
		if len(f) > 2 {
			h.Verdict = uint8(f[2])
		}
		in.AddHeard(h)
	}
	for i := 0; i < len(l.Answers); i += 2 {
		in.AddAnswer(pipeline.Answer{Kind: pipeline.AnswerKind(l.Answers[i]), Value: l.Answers[i+1]})
	}
	return in, nil
}

// File is the record of a call.
type File struct {
	Origin pipeline.Origin
	Events []Event // the call's log
	Cut    bool    // the rest could not be kept
	minor  int
	steps  []step
	asked  map[int]pipeline.Note    // replies, by number
	began  map[string]pipeline.Note // function calls, by identifier
	opened []pipeline.Note          // utterances, from the first
}

// step is an input, and how many events there are up to it and with it.
type step struct {
	in     *pipeline.Input
	events int
}

// Read reads a file, compressed or not.
func Read(r io.Reader) (*File, error) {
	b := bufio.NewReader(r)
	if magic, _ := b.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrFormat, err)
		}
		b = bufio.NewReader(z)
	}
	f := &File{asked: map[int]pipeline.Note{}, began: map[string]pipeline.Note{}}
	lines := bufio.NewScanner(io.LimitReader(b, maxFile))
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		var l line
		err := json.Unmarshal(lines.Bytes(), &l)
		if err == nil {
			err = f.take(n, &l)
		}
		switch {
		case errors.Is(err, ErrVersion):
			return nil, fmt.Errorf("%w: %d, this program reads %d", err, l.Version, Version)
		case err != nil:
			return nil, fmt.Errorf("line %d: %w", n, ErrFormat)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if len(f.steps) == 0 {
		return nil, ErrFormat
	}
	return f, nil
}

func (f *File) take(n int, l *line) error {
	switch {
	case n == 1:
		if l.Version == 0 || l.Origin == nil {
			return ErrFormat
		}
		if l.Version != Version {
			return ErrVersion
		}
		f.Origin, f.minor = *l.Origin, l.Minor
		if !f.Origin.Format.In.Valid() || !f.Origin.Format.Out.Valid() {
			return ErrFormat
		}
	case l.In != "":
		in, err := l.input()
		if err != nil {
			return err
		}
		if k := len(f.steps); k > 0 && in.At < f.steps[k-1].in.At {
			return ErrFormat
		}
		f.steps = append(f.steps, step{in: in, events: len(f.Events)})
	case l.Event != nil && len(f.steps) > 0:
		f.Events = append(f.Events, *l.Event)
		f.steps[len(f.steps)-1].events = len(f.Events)
	case l.Note != "":
		f.note(l)
	case l.Cut:
		f.Cut = true
	}
	return nil
}

func (f *File) note(l *line) {
	n := pipeline.Note{At: time.Duration(l.T), N: l.N, Text: l.Text}
	switch l.Note {
	case pipeline.NoteReply.String():
		f.asked[l.N] = n
	case pipeline.NoteFunction.String():
		f.began[l.Text] = n
	case pipeline.NoteUtterance.String():
		f.opened = append(f.opened, n)
	}
}
