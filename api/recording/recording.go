// Package recording keeps the recordings of calls: it takes them down while calls last,
// has them encoded afterwards, serves them, and deletes them on request and when their
// accounts have kept them long enough.
//
// The state of a recording is in the store. Until it is encoded it is a raw file of the
// node that had the call, which nothing but this node touches and a crash only cuts off;
// afterwards it is one file of a store that the nodes of a cluster may share.
package recording

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/media"
	"parley/media/isolate"
	"parley/media/record"
	"parley/store"
	"parley/store/blob"
	"parley/store/history"
	"parley/store/jobs"
)

const (
	// workers is how many recordings a node encodes at once: calls need the processors.
	workers = 1
	// timeout is for one of two hours on a busy machine.
	timeout = 15 * time.Minute
	// roundEvery is how often what is left over is looked for, and leftOver how old
	// a raw file is then: what is younger is being encoded.
	roundEvery = time.Minute
	leftOver   = 20 * time.Minute
	// elsewhere is how long an encoding waits for the node that had the call. When
	// that comes back later it begins anew.
	elsewhere = 10 * time.Minute
	// storePatience and storeRetry are for noting that a recording has ended. What
	// cannot be noted is found by a later round.
	storePatience = 10 * time.Second
	storeRetry    = time.Second
)

// Config is what a Service works with.
type Config struct {
	Store *store.DB
	Queue *jobs.Queue // not open yet
	Node  string      // its name
	// Files keep recordings by CALL.ogg or CALL.wav.
	Files blob.Store
	Raw   func() string // a directory of this node alone, for what is not encoded yet; made when it is not there
	// Count counts recordings by outcome, "ready" or "failed", and Dropped
	// frames that the disk was too slow for.
	Count   func(outcome string)
	Dropped func(frames uint64)
	Log     *slog.Logger
}

// Service keeps recordings. It may be used from several goroutines.
type Service struct {
	Config
	history *history.Store
	notes   sync.WaitGroup // being stored; begun by note alone
	copies  *copies        // as WAV, for readers
	settled chan struct{}  // capacity 1: a recording has ended, and that is stored

	mu     sync.Mutex
	live   map[string]bool // calls that are being recorded
	busy   map[string]bool // and those that are being encoded
	closed bool            // notes are not taken any more
}

// encodeArgs name the call whose recording is to be encoded.
type encodeArgs struct {
	Account string `json:"account"`
	Call    string `json:"call"`
}

// Kind implements jobs.Args.
func (encodeArgs) Kind() string { return "recording" }

// New returns a service and adds its kind of job to the queue.
func New(c Config) *Service {
	s := &Service{Config: c, history: history.New(c.Store), copies: newCopies(), settled: make(chan struct{}, 1), live: map[string]bool{}, busy: map[string]bool{}}
	jobs.Handle(c.Queue, jobs.Limits{Workers: workers, Timeout: timeout, Local: true}, s.encode)
	return s
}

func (s *Service) enqueue(ctx context.Context, tx pgx.Tx, account, call string) error {
	return s.Queue.Insert(ctx, tx, encodeArgs{account, call})
}

// Recorder returns one for a call. A recording that fails leaves the call alone: it is
// logged and counted.
func (s *Service) Recorder(call string) *record.Recorder {
	return record.New(record.Config{
		Create: func(rate media.Rate) (io.WriteCloser, error) { return s.create(call, rate) },
		Done:   func(r record.Result) { s.done(call, r) },
	})
}

// create makes the raw file of a call, and notes that there is one.
func (s *Service) create(call string, rate media.Rate) (io.WriteCloser, error) {
	s.mark(s.live, call, true)
	s.note(func() {
		ctx, cancel := context.WithTimeout(context.Background(), storePatience)
		defer cancel()
		if err := s.history.BeginRecording(ctx, call, s.Node); err != nil {
			s.Log.Warn("could not store the start of a recording, will retry", "session", call, "err", err)
		}
	})
	if err := os.MkdirAll(s.Raw(), 0o700); err != nil {
		return nil, err
	}
	return os.OpenFile(s.raw(call, rate), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
}

// done notes how a recording went. It returns before that is stored.
func (s *Service) done(call string, r record.Result) {
	s.Dropped(r.Dropped)
	if r.Err != nil {
		s.Log.Error("the recording of a call has failed", "session", call, "err", r.Err)
	}
	s.note(func() {
		row := history.Recording{Call: call, Node: s.Node, Rate: int(r.Rate), Length: r.Length.Duration(), Dropped: int64(r.Dropped)}
		for deadline := time.Now().Add(storePatience); ; time.Sleep(storeRetry) {
			ctx, cancel := context.WithTimeout(context.Background(), storePatience)
			err := s.end(ctx, row, r.Err != nil)
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

// end stores the end of a recording, and removes the raw file where it is not wanted.
func (s *Service) end(ctx context.Context, r history.Recording, failed bool) error {
	state, err := s.history.EndRecording(ctx, r, failed, s.enqueue)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if state == history.RecordingFailed {
		s.Count("failed")
	}
	if state != history.RecordingEncodes {
		s.removeRaw(r.Call)
	}
	return err
}

// note stores something in the background. After Close it does nothing: a later round finds
// what was not noted.
func (s *Service) note(store func(), after ...func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.notes.Add(1)
		isolate.Go("api/recording/note", nil, store, append(after, s.notes.Done)...)
	}
}

// settle takes a call off the list of those that are being recorded.
func (s *Service) settle(call string) {
	s.mark(s.live, call, false)
	select {
	case s.settled <- struct{}{}:
	default:
	}
}

// Close waits until the recordings of calls have ended, 10 s at most, and their ends are
// stored. A recorder whose disk hangs outlives its call by more than that.
func (s *Service) Close() {
	patience := time.NewTimer(storePatience)
	defer patience.Stop()
	for waits := s.recording(); waits; {
		select {
		case <-s.settled:
			waits = s.recording()
		case <-patience.C:
			waits = false
		}
	}
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.notes.Wait()
	s.copies.drop("")
}

func (s *Service) recording() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.live) > 0
}

// mark puts a call on a list, or takes it off; it says whether that changed the list.
func (s *Service) mark(list map[string]bool, call string, on bool) (changed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if list[call] == on {
		return false
	}
	if on {
		list[call] = true
	} else {
		delete(list, call)
	}
	return true
}

func (s *Service) lives(call string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live[call]
}

// Names of files: a call's identifier, the rate of raw ones, what they are.
const (
	rawSuffix  = ".raw"
	partSuffix = ".part"
)

// formats are those of files, as the store names them.
var formats = map[string]string{"ogg": "audio/ogg", "wav": "audio/wav"}

func (s *Service) raw(call string, rate media.Rate) string {
	return filepath.Join(s.Raw(), fmt.Sprintf("%s.%d%s", call, int(rate), rawSuffix))
}

// rawCall is whose raw file a name is, and its rate.
func rawCall(name string) (call string, rate media.Rate, ok bool) {
	name, ok = strings.CutSuffix(name, rawSuffix)
	call, digits, both := strings.Cut(name, ".")
	n, err := strconv.Atoi(digits)
	return call, media.Rate(n), ok && both && err == nil && media.Rate(n).Valid()
}

// findRaw is the raw file of a call; an error of fs.ErrNotExist: there is none.
func (s *Service) findRaw(call string) (path string, rate media.Rate, err error) {
	for _, rate := range []media.Rate{media.Rate8k, media.Rate16k} {
		path := s.raw(call, rate)
		if _, err = os.Stat(path); err == nil {
			return path, rate, nil
		}
	}
	return "", 0, err
}

// key is under what the file of a recording is kept.
func key(call, format string) string { return call + "." + format }

func (s *Service) removeRaw(call string) (gone bool) {
	return s.remove(s.raw(call, media.Rate8k)) && s.remove(s.raw(call, media.Rate16k))
}

func (s *Service) removeFiles(ctx context.Context, call string) (gone bool) {
	gone = true
	for format := range formats {
		if err := s.Files.Delete(ctx, key(call, format)); err != nil {
			s.Log.Warn("the file of a recording stays", "session", call, "err", err)
			gone = false
		}
	}
	return gone
}

func (s *Service) remove(path string) (gone bool) {
	err := os.Remove(path)
	if err != nil && !os.IsNotExist(err) {
		s.Log.Warn("a file of a recording stays", "err", err)
		return false
	}
	return true
}
