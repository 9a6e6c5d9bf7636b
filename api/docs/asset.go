package docs

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"
)

//go:embed static vendor/swagger-ui-bundle.js vendor/swagger-ui.css
var assetFiles embed.FS

// assets are the files that pages load. Their address holds a hash of their
// contents, so that browsers may keep them for ever.
type assets struct {
	files []*asset
	paths map[string]string // of a file's name
}

func newAssets() *assets {
	all := &assets{paths: map[string]string{}}
	for _, name := range []string{
		"static/style.css", "static/docs.js", "static/explorer.css", "static/explorer.js", "static/icon.svg",
		"vendor/swagger-ui-bundle.js", "vendor/swagger-ui.css",
	} {
		text, err := assetFiles.ReadFile(name)
		if err != nil {
			panic("docs: " + err.Error()) // the compiler has embedded it
		}
		sum := sha256.Sum256(text)
		f := &asset{path: home + "/assets/" + hex.EncodeToString(sum[:8]) + "/" + path.Base(name),
			cache: "public, max-age=31536000, immutable", make: func() ([]byte, error) { return text, nil }}
		all.files = append(all.files, f)
		all.paths[path.Base(name)] = f.path
	}
	return all
}

// asset is something that is made once, at its first request, and kept in memory,
// plain and compressed. It serves any number of requests at once.
type asset struct {
	path  string
	cache string // its Cache-Control
	make  func() ([]byte, error)

	once          sync.Once
	plain, zipped []byte
	tag           string
	err           error
}

func (f *asset) load() {
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
}

func (f *asset) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.once.Do(f.load)
	if f.err != nil {
		http.Error(w, "The page cannot be shown.", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", mediaTypes[path.Ext(f.path)])
	h.Set("Cache-Control", f.cache)
	h.Set("Vary", "Accept-Encoding")
	var body io.ReadSeeker = bytes.NewReader(f.plain)
	tag := f.tag
	if takesGzip(r) {
		h.Set("Content-Encoding", "gzip")
		body, tag = bytes.NewReader(f.zipped), tag+"-gzip" // another representation (RFC 9110 section 8.8.3)
	}
	h.Set("ETag", `"`+tag+`"`)
	http.ServeContent(w, r, "", time.Time{}, body)
}

// takesGzip says whether the client reads gzip (RFC 9110 section 12.5.3).
func takesGzip(r *http.Request) bool {
	for offer := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		coding, weight, _ := strings.Cut(offer, ";")
		if strings.TrimSpace(coding) == "gzip" {
			weight = strings.ReplaceAll(weight, " ", "")
			return weight != "q=0" && !strings.HasPrefix(weight, "q=0.0")
		}
	}
	return false
}
