package recording

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"

	"github.com/jackc/pgx/v5"

	"parley/media"
	"parley/media/record"
	"parley/media/transcode"
	"parley/store"
	"parley/store/history"
	"parley/store/jobs"
)

// errNoAudio says that a recording has neither raw audio nor a file.
var errNoAudio = errors.New("recording: there is no audio")

// encode is the job that makes the file of a recording, on any node that has its audio. It may be
// cut off anywhere and begun again, and stands in line more than once now and then.
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
	case !s.mark(r.Call, true):
		return nil
	}
	defer s.mark(r.Call, false)
	err = s.produce(ctx, r)
	failed := errors.Is(err, errNoAudio)
	switch {
	case failed && !s.Shared && r.Node != s.Node && r.EndedAt != nil && s.Store.Now().Sub(*r.EndedAt) > elsewhere:
		return nil // the next start of that node takes it up
	case failed && !s.Shared && r.Node != s.Node:
		return jobs.ErrNotHere
	case failed:
		s.Log.Error("the audio of a recording is gone", "session", r.Call)
	case err != nil:
		return fmt.Errorf("recording of %s: %w", r.Call, err)
	}
	err = s.history.RecordingEncoded(ctx, *r, failed)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return s.unwanted(ctx, r)
	case err != nil:
		return err
	case failed:
		s.Count("failed")
	default:
		s.Count("ready")
	}
	return nil
}

// unwanted removes what was made of a recording that is not expected any more: it was deleted, or
// another node has made it, in this format or another.
func (s *Service) unwanted(ctx context.Context, made *history.Recording) error {
	r, err := s.history.Recording(ctx, made.Account, made.Call)
	switch {
	case err != nil && !errors.Is(err, store.ErrNotFound):
		return err
	case err != nil || r.State == history.RecordingDeleted:
		s.removeFiles(ctx, made.Call)
	case made.Format != "" && r.Format != made.Format:
		return s.Files.Delete(ctx, key(made.Call, made.Format))
	}
	return nil
}

// produce makes the file of a recording, says in r what it is, and removes the raw audio. errNoAudio
// says that it cannot.
func (s *Service) produce(ctx context.Context, r *history.Recording) error {
	chunks, err := s.stored(ctx, r.Call)
	if err != nil {
		return err
	}
	if len(chunks) == 0 {
		return s.made(ctx, r)
	}
	raw, err := s.assemble(ctx, chunks)
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
	if r.Format, err = write(ctx, part, raw, chunks[0].rate); err != nil {
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
	if err := s.removeRaw(ctx, r.Call); err != nil {
		return err
	}
	return s.made(ctx, r)
}

// made says what the file of a recording is.
func (s *Service) made(ctx context.Context, r *history.Recording) error {
	for _, format := range []string{"ogg", "wav"} {
		info, err := s.Files.Stat(ctx, key(r.Call, format))
		switch {
		case err == nil:
			r.Format, r.Bytes = format, info.Size
			return nil
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
	return errNoAudio
}

// write encodes raw audio: as Opus where there is an encoder that can, else as WAV.
func write(ctx context.Context, out *os.File, raw *os.File, rate media.Rate) (format string, err error) {
	info, err := raw.Stat()
	if err != nil {
		return "", err
	}
	audio := func() io.Reader { return io.NewSectionReader(raw, 0, info.Size()) }
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

// remove removes a file of this node's disk.
func (s *Service) remove(path string) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.Log.Warn("a file of a recording stays", "err", err)
	}
}

// Import keeps the recording of a call that was made elsewhere: audio is Opus in Ogg, and
// of r count Account, Call, Rate, Length and Peaks. What was imported already, or deleted,
// stays as it is. An import that broke off can be made again.
func (s *Service) Import(ctx context.Context, r history.Recording, audio []byte) error {
	if err := s.keep(ctx, r.Call, audio); err != nil {
		return err
	}
	r.Node, r.Format, r.Bytes = s.Node, "ogg", int64(len(audio))
	encoded := func(context.Context, pgx.Tx, string, string) error { return nil }
	switch state, err := s.history.EndRecording(ctx, r, false, encoded); {
	case err != nil:
		return err
	case state == history.RecordingEncodes:
		return s.history.RecordingEncoded(ctx, r, false)
	case state == history.RecordingDeleted:
		s.removeFiles(ctx, r.Call)
	}
	return nil
}

// keep writes a recording's file.
func (s *Service) keep(ctx context.Context, call string, audio []byte) error {
	if err := os.MkdirAll(s.Raw(), 0o700); err != nil {
		return err
	}
	part, err := os.CreateTemp(s.Raw(), call+".*"+partSuffix)
	if err != nil {
		return err
	}
	defer s.remove(part.Name())
	_, err = part.Write(audio)
	if closed := part.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return s.Files.Put(ctx, key(call, "ogg"), part.Name())
}
