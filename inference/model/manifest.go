package model

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// Bounds of a manifest.
const (
	maxManifest = 1 << 20 // bytes; a licence may be long
	maxFiles    = 64
	maxDepth    = 8       // parts of a file's path
	maxFile     = 1 << 40 // bytes
)

// Names in a model's directory that no file of a model has.
const (
	manifestName   = "manifest.yaml"
	acceptanceName = "accepted.yaml"
	partSuffix     = ".part" // is not complete
	tagSuffix      = ".tag"  // after partSuffix: which version of a file at its server that is
)

// Manifest says what a model is. What ReadManifest and Catalogue return is valid and is not changed.
type Manifest struct {
	ID string `yaml:"id"`
	// Version tells models of one ID apart. A manifest that names none has the start of the SHA-256 of what
	// sha256sum prints of the files, sorted.
	Version  string         `yaml:"version,omitempty"`
	Stage    string         `yaml:"stage"` // asr, llm, tts, realtime, vad, denoise or turn
	Licence  Licence        `yaml:"licence"`
	Engine   string         `yaml:"engine"`              // the vendor of the engine that runs it, perhaps with a kind: onnx/smart-turn
	MemoryMB int            `yaml:"memory_mb,omitempty"` // that it takes while it runs; 0: not known
	Files    []File         `yaml:"files"`
	Settings map[string]any `yaml:"settings,omitempty"` // of the engine
	Embedded bool           `yaml:"embedded,omitempty"` // part of the program; only the catalogue says so
}

// Licence is on which terms a model may be used.
type Licence struct {
	Name       string `yaml:"name"`
	SHA256     string `yaml:"sha256,omitempty"`     // of the text, hexadecimal
	Accept     bool   `yaml:"accept,omitempty"`     // somebody must accept it before the model is brought
	Conditions string `yaml:"conditions,omitempty"` // what has to be passed on, or kept
	Text       string `yaml:"text,omitempty"`
}

// File is one file of a model.
type File struct {
	Path   string   `yaml:"path"` // in the model's directory, with slashes
	Bytes  int64    `yaml:"bytes"`
	SHA256 string   `yaml:"sha256"`         // hexadecimal
	URLs   []string `yaml:"urls,omitempty"` // tried in order
}

// stages are those of engines.
var stages = []string{"asr", "llm", "tts", "realtime", "vad", "denoise", "turn"}

var (
	idName      = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)
	versionName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	engineName  = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}(/[a-z0-9][a-z0-9._-]{0,63})?$`)
	pathPart    = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$`)
	hexSum      = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// ReadManifest reads a manifest that somebody else wrote. Its error is an ErrManifest.
func ReadManifest(r io.Reader) (*Manifest, error) {
	m := &Manifest{}
	if err := decode(r, m); err != nil {
		return nil, err
	}
	if m.Embedded {
		return nil, wrong("embedded", "is for models of the program")
	}
	return m, m.complete()
}

// decode reads one YAML document that has known keys only.
func decode(r io.Reader, to any) error {
	text, err := io.ReadAll(io.LimitReader(r, maxManifest+1))
	if err != nil {
		return err
	}
	if len(text) > maxManifest {
		return fmt.Errorf("%w: it has more than %d bytes", ErrManifest, maxManifest)
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if err := dec.Decode(to); errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: it is empty", ErrManifest)
	} else if err != nil {
		return fmt.Errorf("%w: %v", ErrManifest, err)
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: something follows it", ErrManifest)
	}
	return nil
}

// wrong is the error about a key.
func wrong(key, format string, args ...any) error {
	return fmt.Errorf("%w: %s %s", ErrManifest, key, fmt.Sprintf(format, args...))
}

// complete checks a manifest and adds the version that it does not name.
func (m *Manifest) complete() error {
	switch {
	case !idName.MatchString(m.ID):
		return wrong("id", "%.80q is not allowed; allowed: small letters, digits, dots, dashes and underscores, 64 at most", m.ID)
	case m.Version != "" && !versionName.MatchString(m.Version):
		return wrong("version", "%.80q is not allowed; allowed: letters, digits, dots, dashes and underscores, 64 at most", m.Version)
	case !slices.Contains(stages, m.Stage):
		return wrong("stage", "%.80q is not allowed; allowed: %s", m.Stage, strings.Join(stages, ", "))
	case !engineName.MatchString(m.Engine):
		return wrong("engine", "%.80q is not allowed; allowed: a vendor of engines, such as onnx, or with a kind, such as onnx/smart-turn", m.Engine)
	case m.MemoryMB < 0:
		return wrong("memory_mb", "is below 0")
	case len(m.Files) == 0 || len(m.Files) > maxFiles:
		return wrong("files", "are %d; allowed: 1 to %d", len(m.Files), maxFiles)
	}
	if _, err := json.Marshal(m.Settings); err != nil {
		return wrong("settings", "have a value that JSON cannot hold")
	}
	if err := m.Licence.check(); err != nil {
		return err
	}
	for i, f := range m.Files {
		if err := f.check(fmt.Sprintf("files[%d]", i)); err != nil {
			return err
		}
		for _, other := range m.Files[:i] {
			if overlap(f.Path, other.Path) || overlap(other.Path, f.Path) {
				return wrong(fmt.Sprintf("files[%d].path", i), "%q is in the way of %q", f.Path, other.Path)
			}
		}
	}
	if m.Version == "" {
		m.Version = m.sum()[:12]
	}
	return nil
}

// overlap says whether a is b, or a directory that b is in, also where case does not count.
func overlap(a, b string) bool {
	return strings.HasPrefix(strings.ToLower(b)+"/", strings.ToLower(a)+"/")
}

func (l *Licence) check() error {
	// They are shown on terminals.
	for key, text := range map[string]string{"name": strings.ReplaceAll(l.Name, "\n", "\x00"), "conditions": l.Conditions, "text": l.Text} {
		if strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }) {
			return wrong("licence."+key, "has control characters")
		}
	}
	sum := sha256.Sum256([]byte(l.Text))
	switch {
	case strings.TrimSpace(l.Name) == "":
		return wrong("licence.name", "is missing")
	case l.SHA256 != "" && !hexSum.MatchString(l.SHA256):
		return wrong("licence.sha256", "is no SHA-256; allowed: 64 digits 0 to 9 and a to f")
	case l.Accept && l.SHA256 == "":
		return wrong("licence.sha256", "is missing: it says which text is accepted")
	case l.Text != "" && l.SHA256 != hex.EncodeToString(sum[:]):
		return wrong("licence.sha256", "is not that of licence.text, %x", sum)
	}
	return nil
}

func (f *File) check(key string) error {
	parts := strings.Split(f.Path, "/")
	bad := func(part string) bool {
		part = strings.ToLower(part)
		return !pathPart.MatchString(part) || strings.HasSuffix(part, partSuffix) || strings.HasSuffix(part, tagSuffix)
	}
	switch {
	case len(parts) > maxDepth || slices.ContainsFunc(parts, bad) || overlap(manifestName, f.Path) || overlap(acceptanceName, f.Path):
		return wrong(key+".path", "%.80q is not allowed; allowed: names of letters, digits, dots, dashes and underscores with slashes between, %d at most; no %s, no %s, none that ends in %s or %s",
			f.Path, maxDepth, manifestName, acceptanceName, partSuffix, tagSuffix)
	case f.Bytes < 1 || f.Bytes > maxFile:
		return wrong(key+".bytes", "is %d; allowed: 1 to %d", f.Bytes, int64(maxFile))
	case !hexSum.MatchString(f.SHA256):
		return wrong(key+".sha256", "is no SHA-256; allowed: 64 digits 0 to 9 and a to f")
	}
	for i, address := range f.URLs {
		// It is shown, so it must not hold a secret.
		u, err := url.Parse(address)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.User != nil || u.Fragment != "" {
			return wrong(fmt.Sprintf("%s.urls[%d]", key, i), "is not allowed; allowed: https://HOST/PATH, or http, without a user or a password")
		}
	}
	return nil
}

// sum stands for the files: it is another when one of them is.
func (m *Manifest) sum() string {
	lines := make([]string, len(m.Files))
	for i, f := range m.Files {
		lines[i] = f.SHA256 + "  " + f.Path + "\n"
	}
	slices.Sort(lines)
	return fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(lines, ""))))
}

// Ref names this version of the model: ID@VERSION.
func (m *Manifest) Ref() string { return m.ID + "@" + m.Version }

// Bytes is the size of all files.
func (m *Manifest) Bytes() int64 { return total(m.Files) }

func total(files []File) (n int64) {
	for _, f := range files {
		n += f.Bytes
	}
	return n
}

// Encode is the manifest as ReadManifest reads it.
func (m *Manifest) Encode() ([]byte, error) { return yaml.Marshal(m) }
