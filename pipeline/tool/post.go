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
	answer   int64 // bytes of it that are kept; the rest is not read
}

// Bounds of a post.
const (
	postTime   = 5 * time.Second
	postAnswer = 1 << 10 // bytes
)

// Poster returns a sender that follows no redirects.
func (g *Guard) Poster() *Poster {
	c := g.Client()
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Poster{g, c, postTime, postAnswer}
}

// Within is a sender that waits patience for all of a post, and keeps so many bytes of the answer.
func (p *Poster) Within(patience time.Duration, answer int64) *Poster {
	return &Poster{p.guard, p.client, patience, answer}
}

// Check says why requests may not go to an address, as far as the address itself says; nil:
// they may. Names are not looked up: an answer that depended on where they lead, or how long
// that took to find out, would tell strangers which names there are in the operator's
// network. Each request is judged by where its name leads then. The error may be shown to
// the author of the address.
func (p *Poster) Check(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http" {
		return &Refused{"must be an absolute https address"}
	}
	host := strings.ToLower(u.Hostname())
	at, err := netip.ParseAddr(host)
	named := err != nil
	switch name := strings.TrimSuffix(host, "."); {
	case named && (name == "localhost" || strings.HasSuffix(name, ".localhost")):
		at = netip.IPv6Loopback() // for everybody (RFC 6761, section 6.3)
	case named && len(p.guard.nets) > 0:
		return nil // it may lead into one of them, where any port is allowed
	case named:
		at = anywhere
	}
	return p.guard.judgeURL(u, host, at)
}

// anywhere stands for an address of the public Internet.
var anywhere = netip.MustParseAddr("1.1.1.1")

// addresses are those of a host, which may be one itself.
func (g *Guard) addresses(ctx context.Context, host string) ([]netip.Addr, error) {
	if ip, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{ip}, nil
	}
	return g.names.LookupNetIP(ctx, "ip", host)
}

// Posted is an answer: its status, and the beginning of its body as valid text, a kilobyte unless
// Within says otherwise.
type Posted struct {
	Status int
	Text   string
}

// Post sends JSON. There are five seconds for all of it, or what Within says. The error says, without the
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
	text, _ := io.ReadAll(io.LimitReader(answer.Body, p.answer)) // what there is of it: the status decides
	return Posted{answer.StatusCode, strings.ReplaceAll(strings.ToValidUTF8(string(text), "\uFFFD"), "\x00", "\uFFFD")}, nil
}
