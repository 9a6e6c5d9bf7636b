package tool

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// Poster sends what has happened to addresses that accounts wrote, where a guard lets
// it. It is safe for use from several goroutines.
type Poster struct {
	guard  *Guard
	client *http.Client
	// patience is for all of a post, from the name to the answer.
	patience time.Duration
}

// Bounds of a post.
const (
	postTime   = 5 * time.Second
	nameTime   = 2 * time.Second // to look a name up when it is written down
	postAnswer = 1 << 10         // bytes of the answer that are kept; the rest is not read
)

// Poster returns a sender that follows no redirects.
func (g *Guard) Poster() *Poster {
	c := g.Client()
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Poster{g, c, postTime}
}

// Check says why requests may not go to an address, as far as is known now; nil: they
// may, or its name does not resolve. The error may be shown to whoever wrote the address.
func (p *Poster) Check(ctx context.Context, address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return &Refused{"must be an absolute https address"}
	}
	ctx, cancel := context.WithTimeout(ctx, nameTime)
	defer cancel()
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[u.Scheme]
	}
	host := u.Hostname()
	ips, err := p.guard.addresses(ctx, host)
	if err != nil {
		return nil // a name may come later, or its server answer again; each request is judged anew
	}
	refused := error(&Refused{host + " has no address"})
	if u.Scheme == "http" {
		ctx = context.WithValue(ctx, plainKey{}, true)
	}
	for _, ip := range ips {
		if refused = p.guard.judge(ctx, host, ip, port); refused == nil {
			return nil
		}
	}
	return refused
}

// addresses are those of a host, which may be one itself.
func (g *Guard) addresses(ctx context.Context, host string) ([]netip.Addr, error) {
	if ip, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{ip}, nil
	}
	return g.names.LookupNetIP(ctx, "ip", host)
}

// Posted is an answer: its status, and the first kilobyte of its body as valid text.
type Posted struct {
	Status int
	Text   string
}

// Post sends JSON. There are five seconds for all of it. The error says, without the
// address, why there was no answer; a status is none, nor is a redirect.
func (p *Poster) Post(ctx context.Context, address string, header http.Header, body []byte) (Posted, error) {
	ctx, cancel := context.WithTimeout(ctx, p.patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return Posted{}, errors.New("the address cannot be requested") // its text holds the address
	}
	r.Header = header.Clone()
	r.Header.Set("Content-Type", "application/json")
	answer, err := p.client.Do(r)
	if err != nil {
		return Posted{}, explain(ctx, err)
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(answer.Body, postAnswer)) // what came of it, for people; the status is what counts
	return Posted{answer.StatusCode, strings.ReplaceAll(strings.ToValidUTF8(string(text), "\uFFFD"), "\x00", "\uFFFD")}, nil
}
