package recording

import (
	"parley/store/history"

	"context"
	"os"

	"github.com/jackc/pgx/v5"
)

// Import keeps the recording of a call that was made elsewhere: audio is Opus in Ogg, and
// of r count Account, Call, Rate, Length and Peaks. What was imported already, or deleted,
// stays as it is. An import that broke off can be made again.
func (s *Service) Import(ctx context.Context, r history.Recording, audio []byte) error {
	if err := s.keep(r.Call, audio); err != nil {
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
		s.removeFiles(r.Call)
	}
	return nil
}

// keep writes a recording's file. It has its name when it is complete.
func (s *Service) keep(call string, audio []byte) error {
	if err := os.MkdirAll(s.Dir(), 0o700); err != nil {
		return err
	}
	part, err := os.CreateTemp(s.Dir(), call+".*"+partSuffix)
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
	return os.Rename(part.Name(), s.path(call, "ogg"))
}
