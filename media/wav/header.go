package wav

import (
	"io"

	"parley/media"
)

// HeaderSize is how many bytes precede the samples in the files written here.
const HeaderSize = headerSize

// WriteHeader begins a file of one channel of 16-bit PCM whose length is known
// before its samples are: they follow in the order of Int16 little endian.
func WriteHeader(w io.Writer, rate media.Rate, samples int64) error {
	if 2*samples > maxData {
		return ErrTooLarge
	}
	h := header(rate, 1, 2*samples)
	_, err := w.Write(h[:])
	return err
}
