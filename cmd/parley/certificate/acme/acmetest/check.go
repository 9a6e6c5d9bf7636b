package acmetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/asn1"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// patience bounds the check of a challenge.
const patience = 10 * time.Second

// acmeIdentifier is the extension that answers tls-alpn-01 (RFC 8737 section 6.1).
var acmeIdentifier = asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 1, 31}

// check asks the server at an address for the answer to a challenge.
func (a *Authority) check(at, name string, c *challenge, of *account) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	want := c.token + "." + thumbprint(of.key)
	switch c.kind {
	case "tls-alpn-01":
		return checkTLS(ctx, at, name, want)
	case "http-01":
		return checkHTTP(ctx, at, name, c.token, want)
	}
	return errors.New("the test answers no " + c.kind)
}

// checkTLS is RFC 8737 section 3.
func checkTLS(ctx context.Context, at, name, want string) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", at)
	if err != nil {
		return err
	}
	defer conn.Close()
	client := tls.Client(conn, &tls.Config{ServerName: name, NextProtos: []string{"acme-tls/1"}, InsecureSkipVerify: true})
	if err := client.HandshakeContext(ctx); err != nil {
		return err
	}
	s := client.ConnectionState()
	leaf := s.PeerCertificates[0]
	if s.NegotiatedProtocol != "acme-tls/1" || len(leaf.DNSNames) != 1 || !strings.EqualFold(leaf.DNSNames[0], name) {
		return fmt.Errorf("protocol %q, names %v", s.NegotiatedProtocol, leaf.DNSNames)
	}
	sum := sha256.Sum256([]byte(want))
	value, err := asn1.Marshal(sum[:])
	if err != nil {
		return err
	}
	for _, x := range leaf.Extensions {
		if x.Id.Equal(acmeIdentifier) && x.Critical && bytes.Equal(x.Value, value) {
			return nil
		}
	}
	return errors.New("the certificate does not answer the challenge")
}

// checkHTTP is RFC 8555 section 8.3.
func checkHTTP(ctx context.Context, at, name, token, want string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+at+"/.well-known/acme-challenge/"+token, nil)
	if err != nil {
		return err
	}
	r.Host = name
	res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, 1<<10))
	if err == nil && (res.StatusCode != http.StatusOK || strings.TrimSpace(string(text)) != want) {
		err = fmt.Errorf("%d %q is not the answer", res.StatusCode, text)
	}
	return err
}
