// Package blobtest proves stores of files: a suite for all of them, and a fake of a store that
// speaks S3, on loopback.
package blobtest

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"encoding/pem"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Bucket, Region, Key and Secret are what a Server knows.
const (
	Bucket = "recordings-of-tests"
	Region = "eu-test-1"
	Key    = "AKIATESTTESTTESTTEST"
	Secret = "a secret of a test/with+signs"
)

// pageSize is how many keys a list has at most, so that lists have pages, and leastPart what a part
// that is not the last must have, in bytes, as S3 wants it.
const (
	pageSize  = 3
	leastPart = 5 << 20
)

// Server is a fake store with one bucket, addressed by path. It takes nothing that is not signed
// as AWS Signature Version 4 says, over headers, and over the payload where the connection is in
// the clear, and reports requests that S3 does not know. Its methods may be called from several
// goroutines.
type Server struct {
	t    testing.TB
	http *httptest.Server

	mu      sync.Mutex
	objects map[string]object
	uploads map[string]*upload
	ids     int
	parts   int                      // that were ever put
	refuse  int                      // the status of all answers; 0: as they should be
	hangs   chan struct{}            // closed when it answers again; nil: it answers
	asked   func(method, key string) // may be nil
}

// object is what is kept under a key.
type object struct {
	body       []byte
	encryption string // the header that asked for it
	modified   time.Time
}

type upload struct {
	key, encryption string
	parts           map[int][]byte
}

// Start starts a fake store for the time of a test.
func Start(t testing.TB) *Server {
	s := newServer(t)
	s.http.Start()
	return s
}

// StartTLS starts one over HTTPS, whose certificate the clients of this process take from then on that look for it in
// SSL_CERT_FILE. The test cannot run beside others.
func StartTLS(t *testing.T) *Server {
	s := newServer(t)
	s.http.StartTLS()
	path := filepath.Join(t.TempDir(), "cert.pem")
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.http.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SSL_CERT_FILE", path)
	return s
}

func newServer(t testing.TB) *Server {
	s := &Server{t: t, objects: map[string]object{}, uploads: map[string]*upload{}}
	s.http = httptest.NewUnstartedServer(s)
	t.Cleanup(func() { s.Hang(false); s.http.Close() })
	return s
}

// URL is the location of the bucket, with a prefix.
func (s *Server) URL(prefix string) string {
	return "s3://" + Bucket + "/" + prefix + "?endpoint=" + url.QueryEscape(s.http.URL) + "&region=" + Region
}

// Refuse has all requests answered with a status, such as 503; 0: no more.
func (s *Server) Refuse(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = status
}

// Hang has requests wait for their answers, until it is called with false or their clients give up.
func (s *Server) Hang(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case on && s.hangs == nil:
		s.hangs = make(chan struct{})
	case !on && s.hangs != nil:
		close(s.hangs)
		s.hangs = nil
	}
}

// Watch has f called for each request before it is answered; nil: no more. The key is that in the bucket.
func (s *Server) Watch(f func(method, key string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = f
}

// Keys are the keys of all objects, in order.
func (s *Server) Keys() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.objects))
}

// Encryption is what the object of a key was asked to be encrypted with.
func (s *Server) Encryption(key string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.objects[key].encryption
}

// Parts is how many parts of objects were put.
func (s *Server) Parts() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.parts
}

// Unfinished is how many uploads in parts were neither completed nor aborted.
func (s *Server) Unfinished() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.uploads)
}

// refusal is an error as S3 answers it.
type refusal struct {
	status int
	code   string
}

func (r *refusal) Error() string { return r.code }

func refused(status int, code string) *refusal { return &refusal{status, code} }

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	s.mu.Lock()
	refuse, hangs, asked := s.refuse, s.hangs, s.asked
	s.mu.Unlock()
	if asked != nil {
		asked(r.Method, key)
	}
	if hangs != nil {
		select {
		case <-hangs:
		case <-r.Context().Done():
			return
		}
	}
	if refuse != 0 {
		s.fail(w, r, refused(refuse, map[int]string{403: "AccessDenied", 503: "SlowDown"}[refuse]))
		return
	}
	body, bad := verify(r, body)
	if bad == nil && name != Bucket {
		bad = refused(http.StatusNotFound, "NoSuchBucket")
	}
	if bad == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		bad = s.answer(w, r, key, body)
	}
	if bad != nil {
		s.fail(w, r, bad)
	}
}

// fail answers with an error; HEAD has no body.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, why *refusal) {
	if why.status == http.StatusNotImplemented || why.status == http.StatusBadRequest {
		s.t.Errorf("the store was asked %s %s: %s", r.Method, r.URL, why.code)
	}
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(why.status)
	if r.Method != http.MethodHead {
		fmt.Fprintf(w, "<Error><Code>%s</Code><Message>%[1]s, says the fake</Message></Error>", why.code)
	}
}

// answer does what is asked. s.mu is held.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, key string, body []byte) *refusal {
	q := r.URL.Query()
	has := func(names ...string) bool { // these and no others
		return len(q) == len(names) && !slices.ContainsFunc(names, func(n string) bool { return !q.Has(n) })
	}
	switch {
	case r.Method == http.MethodGet && key == "":
		return s.list(w, q)
	case key == "":
	case r.Method == http.MethodPut && has():
		s.objects[key] = object{body, encryption(r), time.Now()}
		w.Header().Set("ETag", etag(body))
		return nil
	case (r.Method == http.MethodGet || r.Method == http.MethodHead) && has():
		return s.get(w, r, key)
	case r.Method == http.MethodDelete && has():
		delete(s.objects, key)
		w.WriteHeader(http.StatusNoContent)
		return nil
	case r.Method == http.MethodPost && has("uploads"):
		s.ids++
		id := strconv.Itoa(s.ids)
		s.uploads[id] = &upload{key, encryption(r), map[int][]byte{}}
		return write(w, struct {
			XMLName               xml.Name `xml:"InitiateMultipartUploadResult"`
			Bucket, Key, UploadId string
		}{Bucket: Bucket, Key: key, UploadId: id})
	}
	u := s.uploads[q.Get("uploadId")]
	switch {
	case !q.Has("uploadId"):
		return refused(http.StatusNotImplemented, "NotImplemented")
	case u == nil || u.key != key:
		return refused(http.StatusNotFound, "NoSuchUpload")
	case r.Method == http.MethodPut && has("uploadId", "partNumber"):
		n, err := strconv.Atoi(q.Get("partNumber"))
		if err != nil || n < 1 || n > 10_000 {
			return refused(http.StatusBadRequest, "InvalidArgument")
		}
		u.parts[n] = body
		s.parts++
		w.Header().Set("ETag", etag(body))
		return nil
	case r.Method == http.MethodPost && has("uploadId"):
		return s.join(w, q.Get("uploadId"), u, body)
	case r.Method == http.MethodDelete && has("uploadId"):
		delete(s.uploads, q.Get("uploadId"))
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	return refused(http.StatusNotImplemented, "NotImplemented")
}

// join makes an object of its parts.
func (s *Server) join(w http.ResponseWriter, id string, u *upload, body []byte) *refusal {
	var wanted struct {
		Part []struct {
			PartNumber int
			ETag       string
		}
	}
	if err := xml.Unmarshal(body, &wanted); err != nil || len(wanted.Part) != len(u.parts) {
		return refused(http.StatusBadRequest, "MalformedXML")
	}
	var whole []byte
	for i, p := range wanted.Part {
		part, there := u.parts[p.PartNumber]
		switch {
		case !there || strings.Trim(p.ETag, `"`) != strings.Trim(etag(part), `"`):
			return refused(http.StatusBadRequest, "InvalidPart")
		case i > 0 && p.PartNumber <= wanted.Part[i-1].PartNumber:
			return refused(http.StatusBadRequest, "InvalidPartOrder")
		case i < len(wanted.Part)-1 && len(part) < leastPart:
			return refused(http.StatusBadRequest, "EntityTooSmall")
		}
		whole = append(whole, part...)
	}
	delete(s.uploads, id)
	s.objects[u.key] = object{whole, u.encryption, time.Now()}
	return write(w, struct {
		XMLName           xml.Name `xml:"CompleteMultipartUploadResult"`
		Bucket, Key, ETag string
	}{Bucket: Bucket, Key: u.key, ETag: etag(whole)})
}

// get sends an object, or the part of it from a byte on.
func (s *Server) get(w http.ResponseWriter, r *http.Request, key string) *refusal {
	o, there := s.objects[key]
	if !there {
		return refused(http.StatusNotFound, "NoSuchKey")
	}
	w.Header().Set("ETag", etag(o.body))
	w.Header().Set("Content-Type", "application/octet-stream")
	if span := r.Header.Get("Range"); span != "" {
		first, last, ok := strings.Cut(strings.TrimPrefix(span, "bytes="), "-")
		from, err := strconv.Atoi(first)
		switch {
		case !ok || err != nil || last != "":
			return refused(http.StatusNotImplemented, "NotImplemented")
		case from >= len(o.body):
			return refused(http.StatusRequestedRangeNotSatisfiable, "InvalidRange")
		}
	}
	http.ServeContent(w, r, "", o.modified, bytes.NewReader(o.body))
	return nil
}

// list answers ListObjectsV2, in pages.
func (s *Server) list(w http.ResponseWriter, q url.Values) *refusal {
	for name := range q {
		if !slices.Contains([]string{"list-type", "encoding-type", "prefix", "delimiter", "continuation-token", "max-keys", "fetch-owner"}, name) {
			return refused(http.StatusNotImplemented, "NotImplemented")
		}
	}
	if q.Get("list-type") != "2" || q.Get("encoding-type") != "url" || q.Get("delimiter") != "" {
		return refused(http.StatusNotImplemented, "NotImplemented")
	}
	type entry struct {
		Key, LastModified, ETag string
		Size                    int
	}
	var page struct {
		XMLName               xml.Name `xml:"ListBucketResult"`
		Name, EncodingType    string
		IsTruncated           bool
		NextContinuationToken string `xml:",omitempty"`
		Contents              []entry
	}
	page.Name, page.EncodingType = Bucket, "url"
	for _, key := range slices.Sorted(maps.Keys(s.objects)) {
		if !strings.HasPrefix(key, q.Get("prefix")) || key <= q.Get("continuation-token") {
			continue
		}
		if len(page.Contents) == pageSize {
			page.IsTruncated = true
			break
		}
		o := s.objects[key]
		page.Contents = append(page.Contents, entry{url.QueryEscape(key), o.modified.UTC().Format("2006-01-02T15:04:05.000Z"), etag(o.body), len(o.body)})
		page.NextContinuationToken = key
	}
	if !page.IsTruncated {
		page.NextContinuationToken = ""
	}
	return write(w, page)
}

func write(w http.ResponseWriter, v any) *refusal {
	b, err := xml.Marshal(v)
	if err != nil {
		return refused(http.StatusInternalServerError, "InternalError")
	}
	w.Header().Set("Content-Type", "application/xml")
	_, _ = w.Write(b) // the client has gone
	return nil
}

func etag(body []byte) string {
	sum := md5.Sum(body)
	return `"` + hex.EncodeToString(sum[:]) + `"`
}

// encryption is what a request asks for, and with which key.
func encryption(r *http.Request) string {
	const header = "X-Amz-Server-Side-Encryption"
	return strings.TrimSuffix(r.Header.Get(header)+"="+r.Header.Get(header+"-Aws-Kms-Key-Id"), "=")
}
