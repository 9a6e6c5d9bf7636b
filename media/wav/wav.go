// Package wav reads and writes audio in RIFF WAVE files ("Multimedia Programming
// Interface and Data Specifications 1.0", IBM and Microsoft, 1991; the extensible
// format of "Multiple Channel Audio Data and WAVE Files", Microsoft, 2001).
//
// Decode reads what callers upload: integer PCM of 8 to 32 bits, 32-bit and
// 64-bit float, mu-law and A-law, mixed down to one channel. Parse reads the same
// from memory without a copy. Encode and Writer write 16-bit PCM.
package wav

import (
	"errors"
	"fmt"

	"parley/media"
)

// Clip is a whole recording in one channel.
type Clip struct {
	Samples []int16
	Rate    media.Rate // as the file says: not always a rate of a call
}

// FormatError says why bytes are not audio that Decode reads.
type FormatError struct {
	Reason string // in words for the author of the file
	// Encoding is the format tag of a file that is as it should be, but whose
	// samples are encoded in a way that is not read here; 0 for all else.
	Encoding int
}

func (e *FormatError) Error() string { return "not a WAV file we can read: " + e.Reason }

func malformed(format string, args ...any) *FormatError {
	return &FormatError{Reason: fmt.Sprintf(format, args...)}
}

// ErrTooLarge is returned by Decode for a file over the caller's limit, and by
// Encode and Writer for more audio than the format's 4 GiB can hold.
var ErrTooLarge = errors.New("wav: too large")

// ErrClosed is returned by a Writer that has been closed.
var ErrClosed = errors.New("wav: writer is closed")

// Encodings of samples, the format tags of the fmt chunk.
const (
	tagPCM        = 1
	tagFloat      = 3
	tagALaw       = 6
	tagMuLaw      = 7
	tagExtensible = 0xFFFE // the real tag is in the first two bytes of a GUID
)
