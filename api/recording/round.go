package recording

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"parley/media/isolate"
	"parley/media/record"
	"parley/store"
	"parley/store/blob"
	"parley/store/history"
)

// Run takes up what an earlier life of the node left behind, and what dead nodes did, deletes what has
// expired, removes the files of what was deleted, and sends again what the store did not take, until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	round := func(age time.Duration) {
		if err := s.round(ctx, age); err != nil && ctx.Err() == nil {
			s.Log.Warn("recordings will be looked after later", "err", err)
		}
	}
	round(0)
	next := time.Now().Add(roundEvery)
	return isolate.Every(ctx, sendRetry, func() {
		s.send()
		if time.Now().After(next) {
			next = time.Now().Add(roundEvery)
			round(leftOver)
		}
	})
}

// round looks after the recordings of this node and of dead ones, has what was said in calls deleted that their
// accounts have kept long enough, and stores what is known of calls that lost their nodes. Chunks that are older than age and
// not on their way are taken up.
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
	return errors.Join(err, forgotten, stale, unstored, expired, s.takeUp(ctx, age), s.endCut(ctx, age), s.sweep(ctx), s.adopt(ctx, age))
}

// takeUp has chunks of this node's disk sent that are not on their way, and then encoded.
func (s *Service) takeUp(ctx context.Context, age time.Duration) error {
	entries, err := os.ReadDir(s.Raw())
	if errors.Is(err, fs.ErrNotExist) {
		return nil // nothing was recorded yet
	}
	left := map[string][]chunk{}
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), openSuffix)
		c, ok := parseChunk(name)
		info, gone := e.Info()
		if gone != nil || s.lives(c.call) || info.ModTime().After(time.Now().Add(-age)) {
			continue
		}
		if path := filepath.Join(s.Raw(), e.Name()); !ok && age == 0 && strings.HasSuffix(path, partSuffix) {
			s.remove(path) // a process died over it
		} else if ok {
			c.path, c.size, c.since = filepath.Join(s.Raw(), name), info.Size(), info.ModTime()
			if name != e.Name() {
				err = errors.Join(err, os.Rename(path, c.path))
			}
			left[c.call] = append(left[c.call], c)
		}
	}
	for call, chunks := range left {
		err = errors.Join(err, s.recover(ctx, call, chunks))
	}
	s.send()
	return err
}

// recover puts chunks of an earlier life in line, unless another node has made their recording.
func (s *Service) recover(ctx context.Context, call string, chunks []chunk) error {
	node, state, err := s.history.RecordingHolder(ctx, call)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	left := err == nil && node != s.Node
	if left && state != history.RecordingRuns {
		s.Log.Warn("the recording of a call is made by another node, without what is left of it here", "session", call, "node", node)
		for _, c := range chunks {
			s.remove(c.path)
		}
		return nil
	}
	s.Log.Info("the recording of a call is taken up", "session", call)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live[call] = &capture{over: &record.Result{Rate: chunks[0].rate}, earlier: true, left: left}
	for _, c := range chunks {
		s.spool.bytes += c.size
		s.enter(c)
	}
	return nil
}

// endCut ends recordings of this node whose chunks are all in the store, or lost, and whose end was not
// stored, or whose encoding was given up.
func (s *Service) endCut(ctx context.Context, age time.Duration) error {
	open, err := s.history.OpenRecordings(ctx, s.Node, s.Store.Time(ctx).Add(-age))
	for _, r := range open {
		if !s.lives(r.Call) && !s.encodes(r.Call) {
			err = errors.Join(err, s.endAsStored(ctx, r))
		}
	}
	return err
}

// endAsStored ends a recording with what the store has of it.
func (s *Service) endAsStored(ctx context.Context, r history.Recording) error {
	chunks, err := s.stored(ctx, r.Call)
	if err != nil {
		return err
	}
	if rate, length := extent(chunks); len(chunks) > 0 {
		r.Rate, r.Length = int(rate), length
	}
	return s.end(ctx, r, len(chunks) == 0)
}

// sweep removes the files of deleted recordings.
func (s *Service) sweep(ctx context.Context) error {
	deleted, err := s.history.UnsweptRecordings(ctx, s.Node)
	for _, r := range deleted {
		if !s.lives(r.Call) && s.removeFiles(ctx, r.Call) {
			err = errors.Join(err, s.history.SweptRecording(ctx, r.Call))
		}
	}
	return err
}

// adopt makes recordings of what dead nodes have put into the store, and removes the files of those
// that were deleted. It leaves alone what is not there: it may lie with a node that comes back.
func (s *Service) adopt(ctx context.Context, age time.Duration) error {
	orphans, err := s.history.OrphanedRecordings(ctx, s.Store.Time(ctx).Add(-age))
	for _, r := range orphans {
		one := s.adoptOne(ctx, r)
		err = errors.Join(err, one)
		if errors.Is(one, blob.ErrUnavailable) {
			return err // the others would fail, too
		}
	}
	return err
}

func (s *Service) adoptOne(ctx context.Context, r history.Recording) error {
	chunks, err := s.stored(ctx, r.Call)
	if err != nil {
		return err
	}
	there := len(chunks) > 0
	if r.State == history.RecordingDeleted {
		if err := s.made(ctx, &r); err != nil && !errors.Is(err, errNoAudio) {
			return err
		} else if err == nil {
			there = true
		}
		if (there || s.Shared) && s.removeFiles(ctx, r.Call) {
			return s.history.SweptRecording(ctx, r.Call)
		}
		return nil
	}
	if !there {
		return nil
	}
	from := r.Node
	r.Node = s.Node
	err = s.history.AdoptRecording(ctx, r.Call, from, s.Node)
	if errors.Is(err, store.ErrNotFound) {
		return nil // another node was faster, or the first one has come back
	}
	if err == nil {
		s.Log.Info("the recording of a dead node's call is made of what it has put into the store", "session", r.Call, "node", from)
		err = s.endAsStored(ctx, r)
	}
	return err
}

// encodes says whether a recording is being encoded here.
func (s *Service) encodes(call string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.busy[call]
}
