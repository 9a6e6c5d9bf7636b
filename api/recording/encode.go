package recording

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"

	"parley/media"
	"parley/media/record"
	"parley/media/transcode"
	"parley/store"
	"parley/store/blob"
	"parley/store/history"
	"parley/store/jobs"
)

// encode is the job that makes the file of a recording. It may be cut off anywhere and
// begun again, and stands in line more than once now and then.
func (s *Service) encode(ctx context.Context, args encodeArgs) error {
	r, err := s.history.Recording(ctx, args.Account, args.Call)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	switch {
	case err != nil:
		return err
	case r.State != history.RecordingEncodes:
		return nil // its files are removed with its row
	case r.Node != s.Node && r.EndedAt != nil && s.Store.Now().Sub(*r.EndedAt) > elsewhere:
		return nil // the next start of that node takes it up
	case r.Node != s.Node:
		return jobs.ErrNotHere
	case !s.mark(s.busy, r.Call, true):
		return nil
	}
	defer s.mark(s.busy, r.Call, false)
	err = s.produce(ctx, r)
	failed := errors.Is(err, fs.ErrNotExist)
	if err != nil && !failed {
		return fmt.Errorf("recording of %s: %w", r.Call, err)
	}
	if failed {
		s.Log.Error("the audio of a recording is gone", "session", r.Call)
	}
	err = s.history.RecordingEncoded(ctx, *r, failed)
	switch {
	case errors.Is(err, store.ErrNotFound): // it was deleted
		s.removeFiles(ctx, r.Call)
	case err != nil:
		return err
	case failed:
		s.Count("failed")
	default:
		s.Count("ready")
	}
	s.removeRaw(r.Call)
	return nil
}

// produce makes the file of a recording and says in r what it is. An error of
// fs.ErrNotExist says that there is nothing to make it of, nor was it made before.
func (s *Service) produce(ctx context.Context, r *history.Recording) error {
	path, rate, err := s.findRaw(r.Call)
	if errors.Is(err, fs.ErrNotExist) {
		return s.made(ctx, r)
	}
	if err != nil {
		return err
	}
	raw, err := os.Open(path)
	if err != nil {
		return err
	}
	defer raw.Close()
	part, err := os.CreateTemp(s.Raw(), r.Call+".*"+partSuffix)
	if err != nil {
		return err
	}
	defer func() {
		_ = part.Close() // again, but for an error
		s.remove(part.Name())
	}()
	if r.Format, err = write(ctx, part, raw, rate); err != nil {
		return err
	}
	if r.Peaks, err = peaksOf(raw); err != nil {
		return err
	}
	if err := part.Sync(); err != nil {
		return err
	}
	if err := part.Close(); err != nil {
		return err
	}
	if err := s.Files.Put(ctx, key(r.Call, r.Format), part.Name()); err != nil {
		return err
	}
	return s.made(ctx, r)
}

// made says what the file of a recording is.
func (s *Service) made(ctx context.Context, r *history.Recording) (err error) {
	for _, format := range []string{"ogg", "wav"} {
		var info blob.Info
		if info, err = s.Files.Stat(ctx, key(r.Call, format)); err == nil {
			r.Format, r.Bytes = format, info.Size
			return nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return err
}

// write encodes raw audio: as Opus where there is an encoder that can, else as WAV. What
// a crash left of a last sample is not audio.
func write(ctx context.Context, out *os.File, raw *os.File, rate media.Rate) (format string, err error) {
	const sample = 2 * record.Channels
	info, err := raw.Stat()
	if err != nil {
		return "", err
	}
	audio := func() io.Reader { return io.NewSectionReader(raw, 0, info.Size()/sample*sample) }
	err = transcode.Opus(ctx, out, audio(), rate, record.Channels)
	if _, broken := errors.AsType[*exec.ExitError](err); err == nil || ctx.Err() != nil || !broken && !errors.Is(err, transcode.ErrNoEncoder) {
		return "ogg", err
	}
	if err := out.Truncate(0); err != nil {
		return "", err
	}
	if _, err := out.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	return "wav", transcode.RawToWAV(out, audio(), rate, record.Channels)
}
