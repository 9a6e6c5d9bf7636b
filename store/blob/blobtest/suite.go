package blobtest

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"parley/store/blob"
)

// Suite is what every store must do. Each call of open returns an empty one.
func Suite(t *testing.T, open func(t *testing.T) blob.Store) {
	for name, prove := range map[string]func(*testing.T, blob.Store){"files": files, "absence": absence, "lists": lists, "replaced": replaced, "reader": reader, "large": large,
		"at once": atOnce, "check": check} {
		t.Run(name, func(t *testing.T) { prove(t, open(t)) })
	}
}

// Put keeps bytes under a key.
func Put(t testing.TB, s blob.Store, key string, b []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Put(t.Context(), key, path); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil { // it is the caller's
		t.Fatal(err)
	}
}

// Get reads a file from a byte on.
func Get(t testing.TB, s blob.Store, key string, from int64) []byte {
	t.Helper()
	r, err := s.Get(t.Context(), key, from)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Keys lists the keys that begin with a prefix.
func Keys(t testing.TB, s blob.Store, prefix string) (keys []string) {
	t.Helper()
	all, err := s.List(t.Context(), prefix)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		keys = append(keys, f.Key)
	}
	return keys
}

func files(t *testing.T, s blob.Store) {
	for key, text := range map[string]string{"a.ogg": "Opus", "raw/ses_1/8000.0000000000.raw": "\x00\x01\x02", "empty": ""} {
		Put(t, s, key, []byte(text))
		if got := Get(t, s, key, 0); string(got) != text {
			t.Errorf("%s holds %q", key, got)
		}
		if info, err := s.Stat(t.Context(), key); err != nil || info.Key != key || info.Size != int64(len(text)) || info.Modified.IsZero() {
			t.Errorf("%+v, %v", info, err)
		}
		if len(text) > 1 {
			if got := Get(t, s, key, 1); string(got) != text[1:] {
				t.Errorf("%s from its second byte on holds %q", key, got)
			}
		}
		for range 2 { // the second time there is none
			if err := s.Delete(t.Context(), key); err != nil {
				t.Error(err)
			}
		}
	}
	if left := Keys(t, s, ""); len(left) != 0 {
		t.Errorf("%q are left", left)
	}
}

func absence(t *testing.T, s blob.Store) {
	if _, err := s.Stat(t.Context(), "none"); !errors.Is(err, fs.ErrNotExist) || errors.Is(err, blob.ErrUnavailable) {
		t.Errorf("its size: %v", err)
	}
	if r, err := s.Get(t.Context(), "none", 0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("its bytes: %v, %v", r, err)
	}
	if _, err := blob.Open(t.Context(), s, "none/such"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a reader: %v", err)
	}
	if err := s.Put(t.Context(), "of/nothing", filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file of ours that is not there: %v", err)
	}
	if got := Keys(t, s, "raw/"); len(got) != 0 {
		t.Errorf("%q", got)
	}
}

func lists(t *testing.T, s blob.Store) {
	want := []string{"raw/ses_1/8000.1.raw", "raw/ses_1/8000.2.raw", "raw/ses_1/8000.3.raw", "raw/ses_1/8000.4.raw", "raw/ses_1/8000.5.raw", "raw/ses_1/8000.6.raw", "raw/ses_1/8000.7.raw"}
	for _, key := range append([]string{"raw/ses_10/8000.1.raw", "ses_1.ogg", "ses_1.wav", "ses_2.ogg"}, want...) {
		Put(t, s, key, []byte("x"))
	}
	if got := Keys(t, s, "raw/ses_1/"); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := Keys(t, s, "ses_1."); !slices.Equal(got, []string{"ses_1.ogg", "ses_1.wav"}) {
		t.Errorf("%q", got)
	}
	if got := Keys(t, s, ""); len(got) != 11 || !slices.IsSorted(got) {
		t.Errorf("%q", got)
	}
	if err := blob.DeleteAll(t.Context(), s, "raw/ses_1/"); err != nil {
		t.Error(err)
	}
	if got := Keys(t, s, "raw/"); !slices.Equal(got, []string{"raw/ses_10/8000.1.raw"}) {
		t.Errorf("%q are left", got)
	}
}

// replaced: what is put again under a key takes the place of what was there, also the same file.
func replaced(t *testing.T, s blob.Store) {
	Put(t, s, "a", []byte("one"))
	Put(t, s, "a", []byte("another"))
	if got := Get(t, s, "a", 0); string(got) != "another" {
		t.Errorf("%q", got)
	}
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("third"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Put(t.Context(), "a", path); err != nil {
			t.Error(err)
		}
	}
	if got := Keys(t, s, ""); !slices.Equal(got, []string{"a"}) || string(Get(t, s, "a", 0)) != "third" {
		t.Errorf("%q", got)
	}
}

// noise is bytes that do not repeat.
func noise(n int) []byte {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{7})
	_, _ = r.Read(b) // it has no end
	return b
}

func reader(t *testing.T, s blob.Store) {
	want := noise(200_000)
	Put(t, s, "a", want)
	r, err := blob.Open(t.Context(), s, "a")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if size, err := r.Seek(0, io.SeekEnd); err != nil || size != int64(len(want)) || r.Size != size {
		t.Errorf("%d bytes, %v", size, err)
	}
	if n, err := r.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("beyond its end: %d, %v", n, err)
	}
	for _, at := range []int64{150_000, 10, 0, 199_999} {
		if _, err := r.Seek(at, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		b := make([]byte, min(1000, int64(len(want))-at))
		if _, err := io.ReadFull(r, b); err != nil || !bytes.Equal(b, want[at:at+int64(len(b))]) {
			t.Errorf("at %d: %v", at, err)
		}
	}
	if _, err := r.Seek(-1000, io.SeekCurrent); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(r); err != nil || !bytes.Equal(rest, want[199_000:]) {
		t.Errorf("%d bytes, %v", len(rest), err)
	}
	if _, err := r.Seek(-1, io.SeekStart); err == nil {
		t.Error("it seeks to before the file")
	}
}

// large is more than a store takes at once.
func large(t *testing.T, s blob.Store) {
	want := noise(33<<20 + 5)
	Put(t, s, "large", want)
	if got := Get(t, s, "large", 0); !bytes.Equal(got, want) {
		t.Errorf("%d bytes come back of %d", len(got), len(want))
	}
	if got := Get(t, s, "large", 33<<20); !bytes.Equal(got, want[33<<20:]) {
		t.Errorf("its end has %d bytes", len(got))
	}
}

// atOnce: files of one directory come and go from several goroutines.
func atOnce(t *testing.T, s blob.Store) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	var workers sync.WaitGroup
	for _, key := range []string{"raw/ses_1/1", "raw/ses_1/2", "raw/ses_1/3", "raw/ses_2/1"} {
		workers.Go(func() {
			for range 20 {
				if err := s.Put(t.Context(), key, path); err != nil {
					t.Error(err)
				}
				if err := s.Delete(t.Context(), key); err != nil {
					t.Error(err)
				}
			}
		})
	}
	workers.Wait()
	if left := Keys(t, s, ""); len(left) != 0 {
		t.Errorf("%q are left", left)
	}
}

func check(t *testing.T, s blob.Store) {
	if err := blob.Check(t.Context(), s); err != nil {
		t.Error(err)
	}
	if left := Keys(t, s, ""); len(left) != 0 {
		t.Errorf("the check leaves %q", left)
	}
}
