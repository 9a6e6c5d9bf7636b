package journal

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"parley/media"
	"parley/pipeline/listen"
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
	Version int     `json:"parley_call,omitempty"`
	Minor   int     `json:"minor,omitempty"`
	Origin  *Origin `json:"origin,omitempty"`

	In      string       `json:"in,omitempty"`
	T       int64        `json:"t,omitempty"`
	Heard   [][]float32  `json:"heard,omitempty"`
	Answers []int64      `json:"answers,omitempty"`
	Saving  bool         `json:"saving,omitempty"`
	Carried int          `json:"carried,omitempty"`
	Message *Message     `json:"message,omitempty"`
	Stop    *Stop        `json:"stop,omitempty"`
	Digit   string       `json:"digit,omitempty"`
	Hold    string       `json:"hold,omitempty"` // on, off
	Ended   *media.Ended `json:"ended,omitempty"`
	Outside bool         `json:"outside,omitempty"`

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
	bitFalling
	bitLevel
)

func inputLine(in *Input) line {
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
		}{{h.Speech, bitSpeech}, {h.Echo, bitEcho}, {h.Open, bitOpen}, {h.Behind, bitBehind},
			{h.Tone == listen.Falling, bitFalling}, {h.Tone == listen.Level, bitLevel}} {
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
	for _, o := range in.Observed() {
		l.Answers = append(l.Answers, int64(o.Of), o.Value)
	}
	return l
}

func (l *line) input() (*Input, error) {
	in := &Input{Kind: Kind(max(0, slices.Index(kindNames[:], l.In))), At: time.Duration(l.T), NoSpeculation: l.Saving, Carried: l.Carried,
		Message: l.Message, Stop: l.Stop, Ended: l.Ended, Outside: l.Outside}
	needs := map[Kind]bool{Received: l.Message != nil, Late: l.Message != nil,
		Stopped: l.Stop != nil, Concluded: l.Ended != nil}
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
		h := Heard{Speech: bits&bitSpeech != 0, Echo: bits&bitEcho != 0, Open: bits&bitOpen != 0, Behind: bits&bitBehind != 0, Level: f[1]}
		switch {
		case bits&bitFalling != 0:
			h.Tone = listen.Falling
		case bits&bitLevel != 0:
			h.Tone = listen.Level
		}
		if len(f) > 2 {
			h.Verdict = uint8(f[2])
		}
		in.AddHeard(h)
	}
	for i := 0; i < len(l.Answers); i += 2 {
		in.AddObserved(Observation{Of: Quantity(l.Answers[i]), Value: l.Answers[i+1]})
	}
	return in, nil
}

// File is the journal of a call.
type File struct {
	Origin    Origin
	Steps     []Step
	Events    []Event         // the call's log
	Replies   map[int]Note    // by number
	Functions map[string]Note // calls of functions, by identifier
	Opened    []Note          // utterances, from the first
	Cut       bool            // the rest could not be kept
	minor     int
}

// Step is an input, and how many events there are up to it and with it.
type Step struct {
	*Input
	Events int
}

// Comparable is an event as a file of this version has it.
func (f *File) Comparable(e Event) Event {
	if f.minor == 0 {
		return e.before()
	}
	return e
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
	f := &File{Replies: map[int]Note{}, Functions: map[string]Note{}}
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
	if len(f.Steps) == 0 {
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
		if k := len(f.Steps); k > 0 && in.At < f.Steps[k-1].At {
			return ErrFormat
		}
		f.Steps = append(f.Steps, Step{in, len(f.Events)})
	case l.Event != nil && len(f.Steps) > 0:
		f.Events = append(f.Events, *l.Event)
		f.Steps[len(f.Steps)-1].Events = len(f.Events)
	case l.Note != "":
		f.note(l)
	case l.Cut:
		f.Cut = true
	}
	return nil
}

func (f *File) note(l *line) {
	n := Note{At: time.Duration(l.T), N: l.N, Text: l.Text}
	switch l.Note {
	case NoteReply.String():
		f.Replies[l.N] = n
	case NoteFunction.String():
		f.Functions[l.Text] = n
	case NoteUtterance.String():
		f.Opened = append(f.Opened, n)
	}
}
