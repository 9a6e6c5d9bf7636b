package blob_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"parley/store/blob"
	"parley/store/blob/blobtest"
)

var access = blob.Access{Key: blobtest.Key, Secret: blobtest.Secret}

func open(t *testing.T, location string, a blob.Access) blob.Store {
	t.Helper()
	l, err := blob.Parse(location)
	if err != nil {
		t.Fatal(err)
	}
	s, err := l.Open(a, "recordings")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestBucket(t *testing.T) {
	blobtest.Suite(t, func(t *testing.T) blob.Store { return open(t, blobtest.Start(t).URL("a/prefix"), access) })
}

// TestBucketOverTLS: payloads are not signed where the connection is.
func TestBucketOverTLS(t *testing.T) {
	server := blobtest.StartTLS(t)
	s := open(t, server.URL("a/prefix"), access)
	for key, size := range map[string]int{"small": 10, "large": 20 << 20} {
		blobtest.Put(t, s, key, make([]byte, size))
		if got := blobtest.Get(t, s, key, 5); len(got) != size-5 {
			t.Errorf("%s has %d bytes", key, len(got))
		}
	}
	if server.Parts() != 2 || server.Unfinished() != 0 {
		t.Errorf("%d parts, %d uploads are unfinished", server.Parts(), server.Unfinished())
	}
}

// TestBucketPrefix: two servers share a bucket, and do not see each other's files.
func TestBucketPrefix(t *testing.T) {
	server := blobtest.Start(t)
	one, other := open(t, server.URL("one"), access), open(t, server.URL(""), access)
	blobtest.Put(t, one, "a", []byte("1"))
	blobtest.Put(t, other, "a", []byte("2"))
	if got := server.Keys(); !slices.Equal(got, []string{"one/recordings/a", "recordings/a"}) {
		t.Errorf("%q", got)
	}
	if keys := blobtest.Keys(t, other, ""); !slices.Equal(keys, []string{"a"}) || string(blobtest.Get(t, other, "a", 0)) != "2" {
		t.Errorf("%q", keys)
	}
}

// TestBucketLarge goes in parts, and leaves none of them.
func TestBucketLarge(t *testing.T) {
	server := blobtest.Start(t)
	s := open(t, server.URL(""), access)
	blobtest.Put(t, s, "small", make([]byte, 1<<20))
	if server.Parts() != 0 {
		t.Errorf("a small one has %d parts", server.Parts())
	}
	blobtest.Put(t, s, "large", make([]byte, 40<<20))
	if server.Parts() != 3 || server.Unfinished() != 0 {
		t.Errorf("%d parts, %d uploads are unfinished", server.Parts(), server.Unfinished())
	}
}

func TestBucketEncryption(t *testing.T) {
	server := blobtest.Start(t)
	for _, how := range []string{"", "AES256", "aws:kms", "aws:kms=arn:aws:kms:eu-test-1:1:key/2"} {
		a := access
		a.Encryption = how
		s := open(t, server.URL(""), a)
		blobtest.Put(t, s, "small", []byte("x"))
		blobtest.Put(t, s, "large", make([]byte, 20<<20))
		for _, key := range []string{"recordings/small", "recordings/large"} {
			if got := server.Encryption(key); got != how {
				t.Errorf("%s with %q is encrypted with %q", key, how, got)
			}
		}
	}
	for _, how := range []string{"aes", "aws:kms=", "AES256=x"} {
		if blob.CheckEncryption(how) == nil {
			t.Errorf("%q is taken", how)
		}
	}
}

// each calls f with everything that a store does.
func each(ctx context.Context, t *testing.T, s blob.Store, f func(what string, err error)) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	f("put", s.Put(ctx, "b", path))
	_, err := s.Get(ctx, "a", 0)
	f("get", err)
	_, err = s.Stat(ctx, "a")
	f("stat", err)
	f("delete", s.Delete(ctx, "a"))
	_, err = s.List(ctx, "")
	f("list", err)
}

// TestBucketRefuses: a store that refuses us, is overloaded, or has no such bucket is unavailable; it
// does not say that a file is gone, and no secret.
func TestBucketRefuses(t *testing.T) {
	server := blobtest.Start(t)
	wrong := access
	wrong.Secret = "another secret"
	unknown := access
	unknown.Key = "AKIAUNKNOWN"
	blobtest.Put(t, open(t, server.URL(""), access), "a", []byte("x"))
	for name, tt := range map[string]struct {
		status   int
		location string
		access   blob.Access
	}{
		"forbidden":       {403, server.URL(""), access},
		"overloaded":      {503, server.URL(""), access},
		"a fault":         {500, server.URL(""), access},
		"a wrong secret":  {0, server.URL(""), wrong},
		"an unknown key":  {0, server.URL(""), unknown},
		"no such bucket":  {0, strings.Replace(server.URL(""), blobtest.Bucket, "another", 1), access},
		"a wrong region":  {0, strings.Replace(server.URL(""), blobtest.Region, "us-west-2", 1), access},
		"nobody is there": {0, "s3://" + blobtest.Bucket + "?endpoint=http://127.0.0.1:1", access},
	} {
		t.Run(name, func(t *testing.T) {
			server.Refuse(tt.status)
			defer server.Refuse(0)
			s := open(t, tt.location, tt.access)
			each(t.Context(), t, s, func(what string, err error) {
				if !errors.Is(err, blob.ErrUnavailable) || errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), "secret") {
					t.Errorf("%s: %v", what, err)
				}
			})
			if err := blob.Check(t.Context(), s); !errors.Is(err, blob.ErrUnavailable) {
				t.Errorf("check: %v", err)
			}
		})
	}
	if got := server.Keys(); !slices.Equal(got, []string{"recordings/a"}) {
		t.Errorf("%q", got)
	}
}

// TestBucketIsSlow: who gives up waiting for the store does not wait on.
func TestBucketIsSlow(t *testing.T) {
	server := blobtest.Start(t)
	s := open(t, server.URL(""), access)
	blobtest.Put(t, s, "a", []byte("x"))
	server.Hang(true)
	ctx, cancel := context.WithCancel(t.Context())
	server.Watch(func(string, string) { cancel() })
	each(ctx, t, s, func(what string, err error) {
		if !errors.Is(err, blob.ErrUnavailable) || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", what, err)
		}
	})
	server.Watch(nil)
	server.Hang(false)
	if got := blobtest.Get(t, s, "a", 0); string(got) != "x" {
		t.Errorf("%q", got)
	}
}

// TestBucketBreaksOff: a file that ends before its end is an error, not a short file.
func TestBucketBreaksOff(t *testing.T) {
	front := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "1000")
		w.Header().Set("Last-Modified", "Sat, 28 Nov 2026 12:00:00 GMT")
		w.Header().Set("ETag", `"x"`)
		if r.Method == http.MethodGet {
			_, _ = w.Write(make([]byte, 10))
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
	})
	server := serve(t, front)
	s := open(t, "s3://"+blobtest.Bucket+"?endpoint="+server, access)
	r, err := blob.Open(t.Context(), s, "a")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if b, err := io.ReadAll(r); !errors.Is(err, blob.ErrUnavailable) || len(b) != 10 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}
