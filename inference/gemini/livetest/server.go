// Package livetest is a fake of the Gemini Live API on loopback,
// /ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent, for tests of its adapter and for
// measurements.
//
// It hears as package hearingtest does, and answers as package replytest does. The times of the protocol
// are time of audio, so a test may send audio as fast as it likes. The clock counts for how long a connection lasts,
// and for the delays and the pace of the script.
//
// What Gemini refuses it refuses, with a close frame, since Gemini has no message for errors; and it notes each
// mistake of its client as a violation. Where the vendor's documents are silent it follows what clients report: the
// texts of close frames, that a wrong key is refused only after the upgrade, that models 3.x want historyConfig
// for a history and refuse a handle that is null, that a handle is refused while its last connection is open,
// that an interrupted turn is not generationComplete. A token is 40 ms of audio or four characters of text.
//
// The fake has no video, no caching, no thoughts and no tools but functions, and no limit of a session's length
// beside that of its connections. Its silence, where the client does not name one, is 800 ms.
package livetest

import (
	"cmp"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"parley/inference/enginetest/hearingtest"
	"parley/inference/enginetest/loopbacktest"
	"parley/inference/enginetest/replytest"
)

// Fault, Books, what is heard and what is answered are those of all fakes. The End of a Reply is a turnCompleteReason, as
// MALFORMED_FUNCTION_CALL.
type (
	Fault     = loopbacktest.Fault
	Books     = loopbacktest.Books
	Utterance = hearingtest.Utterance
	Pause     = hearingtest.Pause
	Reply     = replytest.Reply
	Call      = replytest.Call
	Pace      = replytest.Pace
)

const (
	// DefaultKey is accepted when the script names no key.
	DefaultKey = "AIza-live-test-0123456789"
	// Path is where sessions are opened.
	Path = "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent"
)

// Script is what a server does. Its zero value hears no words and gives one short answer.
type Script struct {
	Key        string // "": DefaultKey
	Utterances []Utterance
	Replies    []Reply // in turn in each session, the last of them again and again
	// Continue counts utterances and replies over all connections. It is for one client that reconnects without a
	// handle: replies go on in a session that is resumed, whatever it is.
	Continue bool
	Pace     Pace
	Delays   Delays
	Faults   []Fault
	Expects  []string      // parts of the violations that the test means to cause
	Sockets  int           // at a time, more are refused with 429; 0: any number
	Lifetime time.Duration // of a connection, by the clock; 0: 10 min
	Notice   time.Duration // how long before its end goAway is sent; 0: 50 s, at most half of the Lifetime
	Spelling Spelling
}

// Delays are drawn each time, by the clock. Nil: none.
type Delays struct {
	Setup    func() time.Duration // until setupComplete
	Playback func() time.Duration // from generationComplete to turnComplete
}

// Spelling is what Gemini says in one way or another.
type Spelling struct {
	Binary   bool // JSON comes in binary frames
	Finished bool // transcriptions say that they are finished
	Activity bool // voiceActivity is sent
}

// Turn is what became known of one turn of the model. What follows the results of functions is another turn.
type Turn struct {
	Text   string
	Audio  time.Duration // that was sent
	End    string        // "": it is in progress; complete, interrupted, call, or cut by the end of the connection
	Reason string        // of its end
	Usage  Usage
}

// Server is the fake. Its books count the tokens of usageMetadata, and their Body is the last setup. Safe for concurrent use.
type Server struct {
	*loopbacktest.Server
	script   Script
	dialogue *hearingtest.Dialogue

	mu      sync.Mutex
	replies int // that were given, where they are counted over all connections
	turns   []*Turn
	handles map[string]*memory
	last    *memory // of the newest session
}

// New starts a server that runs until the test ends, and then reports violations.
func New(t testing.TB, script Script) *Server {
	t.Helper()
	return loopbacktest.Started(t, Start, script, script.Expects)
}

// Start starts a server that runs until Close.
func Start(script Script) (*Server, error) {
	script.Key = cmp.Or(script.Key, DefaultKey)
	script.Lifetime = cmp.Or(script.Lifetime, 10*time.Minute)
	script.Notice = min(cmp.Or(script.Notice, 50*time.Second), script.Lifetime/2)
	s := &Server{script: script, dialogue: hearingtest.NewDialogue(script.Utterances, script.Continue), handles: map[string]*memory{}}
	return s, loopbacktest.ListenAt(&s.Server, script.Key, script.Faults, map[string]http.HandlerFunc{Path: s.open})
}

// Turns are all turns of the model in the order in which they began. The caller owns the list.
func (s *Server) Turns() (list []Turn) {
	s.note(func() {
		for _, t := range s.turns {
			list = append(list, *t)
		}
	})
	return list
}

// Contents are the history of the newest session, as the model reads it. The caller owns the list.
func (s *Server) Contents() (list []Content) {
	s.note(func() {
		if s.last != nil {
			list = s.last.copy(nil).contents
		}
	})
	return list
}

// note reads or changes what became known.
func (s *Server) note(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// open answers a handshake and serves the session.
func (s *Server) open(w http.ResponseWriter, r *http.Request) {
	refuse := func(f Fault) {
		loopbacktest.Answer(w, f.Status, map[string]any{"error": map[string]any{"code": f.Status, "message": http.StatusText(f.Status), "status": cmp.Or(statuses[f.Status], "UNKNOWN")}})
	}
	fault, ok := s.Admit(w, r, refuse)
	if !ok {
		return
	}
	if r.URL.RawQuery != "" {
		s.Violate("the address has a query: keys do not belong into addresses")
	}
	if !s.Enter(s.script.Sockets) {
		refuse(Fault{Status: http.StatusTooManyRequests})
		return
	}
	defer s.Leave()
	s.Serve(w, r, nil, fault, shapes, func(k *loopbacktest.Socket) {
		if s.script.Spelling.Binary {
			k.InBinary()
		}
		if key := r.Header.Get("x-goog-api-key"); key != s.Key {
			code, reason := websocket.CloseInvalidFramePayloadData, "API key not valid. Please pass a valid API key."
			if key == "" {
				code, reason = websocket.ClosePolicyViolation, "Method doesn't allow unregistered callers (callers without established identity)."
				s.Violate("x-goog-api-key is missing")
			}
			k.Close(code, reason)
		}
		serve(s, k)
	})
}

// statuses are the names of refusals over HTTP.
var statuses = map[int]string{
	http.StatusBadRequest: "INVALID_ARGUMENT", http.StatusUnauthorized: "UNAUTHENTICATED", http.StatusForbidden: "PERMISSION_DENIED",
	http.StatusTooManyRequests: "RESOURCE_EXHAUSTED", http.StatusInternalServerError: "INTERNAL", http.StatusServiceUnavailable: "UNAVAILABLE",
}

// shapes are what faults send.
var shapes = loopbacktest.Shapes{
	Nulls: map[string]any{"serverContent": map[string]any{"modelTurn": nil, "inputTranscription": nil, "turnComplete": nil}, "toolCall": nil, "usageMetadata": nil},
	Ends: func(reason string) (int, string) {
		return websocket.CloseInternalServerErr, cmp.Or(reason, "Internal error encountered.")
	},
}

// problem is a mistake of the client as the close frame that it leads to.
type problem struct {
	code   int
	reason string
}

// Error implements error.
func (p problem) Error() string { return p.reason }

// invalid is the problem of a message that cannot be obeyed.
func invalid(format string, args ...any) error {
	return problem{websocket.CloseInvalidFramePayloadData, fmt.Sprintf(format, args...)}
}
