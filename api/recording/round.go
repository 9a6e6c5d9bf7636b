package recording

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/media/isolate"
	"parley/media/record"
	"parley/store"
	"parley/store/history"
)

// Run takes up what an earlier life of the node left behind, deletes what has expired and
// removes the files of what was deleted, until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	round := func(age time.Duration) {
		if err := s.round(ctx, age); err != nil && ctx.Err() == nil {
			s.Log.Warn("recordings will be looked after later", "err", err)
		}
	}
	round(0)
	return isolate.Every(ctx, roundEvery, func() { round(leftOver) })
}

// round looks after the recordings of this node, has what was said in calls deleted that their
// accounts have kept long enough, and stores what is known of calls that lost their nodes. Raw files that are older than age and
// not being written are encoded.
func (s *Service) round(ctx context.Context, age time.Duration) error {
	_, forgotten := s.history.ExpireCalls(ctx)
	_, stale := s.history.ExpireCompletions(ctx)
	recovered, unstored := s.history.Recover(ctx)
	if recovered > 0 {
		s.Log.Info("conversations of calls that lost their nodes are stored as far as they were known", "calls", recovered)
	}
	_, expired := s.history.ExpireRecordings(ctx)
	lost, err := s.history.LoseRecordings(ctx)
	if lost > 0 {
		s.Log.Warn("recordings are lost: their nodes have not come back", "recordings", lost)
	}
	return errors.Join(err, forgotten, stale, unstored, expired, s.takeUp(ctx, age), s.loseCut(ctx), s.sweep(ctx))
}

// takeUp has raw files encoded that are not written any more.
func (s *Service) takeUp(ctx context.Context, age time.Duration) error {
	entries, err := os.ReadDir(s.Raw())
	if errors.Is(err, fs.ErrNotExist) {
		return nil // nothing was recorded yet
	}
	for _, e := range entries {
		call, rate, ok := rawCall(e.Name())
		info, gone := e.Info()
		if !ok || gone != nil || s.lives(call) || info.ModTime().After(time.Now().Add(-age)) {
			continue
		}
		length := rate.Duration(int(info.Size() / (2 * record.Channels))).Duration()
		end := s.end(ctx, history.Recording{Call: call, Node: s.Node, Rate: int(rate), Length: length}, false)
		if end == nil {
			s.Log.Info("the recording of a call is taken up", "session", call)
		} else if !errors.Is(end, store.ErrNotFound) {
			err = errors.Join(err, end)
		}
	}
	return err
}

// loseCut gives up recordings of an earlier life that left no file.
func (s *Service) loseCut(ctx context.Context) error {
	running, err := s.history.RunningRecordings(ctx, s.Node)
	for _, r := range running {
		if _, _, missing := s.findRaw(r.Call); errors.Is(missing, fs.ErrNotExist) && !s.lives(r.Call) {
			err = errors.Join(err, s.end(ctx, r, true))
		}
	}
	return err
}

// sweep removes the files of deleted recordings.
func (s *Service) sweep(ctx context.Context) error {
	deleted, err := s.history.UnsweptRecordings(ctx, s.Node)
	for _, r := range deleted {
		if !s.lives(r.Call) && s.removeRaw(r.Call) && s.removeFiles(ctx, r.Call) {
			err = errors.Join(err, s.history.SweptRecording(ctx, r.Call))
		}
	}
	return err
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
