package realtimetest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"parley/inference/enginetest/hearingtest"
	"parley/inference/enginetest/loopbacktest"
)

// server is what both fakes are made of.
type server struct {
	*loopbacktest.Server
	script   TranscriptionScript // what both have
	dialogue *hearingtest.Dialogue
	kind     kind

	mu    sync.Mutex
	ids   int
	items int // that were committed
}

// kind is what one fake does differently from the other.
type kind struct {
	nulls  string                       // the event whose fields may be null
	admits func(query url.Values) error // refuses with a trouble a session that cannot begin
	serve  func(s *server, k *loopbacktest.Socket, query url.Values)
}

// start starts a server that runs until Close.
func start(script TranscriptionScript, k kind) (*server, error) {
	script.Key = cmp.Or(script.Key, DefaultKey)
	script.Lifetime = cmp.Or(script.Lifetime, time.Hour)
	s := &server{script: script, dialogue: hearingtest.NewDialogue(script.Utterances, script.Continue), kind: k}
	return s, loopbacktest.ListenAt(&s.Server, script.Key, script.Faults, map[string]http.HandlerFunc{"/v1/realtime": s.open})
}

// id is a new id that begins so. No two connections have the same.
func (s *server) id(prefix string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids++
	return fmt.Sprintf("%s%06d", prefix, s.ids)
}

// item is the number of an item that is committed.
func (s *server) item() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.items++
	return s.items - 1
}

// open answers a handshake and serves the session.
func (s *server) open(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	fault, ok := s.Admit(w, r, func(f Fault) { refuse(w, f.Status, f.Reason, "") })
	if !ok {
		return
	}
	if _, ok := s.Bears(r, "Bearer"); !ok {
		refuse(w, http.StatusUnauthorized, "", "")
		return
	}
	for name, values := range query {
		if !slices.Contains([]string{"intent", "model"}, name) || len(values) > 1 {
			s.Violate("the query has %s %d times", name, len(values))
			refuse(w, http.StatusBadRequest, "", "Unknown query parameter: "+name)
			return
		}
	}
	if !s.Enter(s.script.Sockets) {
		refuse(w, http.StatusTooManyRequests, "", "")
		return
	}
	defer s.Leave()
	s.Serve(w, r, http.Header{"X-Request-Id": {loopbacktest.ID()}}, fault, s.shapes(), func(k *loopbacktest.Socket) {
		err := s.kind.admits(query)
		if r.Header.Get("OpenAI-Beta") != "" {
			err = trouble{Code: "beta_api_shape_disabled", Message: "The Realtime Beta API is no longer supported."}
		}
		var t trouble
		if errors.As(err, &t) {
			s.turnAway(k, t)
			return
		}
		s.Go(func() {
			if s.Wait(k.Context(), s.script.Lifetime) {
				_ = k.Write(s.failure(trouble{Code: expired, Message: tooOld}))
				k.Close(websocket.CloseGoingAway, tooOld)
			}
		})
		s.kind.serve(s, k, query)
	})
}

// turnAway ends a session that cannot begin, and waits until the client has gone.
func (s *server) turnAway(k *loopbacktest.Socket, t trouble) {
	s.Violate("%s", t.Message)
	_ = k.Write(s.failure(t))
	k.Close(closeInvalid, invalidRequest+"."+t.Code)
	for {
		if _, _, err := k.Read(); err != nil {
			return
		}
	}
}

// listen reads the events of a client until its session ends. obey does what one of them asks for; its
// errors are troubles.
func (s *server) listen(k *loopbacktest.Socket, events *loopbacktest.Queue, obey func(kind string, data []byte) error) {
	for {
		kind, data, err := k.Read()
		if err != nil {
			return
		}
		var m struct {
			Type  string
			Event string `json:"event_id"`
		}
		switch {
		case kind != websocket.TextMessage:
			err = trouble{Code: "invalid_message", Message: "Binary messages are not supported."}
		case json.Unmarshal(data, &m) != nil:
			err = trouble{Code: "invalid_json", Message: "The event is not JSON."}
		default:
			err = obey(m.Type, data)
		}
		var t trouble
		if errors.As(err, &t) {
			t.Event = m.Event
			events.Add(loopbacktest.Outgoing{Message: s.failure(t)})
			if !t.Harmless {
				s.Violate("%s", t.Message)
			}
		}
	}
}

// refusals are the codes and messages of refused handshakes.
var refusals = map[int][3]string{
	http.StatusBadRequest:          {invalidRequest, "invalid_value", "Bad request"},
	http.StatusUnauthorized:        {invalidRequest, "invalid_api_key", "Incorrect API key provided. You can find your API key at https://platform.openai.com/account/api-keys."},
	http.StatusForbidden:           {invalidRequest, "model_not_found", "Project does not have access to the model."},
	http.StatusTooManyRequests:     {"requests", "rate_limit_exceeded", "Rate limit reached for requests"},
	http.StatusInternalServerError: {"server_error", "internal_error", "The server had an error while processing your request. Sorry about that!"},
	http.StatusServiceUnavailable:  {"server_error", "service_unavailable", "The server is overloaded. Please try again later."},
}

// refuse answers a handshake with an error. Its code and message are those of the status unless they are given.
func refuse(w http.ResponseWriter, status int, code, message string) {
	text, ok := refusals[status]
	if !ok {
		text = [3]string{"server_error", fmt.Sprint(status), http.StatusText(status)}
	}
	if code != "" {
		text = [3]string{kindOf(code), code, cmp.Or(fatal[code], text[2])}
	}
	w.Header().Set("x-request-id", loopbacktest.ID())
	loopbacktest.Answer(w, status, map[string]any{"error": map[string]any{"type": text[0], "code": text[1], "message": cmp.Or(message, text[2]), "param": nil}})
}
