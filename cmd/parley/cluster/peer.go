package cluster

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"

	"parley/api"
	"parley/store"
)

// A request that belongs to a node and reached another one is sent on to where the node is reached by others (PARLEY_ADVERTISE), over
// HTTPS where nodes have a certificate: all have one, or none. Who asked was found out where it came in: their credential stays there, and the header Parley-Peer says who they
// are, sealed by the key of the cluster for this request to this life of the node, within peerValid.

const (
	peerHeader = "Parley-Peer"
	peerValid  = 30 * time.Second
	// peerDial is how long the connection to another node may take.
	peerDial = 2 * time.Second
)

// vouched is what one node says to another of a request.
type vouched struct {
	Node   string
	Epoch  int64
	Method string
	URI    string
	Until  time.Time
	By     api.Principal
	Sum    []byte `json:",omitempty"` // SHA-256 of the body of what the node itself asks; none: it sends on what somebody else does
}

// sealOf is the seal of a text.
func (m *Member) sealOf(text []byte) []byte {
	h := hmac.New(sha256.New, []byte(m.cfg.Key))
	h.Write([]byte("peer\n"))
	h.Write(text)
	return h.Sum(nil)
}

// vouch is the header of a request to a node.
func (m *Member) vouch(to store.Node, r *http.Request, by api.Principal) string {
	return m.word(vouched{Node: to.ID, Epoch: to.Epoch, Method: r.Method, URI: r.URL.RequestURI(), Until: m.cfg.Store.Now().Add(peerValid), By: by})
}

// word is the text and its seal, as they are sent.
func (m *Member) word(v vouched) string {
	text, _ := json.Marshal(v) // which always can be
	return base64.RawURLEncoding.EncodeToString(text) + "." + base64.RawURLEncoding.EncodeToString(m.sealOf(text))
}

// unsealed is what a node has said in a word; false: none has.
func (m *Member) unsealed(word string) (v vouched, ok bool) {
	said, seal, _ := strings.Cut(word, ".")
	text, err1 := base64.RawURLEncoding.DecodeString(said)
	sum, err2 := base64.RawURLEncoding.DecodeString(seal)
	return v, errors.Join(err1, err2) == nil && hmac.Equal(sum, m.sealOf(text)) && json.Unmarshal(text, &v) == nil
}

// said is what another node says of a request to this one; false: none does.
func (m *Member) said(r *http.Request) (v vouched, ok bool) {
	if v, ok = m.unsealed(r.Header.Get(peerHeader)); !ok {
		return v, false
	}
	return v, v.Node == m.cfg.Life.ID && v.Epoch == m.cfg.Life.Epoch && v.Method == r.Method && v.URI == r.URL.RequestURI() && m.cfg.Store.Now().Before(v.Until)
}

// Accept takes requests that other nodes have sent on, beside others.
func (m *Member) Accept(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, postPath) {
			m.posted(w, r)
			return
		}
		if r.Header.Get(peerHeader) != "" {
			if v, ok := m.said(r); ok && v.Sum == nil {
				r = api.Vouched(r, v.By)
			}
			r.Header.Del(peerHeader)
		}
		next.ServeHTTP(w, r)
	})
}

// wayTo carries requests to other nodes. It speaks HTTP/1.1, over which sockets travel, too.
func wayTo(peers *tls.Config) *http.Transport {
	return &http.Transport{DialContext: (&net.Dialer{Timeout: peerDial}).DialContext, TLSClientConfig: peers, TLSHandshakeTimeout: peerDial, MaxIdleConnsPerHost: 4, IdleConnTimeout: time.Minute}
}

// scheme is what other nodes speak.
func (m *Member) scheme() string {
	if m.cfg.Peers != nil {
		return "https"
	}
	return "http"
}

// Forward implements api.Peers.
func (m *Member) Forward(w http.ResponseWriter, r *http.Request, epoch int64) bool {
	if epoch == m.cfg.Life.Epoch || api.IsVouched(r.Context()) {
		return false
	}
	to, address, err := m.cfg.Store.NodeAt(r.Context(), epoch)
	if err != nil || address == "" {
		return false
	}
	proxy := &httputil.ReverseProxy{Transport: m.way, FlushInterval: -1,
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(&url.URL{Scheme: m.scheme(), Host: address})
			api.Anonymous(p.Out)
			p.Out.Header.Set(peerHeader, m.vouch(to, p.Out, api.PrincipalOf(p.In.Context())))
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			m.cfg.Log.Info("a request could not be sent on to the node that has its call", "node", to.ID, "err", err)
			api.WriteError(w, api.ErrElsewhere)
		},
		ModifyResponse: func(a *http.Response) error {
			for name := range w.Header() { // said here already
				if name != "Vary" {
					a.Header.Del(name)
				}
			}
			return nil
		}}
	proxy.ServeHTTP(w, r)
	return true
}

// Owner is the epoch of the node that has a call of the account; 0: none has, any more, or it is not known.
func (m *Member) Owner(ctx context.Context, account, call string) int64 {
	if _, here := m.cfg.Calls.Snapshot(account, call); here {
		return m.cfg.Life.Epoch
	}
	owner, err := m.cfg.Ledger.CallOwner(ctx, account, call)
	if err != nil {
		return 0
	}
	return owner.Epoch
}
