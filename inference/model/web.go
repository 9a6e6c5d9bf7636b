package model

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// tries is how often an address is tried.
const tries = 3

var errStalled = errors.New("the server is silent")

// Web downloads files from the addresses in their manifest.
type Web struct {
	// Mirror has all files as a store has them, MIRROR/ID/VERSION/PATH, and takes the place of their addresses. It has no
	// final slash; empty: there is none.
	Mirror string
	Pause  time.Duration // before the second try of an address; before the third it is twice that
	Stall  time.Duration // how long a server may be silent
}

// client takes files as they are: a compressed one would have another size.
var client = func() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableCompression = true
	return &http.Client{Transport: transport}
}()

func (w *Web) bring(ctx context.Context, in *installation, missing []File) error {
	for _, f := range missing {
		urls := f.URLs
		if w.Mirror != "" {
			urls = []string{w.Mirror + "/" + in.ID + "/" + in.Version + "/" + f.Path}
		}
		if err := w.download(ctx, in, f, urls); err != nil {
			return fmt.Errorf("%s: %w", f.Path, err)
		}
	}
	return nil
}

// download tries one address after the other.
func (w *Web) download(ctx context.Context, in *installation, f File, urls []string) error {
	p, err := openPart(in.root, f, in.counted)
	if err != nil {
		return err
	}
	defer p.close()
	err = errors.New("the manifest has no address that it could be downloaded from")
	if p.right() { // what ended the last attempt came after the last byte
		return p.finish()
	}
	for _, address := range urls {
		for try := range tries {
			if try > 0 && !sleep(ctx, w.Pause<<(try-1)) {
				return context.Cause(ctx)
			}
			if err = w.try(ctx, address, p); err == nil {
				return p.finish()
			}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if _, is := errors.AsType[final](err); is {
				break
			}
		}
	}
	return err
}

// sleep waits, and says whether ctx goes on.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// try asks an address once for what is missing of p.
func (w *Web) try(ctx context.Context, address string, p *part) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	quiet := time.AfterFunc(w.Stall, func() { cancel(errStalled) })
	defer quiet.Stop()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return final{err}
	}
	host := request.URL.Host
	if p.have > 0 { // RFC 9110, sections 13.1.5 and 14.2
		request.Header.Set("Range", fmt.Sprintf("bytes=%d-", p.have))
		if tag, err := p.root.ReadFile(p.Path + partSuffix + tagSuffix); err == nil && len(tag) > 0 {
			request.Header.Set("If-Range", string(tag))
		}
	}
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("%s: %w", host, cause(ctx, err))
	}
	defer response.Body.Close()
	if err := p.head(response); err != nil {
		return fmt.Errorf("%s %w", host, err)
	}
	had := p.have
	if _, err := io.Copy(p, watched{response.Body, quiet, w.Stall}); err != nil {
		return fmt.Errorf("%s: %w", host, cause(ctx, err))
	}
	if p.have < p.Bytes {
		return fmt.Errorf("%s: %w", host, io.ErrUnexpectedEOF)
	}
	if p.right() {
		return nil
	}
	err = fmt.Errorf("%s: %w: its SHA-256 is another", host, ErrDamaged)
	if failed := p.reset(); failed != nil {
		return failed
	}
	if had > 0 { // what was there before may be to blame
		return err
	}
	return final{err}
}

// head makes p ready for the body of an answer, unless that is not the file.
func (p *part) head(r *http.Response) error {
	code := r.StatusCode
	err := fmt.Errorf("answers %d %s", code, http.StatusText(code))
	switch {
	case code == http.StatusPartialContent && r.Header.Get("Content-Range") == fmt.Sprintf("bytes %d-%d/%d", p.have, p.Bytes-1, p.Bytes):
		return nil
	case code == http.StatusOK && r.ContentLength >= 0 && r.ContentLength != p.Bytes:
		return final{fmt.Errorf("has another file: %w: %d bytes, not %d", ErrDamaged, r.ContentLength, p.Bytes)}
	case code == http.StatusOK: // all of it: the server does not know ranges, or has another version
		if err := p.reset(); err != nil {
			return err
		}
		return p.root.WriteFile(p.Path+partSuffix+tagSuffix, []byte(validator(r.Header)), 0o644)
	case code == http.StatusPartialContent, code == http.StatusRequestedRangeNotSatisfiable: // of something else
		return errors.Join(p.reset(), err)
	case code == http.StatusRequestTimeout, code == http.StatusTooManyRequests, code >= 500:
		return err
	}
	return final{err}
}

// validator is what tells this version of a file from others: its ETag, unless that is weak, or its date. RFC 9110, section
// 13.1.5. Empty where the server says neither; then the SHA-256 finds out.
func validator(h http.Header) string {
	if tag := h.Get("ETag"); tag != "" && !strings.HasPrefix(tag, "W/") {
		return tag
	}
	return h.Get("Last-Modified")
}

// cause is why a request ended, without its address: where a server sends us may have a secret in it.
func cause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if wrapped, is := errors.AsType[*url.Error](err); is {
		return wrapped.Err
	}
	return err
}

// watched is a body whose silence has an end. The time that its reader takes does not count.
type watched struct {
	io.Reader
	quiet *time.Timer
	most  time.Duration
}

func (w watched) Read(b []byte) (int, error) {
	w.quiet.Reset(w.most)
	defer w.quiet.Stop()
	return w.Reader.Read(b)
}
