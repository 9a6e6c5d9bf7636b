package acmetest

import (
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// routes are its addresses (RFC 8555 section 7.1).
func (a *Authority) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /directory", func(w http.ResponseWriter, _ *http.Request) {
		at := a.server.URL
		a.answer(w, http.StatusOK, map[string]any{"newNonce": at + "/nonce", "newAccount": at + "/account", "newOrder": at + "/order", "revokeCert": at + "/revoke", "keyChange": at + "/key",
			"meta": map[string]any{"termsOfService": at + "/terms"}})
	})
	mux.HandleFunc("HEAD /nonce", func(w http.ResponseWriter, _ *http.Request) { a.answer(w, http.StatusOK, nil) })
	for path, step := range map[string]func(http.ResponseWriter, *http.Request, *request) error{
		"/account": a.register, "/account/{id}": a.change, "/order": a.newOrder, "/order/{id}": a.showOrder, "/authz/{id}": a.showProof,
		"/challenge/{id}/{kind}": a.accept, "/finalize/{id}": a.finalize, "/cert/{id}": a.download,
	} {
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
			a.mu.Lock()
			meddle := a.meddle
			a.mu.Unlock()
			if meddle != nil {
				meddle(path)
			}
			in, err := a.verify(r)
			if err == nil && in.of == nil && path != "/account" {
				err = refuse(http.StatusUnauthorized, "unauthorized", "sign it as an account")
			}
			if err == nil {
				err = step(w, r, in)
			}
			if err == nil {
				return
			}
			p, ok := errors.AsType[*problem](err)
			if !ok {
				p = refuse(http.StatusInternalServerError, "serverInternal", "%v", err)
			}
			if p.Type == "urn:ietf:params:acme:error:malformed" || p.Type == "urn:ietf:params:acme:error:unauthorized" {
				a.t.Errorf("acmetest: %s: %s", path, p.Detail)
			}
			a.answer(w, 0, p)
		})
	}
	return mux
}

// register makes an account, or finds it by its key (RFC 8555 section 7.3).
func (a *Authority) register(w http.ResponseWriter, _ *http.Request, in *request) error {
	var ask struct {
		TermsOfServiceAgreed, OnlyReturnExisting bool
		Contact                                  []string
	}
	if err := json.Unmarshal(in.payload, &ask); err != nil || in.of != nil {
		return refuse(http.StatusBadRequest, "malformed", "a new account: %v", err)
	}
	a.mu.Lock()
	status, found := http.StatusOK, (*account)(nil)
	for _, x := range a.accounts {
		if x.key.Equal(in.key) {
			found = x
		}
	}
	switch {
	case found != nil:
	case ask.OnlyReturnExisting:
		a.mu.Unlock()
		return refuse(http.StatusBadRequest, "accountDoesNotExist", "no account has this key")
	case !ask.TermsOfServiceAgreed:
		a.mu.Unlock()
		return refuse(http.StatusForbidden, "userActionRequired", "agree to the terms")
	default:
		status, found = http.StatusCreated, &account{a.id("account"), in.key}
		a.accounts[found.at], a.contacts = found, ask.Contact
	}
	a.mu.Unlock()
	w.Header().Set("Location", found.at)
	a.answer(w, status, map[string]any{"status": "valid", "contact": ask.Contact})
	return nil
}

// change takes another contact (RFC 8555 section 7.3.2).
func (a *Authority) change(w http.ResponseWriter, r *http.Request, in *request) error {
	var ask struct{ Contact []string }
	if err := json.Unmarshal(in.payload, &ask); err != nil || in.of.at != a.server.URL+r.URL.Path {
		return refuse(http.StatusBadRequest, "malformed", "a changed account: %v", err)
	}
	a.mu.Lock()
	a.contacts = ask.Contact
	a.mu.Unlock()
	a.answer(w, http.StatusOK, map[string]any{"status": "valid", "contact": ask.Contact})
	return nil
}

// newOrder takes an order (RFC 8555 section 7.4).
func (a *Authority) newOrder(w http.ResponseWriter, _ *http.Request, in *request) error {
	var ask struct {
		Identifiers []struct{ Type, Value string }
	}
	if err := json.Unmarshal(in.payload, &ask); err != nil || len(ask.Identifiers) == 0 {
		return refuse(http.StatusBadRequest, "malformed", "an order: %v", err)
	}
	a.mu.Lock()
	if a.refusal != nil {
		defer a.mu.Unlock()
		if a.after > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int(a.after/time.Second)))
		}
		return a.refusal
	}
	o := &order{at: a.id("order"), status: "pending", of: in.of}
	for _, id := range ask.Identifiers {
		if id.Type != "dns" {
			a.mu.Unlock()
			return refuse(http.StatusBadRequest, "unsupportedIdentifier", "%s", id.Type)
		}
		p := &proof{at: a.id("authz"), name: id.Value, status: "pending", of: in.of}
		for _, kind := range a.kinds {
			p.challenges = append(p.challenges, &challenge{at: a.id("challenge") + "/" + kind, kind: kind, token: random(), status: "pending"})
		}
		a.proofs[p.at] = p
		o.names, o.proofs = append(o.names, id.Value), append(o.proofs, p)
	}
	a.orders[o.at] = o
	shown := a.shown(o)
	a.mu.Unlock()
	w.Header().Set("Location", o.at)
	a.answer(w, http.StatusCreated, shown)
	return nil
}

// shown is an order as its client sees it. Call it with mu.
func (a *Authority) shown(o *order) map[string]any {
	v := map[string]any{"status": o.status, "finalize": a.server.URL + "/finalize/" + o.at[len(a.server.URL+"/order/"):]}
	var names, proofs []any
	ready := true
	for _, p := range o.proofs {
		names, proofs = append(names, map[string]string{"type": "dns", "value": p.name}), append(proofs, p.at)
		ready = ready && p.status == "valid"
		if p.status == "invalid" {
			o.status = "invalid"
		}
	}
	if o.status == "pending" && ready {
		o.status = "ready"
	}
	v["status"], v["identifiers"], v["authorizations"] = o.status, names, proofs
	if o.cert != "" {
		v["certificate"] = o.cert
	}
	if o.problem != nil {
		v["error"] = o.problem
	}
	return v
}

// orderAt finds an order of the client's.
func (a *Authority) orderAt(in *request, at string) (*order, error) {
	o := a.orders[at]
	if o == nil || o.of != in.of {
		return nil, refuse(http.StatusNotFound, "malformed", "there is no order %s of this account", at)
	}
	return o, nil
}

func (a *Authority) showOrder(w http.ResponseWriter, r *http.Request, in *request) error {
	a.mu.Lock()
	o, err := a.orderAt(in, a.server.URL+r.URL.Path)
	if err != nil {
		a.mu.Unlock()
		return err
	}
	v := a.shown(o)
	a.mu.Unlock()
	a.answer(w, http.StatusOK, v)
	return nil
}

func (a *Authority) showProof(w http.ResponseWriter, r *http.Request, in *request) error {
	a.mu.Lock()
	p := a.proofs[a.server.URL+r.URL.Path]
	if p == nil || p.of != in.of || len(in.payload) > 0 {
		a.mu.Unlock()
		return refuse(http.StatusNotFound, "malformed", "there is no authorisation %s of this account", r.URL.Path)
	}
	var all []any
	for _, c := range p.challenges {
		all = append(all, c.shown())
	}
	v := map[string]any{"status": p.status, "identifier": map[string]string{"type": "dns", "value": p.name}, "challenges": all}
	a.mu.Unlock()
	a.answer(w, http.StatusOK, v)
	return nil
}

func (c *challenge) shown() map[string]any {
	v := map[string]any{"type": c.kind, "url": c.at, "token": c.token, "status": c.status}
	if c.problem != nil {
		v["error"] = c.problem
	}
	return v
}

// accept checks a challenge that the client says it is ready for (RFC 8555 section 7.5.1).
func (a *Authority) accept(w http.ResponseWriter, r *http.Request, in *request) error {
	at := a.server.URL + r.URL.Path
	a.mu.Lock()
	var p *proof
	var c *challenge
	for _, x := range a.proofs {
		if i := slices.IndexFunc(x.challenges, func(c *challenge) bool { return c.at == at }); i >= 0 && x.of == in.of {
			p, c = x, x.challenges[i]
		}
	}
	if c == nil || string(in.payload) != "{}" {
		a.mu.Unlock()
		return refuse(http.StatusNotFound, "malformed", "there is no challenge %s of this account", at)
	}
	waits := c.status == "pending"
	a.mu.Unlock()
	var err error
	if waits {
		err = a.check(a.reach(c.kind, p.name), p.name, c, in.of)
	}
	a.mu.Lock()
	if waits {
		if c.status, p.status = "valid", "valid"; err != nil {
			c.status, p.status, c.problem = "invalid", "invalid", refuse(http.StatusForbidden, "unauthorized", "%v", err)
			a.failed++
		}
	}
	v := c.shown()
	a.mu.Unlock()
	a.answer(w, http.StatusOK, v)
	return nil
}

// finalize issues a certificate for a request that has the names of the order (RFC 8555 section 7.4).
func (a *Authority) finalize(w http.ResponseWriter, r *http.Request, in *request) error {
	var ask struct{ CSR string }
	if err := json.Unmarshal(in.payload, &ask); err != nil {
		return refuse(http.StatusBadRequest, "malformed", "%v", err)
	}
	der, err := base64.RawURLEncoding.DecodeString(ask.CSR)
	if err != nil {
		return refuse(http.StatusBadRequest, "malformed", "%v", err)
	}
	csr, err := x509.ParseCertificateRequest(der)
	if err != nil || csr.CheckSignature() != nil {
		return refuse(http.StatusBadRequest, "badCSR", "%v", err)
	}
	a.mu.Lock()
	o, err := a.orderAt(in, a.server.URL+"/order/"+r.PathValue("id"))
	if err != nil {
		a.mu.Unlock()
		return err
	}
	if a.shown(o); o.status != "ready" {
		a.mu.Unlock()
		return refuse(http.StatusForbidden, "orderNotReady", "it is %s", o.status)
	}
	if names := slices.Sorted(slices.Values(csr.DNSNames)); !slices.Equal(names, slices.Sorted(slices.Values(o.names))) || csr.Subject.CommonName != "" && !slices.Contains(names, csr.Subject.CommonName) {
		a.mu.Unlock()
		return refuse(http.StatusForbidden, "badCSR", "for %v, ordered for %v", names, o.names)
	}
	if o.cert, err = a.issue(csr); err == nil {
		o.status = "valid"
	}
	v := a.shown(o)
	a.mu.Unlock()
	if err != nil {
		return err
	}
	w.Header().Set("Location", o.at)
	a.answer(w, http.StatusOK, v)
	return nil
}

// issue signs a certificate and returns its address. Call it with mu.
func (a *Authority) issue(csr *x509.CertificateRequest) (at string, err error) {
	at = a.id("cert")
	begins := time.Now().Add(-a.from)
	c := &x509.Certificate{SerialNumber: big.NewInt(int64(a.made) + 1), Subject: csr.Subject, DNSNames: csr.DNSNames, NotBefore: begins, NotAfter: begins.Add(a.lasts),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	der, err := x509.CreateCertificate(rand.Reader, c, a.root, csr.PublicKey, a.key)
	if err != nil {
		return "", fmt.Errorf("sign: %w", err)
	}
	a.issued[at] = append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.root.Raw})...)
	return at, nil
}

func (a *Authority) download(w http.ResponseWriter, r *http.Request, _ *request) error {
	a.mu.Lock()
	text := a.issued[a.server.URL+r.URL.Path]
	a.mu.Unlock()
	if text == nil {
		return refuse(http.StatusNotFound, "malformed", "there is no certificate %s", r.URL.Path)
	}
	w.Header().Set("Replay-Nonce", a.nonce())
	w.Header().Set("Content-Type", "application/pem-certificate-chain")
	_, _ = w.Write(text) // the client has gone
	return nil
}
