package upload

import (
	"errors"

	"parley/api"
	"parley/media/transcode"
)

// Fault is what an error of transcode.Decode means to the client that sent the
// file; other errors stay as they are.
func Fault(err error) error {
	reason := ""
	if e, ok := errors.AsType[*transcode.Error](err); ok {
		reason = ": " + e.Reason
	}
	switch {
	case errors.Is(err, transcode.ErrUnknownFormat):
		return api.Bad("The file is no audio of a known kind; send WAV, MP3, AAC, Ogg, WebM, MP4 or FLAC.")
	case errors.Is(err, transcode.ErrNoDecoder):
		return api.Bad("This server reads WAV and PCM only; the file is compressed.")
	case errors.Is(err, transcode.ErrDamaged):
		return api.Detail(api.ErrBadRequest, "The audio file cannot be decoded"+reason+".")
	case errors.Is(err, transcode.ErrTooSlow):
		return api.Bad("The audio file took too long to decode.")
	case errors.Is(err, transcode.ErrTooLarge):
		return api.Detail(api.ErrTooLarge, "A file may have 25 MB.")
	case errors.Is(err, transcode.ErrTooLong):
		return api.Detail(api.ErrTooLarge, "A file may hold two hours of audio.")
	case errors.Is(err, transcode.ErrBusy):
		return api.Detail(api.ErrBusy, "Too many files are being decoded; try again.")
	}
	return err
}
