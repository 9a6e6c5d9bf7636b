package webrtc

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"time"

	"parley/api"
)

// longest is how long an agent's conversation may last at most.
const longest = 2 * time.Hour

// relayLife is how long credentials for a relay last: a relay asks for them again and
// again while a call goes on, and nobody needs them after it.
func relayLife(p api.Principal) time.Duration {
	if t := p.Ticket; t != nil && t.MaxDuration > 0 {
		return connectWait + min(t.MaxDuration, longest)
	}
	return connectWait + longest
}

// Relays are STUN and TURN servers that clients may use. A nil Relays has none.
type Relays struct {
	// URLs such as stun:turn.example.net:3478 or turns:turn.example.net?transport=tcp.
	URLs []string
	// Secret is shared with the TURN servers, which take credentials that it has signed.
	Secret string
}

// tell names the servers in Link headers (RFC 9725 section 4.6). The credentials are those
// that servers check without a database: the time until when they last, signed.
func (r *Relays) tell(h http.Header, who string, until time.Time) {
	if r == nil {
		return
	}
	for _, u := range r.URLs {
		link := link(u)
		if r.sealed(u) {
			name, credential := r.credential(who, until)
			link += fmt.Sprintf("; username=%q; credential=%q; credential-type=\"password\"", name, credential)
		}
		h.Add("Link", link)
	}
}

// tellAll names the servers that need no credentials.
func (r *Relays) tellAll(h http.Header) {
	if r == nil {
		return
	}
	for _, u := range r.URLs {
		if !r.sealed(u) {
			h.Add("Link", link(u))
		}
	}
}

// sealed says whether a server wants credentials.
func (r *Relays) sealed(url string) bool { return strings.HasPrefix(url, "turn") && r.Secret != "" }

func link(url string) string { return fmt.Sprintf("<%s>; rel=\"ice-server\"", url) }

func (r *Relays) credential(who string, until time.Time) (name, credential string) {
	name = fmt.Sprintf("%d:%s", until.Unix(), who)
	m := hmac.New(sha1.New, []byte(r.Secret)) // what TURN servers compute
	m.Write([]byte(name))
	return name, base64.StdEncoding.EncodeToString(m.Sum(nil))
}
