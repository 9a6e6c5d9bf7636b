package stt

import (
	"context"
	"errors"
	"net/http"
	"time"

	"parley/api"
	"parley/api/socket"
	"parley/inference"
	"parley/media/isolate"
)

const (
	// maxAudio is the longest binary message in bytes: half a minute, of which no
	// more than intakeBurst is taken at once.
	maxAudio = 1 << 20
	// configWait is how long audio waits for the configuration before there is
	// taken to be none.
	configWait = time.Second
	// stallAfter is how long a voice may stop in the middle of an utterance, as it
	// does when the microphone is muted, before the utterance is over.
	stallAfter = 2 * time.Second
	// idleAfter is how long a client may send nothing at all.
	idleAfter = 10 * time.Minute
	// lastWords is how long the end of a session waits for the recogniser.
	lastWords = 5 * time.Second
)

// live is GET /ws/stt.
func (s *service) live(w http.ResponseWriter, r *http.Request) {
	sock, err := s.set.Upgrade(w, r, socket.Sentence)
	if err != nil {
		return // the client has its answer
	}
	box := newInbox()
	v := &voice{service: s, sock: sock, box: box}
	sock.Run(socket.Incoming{Text: box.text, Binary: box.binary, MaxBinary: maxAudio}, v.conduct)
	if lost := box.lost(); lost > 0 {
		api.LogOf(r.Context(), s.log).Info("audio that came too fast was dropped", "account", api.PrincipalOf(r.Context()).Account, "dropped_ms", lost*1000/int64(rate))
	}
}

// voice is one socket. Its conductor's goroutine alone uses it.
type voice struct {
	*service
	sock *socket.Socket
	box  *inbox
	ctx  context.Context // ends with the socket

	configured bool
	language   string
	early      []int16 // audio that came before the configuration

	cut     *cutter               // nil before the first audio that counts
	rec     inference.Recognition // likewise
	work    api.Work              // likewise
	samples int64                 // taken so far
	charged int64                 // milliseconds of them

	speaking bool // an utterance is in progress
	owed     int  // finished utterances whose last result has not come
	words    words
}

// conduct serves the socket until it has ended. The socket is closed when it
// returns.
func (v *voice) conduct(ctx context.Context) {
	v.ctx = ctx
	err := error(isolate.Internal)
	defer func() { // also when it panics
		if v.work != nil {
			defer func() { v.work.End(err) }()
		}
		if v.rec != nil {
			v.rec.Close()
		}
	}()
	err = v.serve()
}

// ends of a session that are no fault.
var errIdle = errors.New("nothing was sent")

// serve is the conductor's loop. It returns why it has ended: nil when the client
// needs nothing any more.
func (v *voice) serve() error {
	timers := newTimers()
	defer timers.stop()
	for {
		err := v.next(timers)
		switch {
		case err == nil:
		case v.ctx.Err() != nil:
			return context.Canceled // the client has gone
		case errors.Is(err, errIdle):
			v.sock.Close(socket.Normal, "Nothing was sent for ten minutes.")
			return nil
		default:
			v.refuse(err)
			return err
		}
	}
}

// timers are what a conductor waits for besides the client and the recogniser.
type timers struct{ config, stall, idle *time.Timer }

func newTimers() *timers {
	t := &timers{time.NewTimer(configWait), time.NewTimer(stallAfter), time.NewTimer(idleAfter)}
	t.config.Stop() // runs from the first audio
	t.stall.Stop()  // runs during an utterance
	return t
}

func (t *timers) stop() {
	t.config.Stop()
	t.stall.Stop()
	t.idle.Stop()
}

// next waits for something to happen and deals with it. An error ends the session.
func (v *voice) next(t *timers) error {
	var results <-chan inference.Result
	var stop <-chan struct{}
	if v.rec != nil {
		results, stop = v.rec.Results(), v.work.Context().Done()
	}
	select {
	case <-v.ctx.Done():
		return context.Cause(v.ctx)
	case <-stop:
		return v.finish(api.Stopped(context.Cause(v.work.Context())))
	case <-v.sock.Draining():
		return v.finish(api.ErrDraining)
	case r, ok := <-results:
		return v.recognised(r, ok)
	case <-t.config.C:
		err := v.configure("")
		v.watch(t)
		return err
	case <-t.stall.C:
		v.end()
		return nil
	case <-t.idle.C:
		return errIdle
	case <-v.box.wake:
	}
	t.idle.Reset(idleAfter)
	waited := len(v.early) > 0
	for _, m := range v.box.take() {
		if err := v.obey(m); err != nil {
			return err
		}
	}
	if !waited && len(v.early) > 0 {
		t.config.Reset(configWait)
	}
	v.watch(t)
	return nil
}

// watch waits for the voice to stop, from now on.
func (v *voice) watch(t *timers) {
	t.stall.Stop()
	if v.speaking {
		t.stall.Reset(stallAfter)
	}
}

// obey does what a message asks for.
func (v *voice) obey(m message) error {
	switch m.command {
	case cmdStart:
		return v.configure(m.language)
	case cmdAudio:
		if !v.configured {
			v.early = append(v.early, m.audio...)
			return nil
		}
		return v.hear(m.audio)
	case cmdEnd:
		if len(v.early) > 0 { // who has said all has no configuration to send
			if err := v.configure(""); err != nil {
				return err
			}
		}
		v.end()
	case cmdBad:
		v.sock.Error(api.Bad("A text message must be a JSON object; language is a string."))
	case cmdTooFast:
		v.sock.Error(api.Bad("Audio comes faster than it can have been spoken; what is too much is dropped."))
	case cmdTooMany:
		return api.Bad("Too many messages came at once.")
	}
	return nil
}

// configure takes the configuration, which comes once, and the audio that has been
// waiting for it.
func (v *voice) configure(tag string) error {
	language, err := heard(v.asr, tag)
	if err != nil {
		return err
	}
	if v.configured {
		if tag != "" && language != v.language {
			v.sock.Error(api.Bad("The language is set by the first message and stays."))
		}
		return nil
	}
	v.configured, v.language = true, language
	early := v.early
	v.early = nil
	return v.hear(early)
}

// refuse tells the client why the session ends, and closes.
func (v *voice) refuse(err error) {
	p := api.ProblemOf(err)
	code := socket.Policy
	switch {
	case errors.Is(err, api.ErrDraining):
		code = socket.GoingAway
	case p.Status >= http.StatusInternalServerError && p.Retryable:
		code = socket.ServerError
	}
	v.sock.Error(err)
	v.sock.Close(code, p.Message)
}
