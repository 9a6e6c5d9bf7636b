package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// pack is a tarball of files by their paths.
func pack(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, p := range slices.Sorted(maps.Keys(files)) {
		err1 := w.WriteHeader(&tar.Header{Name: "package/" + p, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(files[p]))})
		_, err2 := io.WriteString(w, files[p])
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func integrityOf(tarball []byte) string {
	sum := sha512.Sum512(tarball)
	return "sha512-" + base64.StdEncoding.EncodeToString(sum[:])
}

func sumOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// registry publishes tarballs by the names and versions of their packages.
func registry(t *testing.T, published map[string][]byte) string {
	mux := http.NewServeMux()
	for id, tarball := range published {
		at := strings.LastIndex(id, "@")
		name, version := id[:at], id[at+1:]
		mux.HandleFunc("GET /"+name+"/"+version, func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"name":%q,"dist":{"integrity":"sha1-x %s"}}`, name, integrityOf(tarball))
		})
		mux.HandleFunc("GET /"+name+"/-/"+name[strings.LastIndex(name, "/")+1:]+"-"+version+".tgz", func(w http.ResponseWriter, _ *http.Request) {
			w.Write(tarball)
		})
	}
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL
}

// directory has a manifest and the files of an earlier fetch.
func directory(t *testing.T, list ...pinned) string {
	t.Helper()
	dir := t.TempDir()
	text, err1 := json.Marshal(list)
	err2 := os.WriteFile(filepath.Join(dir, manifestName), text, 0o600)
	err3 := os.WriteFile(filepath.Join(dir, "a.js"), []byte("old"), 0o600)
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	return dir
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestFetch(t *testing.T) {
	one := pack(t, map[string]string{"dist/a.js": "a", "src/deep/a.js": "source", "LICENSE": "free", "index.html": "x"})
	two := pack(t, map[string]string{"b.css": "b", "LICENSE": "free too"})
	at := registry(t, map[string][]byte{"a.org@1.2.3": one, "@scope/b@2.0.0": two})
	dir := directory(t, pinned{"a.org", "1.2.3", "0BSD", integrityOf(one), map[string]string{"a.js": "", "a.LICENSE": "of another version"}},
		pinned{"@scope/b", "2.0.0", "MIT", "", map[string]string{"b.css": "", "LICENSE": ""}})
	other := directory(t, pinned{"@scope/b", "2.0.0", "MIT", integrityOf(two), map[string]string{"b.css": ""}})
	var out strings.Builder
	if err := run(t.Context(), []string{"-registry", at + "/", dir, other}, "http://127.0.0.1:1", &out); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"a.js": "a", "a.LICENSE": "free", "b.css": "b", "LICENSE": "free too"} {
		if got := read(t, dir, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	var list []pinned
	if err := json.Unmarshal([]byte(read(t, dir, manifestName)), &list); err != nil {
		t.Fatal(err)
	}
	if p := list[0]; p.Files["a.js"] != sumOf("a") || p.Files["a.LICENSE"] != sumOf("free") || p.Integrity != integrityOf(one) || p.Licence != "0BSD" {
		t.Errorf("%+v", p)
	}
	if p := list[1]; !strings.HasSuffix(p.Integrity, integrityOf(two)) || p.Files["b.css"] != sumOf("b") {
		t.Errorf("a version that was not pinned: %+v", p)
	}
	if read(t, other, "b.css") != "b" || !strings.Contains(out.String(), "a.org 1.2.3: 2 files") {
		t.Errorf("%q", out.String())
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 5 {
		t.Errorf("%v %v", entries, err)
	}
}

// TestRefusals: what is not right changes nothing.
func TestRefusals(t *testing.T) {
	good := pack(t, map[string]string{"a.js": "a", "x/c.js": "1", "y/c.js": "2"})
	at := registry(t, map[string][]byte{"a@1.0.0": good, "broken@1.0.0": []byte("no tarball")})
	for want, list := range map[string][]pinned{
		"its SHA-512 is another": {{"a", "1.0.0", "MIT", integrityOf([]byte("other")), map[string]string{"a.js": ""}}},
		"has no SHA-512":         {{"a", "1.0.0", "MIT", "sha1-abc", map[string]string{"a.js": ""}}},
		"404":                    {{"a", "1.0.1", "MIT", integrityOf(good), map[string]string{"a.js": ""}}},
		"no b.js in it":          {{"a", "1.0.0", "MIT", integrityOf(good), map[string]string{"a.js": "", "b.js": ""}}},
		"several of c.js: x/c.js, y/c.js": {
			{"a", "1.0.0", "MIT", integrityOf(good), map[string]string{"c.js": ""}}},
		"no name of a file to keep": {{"a", "1.0.0", "MIT", integrityOf(good), map[string]string{"../a.js": ""}}},
		"another package":           {{"a", "1.0.0", "MIT", integrityOf(good), map[string]string{"a.js": ""}}, {"a", "1.0.0", "MIT", "", map[string]string{"a.js": ""}}},
		"gzip": {{"a", "1.0.0", "MIT", integrityOf(good), map[string]string{"a.js": ""}},
			{"broken", "1.0.0", "MIT", "", map[string]string{"d.js": ""}}},
	} {
		dir := directory(t, list...)
		before := read(t, dir, manifestName)
		err := run(t.Context(), []string{dir}, at, io.Discard)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		if entries, _ := os.ReadDir(dir); read(t, dir, manifestName) != before || read(t, dir, "a.js") != "old" || len(entries) != 2 {
			t.Errorf("%s: the directory has changed: %v", want, entries)
		}
	}
	for _, args := range [][]string{{}, {"-registry", at}, {"-nonsense"}} {
		if err := run(t.Context(), args, "", io.Discard); err == nil {
			t.Errorf("%v is accepted", args)
		}
	}
}
