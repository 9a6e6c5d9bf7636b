package remote_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"parley/inference"
	"parley/inference/enginetest/loopbacktest"
	"parley/inference/remote"
)

// vendor is one in a bubble of simulated time, to which answer says what becomes of each request.
type vendor struct {
	*remote.Client
	asked  int
	answer http.HandlerFunc
}

// inBubble runs a test of a vendor in simulated time.
func inBubble(t *testing.T, run func(t *testing.T, v *vendor)) {
	synctest.Test(t, func(t *testing.T) {
		v := &vendor{}
		m := loopbacktest.NewMemory(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			v.asked++
			v.answer(w, r)
		}))
		defer m.Close()
		transport := &http.Transport{DialContext: m.Dial}
		defer transport.CloseIdleConnections()
		var err error
		v.Client, err = remote.NewClient(remote.Config{Engine: "vendor", BaseURL: "http://127.0.0.1", Key: secret, HTTPClient: &http.Client{Transport: transport},
			Dial: m.Dial, Timeout: 24 * time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		run(t, v)
	})
}

// says answers with a status and a body.
func says(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

// ask makes a request and returns its error.
func (v *vendor) ask(t *testing.T) error {
	t.Helper()
	a, err := v.Post(t.Context(), "/", "text/plain", nil)
	if err == nil {
		a.Close()
	}
	return err
}

// TestRestDoubles: a vendor that says no more than that it is asked too often is left alone for longer each time, until it answers.
func TestRestDoubles(t *testing.T) {
	inBubble(t, func(t *testing.T, v *vendor) {
		refused := func(rests ...time.Duration) {
			t.Helper()
			v.answer, v.asked = says(http.StatusTooManyRequests, ""), 0
			for i, rest := range rests {
				for range 3 {
					e, ok := errors.AsType[*inference.Error](v.ask(t))
					if !ok || e.Fault != inference.ErrUnavailable || e.RetryAfter != rest {
						t.Errorf("time %d: %+v, want a rest of %v", i+1, e, rest)
					}
				}
				if v.asked != i+1 {
					t.Errorf("asked %d times, want %d", v.asked, i+1)
				}
				time.Sleep(rest)
			}
		}
		refused(time.Second, 2*time.Second, 4*time.Second, 8*time.Second, 16*time.Second, 30*time.Second, 30*time.Second)
		v.answer = says(http.StatusOK, "")
		if err := v.ask(t); err != nil {
			t.Error(err)
		}
		refused(time.Second, 2*time.Second)
	})
}

// TestDeadKey: a key that the vendor does not take is tried once a minute, whoever asks; a request that it does not take says nothing
// of the key.
func TestDeadKey(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		dead   bool
	}{
		"wrong":     {says(http.StatusUnauthorized, ""), true},
		"unpaid":    {says(http.StatusPaymentRequired, ""), true},
		"used up":   {says(http.StatusTooManyRequests, `{"error":{"code":"insufficient_quota"}}`), true},
		"malformed": {says(http.StatusBadRequest, `{"error":{"type":"invalid_request_error"}}`), false},
		"forbidden": {says(http.StatusForbidden, `{"error":{"type":"permission_error"}}`), false},
	} {
		inBubble(t, func(t *testing.T, v *vendor) {
			v.answer = c.answer
			other, err := remote.NewClient(remote.Config{Engine: "vendor", BaseURL: v.Base(), Key: secret})
			if err != nil {
				t.Fatal(err)
			}
			other.Share(v.Client)
			ask := func(want int) {
				t.Helper()
				for _, client := range []*remote.Client{v.Client, other} {
					if _, err := client.Post(t.Context(), "/", "text/plain", nil); inference.FaultOf(err) != inference.ErrRefused {
						t.Errorf("%s: %v", name, err)
					}
				}
				if v.asked != want {
					t.Errorf("%s: asked %d times, want %d", name, v.asked, want)
				}
			}
			if !c.dead {
				ask(2)
				return
			}
			ask(1)
			if _, err := v.Dial(t.Context(), "/"); inference.FaultOf(err) != inference.ErrRefused {
				t.Errorf("%s: %v", name, err)
			}
			time.Sleep(time.Minute)
			ask(2)
		})
	}
}

// TestDeadKeyInAStream: a key that is found to be dead in a stream is not tried again either.
func TestDeadKeyInAStream(t *testing.T) {
	inBubble(t, func(t *testing.T, v *vendor) {
		v.answer = says(http.StatusOK, "")
		if err := v.Refused(remote.Named{Code: "account_deactivated"}); inference.FaultOf(err) != inference.ErrRefused {
			t.Error(err)
		}
		if err := v.ask(t); inference.FaultOf(err) != inference.ErrRefused || v.asked != 0 {
			t.Errorf("asked %d times, %v", v.asked, err)
		}
	})
}

// TestPlaces: a stream above the limit waits for a place, and then another engine may serve.
func TestPlaces(t *testing.T) {
	inBubble(t, func(t *testing.T, v *vendor) {
		v.answer = says(http.StatusOK, "yes")
		v.Limit(0)
		v.Limit(2)
		v.Limit(1)
		v.Limit(3)
		first, err := v.Post(t.Context(), "/", "text/plain", nil)
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		err = v.ask(t)
		if e, ok := errors.AsType[*inference.Error](err); !ok || e.Fault != inference.ErrUnavailable || e.RetryAfter != time.Second || strings.Contains(err.Error(), secret) {
			t.Errorf("above the limit: %v", err)
		}
		if waited := time.Since(begun); waited != 300*time.Millisecond || v.asked != 1 {
			t.Errorf("it waited %v, the vendor was asked %d times", waited, v.asked)
		}
		time.AfterFunc(200*time.Millisecond, first.Close)
		begun = time.Now()
		if err := v.ask(t); err != nil || time.Since(begun) != 200*time.Millisecond {
			t.Errorf("after %v: %v", time.Since(begun), err)
		}
		leave, err := v.Enter(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		gone := errors.New("the caller has gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(gone)
		if _, err := v.Enter(ctx); err != gone {
			t.Errorf("cancelled: %v", err)
		}
		leave()
		leave() // harmless
		for range 3 {
			if err := v.ask(t); err != nil {
				t.Errorf("a place was lost: %v", err)
			}
		}
		v.answer = says(http.StatusBadRequest, "")
		for range 3 {
			if err := v.ask(t); inference.FaultOf(err) != inference.ErrRefused {
				t.Errorf("a refused request keeps its place: %v", err)
			}
		}
	})
}

// TestCloseDoesNotWait: a vendor that takes nothing has a second to let a socket go.
func TestCloseDoesNotWait(t *testing.T) {
	for name, end := range map[string]func(*remote.Socket){
		"closed": (*remote.Socket).Close,
		"left": func(s *remote.Socket) {
			s.Leave()
			for _, _, err := s.Read(); err == nil; _, _, err = s.Read() {
			}
			s.Close()
		},
	} {
		inBubble(t, func(t *testing.T, v *vendor) {
			deaf := make(chan struct{})
			v.answer = func(w http.ResponseWriter, r *http.Request) {
				var upgrader websocket.Upgrader
				conn, err := upgrader.Upgrade(w, r, nil)
				if err != nil {
					return
				}
				defer conn.Close()
				<-deaf
			}
			s, err := v.Dial(t.Context(), "/")
			if err != nil {
				t.Fatal(err)
			}
			s.Send([]byte("nobody takes this"))
			synctest.Wait()
			begun := time.Now()
			end(s)
			if took := time.Since(begun); took > time.Second {
				t.Errorf("%s: it took %v", name, took)
			}
			close(deaf)
		})
	}
}
