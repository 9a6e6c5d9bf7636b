package loopbacktest

import (
	"io"
	"math"
	"net/http"
	"strings"
	"testing"
)

func TestFaultsBelongToConnectionsInTurn(t *testing.T) {
	s := &Server{faults: []Fault{{Connections: 1, Status: 401}, {Connections: 2, Status: 429}, {Connections: 1}, {Status: 503}}}
	for i, want := range []int{401, 429, 429, 0, 503, 503} {
		if got := s.Next().Status; got != want {
			t.Errorf("connection %d: %d, want %d", i+1, got, want)
		}
	}
}

func TestEnterKeepsToItsLimit(t *testing.T) {
	s := &Server{}
	if !s.Enter(1) || s.Enter(1) || !s.Enter(0) || s.Busy() != 2 {
		t.Errorf("%d are busy", s.Busy())
	}
	s.Leave()
	s.Leave()
	if s.Busy() != 0 {
		t.Errorf("%d are busy", s.Busy())
	}
}

func TestCodings(t *testing.T) {
	tone := Tone(800, 0, 8000, -20)
	for _, c := range []Coding{S16, S32, F32, Mulaw, Alaw} {
		b := c.Encode(tone)
		if level := Level(c.Decode(b)); len(b) != 800*c.Width() || math.Abs(level+23) > .2 {
			t.Errorf("coding %d: %d bytes at %v dBFS", c, len(b), level)
		}
	}
	later := Tone(400, 400, 8000, -20)
	for i := range later {
		if later[i] != tone[400+i] {
			t.Fatal("a tone depends on its pieces")
		}
	}
	if l := Level(make([]int16, 80)); !math.IsInf(l, -1) {
		t.Error(l)
	}
}

func TestCloseEndsRequests(t *testing.T) {
	begun := make(chan struct{})
	var s *Server
	s, err := Listen("key", nil, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(begun)
		s.Wait(r.Context(), 1<<62)
	}))
	if err != nil {
		t.Fatal(err)
	}
	failed := make(chan error, 1)
	go func() {
		resp, err := http.Post(s.URL, "text/plain", strings.NewReader("x"))
		if err == nil {
			_, err = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
		failed <- err
	}()
	<-begun
	s.Close()
	if err := <-failed; err == nil {
		t.Error("the request was answered")
	}
	s.Go(func() { t.Error("it ran after Close") })
}
