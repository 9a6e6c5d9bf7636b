package wav

import (
	"bytes"
	"errors"
	"io"

	"parley/media"
)

// Audio is the audio of a file in memory, decoded as it is read. It keeps the
// bytes of the file and no copy of them. It may be used from several goroutines.
type Audio struct {
	Rate   media.Rate // as the file says: not always a rate of a call
	Offset int        // of the first sample in the file, in bytes
	layout layout
	data   []byte
}

// Parse finds the audio in a WAV file; it understands what Decode does and
// returns a *FormatError for all else.
func Parse(file []byte) (Audio, error) {
	r := bytes.NewReader(file)
	fm, size, err := findAudio(r)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = malformed("it ends before its audio begins")
	}
	if err != nil {
		return Audio{}, err
	}
	at := len(file) - r.Len()
	return Audio{Rate: fm.rate, Offset: at, layout: fm, data: file[at:][:min(size, int64(r.Len()))]}, nil
}

// Raw is audio without a header: 16-bit little-endian PCM in one channel. A byte
// too many at the end is ignored.
func Raw(data []byte, rate media.Rate) Audio {
	return Audio{Rate: rate, data: data, layout: layout{tag: tagPCM, channels: 1, rate: rate, bytes: 2}}
}

// Samples is how many whole samples there are.
func (a Audio) Samples() int { return len(a.data) / a.step() }

func (a Audio) step() int { return a.layout.bytes * a.layout.channels }

// ReadAt decodes samples from number first on into dst and returns how many: fewer
// than there is room for only at the end.
func (a Audio) ReadAt(dst []int16, first int) int {
	if first >= a.Samples() {
		return 0
	}
	b := a.data[first*a.step():]
	b = b[:min(len(b)/a.step(), len(dst))*a.step()]
	return len(a.layout.mix(dst[:0], b))
}

// RawULaw is audio without a header: G.711 mu-law in one channel.
func RawULaw(data []byte, rate media.Rate) Audio {
	return Audio{Rate: rate, data: data, layout: layout{tag: tagMuLaw, channels: 1, rate: rate, bytes: 1}}
}
