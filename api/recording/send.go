package recording

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"time"

	"parley/media"
	"parley/media/isolate"
	"parley/media/record"
	"parley/store"
	"parley/store/history"
)

const (
	// mostUnsent bounds what waits on the disk of a node while its store is away, in bytes: 37 hours
	// of a telephone call. A recording that finds it full ends where it is; its call goes on.
	mostUnsent = 4 << 30
	// senders is how many chunks a node sends at once: with 100 ms for each, those of 1,200 calls.
	senders = 8
	// sendPatience is for one chunk, and sendRetry how long a store that has failed is left alone.
	sendPatience = time.Minute
	sendRetry    = 5 * time.Second
)

// capture is a recording of this node that goes on, or is not in the store yet. Service.mu guards it.
type capture struct {
	unsent int            // chunks that are closed, and on the disk
	end    int64          // the sample behind the last of them
	over   *record.Result // nil: the call goes on
	since  media.Time     // where it begins in the call: what is before it another node has recorded
	// earlier: it was begun by an earlier process; its length is that of the chunks in the store. continues: another node has begun
	// it. left: another node continues it.
	earlier, continues, left bool
}

// spool is what is on its way from this node's disk into the store. Service.mu guards it.
type spool struct {
	bytes    int64    // of all chunks on the disk
	unsent   []*chunk // that are closed, the oldest first
	sending  int      // goroutines that send
	failures uint64
	failed   time.Time // when the store has failed; zero: it did not, the last time
}

// Unsent describes the audio of recordings that waits on a node's disk.
type Unsent struct {
	Bytes    int64
	Age      time.Duration // how long its oldest part has waited for the store
	Failures uint64        // of attempts to put a part into the store
}

// Unsent describes what waits now.
func (s *Service) Unsent() Unsent {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := Unsent{Bytes: s.spool.bytes, Failures: s.spool.failures}
	if len(s.spool.unsent) > 0 {
		u.Age = max(0, time.Since(s.spool.unsent[0].since))
	}
	return u
}

// room says whether another chunk may lie on the disk.
func (s *Service) room() bool {
	s.mu.Lock()
	full := s.spool.bytes >= s.MostUnsent
	s.mu.Unlock()
	free, err := s.free()
	return !full && (err != nil || free >= leastFree)
}

// spooled counts bytes that are on the disk.
func (s *Service) spooled(n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spool.bytes += n
}

// queue has a complete chunk sent.
func (s *Service) queue(c chunk) {
	c.since = time.Now()
	s.mu.Lock()
	s.enter(c)
	s.mu.Unlock()
	s.send()
}

// enter adds a chunk to those that wait. s.mu is held.
func (s *Service) enter(c chunk) {
	of := s.live[c.call]
	if of == nil {
		return // its recorder was given up; a later round finds the file
	}
	of.unsent++
	of.end = max(of.end, c.end())
	s.spool.unsent = append(s.spool.unsent, &c)
}

// send starts as many senders as may run. While the store fails that is one, each sendRetry.
func (s *Service) send() {
	s.mu.Lock()
	defer s.mu.Unlock()
	most := senders
	if !s.spool.failed.IsZero() {
		if most = 1; time.Since(s.spool.failed) < sendRetry {
			return
		}
	}
	for s.spool.sending < min(most, len(s.spool.unsent)) && !s.closed {
		s.spool.sending++
		s.notes.Add(1)
		var current *chunk
		isolate.Go("api/recording/send", nil, func() { s.sendAll(&current) }, func() { s.sender(&current) }, s.notes.Done)
	}
}

// sendAll sends chunks until none waits, or the store refuses one.
func (s *Service) sendAll(current **chunk) {
	for {
		c := s.take()
		if *current = c; c == nil {
			return
		}
		ctx, cancel := context.WithTimeout(s.ctx, sendPatience)
		err := s.Files.Put(ctx, c.key(), c.path)
		cancel()
		if _, here := os.Stat(c.path); err != nil && !errors.Is(here, fs.ErrNotExist) { // else somebody has removed the file
			s.Log.Warn("audio of a recording waits on the disk: the store does not take it", "session", c.call, "err", err)
			return
		}
		if err := os.Remove(c.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			s.Log.Warn("a file of a recording stays", "session", c.call, "err", err)
		}
		s.delivered(c)
		*current = nil
	}
}

// take is the oldest chunk that waits; nil: there is none.
func (s *Service) take() *chunk {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.spool.unsent, func(c *chunk) bool { return c.sent == waits })
	if i < 0 || s.closed {
		return nil
	}
	s.spool.unsent[i].sent = travels
	return s.spool.unsent[i]
}

// delivered takes a chunk off the list, and ends its recording if it was the last chunk.
func (s *Service) delivered(c *chunk) {
	s.mu.Lock()
	s.spool.unsent = slices.DeleteFunc(s.spool.unsent, func(other *chunk) bool { return other == c })
	s.spool.bytes -= c.size
	recovered := !s.spool.failed.IsZero()
	s.spool.failed = time.Time{}
	of := s.live[c.call]
	if of != nil {
		of.unsent--
	}
	s.mu.Unlock()
	if recovered {
		s.Log.Info("the store takes recordings again")
		s.send()
	}
	s.conclude(c.call)
}

// sender ends a goroutine that sends. A chunk that it has not delivered waits again.
func (s *Service) sender(current **chunk) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spool.sending--
	if c := *current; c != nil {
		c.sent = waits
		s.spool.failures++
		s.spool.failed = time.Now()
	}
}

// conclude stores the end of a recording whose call is over and whose audio is in the store. It
// returns before that is done.
func (s *Service) conclude(call string) {
	s.mu.Lock()
	of := s.live[call]
	if of == nil || of.over == nil || of.unsent > 0 {
		s.mu.Unlock()
		return
	}
	over, end, earlier, continues := *of.over, of.end, of.earlier, of.continues
	of.over = nil // once
	s.mu.Unlock()
	if of.left {
		s.settle(call)
		return
	}
	row := history.Recording{Call: call, Node: s.Node, Rate: int(over.Rate), Length: over.Length.Duration(), Dropped: int64(over.Dropped)}
	if over.Err != nil {
		row.Length = over.Rate.Duration(int(end)).Duration()
	}
	s.note(func() {
		for deadline := time.Now().Add(storePatience); ; time.Sleep(storeRetry) {
			ctx, cancel := context.WithTimeout(context.Background(), storePatience)
			var err error
			if continues { // its beginning may not be stored
				err = s.history.ContinueRecording(ctx, call, s.Node)
			}
			switch {
			case err != nil:
			case earlier:
				err = s.endAsStored(ctx, row)
			default:
				err = s.end(ctx, row, over.Err != nil && end == 0)
			}
			cancel()
			if err == nil || errors.Is(err, store.ErrNotFound) {
				return
			}
			if time.Now().After(deadline) {
				s.Log.Warn("the recording of a call will be taken up later", "session", call, "err", err)
				return
			}
		}
	}, func() { s.settle(call) })
}
