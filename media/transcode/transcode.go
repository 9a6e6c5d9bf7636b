// Package transcode reads untrusted audio files and writes the formats that clients may
// ask for.
//
// What a file is, is found out from its content. WAV and raw PCM are decoded here,
// from the bytes of the file and without a copy of the audio. Everything else is
// decoded by ffmpeg, with a named container, as a child process that may open nothing, write no files, use
// one thread, 200 MB of memory and 30 s, and whose output is bounded; what it
// decodes goes to a temporary file without a name, since 25 MB of a compressed
// file can be hours. Where there is no ffmpeg, WAV and PCM are what can be read
// (Available).
package transcode

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"parley/media"
	"parley/media/resample"
	"parley/media/wav"
)

// Format names a kind of file, or of audio without a header.
type Format string

// The formats. PCM is Int16 little endian in one channel, ULaw is G.711 mu-law;
// both have no header and are never found by Sniff.
const (
	WAV  Format = "wav"
	PCM  Format = "pcm"
	ULaw Format = "ulaw"
	MP3  Format = "mp3"
	AAC  Format = "aac" // in ADTS frames
	Ogg  Format = "ogg"
	WebM Format = "webm" // and other Matroska
	MP4  Format = "mp4"
	FLAC Format = "flac"
)

// Why audio cannot be read or written. Reasons that help the sender of the file
// are wrapped around them; none holds anything of this machine.
var (
	ErrUnknownFormat = errors.New("transcode: not a kind of audio file that is known here")
	ErrNoDecoder     = errors.New("transcode: compressed audio cannot be read here, only WAV and PCM")
	ErrNoEncoder     = errors.New("transcode: the format cannot be written here")
	ErrDamaged       = errors.New("transcode: the file is damaged or holds no audio")
	ErrTooLarge      = errors.New("transcode: the file has too many bytes")
	ErrTooLong       = errors.New("transcode: the audio is too long")
	ErrTooSlow       = errors.New("transcode: decoding took too long")
	ErrBusy          = errors.New("transcode: too many files are being decoded at once")
)

// Error is one of the errors above with a reason in words for the author of the
// file.
type Error struct {
	Fault  error
	Reason string
}

func (e *Error) Error() string { return e.Fault.Error() + ": " + e.Reason }
func (e *Error) Unwrap() error { return e.Fault }

func fault(err error, format string, args ...any) error {
	return &Error{Fault: err, Reason: fmt.Sprintf(format, args...)}
}

// Rates of files that are taken, in samples per second: those of recordings.
const (
	minRate media.Rate = 4000
	maxRate media.Rate = 192000
)

// Source says what the body is where it does not say so itself.
type Source struct {
	// Format is PCM or ULaw for audio without a header, which is not looked at
	// then; else it is empty and the content decides.
	Format Format
	// Rate of audio without a header. When Format is empty, a body that is no
	// known file counts as PCM of this rate, unless it is 0.
	Rate media.Rate
}

// Limits bound what one file can cost. The zero value stands for the defaults.
type Limits struct {
	Bytes    int64         // of the file; 25 MB
	Duration time.Duration // of its audio; 2 h
	Patience time.Duration // with ffmpeg, waiting for a free one included; 30 s
	TempDir  string        // where decoded audio waits; os.TempDir
}

// Defaults of Limits.
const (
	MaxBytes    = 25 << 20
	MaxDuration = 2 * time.Hour
	Patience    = 30 * time.Second
)

func (l Limits) orDefaults() Limits {
	return Limits{Bytes: cmp.Or(l.Bytes, MaxBytes), Duration: cmp.Or(l.Duration, MaxDuration),
		Patience: cmp.Or(l.Patience, Patience), TempDir: cmp.Or(l.TempDir, os.TempDir())}
}

// Options of Decode.
type Options struct {
	Source Source
	// Rate of the decoded audio; 0 keeps the file's own.
	Rate   media.Rate
	Limits Limits
}

// Clip is decoded audio: one channel, 16 bits, never empty. It may be read several
// times and from several goroutines, a Reader each.
type Clip interface {
	// Rate is what was wanted, else the file's own: not always a rate of a call.
	Rate() media.Rate
	Samples() int64
	Duration() time.Duration
	// Open returns a reader that begins with the first sample.
	Open() Reader
	// Close frees what the clip holds; its readers fail from then on.
	Close() error
}

// Reader reads a clip from its start to its end. It belongs to one goroutine.
type Reader interface {
	// Read fills p, wholly except at the end, and returns io.EOF when there is
	// nothing left.
	Read(p []int16) (int, error)
}

// Decode reads a whole file. The clip may keep body until it is closed, and body
// must not be changed before. The context bounds the decoding and not the clip's
// life. It panics when o.Rate is not 0 and not a rate of a call.
func Decode(ctx context.Context, body []byte, o Options) (Clip, error) {
	if o.Rate != 0 && !o.Rate.Valid() {
		panic(fmt.Sprintf("transcode: to %v", o.Rate))
	}
	o.Limits = o.Limits.orDefaults()
	if int64(len(body)) > o.Limits.Bytes {
		return nil, ErrTooLarge
	}
	format := o.Source.Format
	if format == "" {
		format = Sniff(body)
	}
	if format == "" && o.Source.Rate != 0 {
		format = PCM
	}
	switch format {
	case PCM:
		return inMemory(wav.Raw(body, o.Source.Rate), o)
	case ULaw:
		return inMemory(wav.RawULaw(body, o.Source.Rate), o)
	case WAV:
		audio, err := wav.Parse(body)
		if err == nil {
			return inMemory(audio, o)
		}
		if broken, ok := errors.AsType[*wav.FormatError](err); ok && broken.Encoding == 0 {
			return nil, fault(ErrDamaged, "%s", broken.Reason)
		}
	}
	return decodeByChild(ctx, body, format, o)
}

// check refuses what no recording is, and what is too long.
func check(samples int64, rate media.Rate, l Limits) error {
	switch {
	case rate < minRate || rate > maxRate:
		return fault(ErrDamaged, "%d samples a second; %d to %d are read", int32(rate), int32(minRate), int32(maxRate))
	case samples == 0:
		return fault(ErrDamaged, "there is no audio in it")
	case duration(samples, rate) > l.Duration:
		return ErrTooLong
	}
	return nil
}

// duration is the length of n samples, without overflow for any file.
func duration(n int64, rate media.Rate) time.Duration {
	whole, rest := n/int64(rate), n%int64(rate)
	return time.Duration(whole)*time.Second + time.Duration(rest)*time.Second/time.Duration(rate)
}

// supported is a rate near r from which the wanted one can be made: r itself, or
// for a strange one a neighbour that no ear tells from it.
func supported(r, wanted media.Rate) media.Rate {
	for d := media.Rate(0); d <= r/100; d++ {
		for _, near := range []media.Rate{r - d, r + d} {
			if resample.Supported(near, wanted) {
				return near
			}
		}
	}
	return 0
}
