package webrtc

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// relayLife is how long credentials for a relay last: a relay asks for them again and
// again while a call goes on.
const relayLife = 24 * time.Hour

// Relays are STUN and TURN servers that clients may use. A nil Relays has none.
type Relays struct {
	// URLs such as stun:turn.example.net:3478 or turns:turn.example.net?transport=tcp.
	URLs []string
	// Secret is shared with the TURN servers, which take credentials that it has signed.
	Secret string
}

// tell names the servers in Link headers (RFC 9725 section 4.6). The credentials are those
// that servers check without a database: the time until when they last, signed.
func (r *Relays) tell(h http.Header, who string, now time.Time) {
	if r == nil {
		return
	}
	for _, u := range r.URLs {
		link := fmt.Sprintf("<%s>; rel=\"ice-server\"", u)
		if strings.HasPrefix(u, "turn") && r.Secret != "" {
			name, credential := r.credential(who, now)
			link += fmt.Sprintf("; username=%q; credential=%q; credential-type=\"password\"", name, credential)
		}
		h.Add("Link", link)
	}
}

func (r *Relays) credential(who string, now time.Time) (name, credential string) {
	name = fmt.Sprintf("%d:%s", now.Add(relayLife).Unix(), who)
	m := hmac.New(sha1.New, []byte(r.Secret)) // what TURN servers compute
	m.Write([]byte(name))
	return name, base64.StdEncoding.EncodeToString(m.Sum(nil))
}
