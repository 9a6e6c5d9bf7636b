package tool

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/gorilla/websocket"
)

// Socket is a WebSocket of an account's own service.
type Socket struct {
	URL     string            // wss://…; ws:// where the operator allows it
	Headers map[string]string // of the request that opens it; values may hold {{secret.NAME}}
}

// Check says what is wrong with the socket, by a schema.Mistake; nil: nothing.
func (s Socket) Check() error {
	rest, ok := strings.CutPrefix(s.URL, "ws")
	if !ok || strings.ContainsAny(rest, "{}") || checkURL("url", "http"+rest) != nil {
		return fault("url", "must be an absolute wss address of at most %d bytes, without credentials", maxURL)
	}
	return checkHeaders("headers", s.Headers)
}

// Connect opens a socket on behalf of an account, at the public Internet and where the operator allows it. ctx bounds the opening.
// The error is a schema.Mistake where the socket is wrong; what it says may be shown to the account.
func (p *Provider) Connect(ctx context.Context, account string, s Socket) (*websocket.Conn, error) {
	address := "http" + strings.TrimPrefix(s.URL, "ws")
	if err := cmp.Or(s.Check(), p.Guard.literal("url", address)); err != nil {
		return nil, err
	}
	headers, err := p.headers(ctx, account, s, address)
	if err != nil {
		return nil, err
	}
	dialer := websocket.Dialer{NetDialContext: p.Guard.dial, HandshakeTimeout: connectTime}
	conn, response, err := dialer.DialContext(context.WithValue(ctx, plainKey{}, strings.HasPrefix(address, "http:")), s.URL, headers)
	switch {
	case err != nil && response != nil:
		return nil, &Refused{"the service answered " + http.StatusText(response.StatusCode) + " instead of opening a WebSocket"}
	case err != nil:
		return nil, explain(ctx, err)
	}
	return conn, nil
}

// headers are those of the request that opens a socket, with the account's secrets.
func (p *Provider) headers(ctx context.Context, account string, s Socket, address string) (http.Header, error) {
	var secrets map[string]Secret
	if names := referred(slices.Collect(maps.Values(s.Headers))...); len(names) > 0 {
		var err error
		if secrets, err = p.Secrets(ctx, account, names); err != nil {
			return nil, err
		}
	}
	filled, err := expandAll(s.Headers, secretsFor(address, secrets))
	if err != nil {
		return nil, fault("headers", "%v", err)
	}
	headers := http.Header{"User-Agent": {"Parley"}}
	for name, value := range filled {
		headers.Set(name, value)
	}
	return headers, nil
}
