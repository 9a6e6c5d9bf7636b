// Package recording keeps the recordings of calls: it takes them down while calls last,
// has them encoded afterwards, serves them, and deletes them on request and when their
// accounts have kept them long enough.
//
// The state of a recording is in the database, its audio in a store of files. While the call lasts the
// raw audio is cut into chunks: files of the node that has the call, which go into the store one after
// the other and are removed then. A store that is away holds up no call: chunks wait on the disk. Any
// node makes the recording of the chunks, once all are in the store. When a node has died,
// another that finds chunks of it in the store makes the recording of those.
package recording

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
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
	// Files keep recordings as CALL.ogg or CALL.wav, and what is not encoded yet below raw/CALL.
	Files blob.Store
	// Shared says that all nodes have the same Files. When it is false they still may; a node then acts only on files that it finds.
	Shared bool
	Raw    func() string // a directory of this node alone, for audio on its way; made when it is not there
	// MostUnsent is how many bytes may wait there for Files; 0: 4 GiB. A recording ends when it finds them full.
	MostUnsent int64
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
	notes   sync.WaitGroup  // being stored, and chunks being sent
	ctx     context.Context // of what is sent
	cancel  func()
	copies  *copies       // as WAV, for readers
	settled chan struct{} // capacity 1: a recording has ended, and that is stored

	mu     sync.Mutex
	live   map[string]*capture // by call
	busy   map[string]bool     // calls whose recordings are being encoded
	spool  spool
	closed bool // notes are not taken any more
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
	if c.MostUnsent == 0 {
		c.MostUnsent = mostUnsent
	}
	s := &Service{Config: c, history: history.New(c.Store), copies: newCopies(), settled: make(chan struct{}, 1), live: map[string]*capture{}, busy: map[string]bool{}}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	jobs.Handle(c.Queue, jobs.Limits{Workers: workers, Timeout: timeout, Local: true}, s.encode)
	return s
}

func (s *Service) enqueue(ctx context.Context, tx pgx.Tx, account, call string) error {
	return s.Queue.Insert(ctx, tx, encodeArgs{account, call})
}

// Recorder returns one for a call. A recording that fails leaves the call alone: it is
// logged and counted.
func (s *Service) Recorder(call string) *record.Recorder {
	return s.recorder(call, func() *capture { return &capture{} })
}

// Continue returns a recorder for a call that another node with the same Files has recorded up to a moment of the call's media time, and has
// left (Leave). since says up to which one, when the recorder begins. Both parts make one recording.
func (s *Service) Continue(call string, since func() media.Time) *record.Recorder {
	return s.recorder(call, func() *capture { return &capture{since: since(), continues: true} })
}

func (s *Service) recorder(call string, begun func() *capture) *record.Recorder {
	return record.New(record.Config{
		Create: func(rate media.Rate) (io.WriteCloser, error) { return s.create(call, rate, begun()) },
		Done:   func(r record.Result) { s.done(call, r) },
	})
}

// Leave leaves the recording of a call, if there is one, to another node, which continues it: what is here of it is sent, and nothing
// more is done.
func (s *Service) Leave(call string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if of := s.live[call]; of != nil {
		of.left = true
	}
}

// create begins the raw audio of a call, and notes that there is some.
func (s *Service) create(call string, rate media.Rate, of *capture) (io.WriteCloser, error) {
	s.mu.Lock()
	s.live[call] = of
	s.mu.Unlock()
	s.note(func() {
		ctx, cancel := context.WithTimeout(context.Background(), storePatience)
		defer cancel()
		begin := s.history.BeginRecording
		if of.continues {
			begin = s.history.ContinueRecording
		}
		if err := begin(ctx, call, s.Node); err != nil {
			s.Log.Warn("could not store the start of a recording, will retry", "session", call, "err", err)
		}
	})
	if err := os.MkdirAll(s.Raw(), 0o700); err != nil {
		return nil, err
	}
	w := &spooler{s: s, chunk: chunk{call: call, rate: rate, from: int64(of.since.Samples(rate))}}
	if err := w.next(); err != nil {
		return nil, err
	}
	return w, nil
}

// done notes how a recording went, and returns before that is stored. A recording that met an error is kept as far
// as it was written.
func (s *Service) done(call string, r record.Result) {
	s.Dropped(r.Dropped)
	if r.Err != nil {
		s.Log.Error("the recording of a call has failed", "session", call, "err", r.Err)
	}
	s.mu.Lock()
	if of := s.live[call]; of != nil {
		r.Length += of.since
		of.over = &r
	}
	s.mu.Unlock()
	s.conclude(call)
}

// end stores the end of a recording, and removes the raw audio where it is not wanted.
func (s *Service) end(ctx context.Context, r history.Recording, failed bool) error {
	state, err := s.history.EndRecording(ctx, r, failed, s.enqueue)
	if errors.Is(err, store.ErrNotFound) { // another node has taken it up, and may be encoding, or recording
		_, now, held := s.history.RecordingHolder(ctx, r.Call)
		if held == nil && now != history.RecordingEncodes && now != history.RecordingRuns {
			err = errors.Join(err, s.removeRaw(ctx, r.Call))
		}
	}
	if err != nil {
		return err
	}
	if state == history.RecordingFailed {
		s.Count("failed")
	}
	if state == history.RecordingEncodes {
		return nil
	}
	if err := s.removeRaw(ctx, r.Call); err != nil {
		s.Log.Warn("the raw audio of a recording stays until that expires", "session", r.Call, "err", err)
	}
	return nil
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

// settle takes a call off the list of those whose recordings are not stored.
func (s *Service) settle(call string) {
	s.mu.Lock()
	delete(s.live, call)
	s.mu.Unlock()
	select {
	case s.settled <- struct{}{}:
	default:
	}
}

// Close waits until the recordings of calls have ended, 10 s at most, and their audio and their ends are
// stored. A recorder whose disk hangs outlives its call by more than that. What the store does not take
// stays on the disk for the next start.
func (s *Service) Close() {
	s.send()
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
	s.cancel()
	s.notes.Wait()
	s.copies.drop("")
}

func (s *Service) recording() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.live) > 0
}

// mark notes that a recording is being encoded here, or no longer is; it returns whether that changed anything.
func (s *Service) mark(call string, on bool) (changed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy[call] == on {
		return false
	}
	if on {
		s.busy[call] = true
	} else {
		delete(s.busy, call)
	}
	return true
}

func (s *Service) lives(call string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live[call] != nil
}

// formats are those of files, as the store names them.
var formats = map[string]string{"ogg": "audio/ogg", "wav": "audio/wav"}

// key is the key of a recording's file in the store.
func key(call, format string) string { return call + "." + format }

// removeFiles removes all audio of a recording from the store.
func (s *Service) removeFiles(ctx context.Context, call string) (gone bool) {
	err := s.removeRaw(ctx, call)
	for format := range formats {
		err = errors.Join(err, s.Files.Delete(ctx, key(call, format)))
	}
	if err != nil {
		s.Log.Warn("files of a recording stay", "session", call, "err", err)
	}
	return err == nil
}
