package bench

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"parley/api"
	"parley/api/socket"
	"parley/api/tts"
	"parley/api/wstts"
	"parley/inference"
	"parley/inference/espeak"
)

// Speech measures the streaming synthesis socket with the embedded voices.
type Speech struct {
	Jobs    int // one after the other, for the time to the first audio
	Streams int // at once, over two accounts
	// Engine speaks instead of the embedded one; nil: the embedded one does.
	Engine inference.TTS
}

// Bars of Speech: ms to the first audio on an idle server, and how much faster than
// real time the slowest of many jobs must be.
const (
	firstAudioBar = 60
	realTimeBar   = 1
)

// What is spoken: a sentence for the wait, a minute for the load.
const (
	benchSentence = "Good morning, your table for two is booked for Friday evening at eight."
	loadSentences = 14
)

// Run measures and returns the rows.
func (s Speech) Run(ctx context.Context) (rows []Row, err error) {
	if s.Jobs < 1 || s.Streams < 1 {
		return nil, fmt.Errorf("no measurement of %d jobs and %d streams", s.Jobs, s.Streams)
	}
	engine := s.Engine
	if engine == nil {
		local, stop, err := startVoices(ctx)
		if err != nil {
			return nil, err
		}
		defer stop()
		engine = local
	}
	server, err := newSpeechServer(engine)
	if err != nil {
		return nil, err
	}
	defer server.close()
	waits, err := server.waits(ctx, s.Jobs)
	if err != nil {
		return nil, err
	}
	rows = group("speech, idle").latencies("first audio", waits, firstAudioBar, firstAudioBar)
	multiples, err := server.load(ctx, s.Streams)
	if err != nil {
		return nil, err
	}
	return append(rows, group(fmt.Sprintf("speech, %d jobs at once", s.Streams)).least("slowest job", slices.Min(multiples), "x real time", realTimeBar)), nil
}

// startVoices starts the embedded engine; stop ends it.
func startVoices(ctx context.Context) (engine *espeak.Engine, stop func(), err error) {
	engine = espeak.New(espeak.Config{Log: slog.New(slog.DiscardHandler)})
	var ended error
	stop = begin(func(ctx context.Context) { ended = engine.Run(ctx) })
	ready, done := context.WithTimeout(ctx, patience)
	defer done()
	if err := engine.Ready(ready); err != nil {
		stop()
		return nil, nil, errors.Join(err, ended)
	}
	return engine, stop, nil
}

// speechServer serves synthesis sockets without a bill; each key is an account.
type speechServer struct {
	anyKey
	addr  string
	close func()
}

func newSpeechServer(engine inference.TTS) (s *speechServer, err error) {
	s = &speechServer{}
	a := api.New(s)
	wstts.Mount(a, &wstts.Handler{Speech: tts.New(engine), Books: s, Sockets: socket.NewSet()})
	s.addr, s.close, err = serve(a)
	return s, err
}

// Begin implements api.Books.
func (s *speechServer) Begin(ctx context.Context, _ api.Principal, _ api.Job) (api.Work, error) {
	return freeWork{ctx}, nil
}

// freeWork costs nothing.
type freeWork struct{ ctx context.Context }

func (w freeWork) Context() context.Context { return w.ctx }
func (freeWork) Used(int64)                 {}
func (freeWork) End(error)                  {}

// listener is a client of the synthesis socket.
type listener struct{ *websocket.Conn }

func (s *speechServer) dial(ctx context.Context, account string) (listener, error) {
	conn, _, err := websocket.DefaultDialer.DialContext(ctx, "ws://"+s.addr+wstts.Path, http.Header{"X-Api-Key": {account}})
	return listener{conn}, err
}

// hear has a text spoken: how long the first audio took, and all, and how much
// audio there was.
func (l listener) hear(text string) (first, all, audio time.Duration, err error) {
	began := time.Now()
	ask := tts.Ask{Text: text, Voice: "F1", Language: "en", Visemes: true}
	if err = errors.Join(l.SetReadDeadline(began.Add(patience)), l.WriteJSON(ask)); err != nil {
		return
	}
	samples := 0
	for {
		kind, b, err := l.ReadMessage()
		switch {
		case err != nil:
			return 0, 0, 0, err
		case kind == websocket.BinaryMessage:
			if samples == 0 {
				first = time.Since(began)
			}
			samples += len(b) / 2
		case string(b) == "EOS":
			return first, time.Since(began), tts.Rate.Duration(samples).Duration(), nil
		case strings.HasPrefix(string(b), `{"type":"error"`):
			return 0, 0, 0, fmt.Errorf("a job failed: %s", b)
		}
	}
}

// waits is how long the first audio of jobs takes that come one after the other.
func (s *speechServer) waits(ctx context.Context, jobs int) ([]time.Duration, error) {
	l, err := s.dial(ctx, "a")
	if err != nil {
		return nil, err
	}
	defer l.Close()
	const warmUp = 3
	var list []time.Duration
	for i := range warmUp + jobs {
		first, _, _, err := l.hear(benchSentence)
		if err != nil {
			return nil, err
		}
		if i >= warmUp {
			list = append(list, first)
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	return list, nil
}

// load is how much faster than real time jobs are that run all at once.
func (s *speechServer) load(ctx context.Context, streams int) ([]float64, error) {
	text := strings.Repeat(benchSentence+" ", loadSentences)
	multiples, errs := make([]float64, streams), make([]error, streams)
	var ready, wg sync.WaitGroup
	ready.Add(streams)
	for i := range streams {
		wg.Go(func() {
			l, err := s.dial(ctx, []string{"a", "b"}[i%2])
			ready.Done()
			if errs[i] = err; err != nil {
				return
			}
			defer l.Close()
			ready.Wait() // all begin together
			_, took, audio, err := l.hear(text)
			multiples[i], errs[i] = audio.Seconds()/took.Seconds(), err
		})
	}
	wg.Wait()
	return multiples, errors.Join(errs...)
}
