package tool

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"parley/pipeline/schema"
)

// connecting is a provider for an account with a secret that belongs to one host.
func connecting(t *testing.T, g *Guard, host string) *Provider {
	return New(Config{Guard: g, Log: slog.New(slog.DiscardHandler), Secrets: func(_ context.Context, account string, _ []string) (map[string]Secret, error) {
		if account != "acc_1" {
			return nil, nil
		}
		return map[string]Secret{"KEY": {Value: "hunter22", Hosts: []string{host}}}, nil
	}})
}

// TestConnect: a socket is opened with the account's secrets, where the operator allows it.
func TestConnect(t *testing.T) {
	asked := make(chan http.Header, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Header
		conn, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_ = conn.WriteMessage(websocket.TextMessage, []byte("hello"))
	}))
	defer server.Close()
	to := Socket{URL: "ws" + strings.TrimPrefix(server.URL, "http"), Headers: map[string]string{"X-Key": "key {{secret.KEY}}"}}
	conn, err := connecting(t, guard(t, nil, "127.0.0.1"), "127.0.0.1").Connect(t.Context(), "acc_1", to)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if got := (<-asked).Get("X-Key"); got != "key hunter22" {
		t.Errorf("the header is %q", got)
	}
	_, r, err := conn.NextReader()
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := io.ReadAll(r); string(b) != "hello" {
		t.Errorf("it says %q", b)
	}
}

// TestConnectRefused: nothing is asked where functions may not go, and secrets go to their hosts alone; what the error says holds none.
func TestConnectRefused(t *testing.T) {
	u, asked := counted(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	local := "ws://" + u.Host
	key := map[string]string{"X-Key": "{{secret.KEY}}"}
	for name, tt := range map[string]struct {
		to      Socket
		allow   []string
		account string
		mistake bool
		want    string
	}{
		"http":                {Socket{URL: u.String()}, []string{"127.0.0.1"}, "acc_1", true, "url: must be an absolute wss address of at most 2000 bytes, without credentials"},
		"credentials":         {Socket{URL: "wss://a:b@example.com"}, nil, "acc_1", true, "url: must be an absolute wss address of at most 2000 bytes, without credentials"},
		"an argument":         {Socket{URL: "wss://example.com/{a}"}, nil, "acc_1", true, "url: must be an absolute wss address of at most 2000 bytes, without credentials"},
		"a header of ours":    {Socket{URL: "wss://example.com", Headers: map[string]string{"Upgrade": "h2c"}}, nil, "acc_1", true, `headers: "Upgrade" cannot be set`},
		"loopback":            {Socket{URL: local}, nil, "acc_1", true, "url: 127.0.0.1 is not on the public Internet"},
		"not encrypted":       {Socket{URL: "ws://1.1.1.1:8080"}, nil, "acc_1", true, "url: 1.1.1.1: plain http is not allowed, use https"},
		"a name that is ours": {Socket{URL: "wss://inside.example.com"}, nil, "acc_1", false, errUnknownHost.Error()},
		"another's secret":    {Socket{URL: local, Headers: key}, []string{"127.0.0.1"}, "acc_2", true, "headers: the secret KEY does not exist, or does not belong to this host"},
		"another host":        {Socket{URL: "wss://example.com", Headers: key}, nil, "acc_1", true, "headers: the secret KEY does not exist, or does not belong to this host"},
		"no socket there":     {Socket{URL: local, Headers: key}, []string{"127.0.0.1"}, "acc_1", false, "the service answered I'm a teapot instead of opening a WebSocket"},
	} {
		t.Run(name, func(t *testing.T) {
			p := connecting(t, guard(t, &fakeNames{answers: [][]netip.Addr{addrs("10.0.0.1")}}, tt.allow...), "127.0.0.1")
			_, err := p.Connect(t.Context(), tt.account, tt.to)
			if err == nil {
				t.Fatal("it is open")
			}
			if _, mistake := errors.AsType[schema.Mistake](err); mistake != tt.mistake || err.Error() != tt.want {
				t.Errorf("mistake %v: %v", mistake, err)
			}
		})
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("the server was asked %d times", n)
	}
}
