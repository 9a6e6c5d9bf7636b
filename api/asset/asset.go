// Package asset serves what pages are made of: files whose address holds a hash of
// all of them, so that browsers may keep them for ever and modules may import each
// other by relative paths, and pages that are made once.
package asset

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"
)

// Set is the files that the pages of one part of the server load. It does not change.
type Set struct {
	Files []*File
	paths map[string]string // of a file's name
}

// NewSet returns the files of fsys with these names, to be served below home. The
// files must be there, and no two may have the same last part of their name.
func NewSet(fsys fs.FS, home string, names ...string) *Set {
	s := &Set{paths: map[string]string{}}
	texts, sum := make([][]byte, len(names)), sha256.New()
	for i, name := range names {
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			panic("asset: " + err.Error()) // the compiler has embedded it
		}
		texts[i] = text
		one := sha256.Sum256(text)
		io.WriteString(sum, name+"\x00")
		sum.Write(one[:])
	}
	tree := home + "/assets/" + hex.EncodeToString(sum.Sum(nil)[:8]) + "/"
	for i, name := range names {
		base := path.Base(name)
		if _, twice := s.paths[base]; twice {
			panic("asset: two files are called " + base)
		}
		f := New(tree+name, "public, max-age=31536000, immutable", func() ([]byte, error) { return texts[i], nil })
		s.Files, s.paths[base] = append(s.Files, f), f.Path
	}
	return s
}

// Path is the address of a file, by the last part of its name; empty when there is none.
func (s *Set) Path(name string) string { return s.paths[name] }

// File is something that is made once, at its first request, and kept in memory,
// plain and compressed. It serves any number of requests at once.
type File struct {
	Path  string
	cache string // its Cache-Control
	make  func() ([]byte, error)

	once          sync.Once
	plain, zipped []byte
	tag           string
	err           error
}

// New returns what make makes, served at address with this Cache-Control.
func New(address, cache string, make func() ([]byte, error)) *File {
	return &File{Path: address, cache: cache, make: make}
}

func (f *File) load() {
	if f.plain, f.err = f.make(); f.err != nil {
		return
	}
	sum := sha256.Sum256(f.plain)
	f.tag = hex.EncodeToString(sum[:8])
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, f.err = z.Write(f.plain); f.err == nil {
		f.err = z.Close()
	}
	f.zipped = b.Bytes()
}

// mediaTypes of files, by the end of their names; a page has none.
var mediaTypes = map[string]string{
	"": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
	".csv": "text/csv; charset=utf-8",
}

func (f *File) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.once.Do(f.load)
	if f.err != nil {
		http.Error(w, "The page cannot be shown.", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", mediaTypes[path.Ext(f.Path)])
	h.Set("Cache-Control", f.cache)
	h.Set("Vary", "Accept-Encoding")
	var body io.ReadSeeker = bytes.NewReader(f.plain)
	tag := f.tag
	if TakesGzip(r) {
		h.Set("Content-Encoding", "gzip")
		body, tag = bytes.NewReader(f.zipped), tag+"-gzip" // another representation (RFC 9110 section 8.8.3)
	}
	h.Set("ETag", `"`+tag+`"`)
	http.ServeContent(w, r, "", time.Time{}, body)
}

// TakesGzip says whether the client reads gzip (RFC 9110 section 12.5.3).
func TakesGzip(r *http.Request) bool {
	for offer := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		coding, weight, _ := strings.Cut(offer, ";")
		if strings.TrimSpace(coding) == "gzip" {
			weight = strings.ReplaceAll(weight, " ", "")
			return weight != "q=0" && !strings.HasPrefix(weight, "q=0.0")
		}
	}
	return false
}
