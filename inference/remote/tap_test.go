package remote_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/gorilla/websocket"

	"parley/inference/remote"
)

// watched is a client's passages in words.
type watched struct {
	mu  sync.Mutex
	all []string
}

func (w *watched) tap(p remote.Passage) {
	w.mu.Lock()
	defer w.mu.Unlock()
	who := "we"
	if p.Vendor {
		who = "they"
	}
	text := fmt.Sprint(who, " ", []string{"ask", "open", "answer", "say", "end"}[p.What])
	switch {
	case p.What == remote.Asked:
		text += fmt.Sprintf(" %s %s%s", p.Path, p.Type, p.Data)
	case p.What == remote.Opened && p.Took <= 0:
		text += " in no time"
	case p.What == remote.Answered:
		text += fmt.Sprintf(" %d %s", p.Status, p.Type)
	case p.What == remote.Said:
		text += fmt.Sprintf(" %s %v", p.Data, p.Binary)
	case p.What == remote.Ended:
		text += fmt.Sprintf(" %d", p.Code)
	}
	w.all = append(w.all, text)
}

func (w *watched) check(t *testing.T, want ...string) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Equal(w.all, want) {
		t.Errorf("%q, want %q", w.all, want)
	}
}

func TestSocketIsWatched(t *testing.T) {
	var w watched
	c := socketServer(t, func(c *websocket.Conn) {
		for {
			kind, data, err := c.ReadMessage()
			if err != nil || c.WriteMessage(kind, append(data, '!')) != nil {
				return
			}
		}
	})
	c.Watch(w.tap)
	s := dial(t, c)
	s.Send([]byte("text"))
	s.Read()
	s.SendBinary([]byte("audio"))
	s.Read()
	s.Leave()
	s.Read()
	s.Close()
	w.check(t, "we ask /speech?model=m ", "we open", "we say text false", "they say text! false", "we say audio true", "they say audio! true", "we end 1000", "they end 1000")
}

func TestRequestIsWatched(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		if r.URL.Path != "/v1/good" {
			w.WriteHeader(http.StatusTeapot)
		}
		_, _ = io.WriteString(w, "yes")
	}))
	defer s.Close()
	c, err := remote.NewClient(remote.Config{Engine: "vendor", BaseURL: s.URL + "/v1", Key: secret, Headers: map[string]string{"X-Key": secret}})
	if err != nil {
		t.Fatal(err)
	}
	var w watched
	c.Watch(w.tap)
	a, err := c.Post(t.Context(), "/good", "text/plain", []byte(" please"))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.ReadAll(a)
	a.Close()
	_, _ = c.Post(t.Context(), "/bad", "text/plain", nil)
	_, _ = c.Dial(t.Context(), "/bad?x=1")
	w.check(t, "we ask /v1/good text/plain please", "we open", "they answer 200 text/plain", "they say yes false", "they end 0",
		"we ask /v1/bad text/plain", "they answer 418 text/plain", "they say yes false", "they end 0",
		"we ask /v1/bad?x=1 ", "they answer 418 text/plain", "they say yes false", "they end 0")
}
