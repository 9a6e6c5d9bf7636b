package api_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	"parley/api/apitest"
)

// slowRoutes is a server with a route of each kind that takes a body.
func slowRoutes() http.Handler {
	a := api.New(apitest.Keys{"sk_a": {Account: "a", Key: "key_a"}})
	operation := func(path string) huma.Operation {
		return huma.Operation{Method: http.MethodPost, Path: path, OperationID: path[1:]}
	}
	type body struct {
		Body struct {
			Name string `json:"name"`
		}
	}
	api.Register(a, api.Route{Access: api.Public, Operation: operation("/typed")}, func(context.Context, *body) (*struct{}, error) { return nil, nil })
	api.Register(a, api.Route{Access: api.Public, Operation: operation("/bodiless")}, func(context.Context, *struct{}) (*struct{}, error) { return nil, nil })
	raw := func(path string, access api.Access, read func(http.ResponseWriter, *http.Request) error) {
		a.Handle(api.Route{Access: access, Operation: operation(path)}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := read(w, r); err != nil {
				api.WriteError(w, api.ReadError(err))
			}
		}))
	}
	all := func(_ http.ResponseWriter, r *http.Request) error { _, err := io.ReadAll(r.Body); return err }
	raw("/raw", api.Public, all)
	raw("/private", api.Service, all)
	raw("/form", api.Public, func(_ http.ResponseWriter, r *http.Request) error { return r.ParseForm() })
	raw("/large", api.Public, func(w http.ResponseWriter, r *http.Request) error {
		api.SetBodyPatience(w, time.Minute)
		return all(w, r)
	})
	raw("/works", api.Public, func(w http.ResponseWriter, r *http.Request) error {
		if err := all(w, r); err != nil {
			return err
		}
		select {
		case <-time.After(time.Hour):
			w.WriteHeader(http.StatusNoContent)
			return nil
		case <-r.Context().Done():
			return r.Context().Err()
		}
	})
	return a.Handler(api.Options{})
}

// TestSlowBodiesAreGivenUp: whoever sends a byte each 2 s is answered within 90 s on each
// kind of route, also where nobody reads the body or there is no such route, and
// has no connection any more.
func TestSlowBodiesAreGivenUp(t *testing.T) {
	for _, path := range []string{"/typed", "/bodiless", "/raw", "/private", "/form", "/large", "/nothing"} {
		for _, framing := range []string{"Content-Length: 1000\r\n", "Transfer-Encoding: chunked\r\n"} {
			t.Run(path+" "+framing[:7], func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := apitest.Serve(t, apitest.InMemory, slowRoutes())
					conn, err := s.Dialer.NetDialContext(t.Context(), "tcp", "server")
					if err != nil {
						t.Fatal(err)
					}
					defer conn.Close()
					began, over := time.Now(), make(chan struct{})
					go func() {
						defer close(over)
						trickle(conn, path, framing)
					}()
					r := bufio.NewReader(conn)
					if resp, err := http.ReadResponse(r, nil); err == nil {
						io.Copy(io.Discard, resp.Body)
					}
					io.Copy(io.Discard, r) // until the server hangs up
					conn.Close()
					<-over
					if took := time.Since(began); took > 90*time.Second {
						t.Errorf("given up after %v", took)
					}
				})
			})
		}
	}
}

// trickle sends a request whose body comes a byte each 2 s, until the connection is closed.
func trickle(conn net.Conn, path, framing string) {
	piece := "x"
	if framing[0] == 'T' {
		piece = "1\r\nx\r\n"
	}
	_, err := io.WriteString(conn, "POST "+path+" HTTP/1.1\r\nHost: server\r\nX-API-Key: sk_a\r\nContent-Type: application/x-www-form-urlencoded\r\n"+framing+"\r\n")
	for i := 0; i < 990 && err == nil; i++ {
		time.Sleep(2 * time.Second)
		_, err = io.WriteString(conn, piece)
	}
}

// TestPatienceEndsWithTheBody: a request whose body came in time may take any time.
func TestPatienceEndsWithTheBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := apitest.Serve(t, apitest.InMemory, slowRoutes())
		for range 2 { // on one connection
			resp, err := s.Client().Post(s.URL+"/works", "text/plain", http.NoBody)
			if err == nil {
				resp.Body.Close()
				resp, err = s.Client().Post(s.URL+"/works", "text/plain", io.LimitReader(zeros{}, 100))
			}
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if resp.StatusCode != http.StatusNoContent {
				t.Errorf("status %d", resp.StatusCode)
			}
		}
	})
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
