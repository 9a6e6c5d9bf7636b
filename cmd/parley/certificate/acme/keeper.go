// Package acme gets the server's certificate from an authority that speaks ACME (RFC 8555), and
// renews it when a third of its lifetime is left.
//
// The nodes share the account, the certificate and the answers to challenges in the database. One of
// them at a time orders; each puts a new certificate in force within lookEvery, and gives the answer to
// a challenge when the authority reaches it.
// Read keeper.go first, then order.go.
package acme

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/acme"

	"parley/cmd/parley/certificate"
	"parley/cmd/parley/config"
	"parley/media/isolate"
	"parley/store"
	"parley/store/certificates"
)

const (
	// lookEvery is how often a node looks for a newer certificate, and whether one is to be ordered.
	lookEvery = 30 * time.Second
	// lookPatience is for one look, and for storing the outcome of an order.
	lookPatience = 5 * time.Second
	// orderPatience is for an order: less than certificates.Lease, so that no two nodes work on one.
	orderPatience = 4 * time.Minute
	// firstWait is the wait after an order that failed; it doubles up to lastWait.
	firstWait = time.Hour
	lastWait  = 24 * time.Hour
	// maxAnswers are looked for at a time: strangers can ask, too. More are refused.
	maxAnswers = 8
	// answerPatience is for looking for one.
	answerPatience = 3 * time.Second
)

var errBusy = errors.New("too many challenges at once")

// Config is what a Keeper works with. All fields but Email and Roots are set.
type Config struct {
	Store     *certificates.Store
	Life      store.Node
	Directory string   // the URL of the authority
	Domains   []string // of the certificate, the first of which is its common name
	Email     string   // by which the authority reaches the operator; empty: not at all
	Roots     *x509.CertPool
	Kinds     []string // challenges that this server can answer, the best first
	Log       *slog.Logger
}

// Keeper keeps a certificate that an authority issues. It implements certificate.Issuer, whose methods
// may be called from several goroutines; Run is for one.
type Keeper struct {
	Config
	id         certificates.ID
	pair       *certificate.Pair
	client     *http.Client
	answers    chan struct{} // has an item for each that is looked for
	seen       time.Time     // when the certificate in force was issued
	unreadable time.Time     // when one was issued that our master key does not open
}

// Open returns the certificate that the settings name: one in files, or one that the Keeper keeps; both
// nil: the server has no TLS. c has the Store, Life and Log.
func Open(cfg *config.Config, c Config) (*certificate.Pair, *Keeper, error) {
	if cfg.TLSCert != "" {
		p, err := certificate.Load(cfg.TLSCert, cfg.TLSKey)
		return p, nil, err
	}
	if len(cfg.TLSDomains) == 0 {
		return nil, nil, nil
	}
	c.Directory, c.Domains, c.Email, c.Kinds = cfg.TLSDirectory, cfg.TLSDomains, cfg.TLSEmail, []string{certificate.TLSALPN01}
	if cfg.TLSPlainAddr != "" {
		c.Kinds = append(c.Kinds, certificate.HTTP01)
	}
	if cfg.TLSDirectoryCA != "" {
		text, err := os.ReadFile(cfg.TLSDirectoryCA)
		if err != nil {
			return nil, nil, fmt.Errorf("PARLEY_TLS_ACME_CA: %w", err)
		}
		if c.Roots = x509.NewCertPool(); !c.Roots.AppendCertsFromPEM(text) {
			return nil, nil, errors.New("PARLEY_TLS_ACME_CA: the file has no certificate (PEM)")
		}
	}
	k := New(c)
	return k.pair, k, nil
}

// New returns a Keeper, which looks while Run runs.
func New(c Config) *Keeper {
	names := slices.Clone(c.Domains)
	slices.Sort(names)
	way := http.DefaultTransport.(*http.Transport).Clone()
	way.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: c.Roots}
	k := &Keeper{Config: c, id: certificates.ID{Directory: c.Directory, Domains: strings.Join(names, ",")},
		client: &http.Client{Transport: way, Timeout: time.Minute}, answers: make(chan struct{}, maxAnswers)}
	k.pair = certificate.Awaited(k)
	return k
}

// Run keeps the certificate until ctx ends.
func (k *Keeper) Run(ctx context.Context) error {
	k.look(ctx)
	return isolate.Every(ctx, lookEvery, func() { k.look(ctx) })
}

// look puts a newer certificate in force, and orders one where that is due. Without the database the
// certificate in force stays.
func (k *Keeper) look(ctx context.Context) {
	err := k.load(ctx)
	if err == nil {
		err = k.work(ctx)
	}
	switch {
	case err == nil, ctx.Err() != nil:
	case errors.Is(err, store.ErrUnavailable):
		k.Log.Debug("certificates were not looked for", "err", err)
	default:
		k.Log.Warn("certificates were not looked for", "err", err)
	}
}

// load puts in force what a node has stored since the last look.
func (k *Keeper) load(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, lookPatience)
	defer cancel()
	c, err := k.Store.Newer(ctx, k.id, k.seen)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil
	case errors.Is(err, store.ErrUnsealed):
		if !k.unreadable.Equal(c.Issued) {
			k.Log.Error("the stored certificate was sealed with another PARLEY_SECRET; another one is ordered a day after it", "domains", k.id.Domains)
		}
		k.unreadable = c.Issued
		return nil
	case err != nil:
		return err
	}
	pair, err := tls.X509KeyPair([]byte(c.Chain), []byte(c.Key))
	if err != nil {
		return fmt.Errorf("the stored certificate: %w", err)
	}
	k.pair.Set(&pair)
	k.seen, k.unreadable = c.Issued, time.Time{}
	k.Log.Info("a certificate is in force", "domains", k.id.Domains, "until", c.NotAfter.UTC())
	return nil
}

// work orders a certificate when that is due and no other node does, and puts it in force.
func (k *Keeper) work(ctx context.Context) error {
	asking, cancel := context.WithTimeout(ctx, lookPatience)
	w, err := k.Store.Claim(asking, k.id, k.Life, !k.unreadable.IsZero())
	cancel()
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if k.pair.Until().IsZero() {
		k.Log.Info("connections over TLS are refused until the authority has issued a certificate", "domains", k.id.Domains, "authority", k.Directory)
	}
	issued, failed := k.attempt(ctx, &w)
	storing, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookPatience) // a server that stops lets another go on
	defer cancel()
	switch {
	case failed == nil:
		if err := k.Store.Issued(storing, k.id, k.Life, issued); err != nil {
			return err
		}
		return k.load(ctx)
	case ctx.Err() != nil:
		return k.Store.Release(storing, k.id, k.Life)
	}
	wait := waitAfter(w.Failures, failed)
	k.warn(failed, wait)
	if unknown(failed) {
		err = k.Store.ForgetAccount(storing, k.Directory)
	}
	return errors.Join(err, k.Store.Failed(storing, k.id, k.Life, wait))
}

// attempt orders a certificate. A panic in it is a failure like others.
func (k *Keeper) attempt(ctx context.Context, w *certificates.Work) (issued certificates.Certificate, err error) {
	ctx, cancel := context.WithTimeout(ctx, orderPatience)
	defer cancel()
	isolate.Do("cmd/parley/certificate/acme/order", func(fault error) { err = fault }, func() { issued, err = k.order(ctx, w) })
	return issued, err
}

// warn says that there is no new certificate.
func (k *Keeper) warn(failed error, wait time.Duration) {
	with := []any{"domains", k.id.Domains, "authority", k.Directory, "err", failed, "again_in", wait.String()}
	if until := k.pair.Until(); !until.IsZero() {
		with = append(with, "expires", until.UTC())
	}
	k.Log.Warn("the authority has issued no certificate; SIGHUP has it asked again at once", with...)
}

// waitAfter is how long nobody orders after a failure that followed others: as long as the authority
// says, and an hour at least, which doubles with each failure up to a day.
func waitAfter(failures int, err error) time.Duration {
	wait := firstWait
	for ; failures > 0 && wait < lastWait; failures-- {
		wait = min(2*wait, lastWait)
	}
	if refusal, ok := errors.AsType[*acme.Error](err); ok {
		asked, _ := acme.RateLimit(refusal)
		wait = max(wait, asked)
	}
	return wait
}

// unknown says whether an authority does not know the account any more (RFC 8555 section 6.7).
func unknown(err error) bool {
	refusal, ok := errors.AsType[*acme.Error](err)
	return ok && refusal.ProblemType == "urn:ietf:params:acme:error:accountDoesNotExist"
}

// Answer implements certificate.Issuer.
func (k *Keeper) Answer(ctx context.Context, kind, subject string) (string, error) {
	if kind == certificate.TLSALPN01 && !slices.Contains(k.Domains, subject) {
		return "", fmt.Errorf("a challenge for another name: %w", store.ErrNotFound)
	}
	select {
	case k.answers <- struct{}{}:
		defer func() { <-k.answers }()
	default:
		return "", errBusy
	}
	ctx, cancel := context.WithTimeout(ctx, answerPatience)
	defer cancel()
	return k.Store.Answer(ctx, certificates.Challenge{Kind: kind, Subject: subject})
}

// Again implements certificate.Issuer.
func (k *Keeper) Again(ctx context.Context) error {
	return k.Store.Again(ctx, k.id)
}

// contact is the form of an address that accounts have; none: there is no address.
func (k *Keeper) contact() []string {
	if k.Email == "" {
		return nil
	}
	return []string{"mailto:" + k.Email}
}
