package recording

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"parley/media/record"
	"parley/store"
	"parley/store/history"
)

// Run takes up what an earlier life of the node left behind, deletes what has expired and
// removes the files of what was deleted, until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	tick := time.NewTicker(roundEvery)
	defer tick.Stop()
	for age := time.Duration(0); ; age = leftOver {
		if err := s.round(ctx, age); err != nil && ctx.Err() == nil {
			s.Log.Warn("recordings will be looked after later", "err", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// round looks after the recordings of this node, and has what was said in calls deleted
// that their accounts have kept long enough. Raw files that are older than age and
// not being written are encoded.
func (s *Service) round(ctx context.Context, age time.Duration) error {
	_, forgotten := s.history.ExpireCalls(ctx)
	_, expired := s.history.ExpireRecordings(ctx)
	lost, err := s.history.LoseRecordings(ctx)
	if lost > 0 {
		s.Log.Warn("recordings are lost: their nodes have not come back", "recordings", lost)
	}
	return errors.Join(err, forgotten, expired, s.takeUp(ctx, age), s.loseCut(ctx), s.sweep(ctx))
}

// takeUp has raw files encoded that nobody writes any more.
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
		if !s.lives(r.Call) && s.removeRaw(r.Call) && s.removeFiles(r.Call) {
			err = errors.Join(err, s.history.SweptRecording(ctx, r.Call))
		}
	}
	return err
}
