// Package synthesiser is speech by a vendor while its text is written: text goes out over a WebSocket,
// audio comes back, and several utterances share a socket where the vendor has contexts. What vendors have
// in common is here; a Vendor is what differs.
//
//	utterance.go  the Utterance that a reply has; piece.go, the way of its audio
//	lane.go       a socket and the utterances on it
//	pool.go       sockets that are open already when a reply begins
//
// A socket that breaks fails its utterances. One that was open before, and broke before it gave anything of an
// utterance, is replaced by a new one: vendors close sockets at times of their own.
package synthesiser

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"parley/inference"
	"parley/inference/remote"
	"parley/media"
)

// Vendor is what one vendor's voice says on its wire.
type Vendor interface {
	Info() inference.Info
	// Voices lists what VoiceConfig.Voice may name.
	Voices() []inference.Voice
	// Path is the path and query of a socket that can speak so. Utterances of the same path share sockets.
	// Errors: *inference.Error with ErrVoice.
	Path(inference.VoiceConfig) (string, error)
	// Rate is that of the audio asked for by Start.
	Rate(inference.VoiceConfig) media.Rate
	// Limits are those of a socket.
	Limits() Limits
	// Start makes what an utterance says; context is its name on the socket.
	Start(context string, v inference.VoiceConfig) Context
	// Read makes of a message of the vendor's what it holds; ok is false when that concerns nobody.
	// Its error ends the socket.
	Read(message []byte, binary bool) (p Piece, ok bool, err error)
}

// Limits are those of a vendor's socket; zero values mean none.
type Limits struct {
	Idle, Age   time.Duration // after which the vendor closes it
	Contexts    int           // utterances at a time
	ContextIdle time.Duration // after its last audio, when a context ends by itself
	// Flushes is how many a minute a socket takes, two of which are kept for the ends of utterances; 0: any number.
	Flushes int
	// Text is the longest text of a Say, in code points; 0: any. A longer one is flushed in parts.
	Text int
	// FlushEnds says that no Piece is Done: an utterance is over when all was flushed and spoken.
	FlushEnds bool
	// Serial says that a flush waits for what was flushed before, for the vendor would speak both as one.
	Serial bool
	// CancelEnds says that nothing stops what is being spoken, and that no Piece follows Cancel: the socket is closed.
	CancelEnds bool
	Bye        []byte // is said before the socket is closed
}

// Context is what one utterance says, in text messages.
type Context interface {
	// Say appends text. flush says that it is to be spoken without waiting for more, and that a Piece with
	// Flushed follows, or Characters say when it has been.
	Say(text string, flush bool) [][]byte
	// End says that nothing follows, and a Piece with Done does.
	End() [][]byte
	// Cancel stops it; late pieces may follow.
	Cancel() [][]byte
}

// Piece is what a message of a vendor's holds of one utterance.
type Piece struct {
	Context string // empty: of the one utterance that the socket has
	Samples []int16
	Words   []inference.Mark // with times from the beginning of the context
	// Loose says that they may be from the beginning of the piece instead: they are where the first begins before
	// the end of what came earlier.
	Loose bool
	// Restarts says that they may be from the end of what was flushed before: they are where they would be in its audio.
	Restarts bool
	Flushed  bool // all that was said before the oldest flush has been spoken
	// Billed is how many characters the vendor charges for what was Flushed; 0: it does not say.
	Billed int
	// Characters are those of the text that the piece speaks, in code points and without spaces; of vendors without Flushed.
	Characters int
	Done       bool
	Err        error
}

// Engine is an inference.StreamingTTS. Safe for use from several goroutines.
type Engine struct {
	vendor Vendor
	client *remote.Client
	stall  time.Duration
	pool   pool
	life   context.Context // ends with Close
	end    context.CancelFunc
}

// defaultStall is how long a voice may leave text unspoken without a word.
const defaultStall = 1500 * time.Millisecond

// Of makes the engine of a vendor as it is listed, of which described are the options, and contacts nobody. headers carry the key.
func Of(e remote.Engine, described remote.Options, headers map[string]string, v Vendor) (*Engine, error) {
	client, err := e.Client(described, headers)
	if err != nil {
		return nil, err
	}
	if err := Voices(e.Voices).Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", e.Name, err)
	}
	return New(client, v, e.Stall), nil
}

// New makes the engine of a vendor that client reaches. stall is how long the vendor may say nothing while it
// owes audio; 0 means 1.5 s.
func New(client *remote.Client, v Vendor, stall time.Duration) *Engine {
	if stall == 0 {
		stall = defaultStall
	}
	e := &Engine{vendor: v, client: client, stall: stall}
	e.pool.engine = e
	e.life, e.end = context.WithCancel(context.Background())
	return e
}

// Remote is how the vendor is reached.
func (e *Engine) Remote() *remote.Client { return e.client }

// Close ends utterances and closes the sockets, for which vendors have 1 s, and waits until all that has ended.
// Nothing can be opened after it.
func (e *Engine) Close() {
	lanes := e.pool.close()
	e.end()
	for _, l := range lanes {
		l.end()
	}
	e.pool.work.Wait()
}

// closed is the fault of an engine that is closed.
func (e *Engine) closed() error { return e.client.Fault(inference.ErrUnavailable, errClosed) }

// Info implements inference.TTS.
func (e *Engine) Info() inference.Info { return e.vendor.Info() }

// Voices implements inference.TTS.
func (e *Engine) Voices() []inference.Voice { return e.vendor.Voices() }

// Warm implements inference.Warmer: it opens a socket, where one does for every voice. Otherwise it is not known
// which will be wanted.
func (e *Engine) Warm(ctx context.Context) {
	v := inference.VoiceConfig{Voice: e.vendor.Voices()[0].ID}
	path, err := e.vendor.Path(v)
	v.Language, v.Rate = e.vendor.Info().Languages[0], media.Rate8k
	if other, otherErr := e.vendor.Path(v); err == nil && otherErr == nil && other == path {
		e.pool.warm(ctx, path)
	}
}

// Open implements inference.StreamingTTS. It does not wait; what prevents a connection shows in the first chunk.
func (e *Engine) Open(ctx context.Context, v inference.VoiceConfig) (inference.Utterance, error) {
	return e.open(ctx, v)
}

func (e *Engine) open(ctx context.Context, v inference.VoiceConfig) (*utterance, error) {
	if !slices.Contains(e.vendor.Info().Languages, v.Language) {
		return nil, e.client.Fault(inference.ErrLanguage, nil)
	}
	path, err := e.vendor.Path(v)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if !e.pool.enter() {
		return nil, e.closed()
	}
	return begin(ctx, e, v, path), nil
}

// Speak implements inference.TTS.
func (e *Engine) Speak(ctx context.Context, s inference.Speech) iter.Seq2[inference.Chunk, error] {
	return func(yield func(inference.Chunk, error) bool) {
		u, err := e.open(ctx, s.VoiceConfig)
		if err != nil {
			yield(inference.Chunk{}, err)
			return
		}
		defer func() { // it has ended when the sequence has
			for range u.chunks {
			}
		}()
		defer u.Cancel()
		if strings.TrimSpace(s.Text) == "" {
			return
		}
		inference.Sent(ctx)
		u.Say(s.Text)
		u.End()
		for c := range u.chunks {
			if ctx.Err() != nil {
				yield(inference.Chunk{}, context.Cause(ctx))
				return
			}
			inference.Got(ctx, c.Got)
			if c.Err != nil {
				yield(inference.Chunk{}, c.Err)
				return
			}
			if c.Say, c.Last = 0, false; (len(c.Samples) > 0 || len(c.Words) > 0 || c.Usage != nil) && !yield(c, nil) {
				return
			}
		}
		switch {
		case ctx.Err() != nil:
			yield(inference.Chunk{}, context.Cause(ctx))
		case !u.done && e.life.Err() != nil:
			yield(inference.Chunk{}, e.closed())
		}
	}
}
