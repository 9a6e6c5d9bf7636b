package remote

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"parley/inference"
)

// Engine is an engine of a vendor, as an operator lists it.
type Engine struct {
	Name    string // the engine's; empty: the vendor's
	BaseURL string // empty: the vendor's
	APIKey  string // as the vendor shows it
	Model   string // empty: the vendor's usual one
	Options inference.Options
	Voices  map[string]string // of synthesis, as synthesiser.Voices has them

	// Stall is how long a voice may owe audio and say nothing; 0 means 1.5 s.
	Stall time.Duration
	// Timeout, HTTPClient and Dial are as in Config.
	Timeout    time.Duration
	HTTPClient *http.Client
	Dial       func(ctx context.Context, network, addr string) (net.Conn, error)
}

// Or is e with what it leaves to the vendor: its name, address and model.
func (e Engine) Or(usual Engine) Engine {
	e.Name, e.BaseURL, e.Model = cmp.Or(e.Name, usual.Name), cmp.Or(e.BaseURL, usual.BaseURL), cmp.Or(e.Model, usual.Model)
	return e
}

// Client reads e's options, of which described are all that there are, checks that it has a key, and contacts nobody. headers are
// Config's.
func (e Engine) Client(described Options, headers map[string]string) (*Client, error) {
	if err := described.Read(e.Name, e.Options); err != nil {
		return nil, err
	}
	if e.APIKey == "" {
		return nil, errors.New(e.Name + ": it needs a key")
	}
	return NewClient(Config{Engine: e.Name, BaseURL: e.BaseURL, Key: e.APIKey, Headers: headers, HTTPClient: e.HTTPClient, Timeout: e.Timeout, Dial: e.Dial})
}
