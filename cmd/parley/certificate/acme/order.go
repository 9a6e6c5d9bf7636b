package acme

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/acme"

	"parley/cmd/parley/certificate"
	"parley/store"
	"parley/store/certificates"
)

// maxRetries is how often a request is repeated that the authority could not take.
const maxRetries = 3

// order brings an order in progress to its end, or places one, by each challenge in turn that this
// server can answer (RFC 8555 section 7.1).
func (k *Keeper) order(ctx context.Context, w *certificates.Work) (none certificates.Certificate, err error) {
	client, err := k.account(ctx)
	if err != nil {
		return none, err
	}
	var o *acme.Order
	for _, kind := range k.Kinds {
		if o, err = k.begin(ctx, client, w); err != nil {
			return none, err
		}
		if err = k.prove(ctx, client, o, kind); err == nil {
			break
		}
		if _, refused := errors.AsType[*acme.AuthorizationError](err); !refused {
			return none, err
		}
		w.URI = "" // a challenge that failed ends its order (RFC 8555 section 7.1.6)
	}
	if err != nil {
		return none, err
	}
	if o, err = client.WaitOrder(ctx, o.URI); err != nil {
		return none, err
	}
	return k.finish(ctx, client, o, w.Key)
}

// account returns a client with the account of this server, which is registered at the first time.
func (k *Keeper) account(ctx context.Context) (*acme.Client, error) {
	a, err := k.Store.Account(ctx, k.Directory)
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrUnsealed) {
		a = certificates.Account{}
		if a.Key, err = newKey(); err != nil {
			return nil, err
		}
		err = k.Store.PutAccount(ctx, k.Directory, a) // before the authority knows the key, so that it is not lost
	}
	if err != nil {
		return nil, err
	}
	key, err := readKey(a.Key)
	if err != nil {
		return nil, err
	}
	client := &acme.Client{Key: key, KID: acme.KeyID(a.URI), DirectoryURL: k.Directory, HTTPClient: k.client, UserAgent: "parley", RetryBackoff: again}
	contact := k.contact()
	switch said := strings.Join(contact, ","); {
	case a.URI == "":
		if _, err = client.Register(ctx, &acme.Account{Contact: contact}, acme.AcceptTOS); err != nil && !errors.Is(err, acme.ErrAccountAlreadyExists) {
			return nil, err
		}
		a.URI, a.Contact = string(client.KID), said
	case said != "" && said != a.Contact:
		if _, err = client.UpdateReg(ctx, &acme.Account{Contact: contact}); err != nil {
			return nil, err
		}
		a.Contact = said
	default:
		return client, nil
	}
	return client, k.Store.PutAccount(ctx, k.Directory, a)
}

// again is how long to wait before a request is repeated; 0: it is not. A limit of the authority's
// lasts longer than an order.
func again(n int, _ *http.Request, answer *http.Response) time.Duration {
	if n > maxRetries || answer.StatusCode == http.StatusTooManyRequests {
		return 0
	}
	return time.Duration(n) * time.Second
}

// begin returns the order that is in progress, or a new one, for the key in w.
func (k *Keeper) begin(ctx context.Context, client *acme.Client, w *certificates.Work) (*acme.Order, error) {
	if w.URI != "" {
		o, err := client.GetOrder(ctx, w.URI)
		if err == nil && slices.Contains([]string{acme.StatusPending, acme.StatusReady, acme.StatusProcessing, acme.StatusValid}, o.Status) {
			return o, nil
		}
	}
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	o, err := client.AuthorizeOrder(ctx, acme.DomainIDs(k.Domains...))
	if err != nil {
		return nil, err
	}
	w.URI, w.Key = o.URI, key
	return o, k.Store.PutOrder(ctx, k.id, k.Life, o.URI, key)
}

// prove answers a challenge of one kind for each name of an order.
func (k *Keeper) prove(ctx context.Context, client *acme.Client, o *acme.Order, kind string) error {
	if o.Status != acme.StatusPending {
		return nil
	}
	for _, at := range o.AuthzURLs {
		a, err := client.GetAuthorization(ctx, at)
		if err != nil {
			return err
		}
		if a.Status == acme.StatusValid {
			continue
		}
		if err := k.proveOne(ctx, client, a, kind); err != nil {
			return err
		}
	}
	return nil
}

func (k *Keeper) proveOne(ctx context.Context, client *acme.Client, a *acme.Authorization, kind string) error {
	i := slices.IndexFunc(a.Challenges, func(c *acme.Challenge) bool { return c.Type == kind })
	if i < 0 {
		return &acme.AuthorizationError{URI: a.URI, Identifier: a.Identifier.Value, Errors: []error{fmt.Errorf("the authority offers no challenge %s", kind)}}
	}
	about, answer, err := answerTo(client, a.Identifier.Value, a.Challenges[i])
	if err != nil {
		return err
	}
	if err := k.Store.PutAnswer(ctx, about, answer); err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookPatience)
		defer cancel()
		_ = k.Store.DropAnswer(ctx, about) // it ends by itself, too
	}()
	if _, err := client.Accept(ctx, a.Challenges[i]); err != nil {
		return err
	}
	_, err = client.WaitAuthorization(ctx, a.URI)
	return err
}

// answerTo makes the answer to a challenge about a name.
func answerTo(client *acme.Client, name string, c *acme.Challenge) (about certificates.Challenge, answer string, err error) {
	if c.Type == certificate.HTTP01 {
		answer, err = client.HTTP01ChallengeResponse(c.Token)
		return certificates.Challenge{Kind: c.Type, Subject: c.Token}, answer, err
	}
	shown, err := client.TLSALPN01ChallengeCert(c.Token, name)
	if err != nil {
		return about, "", err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(shown.PrivateKey)
	if err != nil {
		return about, "", err
	}
	return certificates.Challenge{Kind: c.Type, Subject: name}, chain(shown.Certificate) + block("PRIVATE KEY", secret), nil
}

// finish has the authority issue the certificate of an order, and checks it.
func (k *Keeper) finish(ctx context.Context, client *acme.Client, o *acme.Order, key string) (c certificates.Certificate, err error) {
	signer, err := readKey(key)
	if err != nil {
		return c, err
	}
	request, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: commonName(k.Domains[0])}, DNSNames: k.Domains}, signer)
	if err != nil {
		return c, err
	}
	var ders [][]byte
	if o.Status == acme.StatusValid {
		ders, err = client.FetchCert(ctx, o.CertURL, true)
	} else {
		ders, _, err = client.CreateCertFromOrder(ctx, o, request, true)
	}
	if err != nil {
		return c, err
	}
	c.Chain, c.Key = chain(ders), key
	pair, err := tls.X509KeyPair([]byte(c.Chain), []byte(key))
	if err != nil {
		return c, fmt.Errorf("the certificate that was issued: %w", err)
	}
	for _, name := range k.Domains {
		if err := pair.Leaf.VerifyHostname(name); err != nil {
			return c, fmt.Errorf("the certificate that was issued: %w", err)
		}
	}
	c.NotBefore, c.NotAfter = pair.Leaf.NotBefore, pair.Leaf.NotAfter
	return c, nil
}

// commonName is a name where it fits into a certificate's common name (RFC 5280, ub-common-name), else none.
func commonName(name string) string {
	if len(name) > 64 {
		return ""
	}
	return name
}

// newKey makes a key (PEM).
func newKey() (string, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	return block("PRIVATE KEY", der), err
}

// readKey reads what newKey has made.
func readKey(text string) (crypto.Signer, error) {
	b, _ := pem.Decode([]byte(text))
	if b == nil {
		return nil, errors.New("a stored key is not PEM")
	}
	key, err := x509.ParsePKCS8PrivateKey(b.Bytes)
	if err != nil {
		return nil, errors.New("a stored key is damaged") // err might hold parts of it
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, errors.New("a stored key does not sign")
	}
	return signer, nil
}

// chain is certificates as PEM.
func chain(ders [][]byte) (text string) {
	for _, der := range ders {
		text += block("CERTIFICATE", der)
	}
	return text
}

func block(what string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: what, Bytes: der}))
}
